//! Documents that Ruby has read already: their bytes, under the names that findings give them.

use crate::names;
use labkit_ratelimit::{Documents, Source};
use magnus::{Error, RArray, RHash, RString, Ruby, TryConvert as _, Value};

/// Documents, and what a limiter says beside them.
pub(crate) struct Given {
    pub(crate) documents: Documents,
    pub(crate) properties: Vec<String>,
    pub(crate) allowed_skip_rules: Vec<String>,
    pub(crate) is_strict: bool,
}

/// Reads `{available: [name, bytes], rate_limits: [[name, bytes], …], properties: […], allowed_skip_rules: […],
/// strict: bool}`.
///
/// # Errors
/// A `TypeError` for what is none of these.
pub(crate) fn read(ruby: &Ruby, given: RHash) -> Result<Given, Error> {
    let mut documents = Documents::new();
    if let Some(available) = names::entry(ruby, given, "available") {
        documents = documents.available_limiters(source(available)?);
    }
    if let Some(files) = names::entry(ruby, given, "rate_limits") {
        let files = RArray::try_convert(files)?;
        for at in 0..files.len() {
            documents = documents.rate_limits(source(files.entry(isize::try_from(at).unwrap_or(isize::MAX))?)?);
        }
    }
    Ok(Given {
        documents,
        properties: words(ruby, given, "properties")?,
        allowed_skip_rules: words(ruby, given, "allowed_skip_rules")?,
        is_strict: names::entry(ruby, given, "strict").is_some_and(magnus::value::ReprValue::to_bool),
    })
}

fn source(pair: Value) -> Result<Source, Error> {
    let pair = RArray::try_convert(pair)?;
    let name: String = pair.entry(0)?;
    let bytes: RString = pair.entry(1)?;
    // SAFETY: the bytes are copied before anything else happens.
    Ok(Source::new(name, unsafe { bytes.as_slice() }))
}

fn words(ruby: &Ruby, given: RHash, key: &str) -> Result<Vec<String>, Error> {
    let Some(list) = names::entry(ruby, given, key) else { return Ok(Vec::new()) };
    let list = RArray::try_convert(list)?;
    let mut words = Vec::with_capacity(list.len());
    for at in 0..list.len() {
        let value: Value = list.entry(isize::try_from(at).unwrap_or(isize::MAX))?;
        let word = names::word(value);
        words.push(word.ok_or_else(|| Error::new(ruby.exception_type_error(), format!("{key} takes names")))?);
    }
    Ok(words)
}
