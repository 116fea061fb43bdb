//! `labkit-ratelimit-bench`: every benchmark beside its target, as a table. `README.md` says what each row means.

mod chain;
mod documents;
mod machine;
mod memory;
mod peers;
mod redis_cost;
mod report;
mod rounds;
mod ruby;
mod server;

use machine::Machine;
use report::Report;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;
use std::env;
use std::error::Error;
use std::process::ExitCode;

/// The system's allocator, which counts.
#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const USAGE: &str = "bench/run [--format markdown|json] [--gate] [--rounds N] [--only SECTION]
sections: governor, threads, rules, documents, memory, redis, field, ruby";
const SECTIONS: [&str; 8] = ["governor", "threads", "rules", "documents", "memory", "redis", "field", "ruby"];
/// The fewest rounds that a median is taken of.
const FEWEST: usize = 7;

struct Options {
    json: bool,
    gate: bool,
    rounds: usize,
    only: Option<String>,
}

impl Options {
    fn read(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self { json: false, gate: false, rounds: 9, only: None };
        while let Some(arg) = args.next() {
            let value =
                |args: &mut dyn Iterator<Item = String>| args.next().ok_or_else(|| format!("{arg} takes a value"));
            match arg.as_str() {
                "--gate" => options.gate = true,
                "--format" => match value(&mut args)?.as_str() {
                    "json" => options.json = true,
                    "markdown" => options.json = false,
                    other => return Err(format!("no format `{other}`")),
                },
                "--rounds" => {
                    let rounds = value(&mut args)?.parse().ok().filter(|rounds| *rounds >= FEWEST);
                    options.rounds = rounds.ok_or_else(|| format!("--rounds takes a number of {FEWEST} or more"))?;
                }
                "--only" => {
                    let section = value(&mut args)?;
                    if !SECTIONS.contains(&section.as_str()) {
                        return Err(format!("no section `{section}`"));
                    }
                    options.only = Some(section);
                }
                other => return Err(format!("no option `{other}`")),
            }
        }
        Ok(options)
    }

    fn wants(&self, section: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == section)
    }
}

/// Measures; what was found out about versions goes to `machine`.
fn measure(options: &Options, machine: &mut Machine) -> Result<Report, Box<dyn Error>> {
    let mut report = Report::default();
    let rounds = options.rounds;
    // Memory first: the children start from a parent that is still small.
    if options.wants("memory") {
        memory::live_keys(&mut report)?;
    }
    if options.wants("field") {
        memory::field_case(&mut report)?;
    }
    if options.wants("governor") {
        peers::beside_governor(rounds, &mut report);
    }
    if options.wants("threads") {
        peers::two_threads(rounds, &mut report);
    }
    if options.wants("rules") {
        chain::four_matching_rules(rounds, HEAP, &mut report);
    }
    if options.wants("documents") {
        documents::two_thousand_rules(rounds, &mut report);
    }
    if options.wants("redis") {
        redis_cost::beside_a_plain_script(rounds, &mut report)?;
    }
    if options.wants("ruby") {
        machine.versions.extend(ruby::gem(rounds, &mut report)?);
    }
    Ok(report)
}

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a table is what this program is for")]
fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    if let [flag, case] = args.as_slice()
        && flag == "--child"
    {
        println!("{}", memory::child(case));
        return ExitCode::SUCCESS;
    }
    let options = match Options::read(args.into_iter()) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let mut machine = Machine::here();
    let report = match measure(&options, &mut machine) {
        Ok(report) => report,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    if options.json {
        println!("{:#}", report.json(&machine, options.rounds));
    } else {
        println!("{}", report.markdown(&machine, options.rounds));
    }
    if options.gate && report.is_missed() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
