//! Every format of a log gives the same decisions, and what cannot be read is counted.

#![allow(clippy::expect_used, reason = "a test that cannot run fails")]

mod kit;

use flate2::Compression;
use flate2::write::GzEncoder;
use kit::{Bench, TWO_A_MINUTE, common, run_in};
use serde_json::{Value as Json, json};
use std::io::Write as _;

/// Four requests of one address, the third over, and one of another.
const EXPECTED: [(u64, &str); 5] = [(1, "allow"), (2, "allow"), (3, "block"), (4, "allow"), (5, "allow")];

fn assert_expected(bench: &Bench, first_line: u64, more: &[&str]) {
    let decisions = bench.decisions(more);
    let expected: Vec<_> = EXPECTED.map(|(line, action)| (line + first_line - 1, action)).into();
    let actual: Vec<_> = decisions.iter().map(|(line, action, _)| (*line, action.as_str())).collect();
    assert_eq!(actual, expected);
}

fn common_log() -> String {
    [common("a", 0), common("a", 1), common("a", 2), common("b", 3), common("a", 60)].concat()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).expect("gzip");
    encoder.finish().expect("gzip")
}

#[test]
fn common_and_combined() {
    let bench = Bench::new(TWO_A_MINUTE, common_log());
    assert_expected(&bench, 1, &[]);
    assert_expected(&bench, 1, &["--log-format", "common"]);
    assert_eq!(bench.report(&[])["log"]["format"], "common");
    let combined = common_log().replace(" 5\n", " 5 \"-\" \"curl/8\"\n");
    let bench = Bench::new(TWO_A_MINUTE, combined);
    assert_expected(&bench, 1, &[]);
    assert_expected(&bench, 1, &["--log-format", "combined"]);
    assert_expected(&bench, 1, &["--log-format", "common"]);
    assert_eq!(bench.report(&[])["log"]["format"], "combined");
}

#[test]
fn json_lines_with_times_of_every_kind() {
    let log = r#"{"time": "2015-05-17T10:00:00Z", "ip": "a"}
{"timestamp": 1431856801, "ip": "a", "unmentioned": {"nested": []}}
{"@timestamp": "17/May/2015:10:00:02 +0000", "ip": "a"}
{"time": 1431856803.5, "ip": "b"}
{"time": 1431856860000, "ip": "a"}
"#;
    let bench = Bench::new(TWO_A_MINUTE, log);
    assert_expected(&bench, 1, &[]);
    assert_expected(&bench, 1, &["--log-format", "json"]);
}

#[test]
fn csv_with_its_own_time_field() {
    let log = "ip,when,note\na,1431856800,\"x, y\"\na,1431856801,\na,1431856802,\nb,1431856803,\na,1431856860,\n";
    let bench = Bench::new(TWO_A_MINUTE, log);
    assert_expected(&bench, 2, &["--time-field", "when"]);
    assert_expected(&bench, 2, &["--time-field", "when", "--log-format", "csv"]);
    let run = bench.replay(&["--log-format", "csv"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("no field time or timestamp or @timestamp"), "{}", run.stderr);
    assert!(run.stderr.contains("ip, when, note"), "{}", run.stderr);
}

#[test]
fn csv_lines_are_numbered_as_an_editor_does() {
    let log = "time,ip,note\n1,a,\"two\nlines\"\n\n2,a\n3,a,x\n4,a,x";
    let bench = Bench::new(TWO_A_MINUTE, log);
    let report = bench.report(&[]);
    assert_eq!(report["log"]["unreadable"]["reasons"][0]["reason"], "field_count");
    assert_eq!(report["log"]["unreadable"]["reasons"][0]["first"][0]["line"], 5);
    let lines: Vec<u64> = bench.decisions(&[]).into_iter().map(|(line, ..)| line).collect();
    assert_eq!(lines, [2, 6, 7]);
}

#[test]
fn json_keeps_types_and_csv_has_none() {
    let rules = "
web:
  - {name: number, action: limit, match: {user: 42}, limit: 1, period_s: 60}
  - {name: text, action: limit, match: {user: '42'}, limit: 1, period_s: 60}
";
    let rule = |decisions: Vec<(u64, String, Option<String>)>| decisions[0].2.clone();
    let of_json = |value: &str| rule(Bench::new(rules, format!("{{\"time\": 1, \"user\": {value}}}")).decisions(&[]));
    assert_eq!(of_json("42").as_deref(), Some("number"));
    assert_eq!(of_json("42.0").as_deref(), Some("number"));
    assert_eq!(of_json("\"42\"").as_deref(), Some("text"));
    assert_eq!(of_json("null"), None);
    assert_eq!(rule(Bench::new(rules, "time,user\n1,42\n").decisions(&[])).as_deref(), Some("text"));
}

#[test]
fn status_and_bytes_are_integers_and_a_dash_is_absent() {
    let rules = "
web:
  - {name: status, action: skip, match: {status: 404}}
  - {name: no_bytes, action: skip, match: {bytes: null, user: null}}
  - {name: bytes, action: skip, match: {bytes: {one_of: [512]}, user: alice, path: /a, method: GET}}
";
    let line = |user: &str, status: u32, bytes: &str| {
        format!("h - {user} [17/May/2015:10:05:03 +0000] \"GET /a?b HTTP/1.1\" {status} {bytes}\n")
    };
    let log = [line("-", 404, "-"), line("-", 200, "-"), line("alice", 200, "512"), line("bob", 200, "1")].concat();
    let rules: Vec<_> = Bench::new(rules, log).decisions(&[]).into_iter().map(|(_, _, rule)| rule).collect();
    assert_eq!(rules, [Some("status".into()), Some("no_bytes".into()), Some("bytes".into()), None]);
}

#[test]
fn gzip_is_known_by_its_first_bytes_and_may_have_several_members() {
    let log = common_log();
    let (day, next) = log.split_at(log.find("b -").expect("the other address"));
    let bench = Bench::new(TWO_A_MINUTE, [gzip(day), gzip(next)].concat());
    assert_expected(&bench, 1, &[]);
    // Nothing of it can be read.
    bench.put("access.log", &gzip(&log)[..12]);
    let run = bench.replay(&[]);
    assert_eq!(run.code, 2);
    assert!(run.said().starts_with("error: cannot read access.log"), "{}", run.stderr);
}

#[test]
fn standard_input_plain_and_gzip() {
    let bench = Bench::new(TWO_A_MINUTE, "");
    for input in [common_log().into_bytes(), gzip(&common_log())] {
        let run = run_in(bench.path(), &["replay", "--rules", "rules.yaml", "-", "--format", "json"], &input);
        let report = run.json();
        assert_eq!(report["log"]["file"], "standard input");
        assert_eq!(report["totals"]["refused"], 1);
    }
}

#[test]
fn lines_that_cannot_be_read_are_counted_by_reason() {
    let log = [
        "garbage\n".into(),
        common("a", 0),
        "\n".into(),
        common("a", 1).replace("May", "Mai"),
        common("a", 2).replace(" 200 ", " OK "),
        common("a", 3).replace("May", "Mai"),
        common("a", 4).replace("GET /a HTTP/1.1", r"\x16\x03"),
        common("a", 5),
    ]
    .concat();
    let bench = Bench::new(TWO_A_MINUTE, log);
    let report = bench.report(&[]);
    assert_eq!(report["totals"]["requests"], 3);
    assert_eq!(report["log"]["lines"], 7);
    let log = &report["log"];
    assert_eq!(log["unreadable"]["count"], 4);
    let reasons: Vec<_> = log["unreadable"]["reasons"].as_array().expect("reasons").iter().map(summary).collect();
    assert_eq!(reasons, [json!(["no_host", 1, [1]]), json!(["bad_time", 2, [4, 6]]), json!(["bad_status", 1, [5]])]);
    let detail = log["unreadable"]["reasons"][1]["first"][0]["detail"].as_str().expect("a detail");
    assert!(detail.contains("`17/Mai/2015:10:00:01 +0000`"), "{detail}");
    assert_eq!(summary(&log["odd"]["reasons"][0]), json!(["odd_request_line", 1, [7]]));
    let human = bench.replay(&[]).stdout;
    for part in ["4 lines could not be read", "bad_time", "line 4: the time `17/Mai/2015", "1 line odd"] {
        assert!(human.contains(part), "{part} in {human}");
    }
}

fn summary(group: &Json) -> Json {
    let lines: Vec<_> = group["first"].as_array().expect("examples").iter().map(|example| &example["line"]).collect();
    json!([group["reason"], group["count"], lines])
}

#[test]
fn a_nested_value_is_no_verdict_only_where_a_rule_mentions_it() {
    let log = "{\"time\": 1, \"ip\": {\"v4\": \"a\"}}\n{\"time\": 2, \"ip\": \"a\", \"other\": [1]}\n";
    let bench = Bench::new(TWO_A_MINUTE, log);
    let report = bench.report(&[]);
    assert_eq!(report["totals"]["errors"], 1);
    assert_eq!(report["totals"]["allowed"], 2);
    let message = report["failures"][0]["message"].as_str().expect("a message");
    assert!(message.contains("property `ip` is a map"), "{message}");
    assert!(bench.replay(&[]).stdout.contains("1 × property `ip` is a map"));
}
