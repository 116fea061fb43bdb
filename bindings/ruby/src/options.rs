//! The options of a limiter.

use crate::clock::Clock;
use crate::{documents, names};
use labkit_ratelimit::{Builder, Code, Evaluation, Finding, Findings, OnError, RedisOptions, Store, Topology};
use magnus::{Error, RHash, Ruby, TryConvert as _, prelude::*};
use std::sync::Arc;
use std::time::Duration;

/// What a host may call a store.
const STORES: [&str; 2] = ["memory", "host"];
/// What a Redis may be.
const TOPOLOGIES: [(&str, Topology); 2] = [("single", Topology::Single), ("cluster", Topology::Cluster)];

/// Puts the options into `builder`; a value that is none goes to `findings`.
///
/// # Errors
/// A `TypeError` for documents that are no documents, a number that is none.
pub(crate) fn apply(
    ruby: &Ruby,
    options: RHash,
    findings: &mut Findings,
    mut builder: Builder,
) -> Result<Builder, Error> {
    let mut word = |option: &str, known: &[&str]| {
        let value = names::entry(ruby, options, option)?;
        let word = names::word(value).unwrap_or_else(|| value.inspect());
        if known.contains(&word.as_str()) {
            return Some(word);
        }
        let message = format!("{option} is {}, not {word}", known.join(" or "));
        findings.push(Finding::new(Code::OptionInvalid, option, message));
        None
    };
    if let Some(evaluation) = word("evaluation", &Evaluation::ALL.map(Evaluation::as_str)) {
        builder = builder.evaluation(Evaluation::parse(&evaluation).unwrap_or_default());
    }
    if let Some(on_error) = word("on_error", &OnError::ALL.map(OnError::as_str)) {
        builder = builder.on_error(OnError::parse(&on_error).unwrap_or_default());
    }
    let store = word("store", &STORES);
    let topology = word("topology", &TOPOLOGIES.map(|(name, _)| name));
    if store.as_deref() == Some("host") {
        let topology = TOPOLOGIES.into_iter().find(|(name, _)| topology.as_deref() == Some(name));
        let mut redis = RedisOptions { topology: topology.map(|(_, it)| it).unwrap_or_default(), ..Default::default() };
        if let Some(seconds) = names::entry(ruby, options, "deadline_s") {
            match Duration::try_from_secs_f64(f64::try_convert(seconds)?) {
                Ok(deadline) if !deadline.is_zero() => redis.deadline = deadline,
                _ => findings.push(Finding::new(Code::OptionInvalid, "deadline_s", "a deadline is above 0 seconds")),
            }
        }
        builder = builder.store(Store::Planned(redis));
    } else if let Some(most) = names::entry(ruby, options, "max_keys") {
        builder = builder.store(Store::memory(usize::try_convert(most)?));
    }
    if let Some(clock) = names::entry(ruby, options, "clock") {
        builder = builder.clock(Arc::clone(&<&Clock>::try_convert(clock)?.clock));
    }
    if let Some(given) = names::entry(ruby, options, "documents") {
        let given = documents::read(ruby, RHash::try_convert(given)?)?;
        builder = builder
            .documents(given.documents)
            .properties(given.properties)
            .allowed_skip_rules(given.allowed_skip_rules)
            .strict_documents(given.is_strict);
    }
    Ok(builder)
}
