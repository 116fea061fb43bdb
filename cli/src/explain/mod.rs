//! `explain`: how one request meets every rule.

mod arguments;
mod human;
mod matcher_words;
mod report;

pub(crate) use arguments::Arguments;

use crate::mistake::Mistake;
use crate::output::{self, OutputFormat};
use labkit_ratelimit::Rules;
use labkit_ratelimit_engine::NoHost;
use report::Report;

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Mistake> {
    let identity = arguments.identity.read()?;
    let chosen = arguments.limiter.read()?;
    // Rules of documents build, and ask no host.
    let rules = Rules::build(&chosen.chain.name, &chosen.chain.rules, chosen.chain.evaluation)
        .map_err(|findings| Mistake::Misuse(findings.to_string()))?;
    let values = identity.values();
    let facts = rules.facts(&values).map_err(|failure| Mistake::Misuse(failure.to_string()))?;
    let explanation = rules.explain(&facts, &NoHost).map_err(|failure| Mistake::Misuse(failure.to_string()))?;
    let report = Report::new(&chosen, &rules, &identity, &facts, &explanation);
    output::write(|out| match arguments.format {
        OutputFormat::Human => human::write(out, &report, &identity),
        OutputFormat::Json => {
            serde_json::to_writer_pretty(&mut *out, &report)?;
            writeln!(out)
        }
    })
}
