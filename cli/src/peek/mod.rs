//! `peek`: where one request stands, on a Redis.

mod arguments;
mod human;
mod report;
mod unreadable;

pub(crate) use arguments::Arguments;

use crate::mistake::Mistake;
use crate::note;
use crate::output::{self, OutputFormat};
use crate::redis_server;
use crate::stored_limiter::StoredLimiter;
use report::Report;

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Mistake> {
    let stored = arguments.stored.read()?;
    note_not_given(&stored);
    let decision = stored.limiter.peek(&stored.identity.values());
    // A limiter answers in any case. Without the Redis that is no answer here.
    let events = stored.logs.take();
    let reasons = redis_server::reasons(&events);
    if decision.is_error() || decision.is_degraded() || reasons.is_some() {
        let failed = stored.redis.failed(reasons.as_deref().unwrap_or("the check has no verdict"));
        return Err(unreadable::explain(&stored, &events)?.unwrap_or(failed));
    }
    let report = Report::new(&decision);
    output::write(|out| match arguments.format {
        OutputFormat::Human => human::write(out, &report, stored.limiter.name(), &stored.redis.address),
        OutputFormat::Json => {
            serde_json::to_writer_pretty(&mut *out, &report)?;
            writeln!(out)
        }
    })
}

/// Says what would be known of a real request: without it, counters are those of all who lack it.
fn note_not_given(stored: &StoredLimiter) {
    let names = stored.identity.not_given(&stored.limiter.rules());
    if !names.is_empty() {
        let names = names.join(", ");
        note::write(&format!(
            "not given: {names}; of a rule that counts by it, the counter of all who lack it is shown"
        ));
    }
}
