//! Matchers as Python writes them.

use crate::fact::Fact;
use crate::host::Asked;
use labkit_ratelimit::{MatcherSpec, Scalar};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

/// The matchers of a rule or an override: property → matcher.
///
/// # Errors
/// What a method of a value raised, unless that is an `Exception`.
pub(crate) fn map(asked: &mut Asked, written: &Bound<'_, PyDict>) -> PyResult<Vec<(String, MatcherSpec)>> {
    pairs(asked, written, 0)
}

fn pairs(asked: &mut Asked, written: &Bound<'_, PyDict>, depth: usize) -> PyResult<Vec<(String, MatcherSpec)>> {
    let one = |(key, value): (Bound<'_, PyAny>, _)| {
        let name = key.cast::<PyString>().map_or_else(|_| key.repr(), |name| Ok(name.clone()))?;
        Ok((name.to_string_lossy().into_owned(), matcher(asked, &value, depth)?))
    };
    written.iter().map(one).collect()
}

fn matcher(asked: &mut Asked, written: &Bound<'_, PyAny>, depth: usize) -> PyResult<MatcherSpec> {
    let (list, nested) = (written.cast::<PyList>(), written.cast::<PyDict>());
    if (list.is_ok() || nested.is_ok()) && depth > MatcherSpec::MAX_DEPTH {
        // Too deep by now, whatever follows: a list may hold itself.
        return Ok(MatcherSpec::List(Vec::new()));
    }
    if let Ok(nested) = nested {
        return pairs(asked, nested, depth + 1).map(MatcherSpec::Map);
    }
    if let Ok(list) = list {
        let entries = list.iter().map(|entry| matcher(asked, &entry, depth + 1));
        return entries.collect::<PyResult<_>>().map(MatcherSpec::List);
    }
    match asked.pattern(written) {
        Some(pattern) => Ok(MatcherSpec::Pattern(pattern)),
        None => scalar(written),
    }
}

fn scalar(written: &Bound<'_, PyAny>) -> PyResult<MatcherSpec> {
    let scalar = match Fact::of(written.clone())? {
        Fact::Null => Scalar::Null,
        Fact::Bool(flag) => Scalar::Bool(flag),
        Fact::Int(n) => Scalar::Int(n),
        Fact::Float(f) if f.is_nan() => return Ok(MatcherSpec::BadScalar("NaN".to_owned())),
        Fact::Float(f) if f.is_infinite() => return Ok(MatcherSpec::BadScalar("an infinite number".to_owned())),
        Fact::Float(f) => Scalar::Float(f),
        Fact::Text(text) => Scalar::Text(text.to_string_lossy().into_owned()),
        Fact::Bytes(bytes) => match std::str::from_utf8(bytes.as_bytes()) {
            Ok(text) => Scalar::Text(text.to_owned()),
            Err(_) => Scalar::Bytes(bytes.as_bytes().to_vec()),
        },
        Fact::Bad(what) => return Ok(MatcherSpec::BadScalar(what.into_owned())),
    };
    Ok(MatcherSpec::Scalar(scalar))
}
