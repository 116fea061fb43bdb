//! `--decisions` writes over nothing that is read, and not into the report.

#![allow(clippy::expect_used, reason = "a test that cannot run fails")]

mod kit;

use kit::{Bench, TWO_A_MINUTE, common};
use std::fs::{self, File};
use std::process::{Command, Output, Stdio};

/// `replay --rules rules.yaml LOG --decisions FILE`, with standard input and output redirected.
fn replay(bench: &Bench, log: &str, decisions: &str, input: Stdio, output: Stdio) -> Output {
    Command::new(env!("CARGO_BIN_EXE_labkit-ratelimit"))
        .args(["replay", "--rules", "rules.yaml", log, "--decisions", decisions])
        .current_dir(bench.path())
        .stdin(input)
        .stdout(output)
        .output()
        .expect("a run")
}

fn assert_refused(run: &Output, says: &str) {
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{said}");
    assert!(said.contains(says), "{says} in {said}");
}

#[test]
fn the_log_is_not_written_by_any_of_its_names() {
    let bench = Bench::new(TWO_A_MINUTE, common("a", 0));
    let file = |name: &str| bench.path().join(name);
    fs::hard_link(file("access.log"), file("hard")).expect("a link");
    std::os::unix::fs::symlink("access.log", file("soft")).expect("a link");
    fs::hard_link(file("rules.yaml"), file("rules")).expect("a link");
    for name in ["access.log", "hard", "soft", "rules"] {
        let run = replay(&bench, "access.log", name, Stdio::null(), Stdio::piped());
        assert_refused(&run, &format!("--decisions would overwrite {name}, which is read"));
    }
    for name in ["access.log", "hard", "/dev/stdin"] {
        let input = File::open(file("access.log")).expect("the log");
        assert_refused(&replay(&bench, "-", name, input.into(), Stdio::piped()), "which is read");
    }
    assert_eq!((bench.text("access.log"), bench.text("rules.yaml")), (common("a", 0), TWO_A_MINUTE.to_owned()));
}

#[test]
fn the_report_is_not_written_over() {
    let bench = Bench::new(TWO_A_MINUTE, common("a", 0));
    let file = |name: &str| bench.path().join(name);
    for name in ["/dev/stdout", "out"] {
        let output = File::create(file("out")).expect("a file");
        let run = replay(&bench, "access.log", name, Stdio::null(), output.into());
        assert_refused(&run, &format!("--decisions {name} is standard output, where the report goes"));
        assert_eq!(bench.text("out"), "");
    }
    let run = replay(&bench, "access.log", "/dev/stdout", Stdio::null(), Stdio::piped());
    assert_refused(&run, "is standard output");
    assert!(run.stdout.is_empty());
    // Nothing is lost where nothing is kept.
    let run = replay(&bench, "access.log", "/dev/null", Stdio::null(), Stdio::null());
    assert_eq!(run.status.code(), Some(0));
}
