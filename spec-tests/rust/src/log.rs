//! An access log under rules: every request decided at its own time.

use crate::scenario::World;
use crate::tags::Fact;
use labkit_ratelimit::{Decision, Documents, Limiter, ManualClock, RedisOptions, Rule, Source, Store, Value};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is played.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Log {
    limiter: String,
    available_limiters: Option<String>,
    rate_limits: Vec<String>,
    /// Groups of requests, in order of time: each at a Unix second of its own.
    seconds: Vec<(u64, Vec<BTreeMap<String, Json>>)>,
}

impl Log {
    fn documents(&self) -> Documents {
        let mut documents = Documents::new();
        if let Some(text) = &self.available_limiters {
            documents = documents.available_limiters(Source::new("available_limiters.yaml", text.clone()));
        }
        for (at, text) in self.rate_limits.iter().enumerate() {
            documents = documents.rate_limits(Source::new(format!("rate_limits.{at}.yaml"), text.clone()));
        }
        documents
    }

    fn limiter(&self, world: &World, clock: &Arc<ManualClock>) -> Result<Limiter, Box<dyn Error>> {
        let builder = Limiter::builder(&self.limiter).documents(self.documents()).strict_documents(true);
        Ok(match &world.backend {
            None => builder.store(Store::memory(1_000_000)).clock(Arc::clone(clock)).build()?,
            Some(backend) => {
                let deadline = Duration::from_secs(5);
                let options = RedisOptions { topology: world.topology, deadline, ..RedisOptions::default() };
                builder.store(Store::Connected(Arc::<crate::backend::Backend>::clone(backend), options)).build()?
            }
        })
    }
}

/// Plays the file; `print` gets each decision, and at last how many there were and how long they took.
pub(crate) fn play(file: &str, world: &World, mut print: impl FnMut(&Json)) -> Result<(), Box<dyn Error>> {
    let log: Log = serde_json::from_slice(&std::fs::read(file)?)?;
    let mut now = log.seconds.first().map_or(0, |(at, _)| *at);
    let clock = Arc::new(ManualClock::at_unix_seconds(now));
    let limiter = log.limiter(world, &clock)?;
    if let Some(backend) = &world.backend {
        backend.flush()?;
    }
    let (mut decisions, mut spent) = (Vec::new(), Duration::ZERO);
    for (at, requests) in &log.seconds {
        let by_us = i64::try_from((at - now) * 1_000_000)?;
        match &world.backend {
            _ if by_us == 0 => {}
            None => clock.advance_us(by_us),
            Some(backend) => backend.age(&log.limiter, by_us)?,
        }
        now = *at;
        let facts: Vec<Vec<(&str, Fact)>> = requests
            .iter()
            .map(|request| request.iter().map(|(name, value)| (name.as_str(), Fact::read(value))).collect())
            .collect();
        let identifiers: Vec<Vec<(&str, Value<'_>)>> =
            facts.iter().map(|facts| facts.iter().map(|(name, fact)| (*name, fact.value())).collect()).collect();
        let begun = Instant::now();
        decisions.extend(identifiers.iter().map(|identifier| limiter.check(identifier.as_slice())));
        spent += begun.elapsed();
    }
    for decision in &decisions {
        print(&written(decision));
    }
    print(&json!({"done": decisions.len(), "seconds": spent.as_secs_f64()}));
    Ok(())
}

fn written(decision: &Decision) -> Json {
    let over = decision.evaluations().iter().filter(|e| e.is_exceeded()).map(|e| e.rule().name()).collect::<Vec<_>>();
    let rule = decision.rule().map(Rule::name);
    json!({"action": decision.verdict().as_str(), "error": decision.is_error(), "rule": rule, "exceeded": over})
}
