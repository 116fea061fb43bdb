//! One run, as `results.json` holds it. The tables are made of it and of nothing else, so that they can be made again from the file.

use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    pub(crate) date: String,
    pub(crate) machine: String,
    pub(crate) load: String,
    pub(crate) versions: Vec<String>,
    pub(crate) rounds: usize,
    pub(crate) missed: bool,
    pub(crate) rows: Vec<RunRow>,
}

/// A number, and what it must be.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunRow {
    pub(crate) section: String,
    pub(crate) what: String,
    pub(crate) value: f64,
    pub(crate) unit: String,
    /// In words; empty where the number is only told.
    pub(crate) target: String,
    pub(crate) gate: bool,
    /// Whether the target holds.
    pub(crate) ok: Option<bool>,
    pub(crate) beside: Option<RunBeside>,
}

/// A line of the short table.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunBeside {
    pub(crate) language: String,
    pub(crate) store: String,
    pub(crate) what: String,
    pub(crate) peer: String,
    pub(crate) times_as_fast: f64,
}

impl Run {
    /// The line above a table.
    fn line(&self) -> String {
        let Self { date, machine, load, rounds, .. } = self;
        format!("{date} · {machine} · load {load} when it began · medians of {rounds} rounds")
    }

    pub(crate) fn markdown(&self) -> String {
        let mut lines = vec![
            self.line(),
            self.versions.join(" · "),
            String::new(),
            "| section | what | measured | target | |".to_owned(),
            "|---|---|---:|---:|---|".to_owned(),
        ];
        lines.extend(self.rows.iter().map(|row| {
            let RunRow { section, what, target, .. } = row;
            format!("| {section} | {what} | {} | {target} | {} |", number(row.value, &row.unit), row.mark())
        }));
        lines.join("\n")
    }

    /// Each language beside its peers, and nothing else.
    pub(crate) fn short(&self) -> String {
        let mut lines = vec![
            self.line(),
            String::new(),
            "| language | store | what | beside | times as fast | |".to_owned(),
            "|---|---|---|---|---:|---|".to_owned(),
        ];
        lines.extend(self.rows.iter().filter_map(|row| {
            let RunBeside { language, store, what, peer, times_as_fast } = row.beside.as_ref()?;
            let times = number(*times_as_fast, "×");
            Some(format!("| {language} | {store} | {what} | {peer} | {times} | {} |", row.mark()))
        }));
        lines.join("\n")
    }
}

impl RunRow {
    /// Whether the target holds, as a word; nothing where the number is only told.
    const fn mark(&self) -> &'static str {
        match self.ok {
            None => "",
            Some(true) => "ok",
            Some(false) => "MISSED",
        }
    }
}

/// As it stands in a table.
pub(crate) fn number(value: f64, unit: &str) -> String {
    match unit {
        "×" => format!("{value:.2} ×"),
        "/s" => format!("{value:.0}/s"),
        "ns" | "bytes" | "KiB" | "" => format!("{value:.0} {unit}").trim_end().to_owned(),
        _ => format!("{value:.2} {unit}"),
    }
}
