//! Numbers of rules.

use crate::rule::{HostValues, Reader};
use crate::tree::{Node, Tree};
use labkit_ratelimit_engine::{Code, NumberSpec};

impl<H: HostValues> Reader<'_, H> {
    /// A whole number. One that is not is reported here, and not again when the rule is built.
    pub(crate) fn number(&mut self, field: &str, value: &Node) -> NumberSpec {
        let is_hosts = H::EXISTS && matches!(value.tree, Tree::Map(_));
        if let Some(spec) = if is_hosts { self.host.number(&value.to_json()) } else { None } {
            return spec;
        }
        match &value.tree {
            Tree::Int(n) => NumberSpec::Int(*n),
            // Out of range all the same, above or below.
            Tree::Huge(digits) => NumberSpec::Int(if digits.starts_with('-') { i128::MIN } else { i128::MAX }),
            Tree::Text(text) if text.trim().parse::<f64>().is_ok() => {
                self.find(
                    Code::WrongType,
                    field,
                    format!("{field} takes a whole number, not {value}: write it without quotes and leading zeros"),
                );
                NumberSpec::Reported
            }
            _ => {
                self.find(Code::WrongType, field, format!("{field} takes a whole number, not {value}"));
                NumberSpec::Reported
            }
        }
    }
}
