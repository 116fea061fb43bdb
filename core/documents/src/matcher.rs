//! Match values: a scalar, `null`, a marker map or a list of marker maps.

use crate::rule::HostValues;
use labkit_ratelimit_engine::{MatcherSpec, Scalar};
use serde_json::Value as Json;

/// The matcher as it is written; compiling it checks it.
pub(crate) fn matcher<H: HostValues>(host: &mut H, value: &Json) -> MatcherSpec {
    if let Some(spec) = host.matcher(value) {
        return spec;
    }
    match value {
        Json::Null => MatcherSpec::Scalar(Scalar::Null),
        Json::Bool(flag) => MatcherSpec::Scalar(Scalar::Bool(*flag)),
        Json::String(text) => MatcherSpec::Scalar(Scalar::Text(text.clone())),
        Json::Number(n) => MatcherSpec::Scalar(match (n.as_i64(), n.as_u64(), n.as_f64()) {
            (Some(n), ..) => Scalar::Int(n),
            // An integer beyond i64 is its decimal text.
            (None, Some(n), _) => Scalar::Text(n.to_string()),
            (None, None, Some(f)) => Scalar::Float(f),
            (None, None, None) => return MatcherSpec::BadScalar(n.to_string()),
        }),
        Json::Array(entries) => MatcherSpec::List(entries.iter().map(|entry| matcher(host, entry)).collect()),
        Json::Object(pairs) => {
            MatcherSpec::Map(pairs.iter().map(|(marker, operand)| (marker.clone(), matcher(host, operand))).collect())
        }
    }
}
