//! `labkit-ratelimit-bench`: every benchmark beside its target, as a table. `README.md` says what each row means.

mod ceiling;
mod chain;
mod documents;
mod go;
mod machine;
mod memory;
mod native_rate;
mod pages;
mod peers;
mod redis_cost;
mod report;
mod rounds;
mod run;
mod sdk;
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

const USAGE: &str = "bench/run [--format markdown|json|short] [--write] [--gate] [--rounds N] [--only SECTION]
sections: governor, threads, rules, documents, memory, redis, field, ruby, go, python";
const SECTIONS: [&str; 10] =
    ["governor", "threads", "rules", "documents", "memory", "redis", "field", "ruby", "go", "python"];
/// The sections that are packages: each measures itself.
const PACKAGES: [&str; 3] = ["ruby", "go", "python"];
/// The fewest rounds that a median is taken of.
const FEWEST: usize = 7;

enum Format {
    Markdown,
    Json,
    Short,
}

struct Options {
    format: Format,
    write: bool,
    gate: bool,
    rounds: usize,
    only: Option<String>,
}

impl Options {
    fn read(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self { format: Format::Markdown, write: false, gate: false, rounds: 9, only: None };
        while let Some(arg) = args.next() {
            let value =
                |args: &mut dyn Iterator<Item = String>| args.next().ok_or_else(|| format!("{arg} takes a value"));
            match arg.as_str() {
                "--gate" => options.gate = true,
                "--write" => options.write = true,
                "--format" => match value(&mut args)?.as_str() {
                    "json" => options.format = Format::Json,
                    "markdown" => options.format = Format::Markdown,
                    "short" => options.format = Format::Short,
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
        if options.write && options.only.is_some() {
            return Err("--write is for a run of all sections".to_owned());
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
        native_rate::beside_the_ceiling(rounds, &mut report)?;
    }
    for section in PACKAGES.into_iter().filter(|section| options.wants(section)) {
        machine.versions.extend(sdk::measured(section, rounds, &mut report)?);
    }
    Ok(report)
}

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a child tells its numbers, and misuse is said")]
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
    match run(&options) {
        Ok(missed) => ExitCode::from(u8::from(options.gate && missed)),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Measures, writes and prints; gives whether a target is missed.
#[expect(clippy::print_stdout, reason = "a table is what this program is for")]
fn run(options: &Options) -> Result<bool, Box<dyn Error>> {
    let mut machine = Machine::here();
    let report = measure(options, &mut machine)?;
    let run = report.run(&machine, options.rounds);
    if options.write {
        pages::write(&run)?;
    }
    match options.format {
        Format::Markdown => println!("{}", run.markdown()),
        Format::Json => println!("{}", serde_json::to_string_pretty(&run)?),
        Format::Short => println!("{}", run.short()),
    }
    Ok(report.is_missed())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, String> {
        Options::read(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn usage_names_every_section_and_each_can_be_had_alone() {
        let named: Vec<_> = USAGE.split("sections: ").nth(1).unwrap_or("").split(", ").collect();
        assert_eq!(named, SECTIONS);
        for section in SECTIONS {
            let options = read(&format!("--only {section}")).expect("options");
            assert_eq!(SECTIONS.iter().filter(|other| options.wants(other)).collect::<Vec<_>>(), [&section]);
        }
        assert!(PACKAGES.iter().all(|section| SECTIONS.contains(section)));
    }

    #[test]
    fn pages_hold_whole_runs_alone() {
        assert!(read("--write --rounds 7 --format short").is_ok_and(|options| options.write));
        assert!(read("--write --only go").is_err());
        assert!(read("--only perl").is_err() && read("--rounds 6").is_err() && read("--format csv").is_err());
    }
}
