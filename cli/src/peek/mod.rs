//! `peek`: where one request stands, on a Redis.

mod arguments;
mod human;
mod report;

pub(crate) use arguments::Arguments;

use crate::mistake::Mistake;
use crate::output::{self, OutputFormat};
use crate::redis_server;
use report::Report;

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Mistake> {
    let stored = arguments.stored.read()?;
    let decision = stored.limiter.peek(&stored.identity.values());
    // A limiter answers in any case. Without the Redis that is no answer here.
    let reasons = redis_server::reasons(&stored.logs.take());
    if decision.is_error() || decision.is_degraded() || reasons.is_some() {
        return Err(stored.redis.failed(reasons.as_deref().unwrap_or("the check has no verdict")));
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
