//! The chart: a row of bars for requests, and below it, on a scale of its own, one for refusals under A and B.

use super::buckets::{Bucket, Buckets, Counted};
use super::markup::{Attributes, Markup};
use super::scale::{self, Counts};
use super::{Names, Report};
use crate::words::{count, mean, percent, some};
use std::io;

// All lengths are tenths of a pixel.
const WIDTH: u64 = 10_000;
const LEFT: u64 = 700;
const RIGHT: u64 = 9_550;
/// Where the bars of a row may reach, and how high that is.
const REQUESTS_TOP: u64 = 1_650;
const REQUESTS_HEIGHT: u64 = 1_700;
const REFUSED_TOP: u64 = 3_850;
const REFUSED_HEIGHT: u64 = 1_700;
const BOTTOM: u64 = REFUSED_TOP + REFUSED_HEIGHT;
const HEIGHT: u64 = BOTTOM + 750;
/// What is not nought is seen.
const LOWEST: u64 = 10;

/// Vermilion and blue of Okabe and Ito, orange and sky blue on dark: told apart by all, also as greys and by their side.
const STYLE: &str = "
.replay-paper{fill:#fff}
.replay text{font:12px system-ui,sans-serif;fill:#57606a}
.replay .title{font-size:18px;font-weight:600;fill:#1f2328}
.replay .strong{font-size:13px;font-weight:600;fill:#1f2328}
.replay .end{text-anchor:end}
.replay .middle{text-anchor:middle}
.replay .grid{stroke:#d8dee4}
.replay .axis{stroke:#57606a}
.replay .hit{fill:#000;fill-opacity:0}
.replay .column:hover .hit{fill-opacity:.06}
.replay .busiest{fill-opacity:.35;pointer-events:none}
.replay .requests{fill:#8c959f}
.replay .a{fill:#d55e00}
.replay .b{fill:#0072b2}
@media (prefers-color-scheme:dark){
.replay-paper{fill:#0d1117}
.replay text{fill:#9198a1}
.replay .title,.replay .strong{fill:#f0f6fc}
.replay .grid{stroke:#2a313c}
.replay .axis{stroke:#9198a1}
.replay .hit{fill:#fff}
.replay .requests{fill:#6e7681}
.replay .a{fill:#e69f00}
.replay .b{fill:#56b4e9}
}
";

/// A kind of bars: its class, where in its column it stands (hundredths), and what it counts.
struct Series {
    class: &'static str,
    from: u64,
    to: u64,
    of: fn(&Counted) -> u64,
    /// ` under A`.
    whose: &'static str,
}

/// Where a row of bars stands, and its axis.
struct Row {
    top: u64,
    height: u64,
    counts: Counts,
}

/// Writes the `svg` element.
pub(super) fn write(markup: &mut Markup<'_>, report: &Report, buckets: &Buckets, names: &Names) -> io::Result<()> {
    let (width, height) = (px(WIDTH), px(HEIGHT));
    let title = title(report, names);
    markup.open(
        "svg",
        &[
            ("xmlns", "http://www.w3.org/2000/svg"),
            ("class", "replay"),
            ("viewBox", &format!("0 0 {width} {height}")),
            ("width", &width),
            ("height", &height),
            ("role", "img"),
            ("aria-label", &title),
        ],
    )?;
    markup.text("desc", &[], &description(report, buckets, names))?;
    markup.text("style", &[], STYLE)?;
    markup.empty("rect", &[("class", "replay-paper"), ("width", &width), ("height", &height)])?;
    header(markup, report, names, &title)?;
    let refused = refused(names);
    let largest = |series: &Series| buckets.all.iter().map(|bucket| (series.of)(&bucket.busiest)).max().unwrap_or(0);
    let requests = Row { top: REQUESTS_TOP, height: REQUESTS_HEIGHT, counts: Counts::new(largest(&REQUESTS)) };
    let refusals = Row {
        top: REFUSED_TOP,
        height: REFUSED_HEIGHT,
        counts: Counts::new(refused.iter().map(largest).max().unwrap_or(0)),
    };
    let how = how(buckets);
    axis(markup, &requests, &format!("Requests per minute{how}"))?;
    axis(markup, &refusals, &format!("Refused requests per minute{how}"))?;
    for (at, bucket) in buckets.all.iter().enumerate().filter(|(_, bucket)| bucket.all.requests > 0) {
        column(markup, at, bucket, buckets, &requests, &refusals, &refused)?;
    }
    for row in [&requests, &refusals] {
        let y = px(row.top + row.height);
        line(markup, "axis", [&px(LEFT), &y, &px(RIGHT), &y])?;
    }
    if refused.iter().all(|series| largest(series) == 0) {
        words(markup, "middle", LEFT.midpoint(RIGHT), REFUSED_TOP + REFUSED_HEIGHT / 2, "No request is refused")?;
    }
    times(markup, buckets)?;
    markup.close("svg")
}

const REQUESTS: Series = Series { class: "requests", from: 10, to: 90, of: |counted| counted.requests, whose: "" };

fn refused(names: &Names) -> Vec<Series> {
    if names.b.is_none() {
        return vec![Series { class: "a", from: 10, to: 90, of: |counted| counted.refused_a, whose: "" }];
    }
    vec![
        Series { class: "a", from: 10, to: 50, of: |counted| counted.refused_a, whose: " under A" },
        Series { class: "b", from: 50, to: 90, of: |counted| counted.refused_b, whose: " under B" },
    ]
}

/// `web over access.log`.
pub(super) fn title(report: &Report, names: &Names) -> String {
    format!("Rate limits of {} over {}", report.limiter, names.log)
}

/// `10,000 requests, 374 (3.7 %) refused under A, …`.
fn sums(report: &Report) -> String {
    let part = |refused: u64, requests: u64| format!("{} ({}) refused", count(refused), percent(refused, requests));
    let a = &report.outcome.totals;
    let all = format!("{}, {}", some(a.requests, "request"), part(a.refused, a.requests));
    match &report.against {
        None => all,
        Some(against) => {
            let b = &against.outcome.totals;
            format!("{all} under A, {} under B", part(b.refused, b.requests))
        }
    }
}

fn span(report: &Report) -> String {
    let at = |at: &Option<String>| at.as_deref().map(crate::words::moment).unwrap_or_default();
    format!("{} to {} UTC", at(&report.from), at(&report.to))
}

fn description(report: &Report, buckets: &Buckets, names: &Names) -> String {
    let rules = match &names.b {
        None => format!("Rules: {}.", names.a),
        Some(b) => format!("Rules A: {}. Rules B: {b}.", names.a),
    };
    let how = how(buckets);
    format!("Bars of requests and of refused requests per minute{how}, {}. {}. {rules}", span(report), sums(report))
}

/// What a bar stands for where it is no minute: a busy minute is seen in any log.
fn how(buckets: &Buckets) -> String {
    if buckets.minutes == 1 {
        return String::new();
    }
    format!(": the mean of each {}, and pale behind it its busiest minute", buckets.unit())
}

fn header(markup: &mut Markup<'_>, report: &Report, names: &Names, title: &str) -> io::Result<()> {
    // No line breaks by itself.
    words(markup, if title.chars().count() > 80 { "strong" } else { "title" }, LEFT, 320, title)?;
    words(markup, "", LEFT, 550, &format!("{} · {}", sums(report), span(report)))?;
    let refused = match &names.b {
        None => vec![("a", format!("Refused by {}", names.a))],
        Some(b) => vec![("a", format!("Refused under A: {}", names.a)), ("b", format!("Refused under B: {b}"))],
    };
    let legend = std::iter::once(("requests", "Requests".to_owned())).chain(refused);
    for ((class, text), row) in legend.zip(0_u64..) {
        let y = 720 + row * 190;
        let side = px(100);
        let swatch = [("class", class), ("x", &px(LEFT)), ("y", &px(y)), ("width", &side), ("height", &side)];
        markup.empty("rect", &swatch)?;
        words(markup, "", LEFT + 170, y + 95, &text)?;
    }
    Ok(())
}

/// The lines across a row, what they stand for, and what is counted.
fn axis(markup: &mut Markup<'_>, row: &Row, heading: &str) -> io::Result<()> {
    words(markup, "strong", LEFT, row.top - 140, heading)?;
    for tick in row.counts.ticks() {
        let y = row.top + row.height - row.length(tick, 1);
        if tick > 0 {
            line(markup, "grid", [&px(LEFT), &px(y), &px(RIGHT), &px(y)])?;
        }
        words(markup, "end", LEFT - 80, y + 40, &count(tick))?;
    }
    Ok(())
}

/// One bucket: its bars, and behind them an area that tells all of it.
fn column(
    markup: &mut Markup<'_>,
    at: usize,
    bucket: &Bucket,
    buckets: &Buckets,
    requests: &Row,
    refusals: &Row,
    refused: &[Series],
) -> io::Result<()> {
    let when = when(bucket, buckets);
    let x = |hundredths| place(u64::try_from(at).unwrap_or(0) * 100 + hundredths, buckets.all.len());
    markup.open("g", &[("class", "column")])?;
    let height = px(BOTTOM - REQUESTS_TOP);
    let (left, width) = (px(x(0)), px(x(100) - x(0)));
    let area = [("class", "hit"), ("x", &left), ("y", &px(REQUESTS_TOP)), ("width", &width), ("height", &height)];
    // ` (2.05 a minute, 12 in the busiest)`, where a bar is no minute.
    let pace = |series: &Series| {
        if buckets.minutes == 1 {
            return String::new();
        }
        let (sum, busiest) = ((series.of)(&bucket.all), (series.of)(&bucket.busiest));
        format!(" ({} a minute, {} in the busiest)", mean(sum, buckets.minutes), count(busiest))
    };
    let refused_of =
        |series: &Series| format!("{} refused{}{}", count((series.of)(&bucket.all)), series.whose, pace(series));
    let of_requests = format!("{}{}", some(bucket.all.requests, "request"), pace(&REQUESTS));
    let each: Vec<String> = refused.iter().map(refused_of).collect();
    titled(markup, &area, &format!("{when}: {of_requests}, {}", each.join(", ")))?;
    for series in std::iter::once(&REQUESTS).chain(refused) {
        let n = (series.of)(&bucket.all);
        if n == 0 {
            continue;
        }
        let (row, title) = if series.class == REQUESTS.class {
            (requests, format!("{when}: {of_requests}"))
        } else {
            let requests = some(bucket.all.requests, "request");
            (refusals, format!("{when}: {} of {requests} refused{}{}", count(n), series.whose, pace(series)))
        };
        let busiest = (series.of)(&bucket.busiest);
        if buckets.minutes > 1 {
            let length = row.length(busiest, 1).max(LOWEST);
            let behind = [
                ("class", &*format!("{} busiest", series.class)),
                ("x", &px(x(series.from))),
                ("y", &px(row.top + row.height - length)),
                ("width", &px(x(series.to) - x(series.from))),
                ("height", &px(length)),
                ("data-busiest", &busiest.to_string()),
            ];
            // The area around it says its number.
            markup.empty("rect", &behind)?;
        }
        let length = row.length(n, buckets.minutes).max(LOWEST);
        let bar = [
            ("class", series.class),
            ("x", &px(x(series.from))),
            ("y", &px(row.top + row.height - length)),
            ("width", &px(x(series.to) - x(series.from))),
            ("height", &px(length)),
            ("data-count", &n.to_string()),
        ];
        titled(markup, &bar, &title)?;
    }
    markup.close("g")
}

/// `17 May 2015 10:05 UTC, 5 minutes`.
fn when(bucket: &Bucket, buckets: &Buckets) -> String {
    format!("{} UTC, {}", scale::moment(bucket.from_us), buckets.length())
}

fn times(markup: &mut Markup<'_>, buckets: &Buckets) -> io::Result<()> {
    let (from, to) = buckets.span_us();
    for tick in scale::times(from, to) {
        let x = LEFT + (RIGHT - LEFT) * ((tick.at_us - from) / 1_000) / ((to - from) / 1_000).max(1);
        line(markup, "axis", [&px(x), &px(BOTTOM), &px(x), &px(BOTTOM + 50)])?;
        words(markup, "middle", x, BOTTOM + 190, &tick.label)?;
        if let Some(below) = &tick.below {
            words(markup, "middle", x, BOTTOM + 350, below)?;
        }
    }
    words(markup, "strong middle", LEFT.midpoint(RIGHT), BOTTOM + 600, "Time (UTC)")
}

impl Row {
    /// How high a bar is of this count in so many minutes.
    fn length(&self, n: u64, minutes: u64) -> u64 {
        let whole = u128::from(self.counts.top.max(1)) * u128::from(minutes.max(1));
        let length = u128::from(self.height) * u128::from(n) / whole;
        u64::try_from(length).unwrap_or(self.height)
    }
}

/// Where hundredths of buckets stand, of so many buckets.
fn place(hundredths: u64, buckets: usize) -> u64 {
    LEFT + (RIGHT - LEFT) * hundredths / (u64::try_from(buckets).unwrap_or(u64::MAX).max(1) * 100)
}

fn titled(markup: &mut Markup<'_>, attributes: Attributes<'_>, title: &str) -> io::Result<()> {
    markup.open("rect", attributes)?;
    markup.text("title", &[], title)?;
    markup.close("rect")
}

fn words(markup: &mut Markup<'_>, class: &str, x: u64, y: u64, text: &str) -> io::Result<()> {
    markup.text("text", &[("class", class), ("x", &px(x)), ("y", &px(y))], text)
}

fn line(markup: &mut Markup<'_>, class: &str, [x1, y1, x2, y2]: [&String; 4]) -> io::Result<()> {
    markup.empty("line", &[("class", class), ("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2)])
}

/// Tenths of a pixel as pixels.
fn px(tenths: u64) -> String {
    match (tenths / 10, tenths % 10) {
        (whole, 0) => whole.to_string(),
        (whole, tenth) => format!("{whole}.{tenth}"),
    }
}
