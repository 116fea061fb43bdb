//! The report: each number beside its target.

use crate::machine::Machine;
use crate::run::{Run, RunBeside, RunRow, number};
use serde::Deserialize;

/// What a number must be.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    /// Only told.
    None,
    /// At most this.
    AtMost(f64),
    /// Less than this.
    Below(f64),
    /// At least this. Told, and never a gate: it hangs on what else the machine does.
    Hoped(f64),
    /// At least this.
    AtLeast(f64),
    /// Exactly this.
    Exactly(f64),
}

impl Target {
    fn holds(self, value: f64) -> Option<bool> {
        match self {
            Self::None => None,
            Self::AtMost(most) => Some(value <= most),
            Self::Below(bound) => Some(value < bound),
            Self::Hoped(least) | Self::AtLeast(least) => Some(value >= least),
            Self::Exactly(n) => Some(value.total_cmp(&n).is_eq()),
        }
    }

    fn text(self, unit: &str) -> String {
        match self {
            Self::None => String::new(),
            Self::AtMost(n) => format!("≤ {}", number(n, unit)),
            Self::Below(n) => format!("< {}", number(n, unit)),
            Self::Hoped(n) | Self::AtLeast(n) => format!("≥ {}", number(n, unit)),
            Self::Exactly(n) => number(n, unit),
        }
    }
}

/// A line of the short table: how fast something is beside a peer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Beside {
    /// `memory` or `Redis`.
    pub(crate) store: String,
    /// What is measured.
    pub(crate) what: String,
    pub(crate) peer: String,
    /// As many times as fast as the peer: above 1 is faster.
    pub(crate) times: f64,
}

impl Beside {
    pub(crate) fn new(store: &str, what: impl Into<String>, peer: impl Into<String>, times: f64) -> Self {
        Self { store: store.to_owned(), what: what.into(), peer: peer.into(), times }
    }
}

pub(crate) struct Row {
    section: &'static str,
    what: String,
    value: f64,
    unit: &'static str,
    target: Target,
    /// The language, and its line of the short table.
    beside: Option<(&'static str, Beside)>,
}

/// Gathers rows.
#[derive(Default)]
pub(crate) struct Report(Vec<Row>);

impl Report {
    pub(crate) fn add(
        &mut self,
        section: &'static str,
        what: impl Into<String>,
        value: f64,
        unit: &'static str,
        target: Target,
    ) {
        self.0.push(Row { section, what: what.into(), value, unit, target, beside: None });
    }

    /// The row that was added last is a ratio to a peer, and stands in the short table.
    pub(crate) fn beside(&mut self, language: &'static str, beside: Beside) {
        if let Some(row) = self.0.last_mut() {
            row.beside = Some((language, beside));
        }
    }

    /// Something that `--gate` looks at missed its target.
    pub(crate) fn is_missed(&self) -> bool {
        self.0.iter().any(|row| !matches!(row.target, Target::Hoped(_)) && row.target.holds(row.value) == Some(false))
    }

    /// What is kept of it.
    pub(crate) fn run(&self, machine: &Machine, rounds: usize) -> Run {
        let Machine { date, host, load, versions } = machine;
        Run {
            date: date.clone(),
            machine: host.clone(),
            load: load.clone(),
            versions: versions.clone(),
            rounds,
            missed: self.is_missed(),
            rows: self.0.iter().map(Row::kept).collect(),
        }
    }
}

impl Row {
    fn kept(&self) -> RunRow {
        let beside = self.beside.as_ref().map(|(language, beside)| RunBeside {
            language: (*language).to_owned(),
            store: beside.store.clone(),
            what: beside.what.clone(),
            peer: beside.peer.clone(),
            times_as_fast: beside.times,
        });
        RunRow {
            section: self.section.to_owned(),
            what: self.what.clone(),
            value: self.value,
            unit: self.unit.to_owned(),
            target: self.target.text(self.unit),
            gate: !matches!(self.target, Target::None | Target::Hoped(_)),
            ok: self.target.holds(self.value),
            beside,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hoped_for_is_told_but_no_gate() {
        let mut report = Report::default();
        report.add("threads", "two", 1.0, "×", Target::Hoped(1.8));
        assert!(!report.is_missed());
        report.add("rules", "a check", 601.0, "ns", Target::AtMost(600.0));
        assert!(report.is_missed());
        let run = report.run(&Machine::default(), 7);
        assert_eq!(run.markdown().matches("MISSED").count(), 2);
        assert_eq!(run.rows[1].ok, Some(false));
    }

    #[test]
    fn a_number_that_was_not_measured_holds_nothing() {
        assert_eq!(Target::AtMost(1.0).holds(f64::NAN), Some(false));
    }

    #[test]
    fn the_short_table_holds_what_stands_beside_a_peer() {
        let mut report = Report::default();
        report.add("redis", "check / script", 0.5, "×", Target::AtMost(0.4));
        report.beside("Rust", Beside::new("Redis", "check", "script", 2.0));
        report.add("redis", "check", 9.0, "µs", Target::None);
        let run = report.run(&Machine::default(), 7);
        let short = run.short();
        assert!(short.ends_with("|---:|---|\n| Rust | Redis | check | script | 2.00 × | MISSED |"), "{short}");
        let told: Vec<_> = run.rows.iter().map(|row| row.beside.as_ref().map(|beside| beside.times_as_fast)).collect();
        assert_eq!(told, [Some(2.0), None]);
    }
}
