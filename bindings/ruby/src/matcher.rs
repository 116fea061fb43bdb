//! Matchers as Ruby writes them.

use crate::fact::Fact;
use crate::names;
use crate::placeholder::Pattern;
use labkit_ratelimit::{MatcherSpec, PatternId, Scalar};
use magnus::r_hash::ForEach;
use magnus::{Error, RArray, RHash, Ruby, TryConvert as _, Value, prelude::*};

/// The matchers of a rule or an override: property → matcher.
///
/// # Errors
/// What a method of a value raised, unless that is a `StandardError`.
pub(crate) fn map(ruby: &Ruby, written: RHash) -> Result<Vec<(String, MatcherSpec)>, Error> {
    pairs(ruby, written, 0)
}

fn pairs(ruby: &Ruby, written: RHash, depth: usize) -> Result<Vec<(String, MatcherSpec)>, Error> {
    let mut read = Vec::with_capacity(written.len());
    written.foreach(|key: Value, value: Value| {
        read.push((names::word(key).unwrap_or_else(|| key.inspect()), one(ruby, value, depth)?));
        Ok(ForEach::Continue)
    })?;
    Ok(read)
}

fn one(ruby: &Ruby, written: Value, depth: usize) -> Result<MatcherSpec, Error> {
    if let Ok(pattern) = <&Pattern>::try_convert(written) {
        return Ok(MatcherSpec::Pattern(PatternId(pattern.id)));
    }
    let (list, nested) = (RArray::from_value(written), RHash::from_value(written));
    if (list.is_some() || nested.is_some()) && depth > MatcherSpec::MAX_DEPTH {
        // Too deep by now, whatever follows: a list may hold itself.
        return Ok(MatcherSpec::List(Vec::new()));
    }
    if let Some(nested) = nested {
        return pairs(ruby, nested, depth + 1).map(MatcherSpec::Map);
    }
    if let Some(list) = list {
        let mut entries = Vec::with_capacity(list.len());
        for at in 0..list.len() {
            entries.push(one(ruby, list.entry(isize::try_from(at).unwrap_or(isize::MAX))?, depth + 1)?);
        }
        return Ok(MatcherSpec::List(entries));
    }
    scalar(ruby, written)
}

fn scalar(ruby: &Ruby, written: Value) -> Result<MatcherSpec, Error> {
    let scalar = match Fact::odd(ruby, written)?.copied() {
        Fact::Null => Scalar::Null,
        Fact::Bool(flag) => Scalar::Bool(flag),
        Fact::Int(n) => Scalar::Int(n),
        Fact::Float(f) if f.is_nan() => return Ok(MatcherSpec::BadScalar("NaN".to_owned())),
        Fact::Float(f) if f.is_infinite() => return Ok(MatcherSpec::BadScalar("an infinite number".to_owned())),
        Fact::Float(f) => Scalar::Float(f),
        Fact::Bad(what) => return Ok(MatcherSpec::BadScalar(what.into_owned())),
        Fact::Copy(bytes) => match String::from_utf8(bytes.into_vec()) {
            Ok(text) => Scalar::Text(text),
            Err(other) => Scalar::Bytes(other.into_bytes()),
        },
        Fact::Text(_) => unreachable!("it was copied"),
    };
    Ok(MatcherSpec::Scalar(scalar))
}
