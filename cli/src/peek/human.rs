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
    let why = match (&report.rule, report.skipped) {
        (None, _) => "no rule matches".to_owned(),
        (Some(rule), true) => format!("`{rule}` lets it through"),
        (Some(rule), false) if report.action == "block" => format!("`{rule}` is over"),
        (Some(rule), false) => format!("`{rule}` is nearest to its limit"),
    };
    let wait = report.info.as_ref().and_then(|info| info.retry_after);
    let wait = wait.map_or_else(String::new, |wait| format!(", passes again in {}", seconds(rounded(wait))));
    writeln!(out, "{}: {}, {why}{wait}", style(limiter).bold(), verdict.bold())?;
    writeln!(out, "{}", style(format!("on {address}")).dim())?;
    if report.evaluations.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
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
    sheet.write(out)
}

/// Whole milliseconds are enough to read.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

/// At most three places behind the point, and none where they are nought.
fn number(n: f64) -> String {
    rounded(n).to_string()
}
