//! `replay`: an access log through rules, on the clock of the log.

mod arguments;
mod decisions;
mod failures;
mod human;
mod identities;
mod minutes;
mod report;
mod requests;
mod simulation;
mod table;
mod tally;
mod values;
mod words;

pub(crate) use arguments::Arguments;

use crate::access_log::{self, Format, Source, Wanted};
use crate::mistake::Mistake;
use crate::output::{self, OutputFormat};
use crate::{progress, rules_file};
use report::{LogReport, Report};
use requests::Requests;
use simulation::Simulation;

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Mistake> {
    let document = rules_file::limiter_of(&arguments.rules, arguments.limiter.as_deref())?;
    let simulation = Simulation::new(&document)?;
    let (requests, log) = read(arguments, &simulation.properties())?;
    let mut decisions = arguments.decisions.as_deref().map(|path| decisions::create(path, arguments)).transpose()?;
    let (tally, aftermath) = simulation.run(&requests, &mut |line, decision| {
        decisions.as_mut().map_or(Ok(()), |decisions| decisions.write(line, decision))
    })?;
    if let Some(decisions) = decisions {
        decisions.finish()?;
    }
    let report = Report::new(arguments, log, &document, &requests, &tally, aftermath);
    output::write(|out| match arguments.format {
        OutputFormat::Human => human::write(out, &report),
        OutputFormat::Json => {
            serde_json::to_writer_pretty(&mut *out, &report)?;
            writeln!(out)
        }
    })
}

/// Reads the log and puts its requests in the order of time.
fn read(arguments: &Arguments, properties: &[String]) -> Result<(Requests, LogReport), Mistake> {
    let bar = progress::bar("reading", None, progress::BYTES);
    let source = Source::open(&arguments.log, &bar)?;
    let name = source.name.clone();
    let time_fields = arguments.time_fields();
    let asked = arguments.log_format.format();
    let format = asked.or_else(|| access_log::detect(&source.head, &time_fields)).ok_or_else(|| {
        Mistake::Misuse(if source.head.is_empty() {
            format!("{name} is empty: no line could be read")
        } else {
            format!(
                "{name} begins in no format that is known: its first lines (at most {} of them, and 1 MiB) \
                 do not tell it. Name the format with --log-format",
                access_log::LINES_TRIED
            )
        })
    })?;
    let mut requests = Requests::new(properties.to_vec());
    let wanted = Wanted { properties, time_fields: &time_fields, format, detected: asked.is_none() };
    let notes = access_log::read(source, &wanted, |line, entry| requests.push(line, entry))?;
    bar.finish_and_clear();
    if requests.is_empty() {
        let reasons: Vec<String> = notes
            .unreadable
            .reasons
            .iter()
            .flat_map(|group| &group.first)
            .map(|example| format!("\n  line {}: {}", example.line, example.detail))
            .collect();
        return Err(Mistake::Misuse(format!(
            "no line of {name} could be read as {}{}",
            Format::as_str(format),
            reasons.concat()
        )));
    }
    requests.sort();
    let log = LogReport::new(name, format, notes, &requests);
    Ok((requests, log))
}
