//! A decision for people.

use super::report::Report;
use crate::table::{Column, Sheet};
use crate::words::{count, period, seconds};
use console::style;
use std::io::{self, Write};

pub(super) fn write(out: &mut dyn Write, report: &Report, limiter: &str, address: &str) -> io::Result<()> {
    let verdict = match report.action {
        "block" => style("refused").red(),
        _ => style("allowed").green(),
    };
    let verdict = verdict.bold().to_string();
    let verdict = if report.warned { format!("{verdict} and warned of") } else { verdict };
    let why = match (&report.rule, report.skipped) {
        (None, _) => "no rule matches".to_owned(),
        (Some(rule), true) => format!("`{rule}` lets it through"),
        (Some(rule), false) if report.action == "block" => format!("`{rule}` is over"),
        (Some(rule), false) => near(report, rule),
    };
    let wait = report.info.as_ref().and_then(|info| info.retry_after);
    let wait = wait.map_or_else(String::new, |wait| format!(", passes again in {}", seconds(rounded(wait))));
    writeln!(out, "{}: {}, {why}{wait}", style(limiter).bold(), verdict)?;
    writeln!(out, "{}", style(format!("on {address}")).dim())?;
    if report.evaluations.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    sheet(report).write(out)
}

/// How near an allowed request is to a refusal.
fn near(report: &Report, rule: &str) -> String {
    // What was counted is allowed, and one more would be too many.
    let full = report.evaluations.iter().find(|one| one.action == "limit" && !one.exceeded && one.info.remaining < 1.0);
    match (full, report.evaluations.iter().find(|one| one.rule == rule)) {
        (Some(full), _) => match &full.count_distinct {
            None => format!("`{}` has none left: the next one is refused", full.rule),
            Some(property) => format!("`{}` has none left: the next new {property} is refused", full.rule),
        },
        (None, Some(over)) if over.exceeded => {
            format!("`{rule}` is over, and only {}", if over.action == "warn" { "warns" } else { "logs" })
        }
        (None, _) => format!("`{rule}` is nearest to its limit"),
    }
}

/// The table as lines.
pub(super) fn standing(report: &Report) -> Vec<String> {
    let mut text = Vec::new();
    // Writing into memory cannot fail.
    let _ = sheet(report).write(&mut text);
    String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
}

/// A row for each rule that counts the request.
fn sheet(report: &Report) -> Sheet {
    let mut sheet = Sheet::new(&[
        Column::Left("rule"),
        Column::Left("action"),
        Column::Left("result"),
        Column::Right("count"),
        Column::Right("limit"),
        Column::Right("remaining"),
        Column::Right("in"),
        Column::Left("resets after"),
    ]);
    for evaluation in &report.evaluations {
        let info = &evaluation.info;
        sheet.row([
            evaluation.rule.clone(),
            evaluation.action.to_owned(),
            evaluation.result.to_owned(),
            number(info.count),
            count(info.limit),
            number(info.remaining),
            period(info.period_s.into()),
            seconds(rounded(info.reset_after)),
        ]);
    }
    sheet
}

/// Whole milliseconds are enough to read.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

/// At most three places behind the point, and none where they are nought.
fn number(n: f64) -> String {
    rounded(n).to_string()
}
