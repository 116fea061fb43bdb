//! `replay`: an access log through rules, on the clock of the log.

mod arguments;
mod changes;
mod changes_report;
mod decisions;
mod difference;
mod failures;
mod human;
mod identities;
mod minutes;
mod picture;
mod report;
mod requests;
mod side;
mod simulation;
mod tally;
mod values;

pub(crate) use arguments::Arguments;

use crate::access_log::{self, Format, Source, Wanted};
use crate::mistake::Mistake;
use crate::output::{self, OutputFormat};
use crate::output_file::{self, OutputFile};
use crate::progress;
use changes::Changes;
use changes_report::ChangesReport;
use decisions::Decisions;
use picture::Buckets;
use report::{Against, LogReport, Outcome, Report};
use requests::Requests;
use side::Side;
use simulation::{Aftermath, Running};
use std::path::Path;
use tally::Tally;

/// Requests between two steps of the progress bar.
const STEP: usize = 8192;

/// What came of all requests.
#[derive(Debug)]
struct Ran {
    a: (Tally, Aftermath),
    b: Option<(Tally, Aftermath)>,
    changes: Option<Changes>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Mistake> {
    if arguments.read().filter(|path| *path == Path::new("-")).count() > 1 {
        return Err(Mistake::Misuse("`-` stands twice: standard input can be read once".into()));
    }
    let (a, b) = side::read(arguments)?;
    let (decisions, picture) = files(arguments)?;
    let (requests, log) = read(arguments, &properties(&a, b.as_ref()))?;
    let mut decisions = decisions.map(Decisions);
    let ran = decide(&requests, &a, b.as_ref(), decisions.as_mut())?;
    let buckets = Buckets::new(&ran.a.0.minutes, ran.b.as_ref().map(|(tally, _)| &tally.minutes));
    let report = report(arguments, log, &requests, ran, &a, b.as_ref());
    if let Some(Decisions(file)) = decisions {
        file.keep()?;
    }
    if let Some((kind, mut file)) = arguments.picture.as_ref().map(|picture| picture.kind).zip(picture) {
        file.write(|out| picture::write(out, kind, &report, &buckets))?;
        file.keep()?;
    }
    output::write(|out| match (arguments.format, &report.changes) {
        (OutputFormat::Human, None) => human::write(out, &report),
        (OutputFormat::Human, Some(changes)) => difference::write(out, &report, changes),
        (OutputFormat::Json, _) => {
            serde_json::to_writer_pretty(&mut *out, &report)?;
            writeln!(out)
        }
    })
}

/// The properties that rules of either mention.
fn properties(a: &Side, b: Option<&Side>) -> Vec<String> {
    let mut properties = a.simulation.properties();
    for property in b.into_iter().flat_map(|b| b.simulation.properties()) {
        if !properties.contains(&property) {
            properties.push(property);
        }
    }
    properties
}

/// Begins the files that are asked for.
fn files(arguments: &Arguments) -> Result<(Option<OutputFile>, Option<OutputFile>), Mistake> {
    let picture = arguments.picture.as_ref().map(|picture| picture.path.as_path());
    let decisions = arguments.decisions.as_deref();
    if let Some((decisions, picture)) = decisions.zip(picture)
        && output_file::is_one_file(decisions, picture)
    {
        let picture = picture.display();
        return Err(Mistake::Misuse(format!("--decisions and --picture both name {picture}; name two files")));
    }
    let read: Vec<&Path> = arguments.read().collect();
    let begin = |option, path: Option<&Path>| path.map(|path| OutputFile::create(option, path, &read)).transpose();
    Ok((begin("--decisions", decisions)?, begin("--picture", picture)?))
}

/// Decides every request, in order, under both.
fn decide(
    requests: &Requests,
    a: &Side,
    b: Option<&Side>,
    mut decisions: Option<&mut Decisions>,
) -> Result<Ran, Mistake> {
    let mut changes = b.map(|b| Changes::new(&a.simulation.rules(), &b.simulation.rules(), requests));
    let mut a = a.simulation.start(requests);
    let mut b = b.map(|b| b.simulation.start(requests));
    let bar = progress::bar("deciding", u64::try_from(requests.len()).ok(), progress::REQUESTS);
    for (done, request) in requests.iter().enumerate() {
        if done % STEP == 0 {
            bar.set_position(u64::try_from(done).unwrap_or(u64::MAX));
        }
        let under_a = a.decide(request);
        let under_b = b.as_mut().map(|b| b.decide(request));
        if let Some((changes, under_b)) = changes.as_mut().zip(under_b.as_ref()) {
            changes.add(requests, &request, &under_a, under_b);
        }
        if let Some(decisions) = &mut decisions {
            decisions.write(request.line, &under_a, under_b.as_ref())?;
        }
    }
    bar.finish_and_clear();
    Ok(Ran { a: a.finish(), b: b.map(Running::finish), changes })
}

fn report(arguments: &Arguments, log: LogReport, requests: &Requests, ran: Ran, a: &Side, b: Option<&Side>) -> Report {
    let top = arguments.top;
    let outcome = |side: &Side, (tally, aftermath)| Outcome::new(&side.chain, requests, &tally, aftermath, top);
    let changes = ran.changes.as_ref().zip(b);
    Report {
        limiter: a.chain.name.clone(),
        documents: a.documents(),
        log,
        from: requests.iter().next().map(|request| report::instant(request.at_us)),
        to: requests.iter().next_back().map(|request| report::instant(request.at_us)),
        changes: changes.map(|(changes, b)| ChangesReport::new(changes, &a.chain.rules, &b.chain.rules, requests, top)),
        outcome: outcome(a, ran.a),
        against: b.zip(ran.b).map(|(b, ran)| Against { documents: b.documents(), outcome: outcome(b, ran) }),
    }
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
            .map(|example| format!("line {}: {}", example.line, example.detail))
            .collect();
        let what = format!("no line of {name} could be read as {}", Format::as_str(format));
        return Err(Mistake::Explained { what, below: reasons });
    }
    requests.sort();
    let log = LogReport::new(name, format, notes, &requests);
    Ok((requests, log))
}
