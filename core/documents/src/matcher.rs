//! Match values: a scalar, `null`, a marker map or a list of marker maps.

use crate::rule::HostValues;
use crate::tree::{Node, Tree};
use labkit_ratelimit_engine::{MatcherSpec, Scalar};

/// The matcher as it is written; compiling it checks it. `host` is asked about maps, where there is one.
pub(crate) fn matcher<H: HostValues>(host: &mut H, value: &Node) -> MatcherSpec {
    MatcherSpec::Scalar(match &value.tree {
        Tree::Null => Scalar::Null,
        Tree::Bool(flag) => Scalar::Bool(*flag),
        Tree::Text(text) => Scalar::Text(text.clone()),
        Tree::Float(f) if !f.is_finite() => return MatcherSpec::BadScalar(value.to_string()),
        Tree::Float(f) => Scalar::Float(*f),
        // An integer beyond i64 is its decimal text.
        Tree::Int(n) => i64::try_from(*n).map_or_else(|_| Scalar::Text(n.to_string()), Scalar::Int),
        Tree::Huge(digits) => Scalar::Text(digits.clone()),
        Tree::List(entries) => {
            return MatcherSpec::List(entries.iter().map(|entry| matcher(host, entry)).collect());
        }
        Tree::Map(entries) => {
            let own = if H::EXISTS { host.matcher(&value.to_json()) } else { None };
            return own.unwrap_or_else(|| {
                MatcherSpec::Map(entries.iter().map(|entry| (entry.key.clone(), matcher(host, &entry.value))).collect())
            });
        }
    })
}
