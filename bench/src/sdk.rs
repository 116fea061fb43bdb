//! What the packages for Ruby, Go and Python cost: each measures itself, and tells rows with their targets.

use crate::ceiling::{Ceiling, Keys, Load};
use crate::go;
use crate::report::{Beside, Report, Target};
use crate::server::Server;
use serde::Deserialize;
use std::error::Error;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a package tells: `ruby/measure.rb` and `python/compare.py` as JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Told {
    /// What it was measured with.
    pub(crate) versions: Vec<String>,
    pub(crate) rows: Vec<ToldRow>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToldRow {
    pub(crate) what: String,
    pub(crate) value: f64,
    pub(crate) unit: Unit,
    #[serde(default)]
    pub(crate) target: Option<Bound>,
    /// A ratio to a peer, for the short table.
    #[serde(default)]
    pub(crate) beside: Option<Beside>,
    /// A number of checks a second: what `redis-benchmark` gets under the same load is told beside it.
    #[serde(default)]
    pub(crate) ceiling: Option<Load>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) enum Unit {
    #[serde(rename = "µs")]
    Micros,
    #[serde(rename = "ns")]
    Nanos,
    #[serde(rename = "×")]
    Times,
    #[serde(rename = "/s")]
    PerSecond,
    #[serde(rename = "")]
    Count,
}

impl Unit {
    const fn text(self) -> &'static str {
        match self {
            Self::Micros => "µs",
            Self::Nanos => "ns",
            Self::Times => "×",
            Self::PerSecond => "/s",
            Self::Count => "",
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl From<Bound> for Target {
    fn from(bound: Bound) -> Self {
        match bound {
            Bound::AtMost(most) => Self::AtMost(most),
            Bound::AtLeast(least) => Self::AtLeast(least),
        }
    }
}

/// Builds a package, and measures it on a Redis of its own. Gives the versions that it was measured with.
pub(crate) fn measured(
    section: &'static str,
    rounds: usize,
    report: &mut Report,
) -> Result<Vec<String>, Box<dyn Error>> {
    type Measure = fn(&mut Ceiling, usize) -> Result<Told, Box<dyn Error>>;
    let alone = Load::new(3, 1);
    let (name, keys, loads, measure): (_, _, &[Load], Measure) = match section {
        "ruby" => ("Ruby", Keys::Users, &[alone], ruby),
        "go" => ("Go", Keys::Go, &[alone, Load::new(3, 50)], go::measure),
        "python" => ("Python", Keys::Python, &[alone], python),
        _ => return Err(io::Error::other(format!("no package `{section}`")).into()),
    };
    let server = Server::start()?;
    let mut ceiling = Ceiling::of(&server, keys, loads)?;
    let told = measure(&mut ceiling, rounds)?;
    add(section, name, told, |load| ceiling.rate(load), report)
}

fn ruby(ceiling: &mut Ceiling, rounds: usize) -> Result<Told, Box<dyn Error>> {
    run(Command::new("rake").arg("--quiet").arg("--rakefile").arg(at("ruby/Rakefile")).arg("compile"))?;
    let numbers = [ceiling.port().to_string(), rounds.to_string()];
    let told = in_turn(Command::new("ruby").arg(at("bench/ruby/measure.rb")).args(numbers), || ceiling.sample())?;
    Ok(serde_json::from_str(&told)?)
}

/// The package is built as a release, and run by the Python that `ci/setup` makes.
fn python(ceiling: &mut Ceiling, rounds: usize) -> Result<Told, Box<dyn Error>> {
    const BUILD: &str = "import sys; from pathlib import Path; from judge.languages import python_package; \
                         print(python_package(Path(sys.argv[1])), end='')";
    let python = at(".venv/bin/python3");
    if !python.exists() {
        return Err(io::Error::other("there is no .venv with `limits` and redis-py: run ci/setup").into());
    }
    let mut build = Command::new(&python);
    build.env("PYTHONPATH", at("spec-tests")).env("LABKIT_SPEC_PROFILE", "release");
    let folder = String::from_utf8(run(build.arg("-c").arg(BUILD).arg(at("")))?)?;
    let mut compare = Command::new(&python);
    compare.env("PYTHONPATH", folder).arg(at("bench/python/compare.py")).args(["--format", "json"]);
    compare.args(["--redis", &ceiling.port().to_string(), "--rounds", &rounds.to_string()]);
    Ok(serde_json::from_str(&in_turn(&mut compare, || ceiling.sample())?)?)
}

/// A place in the repository.
pub(crate) fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// Runs it, and gives what it prints.
pub(crate) fn run(command: &mut Command) -> io::Result<Vec<u8>> {
    let name = command.get_program().display().to_string();
    let started = command.stderr(Stdio::inherit()).output();
    let output = started.map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}; run ci/setup")))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(io::Error::other(format!("{name} failed: {}", output.status)))
    }
}

/// Runs it, and gives the last line that it prints. For each other one (`round`) it waits while it is our turn, until it has a line.
fn in_turn(
    command: &mut Command,
    mut turn: impl FnMut() -> Result<(), Box<dyn Error>>,
) -> Result<String, Box<dyn Error>> {
    let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut last = String::new();
    if let (Some(mut input), Some(output)) = (process.stdin.take(), process.stdout.take()) {
        for line in BufReader::new(output).lines() {
            last = line?;
            if last == "round" {
                turn()?;
                input.write_all(b"go on\n")?;
            }
        }
    }
    let status = process.wait()?;
    let name = command.get_program().display();
    if status.success() { Ok(last) } else { Err(io::Error::other(format!("{name} failed: {status}")).into()) }
}

/// Adds its rows, and behind a rate its share of the ceiling.
fn add(
    section: &'static str,
    name: &'static str,
    told: Told,
    ceiling: impl Fn(Load) -> Option<f64>,
    report: &mut Report,
) -> Result<Vec<String>, Box<dyn Error>> {
    for row in told.rows {
        let target = row.target.map_or(Target::None, Target::from);
        report.add(section, row.what, row.value, row.unit.text(), target);
        if let Some(beside) = row.beside {
            report.beside(name, beside);
        }
        if let Some(load) = row.ceiling {
            let unknown = || io::Error::other(format!("redis-benchmark has no rate for {}", load.text()));
            let rate = ceiling(load).ok_or_else(unknown)?;
            report.add(section, format!("redis-benchmark: {}", load.text()), rate, "/s", Target::None);
            report.add(section, "the check / redis-benchmark", row.value / rate, "×", Target::None);
        }
    }
    Ok(told.versions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use serde_json::{Value, json};

    fn read(rows: &Value) -> Result<Told, serde_json::Error> {
        serde_json::from_value(json!({ "versions": ["Ruby 3"], "rows": rows }))
    }

    fn report_of(rows: &Value) -> Report {
        let mut report = Report::default();
        let versions = add("ruby", "Ruby", read(rows).expect("rows"), |_| Some(200.0), &mut report);
        assert_eq!(versions.ok(), Some(vec!["Ruby 3".to_owned()]));
        report
    }

    #[test]
    fn rows_have_their_targets() {
        let row = |value: f64, target: &Value| json!({ "what": "a", "value": value, "unit": "×", "target": target });
        let kept = [row(1.2, &json!({ "at_most": 1.3 })), row(9.0, &Value::Null)];
        assert!(!report_of(&json!(kept)).is_missed());
        assert!(report_of(&json!([row(19.0, &json!({ "at_least": 20 }))])).is_missed());
    }

    #[test]
    fn a_rate_has_its_share_of_the_ceiling_behind_it() {
        let row = json!({ "what": "a", "value": 50.0, "unit": "/s", "ceiling": { "rules": 3, "connections": 50 } });
        let rows = json!(report_of(&json!([row])).run(&Machine::default(), 7).rows);
        assert_eq!(rows[1]["what"], "redis-benchmark: 3 rules, 50 connections");
        assert_eq!((&rows[1]["value"], &rows[2]["value"]), (&json!(200.0), &json!(0.25)));
        let told = read(&json!([row])).expect("rows");
        assert!(add("ruby", "Ruby", told, |_| None, &mut Report::default()).is_err());
    }

    #[test]
    fn rounds_and_our_turns_alternate() {
        let told = "for n in 1 2 3; do echo round; read line; said=$said/$line; done; echo $said";
        let mut turns = 0;
        let last = in_turn(Command::new("sh").args(["-c", told]), || {
            turns += 1;
            Ok(())
        });
        assert_eq!((last.expect("a line").as_str(), turns), ("/go on/go on/go on", 3));
        assert!(in_turn(Command::new("sh").args(["-c", "echo {}; exit 3"]), || Ok(())).is_err());
    }

    #[test]
    fn a_ratio_to_a_peer_is_in_the_short_table() {
        let beside = json!({ "store": "memory", "what": "check", "peer": "rack-attack", "times": 21.5 });
        let row = json!({ "what": "a", "value": 21.5, "unit": "×", "beside": beside, "target": { "at_least": 20 } });
        let short = report_of(&json!([row])).run(&Machine::default(), 7).short();
        assert!(short.ends_with("| Ruby | memory | check | rack-attack | 21.50 × | ok |"), "{short}");
    }

    #[test]
    fn what_is_not_known_is_no_row() {
        let row = |key: &str, value: Value| {
            let mut row = json!({ "what": "a", "value": 1.0, "unit": "×" });
            row[key] = value;
            read(&json!([row])).is_ok()
        };
        assert!(row("target", json!({ "at_most": 1 })));
        assert!(!row("target", json!({ "about": 1 })));
        assert!(!row("unit", json!("furlongs")));
        assert!(!row("value", json!("fast")));
        assert!(!row("targets", json!({ "at_most": 1 })));
        assert!(serde_json::from_value::<Told>(json!({})).is_err());
    }
}
