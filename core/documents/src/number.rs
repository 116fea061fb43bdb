//! Numbers of rules.

use crate::rule::{HostValues, Reader};
use labkit_ratelimit_engine::{Code, NumberSpec, numbers};
use serde_json::Value as Json;

/// 2^63.
const BEYOND_64_BITS: f64 = 9_223_372_036_854_775_808.0;

impl<H: HostValues> Reader<'_, H> {
    /// A whole number. One that is not is reported here, and not again when the rule is built.
    pub(crate) fn number(&mut self, field: &str, value: &Json) -> NumberSpec {
        if let Some(spec) = self.host.number(value) {
            return spec;
        }
        match value {
            Json::Number(n) if n.is_i64() || n.is_u64() => {
                n.as_i64().map(i128::from).or(n.as_u64().map(i128::from)).map_or(NumberSpec::Reported, NumberSpec::Int)
            }
            // An integer beyond 64 bits came as the double nearest to it: out of range all the same, above or below.
            Json::Number(n) if n.as_f64().is_some_and(|f| f.abs() >= BEYOND_64_BITS) => {
                NumberSpec::Int(numbers::cut_to_i128(n.as_f64().unwrap_or_default()))
            }
            other => {
                self.find(Code::WrongType, field, format!("{field} takes a whole number, not {}", kind(other)));
                NumberSpec::Reported
            }
        }
    }
}

/// What a value is, in words.
pub(crate) fn kind(value: &Json) -> String {
    match value {
        Json::Null => "null".into(),
        Json::Bool(flag) => flag.to_string(),
        Json::Number(n) => n.to_string(),
        Json::String(text) => format!("the string {text:?}"),
        Json::Array(_) => "a list".into(),
        Json::Object(_) => "a map".into(),
    }
}
