//! The text that a limiter is made from.

use crate::heard::Listener;
use crate::status::Status;
use crate::{clock, rules, said};
use labkit_ratelimit::{
    Builder, Code, Documents, Evaluation, Finding, Findings, Limiter, OnError, RedisOptions, Source, Store, Topology,
};
use serde_json::{Map, Value as Json};
use std::time::Duration;

const FIELDS: [&str; 11] = [
    "name",
    "rules",
    "evaluation",
    "on_error",
    "store",
    "clock",
    "documents",
    "properties",
    "allowed_skip_rules",
    "strict",
    "findings",
];

/// Builds the limiter of a text; or says, as JSON, why it cannot be.
///
/// # Errors
/// The text is of no such form, or names a clock that is none.
pub(crate) fn build(text: &[u8]) -> Result<Result<Limiter, Json>, Status> {
    let config: Json = serde_json::from_slice(text).map_err(|_| Status::BadArgument)?;
    let config = config.as_object().ok_or(Status::BadArgument)?;
    if config.keys().any(|key| !FIELDS.contains(&key.as_str())) {
        return Err(Status::BadArgument);
    }
    let name = config.get("name").and_then(Json::as_str).ok_or(Status::BadArgument)?;
    let mut findings = found_by_host(config)?;
    let builder = Limiter::builder(name)
        .logger(Listener)
        .rules(rules::read(list(config, "rules")?, &mut findings))
        .properties(words(config, "properties")?)
        .allowed_skip_rules(words(config, "allowed_skip_rules")?)
        .strict_documents(flag(config, "strict")?);
    let builder = store(config, options(config, builder, &mut findings)?, &mut findings)?;
    let built = match documents(config)? {
        Some(documents) => builder.documents(documents).build(),
        None => builder.build(),
    };
    Ok(match built {
        Ok(limiter) if findings.is_empty() => Ok(limiter),
        Ok(_) => Err(said::not_built(name, &findings, None)),
        Err(error) => Err(said::not_built(name, &findings, Some(&error))),
    })
}

/// What the host found by itself, in what never comes here: `{"code", "path", "message"}` each.
fn found_by_host(config: &Map<String, Json>) -> Result<Findings, Status> {
    let finding = |found: &Json| {
        let word = |field: &str| found.get(field).and_then(Json::as_str).ok_or(Status::BadArgument);
        let code = word("code")?;
        let code = Code::ALL.iter().find(|known| known.as_str() == code).ok_or(Status::BadArgument)?;
        Ok(Finding::new(*code, word("path")?, word("message")?))
    };
    list(config, "findings")?.iter().map(finding).collect()
}

fn options(config: &Map<String, Json>, mut builder: Builder, findings: &mut Findings) -> Result<Builder, Status> {
    if let Some(word) = text(config, "evaluation")? {
        match Evaluation::parse(word) {
            Some(evaluation) => builder = builder.evaluation(evaluation),
            None => findings.push(unknown("evaluation", word, &Evaluation::ALL.map(Evaluation::as_str))),
        }
    }
    if let Some(word) = text(config, "on_error")? {
        match OnError::parse(word) {
            Some(on_error) => builder = builder.on_error(on_error),
            None => findings.push(unknown("on_error", word, &OnError::ALL.map(OnError::as_str))),
        }
    }
    if let Some(handle) = given(config, "clock") {
        let clock = handle.as_u64().and_then(clock::get).ok_or(Status::UnknownHandle)?;
        builder = builder.clock(clock);
    }
    Ok(builder)
}

fn unknown(option: &str, word: &str, known: &[&str]) -> Finding {
    Finding::new(Code::OptionInvalid, option, format!("{option} is {}, not `{word}`", known.join(" or ")))
}

/// `{"memory": {"max_keys": n}}`, `{"redis": {"topology": "single" or "cluster", "deadline_us": n}}`; or nothing: the
/// memory store that the process shares.
fn store(config: &Map<String, Json>, builder: Builder, findings: &mut Findings) -> Result<Builder, Status> {
    let Some(store) = given(config, "store") else { return Ok(builder) };
    let store = store.as_object().filter(|store| store.len() == 1).ok_or(Status::BadArgument)?;
    if let Some(memory) = store.get("memory") {
        let keys = memory.get("max_keys").and_then(Json::as_u64).and_then(|keys| usize::try_from(keys).ok());
        return Ok(builder.store(Store::memory(keys.ok_or(Status::BadArgument)?)));
    }
    let redis = store.get("redis").ok_or(Status::BadArgument)?;
    let topology = match redis.get("topology").and_then(Json::as_str) {
        Some("single") => Topology::Single,
        Some("cluster") => Topology::Cluster,
        _ => return Err(Status::BadArgument),
    };
    let mut options = RedisOptions { topology, ..RedisOptions::default() };
    match redis.get("deadline_us").and_then(Json::as_i64) {
        Some(us @ 1..) => options.deadline = Duration::from_micros(us.unsigned_abs()),
        Some(_) => findings.push(Finding::new(Code::OptionInvalid, "deadline", "a deadline is above 0")),
        None => return Err(Status::BadArgument),
    }
    Ok(builder.store(Store::Planned(options)))
}

fn documents(config: &Map<String, Json>) -> Result<Option<Documents>, Status> {
    given(config, "documents").map(read_documents).transpose()
}

/// `{"available_limiters": source, "rate_limits": [source, …]}`, a source being `{"name": …, "text": …}`, or `{"name":
/// …, "bytes": …}` in hex.
pub(crate) fn read_documents(given: &Json) -> Result<Documents, Status> {
    let mut documents = Documents::new();
    if let Some(available) = given.get("available_limiters").filter(|source| !source.is_null()) {
        documents = documents.available_limiters(source(available)?);
    }
    for file in given.get("rate_limits").and_then(Json::as_array).into_iter().flatten() {
        documents = documents.rate_limits(source(file)?);
    }
    Ok(documents)
}

fn source(given: &Json) -> Result<Source, Status> {
    let name = given.get("name").and_then(Json::as_str).ok_or(Status::BadArgument)?;
    if let Some(text) = given.get("text").and_then(Json::as_str) {
        return Ok(Source::new(name, text));
    }
    let bytes = given.get("bytes").and_then(Json::as_str).and_then(rules::unhex);
    Ok(Source::new(name, bytes.ok_or(Status::BadArgument)?))
}

fn given<'c>(config: &'c Map<String, Json>, field: &str) -> Option<&'c Json> {
    config.get(field).filter(|value| !value.is_null())
}

fn text<'c>(config: &'c Map<String, Json>, field: &str) -> Result<Option<&'c str>, Status> {
    given(config, field).map(|value| value.as_str().ok_or(Status::BadArgument)).transpose()
}

fn flag(config: &Map<String, Json>, field: &str) -> Result<bool, Status> {
    given(config, field).map_or(Ok(false), |value| value.as_bool().ok_or(Status::BadArgument))
}

fn list<'c>(config: &'c Map<String, Json>, field: &str) -> Result<&'c [Json], Status> {
    given(config, field).map_or(Ok(&[]), |value| value.as_array().map(Vec::as_slice).ok_or(Status::BadArgument))
}

fn words(config: &Map<String, Json>, field: &str) -> Result<Vec<String>, Status> {
    let word = |value: &Json| value.as_str().map(str::to_owned).ok_or(Status::BadArgument);
    list(config, field)?.iter().map(word).collect()
}
