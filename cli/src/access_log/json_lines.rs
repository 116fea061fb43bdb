//! A JSON object on each line. Values keep their types.

use super::{Entry, LineFormat, Property, Unreadable, Why, time};
use crate::printable::excerpt;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// Reads the fields that are asked for, and nothing else, of each object.
#[derive(Debug)]
pub(super) struct JsonLines {
    /// Properties and times, each name once.
    names: Vec<String>,
    /// The places of the properties among the names.
    properties: Vec<usize>,
    /// The places of the fields that may hold the time, the preferred first.
    times: Vec<usize>,
}

impl JsonLines {
    pub(super) fn new(properties: &[String], time_fields: &[String]) -> Self {
        let mut names: Vec<String> = Vec::new();
        let mut place = |name: &String| {
            names.iter().position(|known| known == name).unwrap_or_else(|| {
                names.push(name.clone());
                names.len() - 1
            })
        };
        let properties = properties.iter().map(&mut place).collect();
        let times = time_fields.iter().map(&mut place).collect();
        Self { names, properties, times }
    }

    fn time(&self, fields: &[Option<&RawValue>]) -> Result<u64, Unreadable> {
        let given = self.times.iter().find_map(|at| fields[*at].filter(|raw| raw.get() != "null"));
        let raw = given.ok_or_else(|| {
            let names: Vec<&str> = self.times.iter().map(|at| self.names[*at].as_str()).collect();
            Unreadable::new(Why::NoTime, format!("there is no time under {}", names.join(", ")))
        })?;
        match property(raw)? {
            Property::Text(text) => time::parse(&text),
            // As it stands, so that no digit is lost.
            Property::Integer(_) | Property::Number(_) => time::parse(raw.get().as_bytes()),
            _ => Err(Unreadable::new(
                Why::BadTime,
                format!("the time `{}` is neither text nor a number", excerpt(raw.get().as_bytes())),
            )),
        }
    }
}

impl LineFormat for JsonLines {
    fn entry<'l>(&self, line: &'l [u8]) -> Result<Entry<'l>, Unreadable> {
        let mut object = serde_json::Deserializer::from_slice(line);
        let fields = Fields(&self.names)
            .deserialize(&mut object)
            .and_then(|fields| object.end().map(|()| fields))
            .map_err(|error| Unreadable::new(Why::NotJson, error.to_string()))?;
        let at_us = self.time(&fields)?;
        let properties = self
            .properties
            .iter()
            .map(|at| fields[*at].map_or(Ok(Property::Absent), property))
            .collect::<Result<_, _>>()?;
        Ok(Entry { at_us, properties, odd: None })
    }
}

/// The value, with its type. An integer beyond 64 bits is its decimal text.
pub(crate) fn property(raw: &RawValue) -> Result<Property<Cow<'_, [u8]>>, Unreadable> {
    let text = raw.get();
    Ok(match text.as_bytes() {
        b"null" => Property::Absent,
        b"true" => Property::Flag(true),
        b"false" => Property::Flag(false),
        [b'[', ..] => Property::Bad("a list"),
        [b'{', ..] => Property::Bad("a map"),
        [b'"', inner @ .., b'"'] if !inner.contains(&b'\\') => Property::from(inner),
        [b'"', ..] => {
            let unescaped: String =
                serde_json::from_str(text).map_err(|error| Unreadable::new(Why::NotJson, error.to_string()))?;
            Property::Text(Cow::Owned(unescaped.into_bytes()))
        }
        number if number.iter().any(|b| matches!(b, b'.' | b'e' | b'E')) => match text.parse::<f64>() {
            Ok(n) if n.is_finite() => Property::Number(n.to_bits()),
            _ => Property::Bad("an infinite number"),
        },
        integer => text.parse().map_or_else(|_| Property::from(integer), Property::Integer),
    })
}

/// Takes the fields of these names, in their order.
struct Fields<'n>(&'n [String]);

impl<'l> DeserializeSeed<'l> for Fields<'_> {
    type Value = Vec<Option<&'l RawValue>>;

    fn deserialize<D: Deserializer<'l>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'l> Visitor<'l> for Fields<'_> {
    type Value = Vec<Option<&'l RawValue>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'l>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = vec![None; self.0.len()];
        while let Some(place) = map.next_key_seed(Place(self.0))? {
            match place {
                Some(at) => fields[at] = Some(map.next_value()?),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(fields)
    }
}

/// The place of a key among the names.
struct Place<'n>(&'n [String]);

impl<'l> DeserializeSeed<'l> for Place<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'l>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Place<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|name| name == key))
    }

    fn visit_bytes<E: serde::de::Error>(self, _: &[u8]) -> Result<Self::Value, E> {
        Err(E::custom("a key that is not UTF-8"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Held = Property<Box<[u8]>>;

    fn read(line: &str, names: &[&str]) -> Result<(u64, Vec<Held>), Why> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let times = ["time", "timestamp"].map(String::from);
        let format = JsonLines::new(&names, &times);
        let entry = format.entry(line.as_bytes()).map_err(|unreadable| unreadable.why)?;
        Ok((entry.at_us, entry.properties.iter().map(|property| property.as_bytes().to_owned()).collect()))
    }

    fn value(json: &str) -> Held {
        read(&format!(r#"{{"time": 1, "v": {json}, "other": [{{}}]}}"#), &["v"]).expect("a request").1.remove(0)
    }

    #[test]
    fn values_keep_their_types() {
        let text = |text: &str| Property::Text(Box::from(text.as_bytes()));
        for (json, expected) in [
            ("null", Property::Absent),
            ("true", Property::Flag(true)),
            ("42", Property::Integer(42)),
            ("-0", Property::Integer(0)),
            ("9223372036854775808", text("9223372036854775808")),
            ("-340282366920938463463374607431768211456", text("-340282366920938463463374607431768211456")),
            ("1.5", Property::Number(1.5_f64.to_bits())),
            ("1e3", Property::Number(1000_f64.to_bits())),
            ("1e999", Property::Bad("an infinite number")),
            (r#""42""#, text("42")),
            (r#""a\"bA""#, text("a\"bA")),
            (r#""""#, text("")),
            ("[1]", Property::Bad("a list")),
            ("{}", Property::Bad("a map")),
        ] {
            assert_eq!(value(json), expected, "{json}");
        }
    }

    #[test]
    fn times() {
        for (line, expected) in [
            (r#"{"time": 1431857103.25, "timestamp": 5}"#, Ok(1_431_857_103_250_000)),
            (r#"{"time": null, "timestamp": "2015-05-17T10:05:03Z"}"#, Ok(1_431_857_103_000_000)),
            (r#"{"timestamp": "1431857103"}"#, Ok(1_431_857_103_000_000)),
            (r#"{"time": 1.431857103e9}"#, Ok(1_431_857_103_000_000)),
            (r#"{"at": 1}"#, Err(Why::NoTime)),
            (r#"{"time": "noon"}"#, Err(Why::BadTime)),
            (r#"{"time": [1]}"#, Err(Why::BadTime)),
            (r#"{"time": true}"#, Err(Why::BadTime)),
            (r#"{"time": -1}"#, Err(Why::BadTime)),
            (r#"{"time": 1"#, Err(Why::NotJson)),
            (r#"{"time": 1} {}"#, Err(Why::NotJson)),
            ("[1]", Err(Why::NotJson)),
            ("7", Err(Why::NotJson)),
            (r#"{"time": 1, "v": "\ud800"}"#, Err(Why::NotJson)),
        ] {
            assert_eq!(read(line, &["v"]).map(|(at_us, _)| at_us), expected, "{line}");
        }
    }

    #[test]
    fn a_time_may_be_a_property_and_the_last_of_two_keys_stands() {
        let (at_us, properties) = read(r#"{"time": 1, "time": 2}"#, &["time", "time2"]).expect("a request");
        assert_eq!((at_us, properties), (2_000_000, vec![Property::Integer(2), Property::Absent]));
    }
}
