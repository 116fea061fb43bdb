//! Matchers as messages.

use super::match_value::Kind;
use super::{MatchList, MatchValue, Scalar as ScalarMessage, ScalarList, StringList, scalar};
use labkit_ratelimit_engine::{MatcherSpec, Scalar};
use std::collections::BTreeMap;

/// Matchers of a rule or an override, as it is written.
pub(crate) fn specs(matchers: &BTreeMap<String, MatchValue>) -> Vec<(String, MatcherSpec)> {
    matchers.iter().map(|(property, value)| (property.clone(), spec(value))).collect()
}

/// The same as a message, if one can say it.
pub(crate) fn messages(matchers: &[(String, MatcherSpec)]) -> Option<BTreeMap<String, MatchValue>> {
    matchers.iter().map(|(property, spec)| Some((property.clone(), message(spec)?))).collect()
}

fn spec(value: &MatchValue) -> MatcherSpec {
    let Some(kind) = &value.kind else { return MatcherSpec::Map(Vec::new()) };
    match kind {
        Kind::Eq(scalar) => scalar_spec(scalar),
        Kind::Regex(pattern) => MatcherSpec::marker("regex", pattern.clone()),
        Kind::OneOf(list) => MatcherSpec::marker("one_of", scalar_list(list)),
        Kind::Ne(scalar) => MatcherSpec::marker("ne", scalar_spec(scalar)),
        Kind::Nre(pattern) => MatcherSpec::marker("nre", pattern.clone()),
        Kind::NoneOf(list) => MatcherSpec::marker("none_of", scalar_list(list)),
        Kind::Not(inner) => spec(inner).negated(),
        Kind::Prefix(text) => MatcherSpec::marker("prefix", text.clone()),
        Kind::Cidr(networks) => MatcherSpec::cidr(networks.values.iter().cloned()),
        // In a list a plain value is written as the map of its marker.
        Kind::All(list) => MatcherSpec::all(list.values.iter().map(|entry| match &entry.kind {
            Some(Kind::Eq(scalar)) => MatcherSpec::marker("eq", scalar_spec(scalar)),
            _ => spec(entry),
        })),
    }
}

fn scalar_list(list: &ScalarList) -> MatcherSpec {
    MatcherSpec::List(list.values.iter().map(scalar_spec).collect())
}

fn scalar_spec(scalar: &ScalarMessage) -> MatcherSpec {
    MatcherSpec::Scalar(match &scalar.kind {
        None => return MatcherSpec::BadScalar("nothing".into()),
        Some(scalar::Kind::Number(f)) if !f.is_finite() => return MatcherSpec::BadScalar(f.to_string()),
        Some(scalar::Kind::Null(_)) => Scalar::Null,
        Some(scalar::Kind::Text(text)) => Scalar::Text(text.clone()),
        Some(scalar::Kind::Integer(n)) => Scalar::Int(*n),
        Some(scalar::Kind::Number(f)) => Scalar::Float(*f),
        Some(scalar::Kind::Boolean(flag)) => Scalar::Bool(*flag),
    })
}

fn message(spec: &MatcherSpec) -> Option<MatchValue> {
    let kind = match spec {
        MatcherSpec::Scalar(scalar) => Kind::Eq(scalar_message(scalar)?),
        MatcherSpec::List(entries) => {
            let maps = |entry: &MatcherSpec| matches!(entry, MatcherSpec::Map(_) | MatcherSpec::List(_));
            let entries = entries.iter().map(|entry| Some(entry).filter(|entry| maps(entry)).and_then(message));
            Kind::All(MatchList { values: entries.collect::<Option<_>>()? })
        }
        MatcherSpec::Map(pairs) => match pairs.as_slice() {
            [(marker, operand)] => marked(marker, operand)?,
            // A map of nothing is a matcher of no kind.
            [] => return Some(MatchValue::default()),
            _ => return None,
        },
        MatcherSpec::BadScalar(_) | MatcherSpec::Pattern(_) => return None,
    };
    Some(MatchValue { kind: Some(kind) })
}

fn marked(marker: &str, operand: &MatcherSpec) -> Option<Kind> {
    Some(match marker {
        "eq" => Kind::Eq(scalar_of(operand)?),
        "ne" => Kind::Ne(scalar_of(operand)?),
        "regex" | "re" => Kind::Regex(text(operand)?),
        "nre" => Kind::Nre(text(operand)?),
        "one_of" | "oneOf" => Kind::OneOf(scalars(operand)?),
        "none_of" | "noneOf" => Kind::NoneOf(scalars(operand)?),
        "not" => Kind::Not(Box::new(message(operand)?)),
        "prefix" => Kind::Prefix(text(operand)?),
        "cidr" => Kind::Cidr(networks(operand)?),
        _ => return None,
    })
}

fn scalar_of(spec: &MatcherSpec) -> Option<ScalarMessage> {
    if let MatcherSpec::Scalar(scalar) = spec { scalar_message(scalar) } else { None }
}

fn text(spec: &MatcherSpec) -> Option<String> {
    if let MatcherSpec::Scalar(Scalar::Text(text)) = spec { Some(text.clone()) } else { None }
}

fn scalars(spec: &MatcherSpec) -> Option<ScalarList> {
    let MatcherSpec::List(entries) = spec else { return None };
    Some(ScalarList { values: entries.iter().map(scalar_of).collect::<Option<_>>()? })
}

fn networks(spec: &MatcherSpec) -> Option<StringList> {
    let entries = if let MatcherSpec::List(entries) = spec { entries } else { std::slice::from_ref(spec) };
    Some(StringList { values: entries.iter().map(text).collect::<Option<_>>()? })
}

fn scalar_message(scalar: &Scalar) -> Option<ScalarMessage> {
    let kind = match scalar {
        Scalar::Null => scalar::Kind::Null(0),
        Scalar::Bool(flag) => scalar::Kind::Boolean(*flag),
        Scalar::Int(n) => scalar::Kind::Integer(*n),
        Scalar::Float(f) => scalar::Kind::Number(*f),
        Scalar::Text(text) => scalar::Kind::Text(text.clone()),
        Scalar::Bytes(_) => return None,
    };
    Some(ScalarMessage { kind: Some(kind) })
}
