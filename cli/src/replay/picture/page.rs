//! The page: the chart, and below it the tables of what changes.

use super::buckets::{Buckets, Counted};
use super::markup::Markup;
use super::{Names, Report, chart, scale};
use crate::replay::changes_report::{ChangesReport, TurnedReport};
use crate::replay::difference::{beside, compared, named, numbers_of};
use crate::replay::report::{Against, RuleReport};
use crate::words::{change, count, moment, percent};
use std::io;

/// Nothing is fetched and nothing runs, whatever a log holds.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

const STYLE: &str = "
:root{color-scheme:light dark;--ink:#1f2328;--faint:#57606a;--line:#d8dee4;--paper:#fff}
body{margin:0 auto;padding:1rem;max-width:1000px;font:14px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
.chart{overflow-x:auto}
svg{display:block;width:100%;min-width:720px;height:auto}
h2{margin:2rem 0 .25rem;font-size:1.1rem}
p{margin:.25rem 0;color:var(--faint)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;margin:.5rem 0}
th,td{padding:.25rem .75rem .25rem 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;overflow-wrap:anywhere}
th{color:var(--faint);font-weight:600}
.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.t{white-space:nowrap;font-variant-numeric:tabular-nums}
summary{margin-top:2rem;cursor:pointer;font-weight:600}
@media (prefers-color-scheme:dark){:root{--ink:#f0f6fc;--faint:#9198a1;--line:#2a313c;--paper:#0d1117}}
";

/// A column: its title, and the class of its cells.
type Column<'c> = (&'c str, &'c str);

const FIRST: Column<'_> = ("first (UTC)", "t");
const LAST: Column<'_> = ("last (UTC)", "t");

/// Writes it.
pub(super) fn write(markup: &mut Markup<'_>, report: &Report, buckets: &Buckets, names: &Names) -> io::Result<()> {
    markup.doctype()?;
    markup.open("html", &[("lang", "en")])?;
    markup.open("head", &[])?;
    markup.empty("meta", &[("charset", "utf-8")])?;
    markup.empty("meta", &[("http-equiv", "Content-Security-Policy"), ("content", POLICY)])?;
    markup.empty("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")])?;
    markup.text("title", &[], &chart::title(report, names))?;
    markup.text("style", &[], STYLE)?;
    markup.close("head")?;
    markup.open("body", &[])?;
    markup.open("main", &[])?;
    markup.open("div", &[("class", "chart")])?;
    chart::write(markup, report, buckets, names)?;
    markup.close("div")?;
    totals(markup, report, names)?;
    if let Some((changes, against)) = report.changes.as_ref().zip(report.against.as_ref()) {
        changed(markup, report, against, changes)?;
    }
    minutes(markup, report)?;
    numbers(markup, buckets, names)?;
    markup.close("main")?;
    markup.close("body")?;
    markup.close("html")
}

fn totals(markup: &mut Markup<'_>, report: &Report, names: &Names) -> io::Result<()> {
    markup.text("h2", &[], "Requests")?;
    let a = &report.outcome.totals;
    let Some(against) = &report.against else {
        markup.text("p", &[], &format!("Rules: {}", names.a))?;
        let rows = compared(a, a).into_iter().map(|(what, a, _)| vec![what.to_owned(), count(a)]);
        return table(markup, &[("", ""), ("count", "n")], rows);
    };
    for (side, name) in [("A", Some(&names.a)), ("B", names.b.as_ref())] {
        markup.text("p", &[], &format!("{side}: {}", name.map_or("", String::as_str)))?;
    }
    let rows = compared(a, &against.outcome.totals);
    let rows = rows.into_iter().map(|(what, a, b)| vec![what.to_owned(), count(a), count(b), change(a, b)]);
    table(markup, &[("", ""), ("A", "n"), ("B", "n"), ("change", "n")], rows)
}

fn changed(markup: &mut Markup<'_>, report: &Report, against: &Against, changes: &ChangesReport) -> io::Result<()> {
    let requests = report.outcome.totals.requests;
    turned(
        markup,
        "Newly refused: by B, not by A",
        "rule of B",
        &changes.newly_refused,
        &against.outcome.rules,
        requests,
    )?;
    turned(
        markup,
        "Newly allowed: refused by A, not by B",
        "rule of A",
        &changes.newly_allowed,
        &report.outcome.rules,
        requests,
    )?;
    if !changes.most_changed.is_empty() {
        markup.text("h2", &[], "Identities with most changes")?;
        let shown = changes.most_changed.len();
        if shown < changes.identities {
            let all = count(u64::try_from(changes.identities).unwrap_or(u64::MAX));
            markup.text("p", &[], &format!("{shown} of {all}"))?;
        }
        let columns = [("identity", ""), ("newly refused", "n"), ("newly allowed", "n"), FIRST, LAST];
        let rows = changes.most_changed.iter().map(|identity| {
            let counts = [identity.newly_refused, identity.newly_allowed].map(count);
            [vec![named(identity)], counts.to_vec(), vec![at(identity.first.as_deref()), at(identity.last.as_deref())]]
                .concat()
        });
        table(markup, &columns, rows)?;
    }
    let beside = beside(changes);
    if beside.is_empty() {
        return Ok(());
    }
    markup.text("h2", &[], "Beside that")?;
    markup.text("p", &[], &beside.join(" · "))
}

fn turned(
    markup: &mut Markup<'_>,
    heading: &str,
    whose: &str,
    turned: &TurnedReport,
    rules: &[RuleReport],
    requests: u64,
) -> io::Result<()> {
    markup.text("h2", &[], heading)?;
    let sum = turned.requests;
    if sum == 0 {
        return markup.text("p", &[], "No request.");
    }
    markup.text("p", &[], &format!("{} of {} requests ({})", count(sum), count(requests), percent(sum, requests)))?;
    let columns = [(whose, ""), ("numbers", ""), ("requests", "n"), ("identities", "n"), FIRST, LAST];
    let rows = turned.rules.iter().map(|rule| {
        vec![
            rule.rule.clone(),
            numbers_of(&rule.rule, rules),
            count(rule.requests),
            count(u64::try_from(rule.identities).unwrap_or(u64::MAX)),
            at(rule.first.as_deref()),
            at(rule.last.as_deref()),
        ]
    });
    table(markup, &columns, rows)
}

/// The minutes with most refusals, as the report has them.
fn minutes(markup: &mut Markup<'_>, report: &Report) -> io::Result<()> {
    let sides = match &report.against {
        None => vec![("", &report.outcome)],
        Some(against) => vec![(" under A", &report.outcome), (" under B", &against.outcome)],
    };
    for (whose, outcome) in sides.into_iter().filter(|(_, outcome)| !outcome.busiest_minutes.is_empty()) {
        markup.text("h2", &[], &format!("Minutes with most refusals{whose}"))?;
        let all = count(u64::try_from(outcome.minutes_with_refusals).unwrap_or(u64::MAX));
        markup.text("p", &[], &format!("{} of {all}", outcome.busiest_minutes.len()))?;
        let columns = [("minute (UTC)", "t"), ("requests", "n"), ("refused", "n")];
        let rows = outcome.busiest_minutes.iter().map(|minute| {
            let from = moment(&minute.from).chars().take("2015-05-17 10:05".len()).collect();
            vec![from, count(minute.requests), count(minute.refused)]
        });
        table(markup, &columns, rows)?;
    }
    Ok(())
}

/// The chart once more, for those who cannot see it or want its numbers.
fn numbers(markup: &mut Markup<'_>, buckets: &Buckets, names: &Names) -> io::Result<()> {
    markup.open("details", &[])?;
    markup.text("summary", &[], &format!("The chart as a table, per {}", buckets.unit()))?;
    let mut columns = vec![("from (UTC)", "t"), ("requests", "n")];
    columns.extend(if names.b.is_some() {
        vec![("refused under A", "n"), ("refused under B", "n")]
    } else {
        vec![("refused", "n")]
    });
    let series = columns.len() - 1;
    if buckets.minutes > 1 {
        columns.extend(columns.clone().into_iter().skip(1));
    }
    let titles: Vec<String> = columns
        .iter()
        .enumerate()
        .map(|(at, (title, _))| if at > series { format!("{title}, busiest minute") } else { (*title).to_owned() })
        .collect();
    let columns: Vec<Column<'_>> =
        titles.iter().map(String::as_str).zip(columns.iter().map(|(_, class)| *class)).collect();
    let rows = buckets.all.iter().filter(|bucket| bucket.all.requests > 0).map(|bucket| {
        let counts = |counted: Counted| [counted.requests, counted.refused_a, counted.refused_b].map(count);
        let all = counts(bucket.all).into_iter().take(series);
        let busiest = counts(bucket.busiest).into_iter().take(series);
        std::iter::once(scale::moment(bucket.from_us)).chain(all).chain(busiest).take(columns.len()).collect()
    });
    table(markup, &columns, rows)?;
    markup.close("details")
}

fn table(markup: &mut Markup<'_>, columns: &[Column<'_>], rows: impl Iterator<Item = Vec<String>>) -> io::Result<()> {
    markup.open("div", &[("class", "scroll")])?;
    markup.open("table", &[])?;
    markup.open("thead", &[])?;
    markup.open("tr", &[])?;
    for (title, class) in columns {
        markup.text("th", &[("scope", "col"), ("class", class)], title)?;
    }
    markup.close("tr")?;
    markup.close("thead")?;
    markup.open("tbody", &[])?;
    for row in rows {
        markup.open("tr", &[])?;
        for (cell, (_, class)) in row.iter().zip(columns) {
            markup.text("td", &[("class", class)], cell)?;
        }
        markup.close("tr")?;
    }
    markup.close("tbody")?;
    markup.close("table")?;
    markup.close("div")
}

fn at(at: Option<&str>) -> String {
    at.map(moment).unwrap_or_default()
}
