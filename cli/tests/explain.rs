//! `explain`: how one request meets every rule.
//!
//! `UPDATE_SNAPSHOTS=1 cargo test -p labkit-ratelimit-cli` writes the explanations anew.

#![allow(clippy::expect_used, reason = "a test that cannot run fails")]

mod kit;

use kit::{Run, assert_misuse, assert_snapshot, documents, run_in};
use serde_json::{Value as Json, json};

const WEB: [&str; 7] =
    ["explain", "--available", "available_limiters.yaml", "--rules", "rate_limits.yaml", "--limiter", "web"];

fn explain(request: &[&str]) -> Run {
    run_in(&documents(), &[WEB.as_slice(), request].concat(), b"")
}

fn report(request: &[&str]) -> Json {
    explain(&[["--format", "json"].as_slice(), request].concat()).json()
}

fn rule<'r>(report: &'r Json, name: &str) -> &'r Json {
    let rules = report["rules"].as_array().expect("rules");
    rules.iter().find(|rule| rule["name"] == name).expect(name)
}

#[test]
fn explanations_are_those_of_the_snapshots() {
    for (request, snapshot) in [
        (&["ip=203.0.113.7", "path=/x.php", "status:=404", "agent=curl"][..], "explain.txt"),
        (&["ip=192.0.2.3", "user=ada"], "explain.bypass.txt"),
        (&["--format", "json", "ip=203.0.113.7", "path=/search", "user=bot-{1}"], "explain.json"),
    ] {
        let run = explain(request);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
        assert_snapshot(snapshot, &run.stdout);
    }
}

#[test]
fn a_request_is_pairs_or_an_object() {
    let pairs = report(&["ip=203.0.113.7", "status:=404", "user:=null"]);
    assert_eq!(pairs, report(&["--identifier", r#"{"ip": "203.0.113.7", "status": 404, "user": null}"#]));
    assert_eq!(pairs["identifier"], json!({"ip": "203.0.113.7", "status": 404, "user": null}));
    // Text is not a number.
    assert_eq!(rule(&pairs, "steady")["counts"]["override"], 0);
    assert_eq!(rule(&report(&["status=404"]), "steady")["counts"]["override"], Json::Null);
}

#[test]
fn keys_are_those_of_the_store() {
    let report = report(&["ip=203.0.113.7", "path=/search", "user=bot-{1}"]);
    let keys = |name| &rule(&report, name)["counts"]["keys"];
    // Braces are the key's own punctuation: the value is hashed.
    let digest = "9d935546eb812ebce4f6addaf3bda8fe4a91c4f9fd25245614e5e9b496e8136b";
    let expected = format!("labkit:rl:{{web:searches:ip:203.0.113.7:user:{digest}}}");
    assert_eq!(keys("searches")["counter"], expected);
    assert_eq!(keys("steady")["counter"], format!("labkit:rl:{{web:steady:user:{digest}}}:gcra"));
    let report = self::report(&["path=/x.php"]);
    let scanners = &rule(&report, "scanners")["counts"];
    assert_eq!(scanners["keys"]["counter"], "labkit:rl:{web:scanners:ip:_unknown_}");
    assert_eq!(scanners["keys"]["ban"], "labkit:rl:{web:scanners:ip:_unknown_}:ban");
    assert_eq!(scanners["missing_characteristics"], json!(["ip"]));
}

#[test]
fn what_the_request_has_too_much_and_too_little() {
    let report = report(&["ip=203.0.113.7", "ipp=1", "user="]);
    assert_eq!(report["unused_properties"], json!(["ipp"]));
    let absent: Vec<_> = report["absent_properties"].as_array().expect("a list").iter().collect();
    assert_eq!(absent, [&json!("path"), &json!("status")]);
}

/// An explanation without a contract, of several files, and of the contract alone.
#[test]
fn tiers_and_files_are_named() {
    let of = |rule: &Json| (rule["tier"].clone(), rule["file"].clone(), rule["shadows_default"].clone());
    let report = report(&[]);
    assert_eq!(of(rule(&report, "office")), (json!("file"), json!("rate_limits.yaml"), json!(false)));
    assert_eq!(of(rule(&report, "pages")), (json!("default"), json!("available_limiters.yaml"), json!(false)));
    let pages = b"web: [{name: pages, action: log, limit: 1, period_s: 60}]";
    let mut arguments = WEB.to_vec();
    arguments.extend(["--rules", "-", "--format", "json"]);
    let report = run_in(&documents(), &arguments, pages).json();
    assert_eq!(of(rule(&report, "pages")), (json!("file"), json!("standard input"), json!(true)));
    assert_eq!(report["rules"].as_array().map(Vec::len), Some(6));
    let alone = ["explain", "--available", "available_limiters.yaml", "--limiter", "exports", "--format", "json"];
    let report = run_in(&documents(), &alone, b"").json();
    assert_eq!((&report["evaluation"], &report["rules"]), (&json!("all"), &json!([])));
    let run = run_in(&documents(), &["explain", "--rules", "rate_limits.yaml", "ip=192.0.2.1"], b"");
    assert!(run.stdout.contains("The chain ends at `office`, a bypass."), "{run:?}");
}

/// Rules that meet a request in other ways than those of the snapshots.
#[test]
fn every_way_to_meet_a_rule() {
    let contract = "available_limiters:
  api:
    description: d
    available_properties: [ip, user]
    evaluation: all
    default_rules:
      - {name: people, action: log, characteristics: [ip], count_distinct: user, limit: 3, period_s: 60, final: true}
      - {name: refuses, action: limit, limit: 7, period_s: 90}
      - {name: refuses_last, action: limit, limit: 7, period_s: 90, final: true}
      - {name: tells, action: warn, limit: 7, period_s: 90, final: true}
";
    let of = |more: &[&str]| {
        let arguments = [&["explain", "--available", "-"], more].concat();
        let run = run_in(&documents(), &arguments, contract.as_bytes());
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
        run.stdout
    };
    let human = of(&["ip=203.0.113.7"]);
    for part in [
        "1. people  log  standard input (default)\n   matches but is passed over: it counts different values of user, which is absent\n",
        "   matches: 7 in 90 s\n   over it, the request is refused; the next rule runs in either case\n",
        "   over it, the request is refused and the next rule runs; else the chain ends\n",
        "   over it, the application is told; the chain ends in either case\n",
        "   reached only when: `refuses_last` is over\n   matches: 7 in 90 s\n",
        "\nThe chain ends at `refuses_last`, which is final, unless that is over; then at `tells`, which is final.\n\
         Absent, though rules look at it: user\n",
    ] {
        assert!(human.contains(part), "{part} in {human}");
    }
    let report: Json = serde_json::from_str(&of(&["--format", "json", "ip=203.0.113.7"])).expect("JSON");
    let ends: Vec<_> = report["rules"].as_array().expect("rules").iter().map(|rule| &rule["ends_chain"]).collect();
    assert_eq!(ends[1..], ["never", "when_not_over", "always"]);
    let people = rule(&report, "people");
    assert_eq!(people["passed_over_without"], "user");
    assert_eq!([&people["ends_chain"], &people["counts"]], [&Json::Null, &Json::Null]);
    assert_eq!(rule(&report, "tells")["reached_only_when_over"], json!(["refuses_last"]));
    assert_eq!(rule(&report, "refuses_last")["reached_only_when_over"], json!([]));
    let human = of(&["user=ada"]);
    assert!(human.contains("   matches: 3 different values of user in 1 min by ip\n"), "{human}");
    assert!(human.contains("\nThe chain ends at `people`, which is final.\n"), "{human}");
}

#[test]
fn exit_codes() {
    assert_misuse(&explain(&["ip"]), "`ip` is no property: write NAME=TEXT, or NAME:=JSON");
    assert_misuse(&explain(&["status:=x"]), "is no JSON");
    assert_misuse(&explain(&["--identifier", "[1]"]), "--identifier takes a JSON object");
    assert_misuse(&explain(&["--identifier", "{}", "ip=1"]), "cannot be used with");
    assert_misuse(&run_in(&documents(), &["explain", "ip=1"], b""), "--rules");
    let run = run_in(&documents(), &["explain", "--available", "available_limiters.yaml"], b"");
    assert_misuse(&run, "available_limiters.yaml holds several limiters; choose one with --limiter: exports, web");
    assert_misuse(&explain(&["--rules", "none.yaml"]), "cannot read none.yaml");
    let run = run_in(&documents(), &["explain", "--rules", "available_limiters.yaml"], b"");
    let hint = "\nhint: available_limiters.yaml looks like a contract: give it as --available\n";
    assert!(run.code == 1 && run.stderr.ends_with(hint), "{run:?}");
    let run = run_in(&documents(), &["explain", "--rules", "available_limiters.yaml", "--format", "json"], b"");
    assert!(serde_json::from_str::<Json>(&run.stderr).is_ok(), "{run:?}");
    let bad = [WEB.as_slice(), &["--rules", "bad.rate_limits.yaml"]].concat();
    let run = run_in(&documents(), &bad, b"");
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.contains("bad.rate_limits.yaml:14:14: rate_limits.web[2].limit: "), "{}", run.stderr);
    let run = run_in(&documents(), &[bad.as_slice(), &["--format", "json"]].concat(), b"");
    let said: Json = serde_json::from_str(&run.stderr).expect("JSON");
    assert_eq!((run.code, &said["findings"][0]["file"]), (1, &json!("bad.rate_limits.yaml")));
}

#[test]
fn the_help_says_what_there_is() {
    let help = explain(&["--help"]);
    assert_eq!(help.code, 0);
    for part in ["Examples:", "Exit codes:", "status:=404", "--available", "--rules", "--limiter", "--identifier"] {
        assert!(help.stdout.contains(part), "{part} in {}", help.stdout);
    }
}
