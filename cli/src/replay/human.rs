//! The report for people.

use super::report::{LogReport, Outcome, Report, RuleReport};
use crate::access_log::Noticed;
use crate::printable::excerpt;
use crate::table::{Column, Sheet};
use crate::words::{Moments, count, moment, percent, period, seconds, some};
use console::style;
use serde_json::Value as Json;
use std::io::{self, Write};

/// Writes all of it.
pub(super) fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    summary(out, report)?;
    log(out, &report.log)?;
    rules(out, report)?;
    let moments = Moments::between(report.from.as_deref(), report.to.as_deref());
    for rule in report.outcome.rules.iter().filter(|rule| rule.over() > 0) {
        identities(out, rule, moments)?;
    }
    minutes(out, report, moments)?;
    troubles(out, &report.outcome, "")
}

pub(super) fn heading(out: &mut dyn Write, text: &str) -> io::Result<()> {
    writeln!(out, "\n{}", style(text).bold())
}

/// What ran, and over when.
pub(super) fn title(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let file = excerpt(report.log.file.as_bytes());
    writeln!(out, "{}", style(format!("{} over {file}, {}", report.limiter, report.log.format)).bold())?;
    if let (Some(from), Some(to)) = (&report.from, &report.to) {
        writeln!(out, "{} to {} UTC", moment(from), moment(to))?;
    }
    Ok(())
}

fn summary(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let totals = &report.outcome.totals;
    title(out, report)?;
    let refused = format!("{} refused ({})", count(totals.refused), percent(totals.refused, totals.requests));
    let mut verdicts = vec![
        some(totals.requests, "request"),
        format!("{} allowed", count(totals.allowed)),
        style(refused).bold().to_string(),
    ];
    verdicts.extend(if_any(totals.skipped, "skipped"));
    verdicts.extend(if_any(totals.unmatched(), "matched by no rule"));
    writeln!(out, "{}", verdicts.join(" · "))?;
    let others = [
        (totals.bans > 0).then(|| some(totals.bans, "ban")),
        if_any(totals.warned, "warned of"),
        if_any(totals.logged, "would be refused by log rules"),
    ];
    let others: Vec<String> = others.into_iter().flatten().collect();
    if others.is_empty() { Ok(()) } else { writeln!(out, "{}", others.join(" · ")) }
}

fn if_any(n: u64, what: &str) -> Option<String> {
    (n > 0).then(|| format!("{} {what}", count(n)))
}

pub(super) fn log(out: &mut dyn Write, log: &LogReport) -> io::Result<()> {
    let late = &log.out_of_order;
    if late.count > 0 {
        let furthest = seconds(late.furthest_s);
        writeln!(out, "{} of {} lines out of order, by up to {furthest}", count(late.count), count(log.lines))?;
    }
    noticed(out, &log.unreadable, "could not be read")?;
    noticed(out, &log.odd, "odd, but a request")
}

fn noticed(out: &mut dyn Write, noticed: &Noticed, what: &str) -> io::Result<()> {
    if noticed.count == 0 {
        return Ok(());
    }
    let lines = if noticed.count == 1 { "line" } else { "lines" };
    writeln!(out, "{} {lines} {what}", style(count(noticed.count)).yellow())?;
    for group in &noticed.reasons {
        writeln!(out, "  {} {}", count(group.count), group.reason)?;
        for example in &group.first {
            writeln!(out, "    line {}: {}", example.line, example.detail)?;
        }
    }
    Ok(())
}

fn rules(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    heading(out, "Rules")?;
    let mut sheet = Sheet::new(&[
        Column::Left("rule"),
        Column::Left("action"),
        Column::Left("numbers"),
        Column::Right("matched"),
        Column::Right("over"),
        Column::Right("bans"),
    ]);
    for rule in &report.outcome.rules {
        let or_dash = |n: u64| if n == 0 { "-".to_owned() } else { count(n) };
        sheet.row([
            rule.name.clone(),
            rule.action.to_owned(),
            numbers(rule),
            count(rule.matched),
            or_dash(rule.over()),
            or_dash(rule.bans),
        ]);
    }
    sheet.write(out)
}

/// `6 in 1 h by ip, burst 3`.
pub(super) fn numbers(rule: &RuleReport) -> String {
    let (Some(limit), Some(period_s)) = (rule.limit, rule.period_s) else { return String::new() };
    let mut text = count(limit);
    if let Some(property) = &rule.count_distinct {
        text = format!("{text} {property}s");
    }
    text = format!("{text} in {}", period(period_s));
    if !rule.characteristics.is_empty() {
        text = format!("{text} by {}", rule.characteristics.join(", "));
    }
    if let Some(burst) = rule.burst {
        text = format!("{text}, burst {}", count(burst));
    }
    if let Some(ban) = rule.ban_for_s {
        text = format!("{text}, ban {}", period(ban));
    }
    if rule.overrides > 0 { format!("{text}, overridden") } else { text }
}

fn identities(out: &mut dyn Write, rule: &RuleReport, moments: Moments) -> io::Result<()> {
    let (did, column) = match rule.action {
        "limit" => ("refused", "refused"),
        "warn" => ("warned of", "over"),
        _ => ("would have refused", "over"),
    };
    let whose = match (rule.characteristics.is_empty(), rule.identities_over) {
        (true, _) => String::new(),
        (false, 1) => " of one identity".to_owned(),
        (false, n) => format!(" of {} identities", count(u64::try_from(n).unwrap_or(u64::MAX))),
    };
    let span = match (&rule.first_over, &rule.last_over) {
        (Some(first), Some(last)) if first == last => format!(", {}", moments.show(first)),
        (Some(first), Some(last)) => format!(", {} to {}", moments.show(first), moments.show(last)),
        _ => String::new(),
    };
    heading(out, &format!("{} {did} {}{whose}{span}", rule.name, some(rule.over(), "request")))?;
    if rule.characteristics.is_empty() || rule.busiest.is_empty() {
        return Ok(());
    }
    let mut columns: Vec<Column<'_>> = rule.characteristics.iter().map(|name| Column::Left(name)).collect();
    columns.extend([Column::Right("requests"), Column::Right(column)]);
    columns.extend(rule.ban_for_s.map(|_| Column::Right("bans")));
    columns.extend([Column::Left("first"), Column::Left("last")]);
    let mut sheet = Sheet::new(&columns);
    let shown: Vec<_> = rule.busiest.iter().filter(|identity| identity.over > 0).collect();
    for identity in &shown {
        let mut row: Vec<String> = identity.characteristics.values().map(value).collect();
        row.extend([count(identity.requests), count(identity.over)]);
        row.extend(rule.ban_for_s.map(|_| count(identity.bans)));
        let span = [&identity.first_over, &identity.last_over];
        row.extend(span.map(|at| at.as_ref().map_or_else(String::new, |at| moments.show(at))));
        sheet.row(row);
    }
    sheet.write(out)?;
    more(out, rule.identities_over - shown.len())
}

pub(super) fn value(value: &Json) -> String {
    value.as_str().map_or_else(|| "(absent)".to_owned(), |text| excerpt(text.as_bytes()))
}

pub(super) fn more(out: &mut dyn Write, left: usize) -> io::Result<()> {
    if left == 0 { Ok(()) } else { writeln!(out, "  … and {} more", count(u64::try_from(left).unwrap_or(u64::MAX))) }
}

fn minutes(out: &mut dyn Write, report: &Report, moments: Moments) -> io::Result<()> {
    if report.outcome.busiest_minutes.is_empty() {
        return Ok(());
    }
    heading(out, "Minutes with most refusals")?;
    let mut sheet = Sheet::new(&[Column::Left("minute"), Column::Right("requests"), Column::Right("refused")]);
    for minute in &report.outcome.busiest_minutes {
        let from = moments.show(&minute.from);
        sheet.row([from[..from.len() - 3].to_owned(), count(minute.requests), count(minute.refused)]);
    }
    sheet.write(out)?;
    more(out, report.outcome.minutes_with_refusals - report.outcome.busiest_minutes.len())
}

/// What should not be, and what may be wrong because of it.
pub(super) fn troubles(out: &mut dyn Write, outcome: &Outcome, whose: &str) -> io::Result<()> {
    if !outcome.failures.is_empty() {
        let (errors, degraded) = (some(outcome.totals.errors, "request"), count(outcome.totals.degraded));
        heading(out, &format!("{errors} without a verdict{whose}, {degraded} with not the whole one"))?;
        for failure in &outcome.failures {
            let rule = failure.rule.as_ref().map_or_else(String::new, |rule| format!("{rule}: "));
            writeln!(out, "  {} × {rule}{}", count(failure.count), failure.message)?;
        }
    }
    if outcome.evicted > 0 {
        let counters = some(outcome.evicted, "live counter");
        writeln!(out, "\nevicted{whose}: {counters}; some refusals are missing")?;
    }
    Ok(())
}
