//! The explanation for people.

use super::report::{CountReport, Report, RuleReport};
use crate::identity::Identity;
use crate::printable;
use crate::words::{count, period};
use console::style;
use std::io::{self, Write};

pub(super) fn write(out: &mut dyn Write, report: &Report, identity: &Identity) -> io::Result<()> {
    let identity = identity.to_string();
    let request = if identity.is_empty() { "a request of which nothing is known" } else { &identity };
    writeln!(out, "{}: {request}", style(&report.limiter).bold())?;
    for (at, rule) in report.rules.iter().enumerate() {
        writeln!(out)?;
        write_rule(out, at + 1, rule, report)?;
    }
    writeln!(out, "\n{}", end(report))?;
    list(out, "No rule looks at", &report.unused_properties)?;
    list(out, "Absent, though rules look at it", &report.absent_properties)
}

fn list(out: &mut dyn Write, what: &str, names: &[String]) -> io::Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    writeln!(out, "{what}: {}", printable::line(&names.join(", ")))
}

fn write_rule(out: &mut dyn Write, number: usize, rule: &RuleReport, report: &Report) -> io::Result<()> {
    let mut from = rule.file.as_deref().map(printable::line).unwrap_or_default();
    if rule.tier == "default" {
        from.push_str(" (default)");
    } else if rule.shadows_default {
        from.push_str(" (in the place of the default)");
    }
    writeln!(out, "{number}. {}  {}  {}", style(&rule.name).bold(), rule.action, style(from).dim())?;
    if !rule.reached {
        let would = if rule.matches { "it would match" } else { "it would not match either" };
        let end = report.ends_at.as_deref().unwrap_or_default();
        return writeln!(out, "   {}: the chain ends at `{end}`; {would}", style("not reached").dim());
    }
    let only = &rule.reached_only_when_over;
    if !only.is_empty() {
        let verb = if only.len() == 1 { "is" } else { "are" };
        writeln!(out, "   {}: {} {verb} over", style("reached only when").dim(), quoted(only))?;
    }
    if !rule.matches {
        let failed = rule.conditions.iter().filter(|condition| !condition.holds);
        for (nth, condition) in failed.enumerate() {
            let lead = if nth == 0 { "passed over:" } else { "        and:" };
            let (property, matcher) = (printable::line(&condition.property), &condition.matcher);
            writeln!(out, "   {} {property} must {matcher}, and is {}", style(lead).dim(), condition.shown)?;
        }
        return Ok(());
    }
    if let Some(property) = &rule.passed_over_without {
        return writeln!(
            out,
            "   {} but is passed over: it counts different values of {property}, which is absent",
            style("matches").yellow()
        );
    }
    let matches = style("matches").green();
    let Some(counts) = &rule.counts else {
        return writeln!(out, "   {matches}: lets it through, counts nothing, and ends the chain");
    };
    writeln!(out, "   {matches}: {}", numbers(counts))?;
    writeln!(out, "   {}", stop(rule))?;
    for property in &counts.missing_characteristics {
        writeln!(out, "   {property} is absent or empty: counted together with all others that lack it")?;
    }
    writeln!(out, "   counter {}", printable::line(&counts.keys.counter))?;
    counts.keys.ban.as_ref().map_or(Ok(()), |ban| writeln!(out, "   ban     {}", printable::line(ban)))
}

/// `30 in 1 min by ip, burst 5, ban 1 d (overrides[0])`.
fn numbers(counts: &CountReport) -> String {
    let mut text = count(counts.limit);
    if let Some(property) = &counts.count_distinct {
        text = format!("{text} different values of {property}");
    }
    text = format!("{text} in {}", period(counts.period_s.into()));
    if !counts.characteristics.is_empty() {
        text = format!("{text} by {}", counts.characteristics.join(", "));
    }
    if let (true, Some(burst)) = (counts.is_gcra(), counts.burst) {
        text = format!("{text}, steady (gcra), {} at once", count(burst));
    }
    if let Some(ban) = counts.ban_for_s {
        text = format!("{text}, ban {}", period(ban.into()));
    }
    match counts.overridden_by {
        Some(at) => format!("{text} (by overrides[{at}])"),
        None => text,
    }
}

/// What happens when it is over, and where that leaves the chain.
fn stop(rule: &RuleReport) -> &'static str {
    match (rule.action, rule.ends_chain) {
        ("limit", Some("when_over")) => "over it, the request is refused and the chain ends; else the next rule runs",
        ("limit", Some("when_not_over")) => {
            "over it, the request is refused and the next rule runs; else the chain ends"
        }
        ("limit", Some("always")) => "over it, the request is refused; the chain ends in either case",
        ("limit", _) => "over it, the request is refused; the next rule runs in either case",
        ("warn", Some("always")) => "over it, the application is told; the chain ends in either case",
        ("warn", _) => "over it, the application is told; the next rule runs in either case",
        (_, Some("always")) => "over it, only metrics tell; the chain ends in either case",
        _ => "over it, only metrics tell; the next rule runs in either case",
    }
}

/// `` `a` and `b` ``.
fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ")
}

fn end(report: &Report) -> String {
    let ends = report.ends_at.as_ref().and_then(|name| report.rules.iter().find(|rule| rule.name == *name));
    let mut meets = report.rules.iter().filter(|rule| rule.reached && rule.matches);
    // What ends it where it passes: only where all of these are over it goes on.
    let ends_unless_over = || {
        let names = report.rules.iter().filter(|rule| rule.reached && rule.ends_chain == Some("when_not_over"));
        names.map(|rule| rule.name.clone()).collect::<Vec<_>>()
    };
    let end = match ends {
        Some(rule) if rule.action == "skip" => format!("at `{}`, a bypass", rule.name),
        Some(rule) => format!("at `{}`, which is final", rule.name),
        None if meets.next().is_none() => return "No rule matches: the request is let through.".into(),
        None => "at its last rule".to_owned(),
    };
    let finals = ends_unless_over();
    match (finals.as_slice(), ends) {
        ([], None) => "The chain runs through all rules, unless one of them is over and ends it.".into(),
        ([], Some(_)) => format!("The chain ends {end}."),
        ([only], _) => format!("The chain ends at `{only}`, which is final, unless that is over; then {end}."),
        (several, _) => {
            format!(
                "The chain ends at the first of {} that is not over, for they are final; else {end}.",
                quoted(several)
            )
        }
    }
}
