//! The report for people on what other rules change.

use super::changes_report::{ChangesReport, IdentityChange, TurnedReport};
use super::human::{heading, log, more, numbers, title, troubles};
use super::report::{Against, Report, RuleReport};
use super::tally::Totals;
use crate::printable;
use crate::table::{Column, Sheet};
use crate::words::{Moments, change, count, percent, some};
use console::style;
use std::io::{self, Write};

/// Writes all of it.
pub(super) fn write(out: &mut dyn Write, report: &Report, changes: &ChangesReport) -> io::Result<()> {
    title(out, report)?;
    log(out, &report.log)?;
    let Some(against) = &report.against else { return Ok(()) };
    totals(out, report, against)?;
    let moments = Moments::between(report.from.as_deref(), report.to.as_deref());
    let requests = report.outcome.totals.requests;
    let part = |n: u64| format!("{} ({})", some(n, "request"), percent(n, requests));
    if changes.action_changed == 0 {
        heading(out, "B allows and refuses as A does")?;
    }
    let refused = format!("B newly refuses {}", part(changes.newly_refused.requests));
    turned(out, &refused, "rule of B", &changes.newly_refused, &against.outcome.rules, moments)?;
    let allowed = format!("B newly allows {}", part(changes.newly_allowed.requests));
    turned(out, &allowed, "rule of A", &changes.newly_allowed, &report.outcome.rules, moments)?;
    identities(out, changes, moments)?;
    others(out, changes)?;
    troubles(out, &report.outcome, " under A")?;
    troubles(out, &against.outcome, " under B")
}

/// The counts that both have, those that are nought under both left out.
pub(super) fn compared(a: &Totals, b: &Totals) -> Vec<(&'static str, u64, u64)> {
    let all = [
        ("requests", a.requests, b.requests),
        ("allowed", a.allowed, b.allowed),
        ("refused", a.refused, b.refused),
        ("skipped", a.skipped, b.skipped),
        ("matched by no rule", a.unmatched(), b.unmatched()),
        ("bans", a.bans, b.bans),
        ("warned of", a.warned, b.warned),
        ("would be refused by log rules", a.logged, b.logged),
        ("without a verdict", a.errors, b.errors),
        ("not the whole verdict", a.degraded, b.degraded),
    ];
    all.into_iter().filter(|(_, a, b)| a + b > 0).collect()
}

fn totals(out: &mut dyn Write, report: &Report, against: &Against) -> io::Result<()> {
    for (side, documents) in [("A", &report.documents), ("B", &against.documents)] {
        writeln!(out, "{side}: {}", documents.words(printable::line))?;
    }
    heading(out, "Requests")?;
    let mut sheet = Sheet::new(&[Column::Left(""), Column::Right("A"), Column::Right("B"), Column::Right("change")]);
    for (what, a, b) in compared(&report.outcome.totals, &against.outcome.totals) {
        sheet.row([what.to_owned(), count(a), count(b), change(a, b)]);
    }
    sheet.write(out)
}

fn turned(
    out: &mut dyn Write,
    did: &str,
    whose: &str,
    turned: &TurnedReport,
    rules: &[RuleReport],
    moments: Moments,
) -> io::Result<()> {
    if turned.requests == 0 {
        return Ok(());
    }
    let span = match (&turned.first, &turned.last) {
        (Some(first), Some(last)) if first == last => format!(", {}", moments.show(first)),
        (Some(first), Some(last)) => format!(", {} to {}", moments.show(first), moments.show(last)),
        _ => String::new(),
    };
    heading(out, &format!("{did}{span}"))?;
    let mut sheet = Sheet::new(&[
        Column::Left(whose),
        Column::Left("numbers"),
        Column::Right("requests"),
        Column::Right("identities"),
        Column::Left("first"),
        Column::Left("last"),
    ]);
    let at = |at: &Option<String>| at.as_ref().map_or_else(String::new, |at| moments.show(at));
    for change in &turned.rules {
        sheet.row([
            change.rule.clone(),
            numbers_of(&change.rule, rules),
            count(change.requests),
            count(u64::try_from(change.identities).unwrap_or(u64::MAX)),
            at(&change.first),
            at(&change.last),
        ]);
    }
    sheet.write(out)
}

fn identities(out: &mut dyn Write, changes: &ChangesReport, moments: Moments) -> io::Result<()> {
    if changes.most_changed.is_empty() {
        return Ok(());
    }
    heading(out, "Identities with most changes")?;
    let mut sheet = Sheet::new(&[
        Column::Left("identity"),
        Column::Right("newly refused"),
        Column::Right("newly allowed"),
        Column::Left("first"),
        Column::Left("last"),
    ]);
    let or_dash = |n: u64| if n == 0 { "-".to_owned() } else { count(n) };
    let at = |at: &Option<String>| at.as_ref().map_or_else(String::new, |at| moments.show(at));
    for identity in &changes.most_changed {
        sheet.row([
            named(identity),
            or_dash(identity.newly_refused),
            or_dash(identity.newly_allowed),
            at(&identity.first),
            at(&identity.last),
        ]);
    }
    sheet.write(out)?;
    more(out, changes.identities - changes.most_changed.len())
}

/// The numbers of the rule of this name.
pub(super) fn numbers_of(name: &str, rules: &[RuleReport]) -> String {
    rules.iter().find(|rule| rule.name == name).map_or_else(String::new, numbers)
}

/// `ip=198.18.0.98, path=/`.
pub(super) fn named(identity: &IdentityChange) -> String {
    if identity.characteristics.is_empty() {
        return "(all together)".to_owned();
    }
    let pair = |(name, value): (&String, &serde_json::Value)| format!("{name}={}", super::human::value(value));
    identity.characteristics.iter().map(pair).collect::<Vec<_>>().join(", ")
}

/// What changes beside the action.
fn others(out: &mut dyn Write, changes: &ChangesReport) -> io::Result<()> {
    let all = beside(changes);
    if all.is_empty() { Ok(()) } else { writeln!(out, "\n{}", style(all.join(" · ")).bold()) }
}

/// The changes beside the action that there are.
pub(super) fn beside(changes: &ChangesReport) -> Vec<String> {
    let all = [
        (changes.refused_by_another_rule, "refused by another rule"),
        (changes.newly_warned, "newly warned of"),
        (changes.no_longer_warned, "no longer warned of"),
        (changes.newly_logged, "newly over log rules"),
        (changes.no_longer_logged, "no longer over log rules"),
    ];
    all.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(n))).collect()
}
