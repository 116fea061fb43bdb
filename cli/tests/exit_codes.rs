//! Exit codes, and what is said beside them.

mod kit;

use kit::{Bench, NO_CONTRACT, TWO_A_MINUTE, assert_misuse, common, run_in};
use std::process::{Command, Stdio};

#[test]
fn refusals_are_no_failure() {
    let log: String = (0..5).map(|n| common("a", n)).collect();
    let run = Bench::new(TWO_A_MINUTE, log).replay(&[]);
    assert_eq!((run.code, run.stderr.as_str()), (0, NO_CONTRACT));
}

#[test]
fn every_finding_is_printed() {
    let rules = "
rate_limits:
  web:
    - {name: per_ip, limit: 0, period_s: 60}
    - {name: per_ip, action: blok, limit: 1, period_s: 60}
";
    let bench = Bench::new(rules, common("a", 0));
    let run = bench.replay(&[]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    for part in [
        "rules.yaml:4:7: rate_limits.web[0].action: ",
        "[action_missing]. Write `action: limit`",
        "rules.yaml:4:29: rate_limits.web[0].limit: ",
        "[limit_below_one]. Give a limit of 1 or more",
        "[action_unknown]",
        "[duplicate_rule_name]",
        "error: 4 findings in rules.yaml",
    ] {
        assert!(run.stderr.contains(part), "{part} in {}", run.stderr);
    }
    let run = bench.replay(&["--format", "json"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    let said: serde_json::Value = serde_json::from_str(&run.stderr).expect("JSON");
    assert_eq!(said["findings"].as_array().map(Vec::len), Some(4));
    let finding = &said["findings"][0];
    for field in ["file", "path", "code", "severity", "message", "mend"] {
        assert!(finding[field].as_str().is_some_and(|text| !text.is_empty()), "{field} in {finding}");
    }
}

#[test]
fn a_document_that_is_no_yaml_or_not_utf8() {
    let bench = Bench::new("web: [", common("a", 0));
    let run = bench.replay(&[]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("[yaml_syntax]"), "{}", run.stderr);
    bench.put("rules.yaml", b"web: [] # \xff");
    let run = bench.replay(&[]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("rules.yaml:1:11: byte 11 is no UTF-8 [not_utf8]"), "{}", run.stderr);
}

#[test]
fn missing_files() {
    let bench = Bench::new(TWO_A_MINUTE, common("a", 0));
    assert_misuse(
        &run_in(bench.path(), &["replay", "--rules", "none.yaml", "access.log"], b""),
        "cannot read none.yaml",
    );
    assert_misuse(&run_in(bench.path(), &["replay", "--rules", "rules.yaml", "none.log"], b""), "cannot read none.log");
    assert_misuse(&run_in(bench.path(), &["replay", "--rules", "rules.yaml", "."], b""), "cannot read .");
    assert_misuse(&bench.replay(&["--decisions", "no/such/folder"]), "cannot write no/such/folder");
}

#[test]
fn a_log_without_a_line_that_can_be_read() {
    assert_misuse(&Bench::new(TWO_A_MINUTE, "").replay(&[]), "access.log is empty");
    assert_misuse(&Bench::new(TWO_A_MINUTE, "x\ny\n").replay(&[]), "no format that is known");
    let run = Bench::new(TWO_A_MINUTE, "x\ny\n").replay(&["--log-format", "common"]);
    assert_misuse(&run, "no line of access.log could be read as common\n  line 1: there is no time in brackets: `x`");
    let header = Bench::new(TWO_A_MINUTE, "time,ip\n").replay(&[]);
    assert_misuse(&header, "no line of access.log could be read as csv");
}

#[test]
fn limiters() {
    let two = "{a: [], b: [{name: all, action: limit, limit: 1, period_s: 60}]}";
    let bench = Bench::new(two, common("x", 0) + &common("x", 1));
    assert_misuse(&bench.replay(&[]), "rules.yaml holds several limiters; choose one with --limiter: a, b");
    assert_misuse(&bench.replay(&["--limiter", "c"]), "rules.yaml holds no limiter `c`; it holds a, b");
    assert_eq!(bench.report(&["--limiter", "a"])["totals"]["refused"], 0);
    assert_eq!(bench.report(&["--limiter", "b"])["totals"]["refused"], 1);
    bench.put("rules.yaml", TWO_A_MINUTE);
    assert_misuse(&bench.replay(&["--limiter", "a"]), "holds no limiter `a`; it holds web");
    bench.put("rules.yaml", "rate_limits: {}");
    assert_misuse(&bench.replay(&[]), "rules.yaml holds no limiter");
    // Where it has a name it runs, without rules.
    let report = bench.report(&["--limiter", "web"]);
    assert_eq!((&report["totals"]["requests"], &report["totals"]["allowed"]), (&2.into(), &2.into()));
}

/// Its default rules run behind those of the file, and it says how they are evaluated.
#[test]
fn a_contract_beside_the_rules() {
    let bench = Bench::new(TWO_A_MINUTE, common("a", 0) + &common("b", 1) + &common("c", 2));
    let default = "{name: all, action: limit, limit: 2, period_s: 60}";
    let contract = |more: &str| format!("web: {{description: d, default_rules: [{default}]{more}}}");
    bench.put("contract.yaml", contract(", available_properties: [ip], evaluation: all"));
    let report = bench.report(&["--available", "contract.yaml"]);
    assert_eq!((&report["totals"]["refused"], &report["rules"][1]["refused"]), (&1.into(), &1.into()));
    let over = bench.replay(&["--available", "contract.yaml", "--decisions", "contract.yaml"]);
    assert_misuse(&over, "would overwrite");
    // Without the property the rules cannot be used.
    bench.put("contract.yaml", contract(""));
    let run = bench.replay(&["--available", "contract.yaml"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.contains("rules.yaml:4:55: rate_limits.web[0].characteristics[0]: "), "{}", run.stderr);
    assert!(run.stderr.contains("error: 1 finding in contract.yaml, rules.yaml"), "{}", run.stderr);
    let twice = run_in(bench.path(), &["replay", "--rules", "-", "-"], b"");
    assert_misuse(&twice, "`-` stands twice");
}

#[test]
fn what_is_read_is_not_overwritten() {
    let bench = Bench::new(TWO_A_MINUTE, common("a", 0));
    assert_misuse(&bench.replay(&["--decisions", "./access.log"]), "would overwrite");
    assert_misuse(&bench.replay(&["--decisions", "rules.yaml"]), "would overwrite");
    assert_eq!(bench.text("access.log"), common("a", 0));
}

#[test]
fn options() {
    let bench = Bench::new(TWO_A_MINUTE, common("a", 0));
    assert_misuse(&bench.replay(&["--wat"]), "--wat");
    assert_misuse(&bench.replay(&["--format", "xml"]), "human, json");
    assert_misuse(&bench.replay(&["--top", "-1"]), "-1");
    assert_misuse(&run_in(bench.path(), &["replay", "access.log"], b""), "--rules");
    assert_eq!(run_in(bench.path(), &[], b"").code, 2);
}

#[test]
fn help_and_version() {
    let bench = Bench::new(TWO_A_MINUTE, "");
    let version = run_in(bench.path(), &["--version"], b"");
    assert_eq!((version.code, version.stdout), (0, format!("labkit-ratelimit {}\n", env!("CARGO_PKG_VERSION"))));
    let help = run_in(bench.path(), &["replay", "--help"], b"");
    assert_eq!(help.code, 0);
    for part in ["Exit codes:", "Examples:", "--log-format", "--time-field", "--decisions", "--limiter", "--top"] {
        assert!(help.stdout.contains(part), "{part} in {}", help.stdout);
    }
}

/// As under `| head -1`.
#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let bench = Bench::new(TWO_A_MINUTE, common("a", 0));
    let mut child = Command::new(env!("CARGO_BIN_EXE_labkit-ratelimit"))
        .args(["replay", "--rules", "rules.yaml", "-", "--log-format", "common"])
        .current_dir(bench.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary");
    // It writes once its input ends: by then nobody reads.
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().expect("standard input");
    std::io::Write::write_all(&mut stdin, common("a", 0).as_bytes()).expect("input");
    drop(stdin);
    let output = child.wait_with_output().expect("a run");
    assert_eq!((output.status.code(), output.stderr), (Some(0), NO_CONTRACT.as_bytes().to_vec()));
}
