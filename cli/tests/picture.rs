//! `--picture`: one file, well-formed, that shows what was counted.

#![allow(clippy::expect_used, reason = "a test that cannot run fails")]

mod kit;

use kit::{Bench, TWO_A_MINUTE, common, root, run_in};
use roxmltree::{Document, Node};
use serde_json::{Value as Json, json};
use std::fs;

const NAMESPACE: &str = "http://www.w3.org/2000/svg";

/// The chart alone, of either kind of file.
fn chart(text: &str) -> &str {
    let from = text.find("<svg").expect("a chart");
    &text[from..text.rfind("</svg>").expect("its end") + "</svg>".len()]
}

fn bars<'a>(chart: &'a Document<'_>, class: &'a str) -> impl Iterator<Item = Node<'a, 'a>> {
    let is_bar = move |node: &Node<'_, '_>| node.has_attribute("data-count") && node.attribute("class") == Some(class);
    chart.descendants().filter(is_bar)
}

fn sum(chart: &Document<'_>, class: &str) -> u64 {
    let count = |bar: Node<'_, '_>| bar.attribute("data-count").expect("a count").parse::<u64>().expect("a number");
    bars(chart, class).map(count).sum()
}

fn title<'a>(bar: Node<'a, '_>) -> &'a str {
    bar.children()
        .find(|child| child.has_tag_name((NAMESPACE, "title")))
        .and_then(|title| title.text())
        .expect("a title")
}

/// Nothing is fetched, nothing runs.
fn assert_alone(text: &str) {
    let rest = text.replace(&format!("xmlns=\"{NAMESPACE}\""), "");
    for other in ["http:", "https:", "//", "<script", "<link", "url(", "@import", "src=", "href="] {
        assert!(!rest.contains(other), "{other}");
    }
}

/// The report of the example, with its picture.
fn example(against: bool, kind: &str) -> (Json, String) {
    let folder = tempfile::TempDir::new().expect("a folder");
    let file = folder.path().join(format!("picture.{kind}"));
    let mut arguments = vec!["replay", "--rules", "examples/rack.rate_limits.yaml", "examples/access.log.gz"];
    arguments.extend(["--format", "json", "--picture", file.to_str().expect("UTF-8")]);
    if against {
        arguments.extend(["--against", "examples/rack.stricter.rate_limits.yaml"]);
    }
    let report = run_in(&root(), &arguments, b"").json();
    (report, fs::read_to_string(file).expect("a picture"))
}

#[test]
fn the_bars_of_the_example_are_its_totals() {
    for (against, kind) in [(false, "svg"), (true, "svg"), (false, "html"), (true, "html")] {
        let (report, text) = example(against, kind);
        assert_alone(&text);
        assert!(text.len() < 100_000, "{}", text.len());
        let chart = Document::parse(chart(&text)).expect("XML");
        assert_eq!(json!(sum(&chart, "requests")), report["totals"]["requests"]);
        assert_eq!(json!(sum(&chart, "a")), report["totals"]["refused"]);
        if against {
            assert_eq!(json!(sum(&chart, "b")), report["against"]["totals"]["refused"]);
        } else {
            assert_eq!(bars(&chart, "b").count(), 0);
        }
        assert_eq!(bars(&chart, "requests").count(), 84);
        for row in ["Requests", "Refused requests"] {
            let heading = format!(">{row} per minute: the mean of each hour, and pale behind it its busiest minute<");
            assert!(text.contains(&heading), "{heading}");
        }
        assert!(text.contains(">Time (UTC)<") && text.contains(">18 May 2015<"));
        let root = chart.root_element();
        assert_eq!(root.attribute("role"), Some("img"));
        assert_eq!(root.attribute("aria-label"), Some("Rate limits of rack_request over access.log.gz"));
        assert!(root.children().any(|child| child.has_tag_name((NAMESPACE, "desc"))));
        for bar in ["requests", "a", "b"].into_iter().flat_map(|class| bars(&chart, class)) {
            let count = bar.attribute("data-count").expect("a count");
            assert!(title(bar).contains(&format!(" UTC, 1 hour: {count} ")), "{}", title(bar));
        }
    }
}

#[test]
fn bars_stand_within_their_row_and_are_as_long_as_they_count() {
    let (_, text) = example(true, "svg");
    let chart = Document::parse(&text).expect("XML");
    let number = |bar: Node<'_, '_>, name: &str| -> f64 { bar.attribute(name).expect("it").parse().expect("a number") };
    for class in ["requests", "a", "b"] {
        let mut ends: f64 = 0.0;
        for bar in bars(&chart, class) {
            assert!(number(bar, "x") >= ends, "{class} bars overlap");
            ends = number(bar, "x") + number(bar, "width");
            let (height, count) = (number(bar, "height"), number(bar, "data-count"));
            // Tenths of a pixel are cut off; what is not nought is a pixel high. A bar is the mean of its hour.
            let per = if class == "requests" { 170.0 / 150.0 } else { 170.0 / 80.0 };
            let expected = f64::max(count / 60.0 * per, 1.0);
            assert!((height - expected).abs() <= 0.1 + f64::EPSILON, "{class}: {height} for {count}");
            // Each hour of the example has requests in one minute only.
            let behind = bar.prev_siblings().find(|node| node.has_attribute("data-busiest")).expect("it");
            let (busiest, top) = (number(behind, "data-busiest"), if class == "requests" { 165.0 } else { 385.0 });
            assert_eq!(behind.attribute("data-busiest"), bar.attribute("data-count"));
            let expected = top + 170.0 - f64::max(busiest * per, 1.0);
            assert!((number(behind, "y") - expected).abs() <= 0.1 + f64::EPSILON, "{class}: {busiest}");
        }
        assert!((ends - 0.0).abs() > 1.0 && ends < 960.0, "{class} ends at {ends}");
    }
}

#[test]
fn the_page_holds_the_tables() {
    let (report, text) = example(true, "html");
    assert!(text.starts_with("<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"/>"), "{}", &text[..80]);
    let changes = &report["changes"];
    for (heading, turned) in [("Newly refused", "newly_refused"), ("Newly allowed", "newly_allowed")] {
        let from = text.find(&format!("<h2>{heading}")).expect("a heading");
        let table = &text[from..from + text[from..].find("</table>").expect("a table")];
        assert!(table.contains(&format!("<p>{} of 10,000 requests", changes[turned]["requests"])), "{table}");
        for rule in changes[turned]["rules"].as_array().expect("rules") {
            let cells = format!("<td class=\"\">{}</td>", rule["rule"].as_str().expect("a name"));
            assert!(table.contains(&cells) && table.contains(&format!(">{}</td>", rule["requests"])), "{table}");
        }
    }
    for identity in changes["most_changed"].as_array().expect("identities") {
        assert!(text.contains(&format!(">ip={}", identity["characteristics"]["ip"].as_str().expect("an address"))));
    }
    assert!(text.contains("@media (prefers-color-scheme:dark)"));
    assert_eq!(text.matches("<tr>").count(), text.matches("</tr>").count());
    for (side, outcome) in [("A", &report), ("B", &report["against"])] {
        let from = text.find(&format!("<h2>Minutes with most refusals under {side}")).expect("a heading");
        let table = &text[from..from + text[from..].find("</table>").expect("a table")];
        for minute in outcome["busiest_minutes"].as_array().expect("minutes") {
            let from = minute["from"].as_str().expect("a time").replace('T', " ");
            let row = [format!(">{}</td>", &from[..16]), format!(">{}</td>", minute["refused"])];
            assert!(row.iter().all(|cell| table.contains(cell)), "{row:?} in {table}");
        }
    }
    assert!(text.contains(">refused under B, busiest minute</th>"));
    let (_, single) = example(false, "html");
    assert!(!single.contains("Newly refused") && single.contains("The chart as a table, per hour"));
}

#[test]
fn what_a_stranger_wrote_is_text() {
    let line = |n: u32| json!({"time": n, "ip": "<script>alert(\"1\")&amp;</script>\u{1b}\u{ffff}"}).to_string() + "\n";
    let log: String = (0..5).map(line).collect();
    let bench = Bench::new(TWO_A_MINUTE, "");
    let (log_name, rules) = ("a<&\">'.log", "<b>&\".yaml");
    bench.put(log_name, log);
    bench.put(rules, TWO_A_MINUTE.replace("limit: 2", "limit: 3"));
    for picture in ["p.svg", "p.html"] {
        let arguments = [
            "replay",
            "--rules",
            "rules.yaml",
            "--against",
            rules,
            "--picture",
            picture,
            "--log-format",
            "json",
            log_name,
        ];
        let run = run_in(bench.path(), &arguments, b"");
        assert_eq!((run.code, run.said()), (0, ""));
        let text = bench.text(picture);
        assert!(!text.contains("<script") && !text.contains("<b>") && !text.contains('\u{1b}'), "{text}");
        let chart = Document::parse(chart(&text)).expect("XML");
        let label = chart.root_element().attribute("aria-label");
        assert_eq!(label, Some("Rate limits of web over a<&\">'.log"));
        assert!(chart.descendants().any(|node| node.text() == Some("Refused under B: <b>&\".yaml")));
        if picture == "p.html" {
            let expected = ">ip=&lt;script&gt;alert(&quot;1&quot;)&amp;amp;&lt;/script&gt;\\u{1b}\\u{ffff}</td>";
            assert!(text.contains(expected), "{text}");
        }
    }
}

#[test]
fn an_empty_row_says_that_it_is() {
    let bench = Bench::new(TWO_A_MINUTE, common("a", 0));
    bench.report(&["--picture", "p.svg"]);
    assert!(bench.text("p.svg").contains(">No request is refused<"));
    bench.put("access.log", common("a", 0).repeat(3));
    bench.report(&["--picture", "p.svg"]);
    assert!(!bench.text("p.svg").contains("No request is refused"));
}

#[test]
fn names_that_are_equal_are_told_apart_by_their_folders() {
    let bench = Bench::new(TWO_A_MINUTE, common("a", 0));
    fs::create_dir(bench.path().join("new")).expect("a folder");
    bench.put("new/rules.yaml", TWO_A_MINUTE);
    bench.report(&["--against", "new/rules.yaml", "--picture", "p.svg"]);
    let text = bench.text("p.svg");
    assert!(text.contains(">Refused under A: rules.yaml<") && text.contains(">Refused under B: new/rules.yaml<"));
}

#[test]
fn long_logs_have_wider_bars_and_short_ones_keep_minutes() {
    for (minutes, heading, length) in [
        (1_u64, "Requests per minute", "1 minute"),
        (119, "Requests per minute", "1 minute"),
        (500, "Requests per minute: the mean of each 5 minutes, and pale behind it its busiest minute", "5 minutes"),
        (
            1_700,
            "Requests per minute: the mean of each 15 minutes, and pale behind it its busiest minute",
            "15 minutes",
        ),
        (20_000, "Requests per minute: the mean of each 3 hours, and pale behind it its busiest minute", "3 hours"),
        (
            20_000_000,
            "Requests per minute: the mean of each 128 days, and pale behind it its busiest minute",
            "128 days",
        ),
    ] {
        let step = minutes.div_ceil(5_000);
        let log: Vec<String> = (0..minutes.div_ceil(step)).map(|n| format!("{},a\n", n * step * 60)).collect();
        let bench = Bench::new(TWO_A_MINUTE, format!("time,ip\n{}", log.concat()));
        let report = bench.report(&["--picture", "p.SVG"]);
        let text = bench.text("p.SVG");
        assert!(text.contains(&format!(">{heading}<")), "{heading} in {text}");
        assert!(text.contains(&format!("1 Jan 1970 00:00 UTC, {length}: ")), "{text}");
        assert!(text.len() < 100_000, "{}", text.len());
        let chart = Document::parse(&text).expect("XML");
        assert_eq!(json!(sum(&chart, "requests")), report["totals"]["requests"]);
        assert!(bars(&chart, "requests").count() <= 120);
    }
}

/// However long the log is, one busy minute stands out.
#[test]
fn a_spike_is_seen() {
    let minutes: Vec<String> = (0..600).map(|minute| format!("{},a\n", minute * 60)).collect();
    let mut log = minutes.concat();
    log.push_str(&"18005,b\n".repeat(50));
    let bench = Bench::new(TWO_A_MINUTE, format!("time,ip\n{log}"));
    bench.report(&["--picture", "p.svg"]);
    let text = bench.text("p.svg");
    let chart = Document::parse(&text).expect("XML");
    let lines = chart.descendants().filter(|node| node.has_attribute("data-busiest"));
    let requests: Vec<u32> = lines
        .filter(|line| line.attribute("class") == Some("requests busiest"))
        .map(|line| line.attribute("data-busiest").expect("it").parse().expect("a number"))
        .collect();
    assert_eq!(
        (requests.len(), requests.iter().filter(|n| **n == 1).count(), requests.iter().max()),
        (120, 119, Some(&51))
    );
    // 5 requests and 50 in five minutes, 51 of them in one.
    let said = "1 Jan 1970 05:00 UTC, 5 minutes: 55 requests (11 a minute, 51 in the busiest)";
    assert!(bars(&chart, "requests").any(|bar| title(bar) == said), "{text}");
    // Minutes are what they are.
    let bench = Bench::new(TWO_A_MINUTE, common("a", 0));
    bench.report(&["--picture", "p.svg"]);
    let text = bench.text("p.svg");
    assert!(!text.contains("data-busiest") && text.contains(": 1 request<"), "{text}");
}

#[test]
fn other_kinds_of_files_are_misuse() {
    let bench = Bench::new(TWO_A_MINUTE, common("a", 0));
    for name in ["p.png", "p", ".svg", "svg", "p.svg.gz"] {
        let run = bench.replay(&["--picture", name]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{name}");
        assert!(run.stderr.contains("ends neither in .svg nor in .html"), "{}", run.stderr);
    }
    assert_eq!(bench.files(), ["access.log", "rules.yaml"]);
}

#[test]
fn files_are_whole_or_as_they_were() {
    let bench = Bench::new(TWO_A_MINUTE, "neither a time nor a request\n");
    let both = ["--log-format", "common", "--decisions", "d.jsonl", "--picture", "p.svg"];
    for name in ["d.jsonl", "p.svg"] {
        bench.put(name, "as it was");
    }
    assert_eq!(bench.replay(&both).code, 2);
    assert_eq!([bench.text("d.jsonl"), bench.text("p.svg")], ["as it was", "as it was"]);
    assert_eq!(bench.files(), ["access.log", "d.jsonl", "p.svg", "rules.yaml"]);
    bench.put("access.log", common("a", 0));
    assert_eq!(bench.replay(&both).code, 0);
    assert!(bench.text("d.jsonl").starts_with("{\"line\":1,") && bench.text("p.svg").starts_with("<svg "));
    assert_eq!(bench.files(), ["access.log", "d.jsonl", "p.svg", "rules.yaml"]);
}

#[test]
fn a_link_keeps_leading_to_the_file() {
    let bench = Bench::new(TWO_A_MINUTE, common("a", 0));
    bench.put("there.svg", "old");
    std::os::unix::fs::symlink("there.svg", bench.path().join("link.svg")).expect("a link");
    assert_eq!(bench.replay(&["--picture", "link.svg"]).code, 0);
    assert!(fs::symlink_metadata(bench.path().join("link.svg")).expect("a link").is_symlink());
    assert!(bench.text("there.svg").starts_with("<svg "));
}

#[test]
fn what_is_read_is_not_drawn_over() {
    let bench = Bench::new(TWO_A_MINUTE, "");
    bench.put("log.svg", common("a", 0));
    let run = |more: &[&str]| {
        let run =
            run_in(bench.path(), &[["replay", "--rules", "rules.yaml", "log.svg"].as_slice(), more].concat(), b"");
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
        run.stderr
    };
    assert!(run(&["--picture", "./log.svg"]).contains("--picture would overwrite ./log.svg, which is read"));
    let said = run(&["--picture", "p.svg", "--decisions", "./p.svg"]);
    assert!(said.contains("--decisions and --picture both name p.svg; name two files"), "{said}");
    assert!(run(&["--picture", "no/such/p.svg"]).contains("cannot write no/such/p.svg"));
    assert_eq!(bench.text("log.svg"), common("a", 0));
    assert_eq!(bench.files(), ["access.log", "log.svg", "rules.yaml"]);
    // What cannot be written is what was asked for, not the file in the making.
    let said = run(&["--picture", "/proc/p.svg"]);
    assert!(said.contains("cannot write /proc/p.svg: ") && !said.contains(".labkit"), "{said}");
}
