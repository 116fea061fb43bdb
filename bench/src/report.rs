//! The table: each number beside its target.

use crate::machine::Machine;
use serde_json::{Value, json};

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

pub(crate) struct Row {
    section: &'static str,
    what: String,
    value: f64,
    unit: &'static str,
    target: Target,
}

fn number(value: f64, unit: &str) -> String {
    match unit {
        "×" => format!("{value:.2} ×"),
        "ns" | "bytes" | "KiB" | "" => format!("{value:.0} {unit}").trim_end().to_owned(),
        _ => format!("{value:.2} {unit}"),
    }
}

/// Gathers rows and prints them.
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
        self.0.push(Row { section, what: what.into(), value, unit, target });
    }

    /// Something that `--gate` looks at missed its target.
    pub(crate) fn is_missed(&self) -> bool {
        self.0.iter().any(|row| !matches!(row.target, Target::Hoped(_)) && row.target.holds(row.value) == Some(false))
    }

    pub(crate) fn markdown(&self, machine: &Machine, rounds: usize) -> String {
        let mut lines = vec![
            format!("{} · {}", machine.date, machine.host),
            format!("{} · medians of {rounds} interleaved rounds", machine.versions.join(" · ")),
            String::new(),
            "| section | what | measured | target | |".to_owned(),
            "|---|---|---:|---:|---|".to_owned(),
        ];
        for row in &self.0 {
            let mark = match row.target.holds(row.value) {
                None => "",
                Some(true) => "ok",
                Some(false) => "MISSED",
            };
            lines.push(format!(
                "| {} | {} | {} | {} | {mark} |",
                row.section,
                row.what,
                number(row.value, row.unit),
                row.target.text(row.unit),
            ));
        }
        lines.join("\n")
    }

    pub(crate) fn json(&self, machine: &Machine, rounds: usize) -> Value {
        let rows: Vec<_> = self.0.iter().map(Row::json).collect();
        json!({
            "date": machine.date,
            "machine": machine.host,
            "versions": machine.versions,
            "rounds": rounds,
            "missed": self.is_missed(),
            "rows": rows,
        })
    }
}

impl Row {
    fn json(&self) -> Value {
        json!({
            "section": self.section,
            "what": self.what,
            "value": self.value,
            "unit": self.unit,
            "target": self.target.text(self.unit),
            "gate": !matches!(self.target, Target::None | Target::Hoped(_)),
            "ok": self.target.holds(self.value),
        })
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
        let machine = Machine { date: String::new(), host: String::new(), versions: Vec::new() };
        assert_eq!(report.markdown(&machine, 7).matches("MISSED").count(), 2);
        assert_eq!(report.json(&machine, 7)["rows"][1]["ok"], false);
    }

    #[test]
    fn a_number_that_was_not_measured_holds_nothing() {
        assert_eq!(Target::AtMost(1.0).holds(f64::NAN), Some(false));
    }
}
