//! What is counted, and how it is reported.

#![allow(clippy::expect_used, reason = "a test that cannot run fails")]

mod kit;

use kit::{Bench, TWO_A_MINUTE, common};
use serde_json::{Value as Json, json};

/// A skip, a ban, a log rule and a warn rule.
const EVERY_ACTION: &str = "
web:
  - {name: friends, action: skip, match: {ip: friend}}
  - {name: banned, action: limit, match: {ip: {prefix: bad}}, characteristics: [ip], limit: 1, period_s: 10, ban_for_s: 60}
  - {name: dry, action: log, match: {path: /a}, characteristics: [ip, user], limit: 2, period_s: 60}
  - {name: rush, action: warn, limit: 4, period_s: 60}
";

fn every_action() -> Bench {
    let log: Vec<String> = [
        ("friend", 0),
        ("bad1", 1),  // passes, as all that follow but those over `banned`; dry 1, rush 1
        ("bad1", 2),  // refused, and banned until 62
        ("bad1", 3),  // refused by the ban
        ("a", 4),     // dry 1, rush 2
        ("a", 5),     // dry 2, rush 3
        ("a", 6),     // dry over, rush 4
        ("a", 7),     // dry over, rush over
        ("bad1", 62), // the ban is over; dry: a new window
        ("bad1", 63), // refused, and banned once more
    ]
    .iter()
    .map(|(ip, second)| common(ip, *second))
    .collect();
    Bench::new(EVERY_ACTION, log.concat())
}

fn rule<'r>(report: &'r Json, name: &str) -> &'r Json {
    report["rules"].as_array().expect("rules").iter().find(|rule| rule["name"] == name).expect("the rule")
}

#[test]
fn totals() {
    let report = every_action().report(&[]);
    let expected = json!({
        "requests": 10, "matched": 10, "allowed": 7, "refused": 3, "warned": 1, "logged": 2, "skipped": 1,
        "bans": 2, "errors": 0, "degraded": 0,
    });
    assert_eq!(report["totals"], expected);
    assert_eq!(report["evicted"], 0);
}

#[test]
fn each_rule() {
    let report = every_action().report(&[]);
    let numbers = |name: &str| {
        let rule = rule(&report, name);
        ["matched", "allowed", "refused", "warned", "logged", "skipped", "bans"].map(|field| rule[field].clone())
    };
    assert_eq!(numbers("friends"), [1, 1, 0, 0, 0, 1, 0]);
    assert_eq!(numbers("banned"), [5, 2, 3, 0, 0, 0, 2]);
    assert_eq!(numbers("dry"), [6, 6, 0, 0, 2, 0, 0]);
    assert_eq!(numbers("rush"), [6, 6, 0, 1, 0, 0, 0]);
    let banned = rule(&report, "banned");
    assert_eq!(banned["first_over"], "2015-05-17T10:00:02Z");
    assert_eq!(banned["last_over"], "2015-05-17T10:01:03Z");
    assert_eq!([&banned["limit"], &banned["period_s"], &banned["ban_for_s"]], [1, 10, 60]);
    assert_eq!(
        banned["busiest"],
        json!([{"characteristics": {"ip": "bad1"}, "requests": 5, "over": 3, "bans": 2,
                "first_over": "2015-05-17T10:00:02Z", "last_over": "2015-05-17T10:01:03Z"}])
    );
    let dry = rule(&report, "dry");
    assert_eq!((&dry["identities"], &dry["identities_over"]), (&json!(2), &json!(1)));
    assert_eq!(dry["busiest"][0]["characteristics"], json!({"ip": "a", "user": null}));
    assert_eq!(dry["busiest"][1]["first_over"], Json::Null);
}

#[test]
fn minutes_with_refusals() {
    let report = every_action().report(&["--top", "1"]);
    assert_eq!(report["minutes_with_refusals"], 2);
    assert_eq!(report["busiest_minutes"], json!([{"from": "2015-05-17T10:00:00Z", "requests": 8, "refused": 2}]));
}

#[test]
fn a_log_rule_that_is_over_is_no_refusal() {
    let bench = every_action();
    let decisions = bench.decisions(&[]);
    assert_eq!(decisions[7], (8, "allow".into(), Some("dry".into())));
    let line = bench.text("decisions.jsonl").lines().nth(7).expect("a line").to_owned();
    assert_eq!(line, r#"{"line":8,"action":"allow","rule":"dry","exceeded":["dry","rush"]}"#);
}

#[test]
fn decisions_are_a_json_line_for_each_request() {
    let log = [common("a", 0), "garbage\n".into(), common("a", 1), common("a", 2)].concat();
    let bench = Bench::new(TWO_A_MINUTE, log);
    bench.decisions(&[]);
    let expected = r#"{"line":1,"action":"allow","rule":"per_ip","exceeded":[]}
{"line":3,"action":"allow","rule":"per_ip","exceeded":[]}
{"line":4,"action":"block","rule":"per_ip","exceeded":["per_ip"]}
"#;
    assert_eq!(bench.text("decisions.jsonl"), expected);
    let unmatched = Bench::new("web: []", common("a", 0));
    unmatched.decisions(&[]);
    assert_eq!(unmatched.text("decisions.jsonl"), "{\"line\":1,\"action\":\"allow\",\"rule\":null,\"exceeded\":[]}\n");
}

#[test]
fn identities_are_those_that_counters_tell_apart() {
    let log = "{\"time\": 1, \"ip\": 7}\n{\"time\": 2, \"ip\": \"7\"}\n{\"time\": 3, \"ip\": 7.0}\n\
               {\"time\": 4, \"ip\": \"\"}\n{\"time\": 5}\n{\"time\": 6, \"ip\": null}\n";
    let report = Bench::new(TWO_A_MINUTE, log).report(&[]);
    let busiest: Vec<Json> = rule(&report, "per_ip")["busiest"]
        .as_array()
        .expect("identities")
        .iter()
        .map(|identity| json!([identity["characteristics"]["ip"], identity["requests"], identity["over"]]))
        .collect();
    assert_eq!(busiest, [json!(["7", 3, 1]), json!([null, 3, 1])]);
}

#[test]
fn the_human_report_says_who_was_refused_and_shows_no_more_than_top() {
    let log: Vec<String> = (0..4).flat_map(|ip| (0..5 - ip).map(move |n| common(&format!("ip{ip}"), n))).collect();
    let human = Bench::new(TWO_A_MINUTE, log.concat()).replay(&["--top", "2"]).stdout;
    for part in [
        "14 requests · 8 allowed · 6 refused (42.8 %)",
        "per_ip refused 6 requests of 3 identities, 05-17 10:00:02 to 05-17 10:00:04",
        " ip0         5        3  05-17 10:00:02  05-17 10:00:04\n",
        "… and 1 more",
    ] {
        assert!(human.contains(part), "{part} in\n{human}");
    }
    assert!(!human.contains("ip2"), "{human}");
    assert!(!human.contains('\u{1b}'), "no colours where nobody looks:\n{human}");
}

#[test]
fn a_log_does_not_speak_to_the_terminal() {
    let log: String = (0..3).map(|n| common(r"a\x1b[31m", n)).collect();
    let human = Bench::new(TWO_A_MINUTE, log).replay(&[]).stdout;
    assert!(human.contains(r"a\u{1b}[31m"), "{human}");
}

#[test]
fn a_distinct_rule_passes_over_what_lacks_its_property() {
    let rules = "
web:
  - {name: paths, action: limit, count_distinct: path, characteristics: [ip], limit: 2, period_s: 60}
";
    let log = "time,ip,path\n1,a,/x\n2,a,/y\n3,a,/x\n4,a,\n5,a,/z\n";
    let bench = Bench::new(rules, log);
    let report = bench.report(&[]);
    assert_eq!(report["totals"]["refused"], 1);
    assert_eq!(report["totals"]["degraded"], 1);
    assert_eq!(report["totals"]["matched"], 4);
    assert!(bench.replay(&[]).stdout.contains("1 × paths: passed over: the request lacks `path`"));
}

#[test]
fn one_is_one_and_none_is_none() {
    let bench = Bench::new(TWO_A_MINUTE, common("a", 0));
    let human = bench.replay(&[]).stdout;
    assert!(human.contains("\n1 request · 1 allowed · "), "{human}");
    bench.put("access.log", common("a", 0).repeat(5) + &common("b", 1).repeat(5));
    let human = bench.replay(&["--top", "0"]).stdout;
    assert!(human.contains("per_ip refused 6 requests of 2 identities") && !human.contains("more"), "{human}");
    assert!(!human.contains("  first"), "{human}");
}
