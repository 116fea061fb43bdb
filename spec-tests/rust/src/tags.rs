//! Values that JSON lacks: `$float`, `$bytes`, `$pattern`, and callables.

use labkit_ratelimit::{Callbacks, HostError, HostNumber, MatcherSpec, NumberSpec, Scalar, Value};
use labkit_ratelimit_documents::HostValues;
use serde_json::Value as Json;

/// The one pair of a tagged value.
fn tag(value: &Json) -> Option<(&str, &Json)> {
    let map = value.as_object().filter(|map| map.len() == 1)?;
    map.iter().next().map(|(name, operand)| (name.as_str(), operand))
}

pub(crate) fn float(value: &Json) -> Option<f64> {
    match tag(value)? {
        ("$float", text) => text.as_str()?.parse().ok(),
        _ => None,
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect()
}

/// A property's value, owned.
pub(crate) enum Fact {
    Json(Json),
    Float(f64),
    Bytes(Vec<u8>),
}

impl Fact {
    pub(crate) fn read(value: &Json) -> Self {
        match (float(value), tag(value)) {
            (Some(f), _) => Self::Float(f),
            (_, Some(("$bytes", hex))) => Self::Bytes(hex.as_str().and_then(unhex).unwrap_or_default()),
            // An integer beyond i64 is its decimal text.
            _ if value.is_u64() && !value.is_i64() => Self::Json(Json::String(value.to_string())),
            _ => Self::Json(value.clone()),
        }
    }

    pub(crate) fn value(&self) -> Value<'_> {
        match self {
            Self::Float(f) => Value::Float(*f),
            Self::Bytes(bytes) => Value::Bytes(bytes),
            Self::Json(Json::Null) => Value::Null,
            Self::Json(Json::Bool(flag)) => Value::Bool(*flag),
            Self::Json(Json::String(text)) => Value::Text(text),
            Self::Json(Json::Number(n)) => {
                n.as_i64().map_or_else(|| Value::Float(n.as_f64().unwrap_or(f64::NAN)), Value::Int)
            }
            Self::Json(Json::Array(_)) => Value::Bad("a list"),
            Self::Json(Json::Object(_)) => Value::Bad("a map"),
        }
    }
}

/// The callables and patterns that rules hold, as closures.
#[derive(Default)]
pub(crate) struct Closures(pub(crate) Callbacks);

fn number(value: &Json) -> Result<HostNumber, HostError> {
    let whole = value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
    let fraction = value.as_f64().or_else(|| float(value)).map(HostNumber::Float);
    whole.map(HostNumber::Int).or(fraction).ok_or_else(|| HostError::new("TypeError", format!("{value} is no number")))
}

impl HostValues for Closures {
    fn number(&mut self, value: &Json) -> Option<NumberSpec> {
        if let Some(f) = float(value) {
            return Some(NumberSpec::Float(f));
        }
        let map = value.as_object()?;
        if let Some(message) = map.get("raise") {
            let message = message.as_str().unwrap_or_default().to_owned();
            return Some(self.0.number(move || Err(HostError::new("RuntimeError", message.clone()))).into());
        }
        let (name, default) =
            (map.get("context")?.as_str()?.to_owned(), map.get("default").cloned().unwrap_or(Json::Null));
        let callable = self.0.number_with_context(move |context| {
            let given =
                context.and_then(|context| context.downcast_ref::<Json>()).and_then(|context| context.get(&name));
            number(given.unwrap_or(&default))
        });
        Some(callable.into())
    }

    fn matcher(&mut self, value: &Json) -> Option<MatcherSpec> {
        match tag(value)? {
            ("$float", _) => Some(MatcherSpec::BadScalar(value["$float"].to_string())),
            ("$bytes", hex) => {
                let bytes = hex.as_str().and_then(unhex).unwrap_or_default();
                let text = String::from_utf8(bytes).map_or_else(|bad| Scalar::Bytes(bad.into_bytes()), Scalar::Text);
                Some(MatcherSpec::Scalar(text))
            }
            ("$pattern", source) => {
                let source = source.as_str().unwrap_or_default().to_owned();
                let compiled =
                    regex::Regex::new(&source).map_err(|error| HostError::new("RegexError", error.to_string()));
                let pattern =
                    self.0.pattern(move |text| compiled.as_ref().map(|re| re.is_match(text)).map_err(Clone::clone));
                Some(MatcherSpec::Pattern(pattern))
            }
            _ => None,
        }
    }
}
