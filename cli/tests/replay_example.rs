//! The example log under the example rules: every decision and every number of the report.
//!
//! `UPDATE_SNAPSHOTS=1 cargo test -p labkit-ratelimit-cli` writes the reports anew.

#![allow(clippy::expect_used, reason = "a test that cannot run fails")]

mod kit;

use kit::{Run, assert_snapshot, root, run_in};
use serde_json::Value as Json;
use std::fs;
use std::path::Path;
use std::process::Command;

fn replay(more: &[&str]) -> Run {
    let arguments = ["replay", "--rules", "examples/rack.rate_limits.yaml", "examples/access.log.gz"];
    run_in(&root(), &[arguments.as_slice(), more].concat(), b"")
}

#[test]
fn the_reports_are_those_of_the_snapshots() {
    let human = replay(&[]);
    assert_eq!((human.code, human.said()), (0, ""));
    assert_snapshot("example.txt", &human.stdout);
    let json = replay(&["--format", "json"]);
    json.json();
    assert_snapshot("example.json", &json.stdout);
    let stricter = ["--against", "examples/rack.stricter.rate_limits.yaml"];
    let human = replay(&stricter);
    assert_eq!((human.code, human.said()), (0, ""));
    assert_snapshot("against.txt", &human.stdout);
}

/// Decided once more by a script that shares no code with the core.
#[test]
fn every_decision_is_that_of_the_oracle() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let file = folder.path().join("decisions.jsonl");
    let file = file.to_str().expect("UTF-8");
    let report = replay(&["--decisions", file, "--format", "json"]).json();
    let decisions = fs::read_to_string(file).expect("decisions");

    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle.py");
    let oracle = Command::new("python3").arg(script).output().expect("python3, which the oracle needs");
    assert!(oracle.status.success(), "{}", String::from_utf8_lossy(&oracle.stderr));
    let expected = String::from_utf8(oracle.stdout).expect("UTF-8");

    let mut refused = 0;
    assert_eq!(decisions.lines().count(), expected.lines().count());
    for (decision, expected) in decisions.lines().zip(expected.lines()) {
        let decision: Json = serde_json::from_str(decision).expect("a decision");
        let expected: Json = serde_json::from_str(expected).expect("a decision");
        for field in ["line", "action", "exceeded"] {
            assert_eq!(decision[field], expected[field], "{decision}");
        }
        refused += u64::from(decision["action"] == "block");
    }
    assert_eq!(report["totals"]["refused"], refused);
}
