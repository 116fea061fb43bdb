//! The request that a command is about, as it is written on the command line.

use crate::access_log::{Property, json_property};
use crate::mistake::Mistake;
use crate::printable::excerpt;
use clap::Args;
use labkit_ratelimit::{Rules, Value};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};
use std::collections::HashSet;
use std::fmt;

/// How a request is written, for `--help`.
pub(crate) const PROPERTIES_HELP: &str = "\
Properties of the request:
  ip=203.0.113.7     text, whatever it looks like
  status:=404        JSON: a number, true, false, null or a text in quotes
What is not given is absent.";

/// What is known of one request.
#[derive(Args, Debug)]
pub(crate) struct IdentityArguments {
    /// A property of the request: NAME=TEXT, or NAME:=JSON for a number, a boolean or null
    #[arg(value_name = "NAME=VALUE")]
    properties: Vec<String>,

    /// All properties at once, as a JSON object
    #[arg(long, value_name = "JSON", conflicts_with = "properties")]
    identifier: Option<String>,
}

/// A property's name and value.
type Pair = (String, Property<Box<[u8]>>);

/// The properties of one request, each once.
#[derive(Debug)]
pub(crate) struct Identity(Vec<Pair>);

impl IdentityArguments {
    /// Reads the properties.
    pub(crate) fn read(&self) -> Result<Identity, Mistake> {
        let pairs = match &self.identifier {
            Some(text) => of_json(text)?,
            None => self.properties.iter().map(|pair| of_pair(pair)).collect::<Result<_, _>>()?,
        };
        let mut names = HashSet::new();
        for (name, value) in &pairs {
            let shown = excerpt(name.as_bytes());
            if name.is_empty() {
                return Err(Mistake::Misuse("a property has no name: write NAME=VALUE".into()));
            }
            if !names.insert(name) {
                return Err(Mistake::Misuse(format!("the property `{shown}` is given twice")));
            }
            if let Property::Bad(kind) = value {
                let what = format!("the property `{shown}` is {kind}: give text, a number, a boolean or null");
                return Err(Mistake::Misuse(what));
            }
        }
        Ok(Identity(pairs))
    }
}

/// `NAME=TEXT`, or `NAME:=JSON`.
fn of_pair(pair: &str) -> Result<Pair, Mistake> {
    let (name, value) = pair.split_once('=').ok_or_else(|| {
        let shown = excerpt(pair.as_bytes());
        Mistake::Misuse(format!("`{shown}` is no property: write NAME=TEXT, or NAME:=JSON for what is no text"))
    })?;
    match name.strip_suffix(':') {
        None => Ok((name.to_owned(), Property::Text(value.as_bytes().into()))),
        Some(name) => {
            let wrong = |error: &dyn fmt::Display| {
                let (name, value) = (excerpt(name.as_bytes()), excerpt(value.as_bytes()));
                Mistake::Misuse(format!(
                    "`{value}`, the value of `{name}`, is no JSON: {error}; for text write {name}=…"
                ))
            };
            let raw: &RawValue = serde_json::from_str(value).map_err(|error| wrong(&error))?;
            Ok((name.to_owned(), typed(raw)?))
        }
    }
}

fn of_json(text: &str) -> Result<Vec<Pair>, Mistake> {
    let Pairs(pairs) = serde_json::from_str(text)
        .map_err(|error| Mistake::Misuse(format!("--identifier takes a JSON object: {error}")))?;
    pairs.into_iter().map(|(name, raw)| Ok((name, typed(&raw)?))).collect()
}

fn typed(raw: &RawValue) -> Result<Property<Box<[u8]>>, Mistake> {
    let value = json_property(raw).map_err(|unreadable| Mistake::Misuse(unreadable.detail))?;
    Ok(value.as_bytes().to_owned())
}

/// A JSON object as it is written, equal names and all.
struct Pairs(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Pairs;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of properties")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}

impl Identity {
    /// As a limiter takes it.
    pub(crate) fn values(&self) -> Vec<(&str, Value<'_>)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.value())).collect()
    }

    /// As JSON.
    pub(crate) fn json(&self) -> Map<String, Json> {
        self.0.iter().map(|(name, value)| (name.clone(), json(&value.value()))).collect()
    }

    /// The properties that no rule looks at.
    pub(crate) fn unused(&self, rules: &Rules) -> Vec<String> {
        let used: HashSet<&str> = rules.properties().collect();
        self.0.iter().map(|(name, _)| name).filter(|name| !used.contains(name.as_str())).cloned().collect()
    }

    /// The properties that rules look at, and of which nothing was said, not even that they are absent.
    pub(crate) fn not_given(&self, rules: &Rules) -> Vec<String> {
        let given = |name: &str| self.0.iter().any(|(own, _)| own == name);
        rules.properties().filter(|name| !given(name)).map(str::to_owned).collect()
    }

    /// The properties that rules look at, and that it lacks.
    pub(crate) fn lacking(&self, rules: &Rules) -> Vec<String> {
        let given = |name: &str| self.0.iter().any(|(own, value)| own == name && *value != Property::Absent);
        rules.properties().filter(|name| !given(name)).map(str::to_owned).collect()
    }
}

/// For people: `ip="203.0.113.7" status=404`.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, value)) in self.0.iter().enumerate() {
            let gap = if at > 0 { " " } else { "" };
            write!(f, "{gap}{}={}", excerpt(name.as_bytes()), shown(&value.value()))?;
        }
        Ok(())
    }
}

/// A value as JSON. Bytes that are no text do not come from a command line.
pub(crate) fn json(value: &Value<'_>) -> Json {
    match value {
        Value::Null | Value::Bad(_) => Json::Null,
        Value::Bool(flag) => Json::from(*flag),
        Value::Int(n) => Json::from(*n),
        Value::Unsigned(n) => Json::from(*n),
        Value::Float(n) => Json::from(*n),
        Value::Text(text) => Json::from(*text),
        Value::Bytes(bytes) => Json::from(String::from_utf8_lossy(bytes)),
    }
}

/// A value for people: `"GET"`, `404`, `absent`.
pub(crate) fn shown(value: &Value<'_>) -> String {
    match value {
        Value::Null => "absent".into(),
        Value::Text(text) => format!("\"{}\"", excerpt(text.as_bytes())),
        Value::Bytes(bytes) => format!("\"{}\"", excerpt(bytes)),
        other => json(other).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(properties: &[&str], identifier: Option<&str>) -> Result<String, String> {
        let properties = properties.iter().map(|pair| (*pair).to_owned()).collect();
        let arguments = IdentityArguments { properties, identifier: identifier.map(str::to_owned) };
        arguments.read().map(|identity| Json::from(identity.json()).to_string()).map_err(|mistake| mistake.to_string())
    }

    #[test]
    fn text_is_text_and_json_keeps_its_type() {
        let pairs = ["a=404", "b:=404", "c:=true", "d:=null", "e=", "f=x:=y", "g:=\"\\u00e9\"", "h:=5.0"];
        let expected = r#"{"a":"404","b":404,"c":true,"d":null,"e":"","f":"x:=y","g":"é","h":5.0}"#;
        assert_eq!(read(&pairs, None).as_deref(), Ok(expected));
        assert_eq!(read(&[], Some(expected)).as_deref(), Ok(expected));
        // Beyond 64 bits an integer is its digits, as everywhere.
        assert_eq!(read(&["a:=99999999999999999999"], None).as_deref(), Ok(r#"{"a":"99999999999999999999"}"#));
    }

    #[test]
    fn what_is_no_request_is_said() {
        for (pairs, identifier, says) in [
            (&["ip"][..], None, "`ip` is no property"),
            (&["=x"], None, "no name"),
            (&["a=1", "a:=2"], None, "`a` is given twice"),
            (&["a:=GET"], None, "for text write a="),
            (&["a:=[1]"], None, "`a` is a list"),
            (&["a:=1e999"], None, "infinite"),
            (&[], Some("[]"), "--identifier takes a JSON object"),
            (&[], Some(r#"{"a": {}}"#), "`a` is a map"),
            (&[], Some(r#"{"a": 1, "a": 2}"#), "given twice"),
        ] {
            let said = read(pairs, identifier).expect_err(says);
            assert!(said.contains(says), "{says} in {said}");
        }
    }
}
