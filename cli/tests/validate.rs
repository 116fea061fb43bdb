//! `validate`: what it finds, in every format, and its exit codes.
//!
//! `UPDATE_SNAPSHOTS=1 cargo test -p labkit-ratelimit-cli` writes the reports anew.

#![allow(clippy::expect_used, reason = "a test that cannot run fails")]

mod kit;

use kit::{Run, assert_misuse, assert_snapshot, documents, root, run_in, run_on_terminal};
use serde_json::{Value as Json, json};
use std::collections::HashSet;
use std::fs;
use std::process::{Command, Stdio};
use tempfile::TempDir;

const CONTRACT: &str = "available_limiters.yaml";
const GOOD: &str = "rate_limits.yaml";
const BAD: &str = "bad.rate_limits.yaml";

fn validate(arguments: &[&str]) -> Run {
    run_in(&documents(), &[["validate"].as_slice(), arguments].concat(), b"")
}

fn json_of(run: &Run) -> Json {
    serde_json::from_str(&run.stdout).expect("JSON")
}

#[test]
fn the_formats_are_those_of_the_snapshots() {
    let summary = "4 errors, 2 warnings in 1 file\n";
    for (format, snapshot, stderr) in [
        ("human", "validate.txt", ""),
        ("json", "validate.json", ""),
        ("github", "validate.github.txt", summary),
        ("gitlab", "validate.gitlab.json", summary),
    ] {
        let run = validate(&["--format", format, CONTRACT, BAD]);
        assert_eq!((run.code, run.stderr.as_str()), (1, stderr), "{format}");
        assert_snapshot(snapshot, &run.stdout);
    }
}

#[test]
fn json_has_every_field() {
    let report = json_of(&validate(&["--format", "json", CONTRACT, BAD]));
    assert_eq!([&report["valid"], &report["errors"], &report["warnings"]], [&json!(false), &json!(4), &json!(2)]);
    let findings = report["findings"].as_array().expect("a list");
    assert_eq!(findings.len(), 6);
    for finding in findings {
        let fields: Vec<&String> = finding.as_object().expect("an object").keys().collect();
        assert_eq!(fields, ["file", "line", "column", "path", "code", "severity", "message", "mend"]);
        assert!(finding["line"].is_u64() && finding["column"].is_u64(), "{finding}");
        for text in ["file", "path", "code", "message", "mend"] {
            assert!(finding[text].as_str().is_some_and(|text| !text.is_empty()), "{text} of {finding}");
        }
        assert!(["error", "warning"].contains(&finding["severity"].as_str().expect("text")), "{finding}");
    }
    let good = json_of(&validate(&["--format", "json", CONTRACT, GOOD]));
    assert_eq!(good, json!({"valid": true, "errors": 0, "warnings": 0, "findings": []}));
}

/// What GitLab's documentation asks of a report.
#[test]
fn a_code_quality_report_has_every_field() {
    let run = validate(&["--format", "gitlab", "./available_limiters.yaml", "./bad.rate_limits.yaml"]);
    let issues = json_of(&run);
    let issues = issues.as_array().expect("a list");
    assert_eq!(issues.len(), 6);
    let mut fingerprints = HashSet::new();
    for issue in issues {
        for text in ["description", "check_name", "fingerprint"] {
            assert!(issue[text].as_str().is_some_and(|text| !text.is_empty()), "{text} of {issue}");
        }
        assert!(["major", "minor"].contains(&issue["severity"].as_str().expect("text")), "{issue}");
        assert_eq!(issue["location"]["path"], BAD, "without a dot in front");
        assert!(issue["location"]["lines"]["begin"].is_u64(), "{issue}");
        assert!(fingerprints.insert(issue["fingerprint"].clone()), "{issue}");
    }
    let good = validate(&["--format", "gitlab", CONTRACT, GOOD]);
    assert_eq!((good.code, json_of(&good)), (0, json!([])));
    assert_eq!(good.stderr, "valid: 2 limiters with 6 rules in 2 files\n");
}

#[test]
fn valid_documents_are_summed_up() {
    let run = validate(&[CONTRACT, GOOD]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(run.stdout, "valid: 2 limiters with 6 rules in 2 files\n");
    // Whichever order they are given in, the contract is the contract.
    assert_eq!(validate(&[GOOD, CONTRACT]).stdout, run.stdout);
    assert_eq!(validate(&[GOOD]).stdout, "valid: 1 limiter with 5 rules in 1 file\n");
    assert_eq!(validate(&["--format", "github", CONTRACT, GOOD]).stdout, "");
    // Those of the examples too.
    let run = run_in(&root().join("examples"), &["validate", CONTRACT, GOOD], b"");
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.ends_with("valid, 2 warnings in 1 file: 3 limiters with 22 rules in 2 files\n"), "{run:?}");
}

#[test]
fn warnings_are_failures_only_where_that_is_asked_for() {
    let folder = TempDir::new().expect("a folder");
    let rule = "{name: pages, action: limit, characteristics: [ip], limit: 600, period_s: 60}";
    fs::write(folder.path().join(GOOD), format!("web: [{rule}]")).expect("a file");
    fs::copy(documents().join(CONTRACT), folder.path().join(CONTRACT)).expect("a file");
    let validate =
        |more: &[&str]| run_in(folder.path(), &[["validate", CONTRACT, GOOD].as_slice(), more].concat(), b"");
    let run = validate(&[]);
    assert_eq!(run.code, 0);
    assert!(run.stdout.starts_with("rate_limits.yaml:1:14: warning[default_shadowed]: "), "{}", run.stdout);
    assert!(
        run.stdout.ends_with("\nvalid, 1 warning in 1 file: 2 limiters with 2 rules in 2 files\n"),
        "{}",
        run.stdout
    );
    let run = validate(&["--strict"]);
    assert_eq!(run.code, 1);
    assert!(run.stdout.ends_with("\n1 warning in 1 file, and --strict lets none pass\n"), "{}", run.stdout);
    for (more, valid) in [(&["--format", "json"][..], true), (&["--format", "json", "--strict"], false)] {
        let report = json_of(&validate(more));
        assert_eq!([&report["valid"], &report["errors"], &report["warnings"]], [&json!(valid), &json!(0), &json!(1)]);
    }
}

#[test]
fn standard_input_is_a_document_once() {
    let contract = fs::read(documents().join(CONTRACT)).expect("a file");
    let run = run_in(&documents(), &["validate", "-", GOOD], &contract);
    assert_eq!((run.code, run.stdout.as_str()), (0, "valid: 2 limiters with 6 rules in 2 files\n"));
    let run = run_in(&documents(), &["validate", CONTRACT, "-"], b"web:\n- {name: a, action: blok}\n");
    assert_eq!(run.code, 1);
    assert!(run.stdout.starts_with("standard input:2:"), "{}", run.stdout);
    assert_misuse(&run_in(&documents(), &["validate", "-", "-"], b""), "`-` stands twice");
}

/// A generator that failed leaves nothing: that is valid, and may not be meant.
#[test]
fn that_a_file_is_empty_is_said() {
    let run = run_in(&documents(), &["validate", CONTRACT, "-"], b"");
    assert_eq!((run.code, run.stderr.as_str()), (0, "note: standard input is empty: it holds no rules\n"));
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("a.yaml"), "").expect("a file");
    fs::write(folder.path().join("b.yaml"), "rate_limits: {}").expect("a file");
    let run = run_in(folder.path(), &["validate", "--format", "json", "a.yaml", "b.yaml"], b"");
    assert_eq!((run.code, run.stderr.as_str()), (0, "note: a.yaml is empty: it holds no rules\n"));
}

#[test]
fn what_cannot_be_done() {
    assert_misuse(&validate(&["none.yaml"]), "cannot read none.yaml: ");
    assert_misuse(&validate(&[GOOD, "."]), "cannot read .: ");
    assert_misuse(
        &validate(&[CONTRACT, GOOD, CONTRACT]),
        "available_limiters.yaml and available_limiters.yaml are both contracts",
    );
    assert_misuse(&validate(&[]), "FILE");
    assert_misuse(&validate(&["--format", "xml", GOOD]), "human, json, github, gitlab");
}

/// A job uploads what is on standard output, and whoever reads that wants to parse it.
#[test]
fn what_cannot_be_done_is_a_document_for_machines() {
    let json = validate(&["--format", "json", "none.yaml"]);
    let report = json_of(&json);
    assert_eq!((json.code, &report["valid"], &report["findings"]), (2, &json!(false), &json!([])));
    assert!(report["error"].as_str().is_some_and(|said| said.starts_with("cannot read none.yaml: ")), "{report}");
    let gitlab = validate(&["--format", "gitlab", CONTRACT, CONTRACT]);
    assert_eq!((gitlab.code, json_of(&gitlab)), (2, json!([])));
    for run in [json, gitlab] {
        assert!(run.stderr.starts_with("error: "), "{run:?}");
    }
}

/// However the files are named.
#[test]
fn machines_find_the_files() {
    let folder = TempDir::new().expect("a folder");
    let root = folder.path().canonicalize().expect("a path");
    fs::create_dir(root.join("rules")).expect("a folder");
    let bad = "web: [{name: a, action: blok, limit: 1, period_s: 60}]";
    fs::write(root.join("rules/a.yaml"), bad).expect("a file");
    let absolute = root.join("rules/a.yaml").display().to_string();
    for (name, found) in [
        ("rules/a.yaml", "rules/a.yaml"),
        ("././/rules/../rules//a.yaml", "rules/a.yaml"),
        (absolute.as_str(), "rules/a.yaml"),
        ("-", "rate_limits.yaml"),
    ] {
        let run = |format| run_in(&root, &["validate", "--format", format, name], bad.as_bytes());
        let issue = &json_of(&run("gitlab"))[0];
        assert_eq!(issue["location"]["path"], found);
        let description = issue["description"].as_str().expect("text");
        assert!(description.starts_with("rate_limits.web[0].action: "), "{description}");
        let github = run("github").stdout;
        assert!(github.starts_with(&format!("::error file={found},line=1,col=25,title=action_unknown::")), "{github}");
        // The place once more, for the log: GitHub annotates the first few only.
        let shown = if name == "-" { "standard input" } else { name };
        assert!(github.contains(&format!("::{shown}:1:25: rate_limits.web[0].action: ")), "{github}");
    }
}

#[test]
fn that_there_are_more_findings_is_summed_up() {
    let rules = "{action: blok}, ".repeat(10_001);
    let run = run_in(&documents(), &["validate", "-"], format!("web: [{rules}]").as_bytes());
    assert_eq!(run.code, 1);
    let summary = run.stdout.lines().next_back().expect("a summary");
    assert!(summary.starts_with("at least ") && summary.ends_with(" errors in 1 file"), "{summary}");
    let run = run_in(&documents(), &["explain", "--rules", "-"], format!("web: [{rules}]").as_bytes());
    let summary = run.stderr.lines().next_back().expect("a summary");
    assert!(summary.starts_with("error: at least ") && summary.ends_with(" findings in standard input"), "{summary}");
}

#[test]
fn files_that_cannot_be_read_have_findings() {
    let folder = TempDir::new().expect("a folder");
    for (text, at, shown) in [
        (b"web: [\n".as_slice(), "a.yaml:", "error[yaml_syntax]"),
        (b"web: [] # \xff", "a.yaml:1:11: ", "error[not_utf8]"),
        (b"web:\n\t- x\n", "a.yaml:2:", "error[yaml_syntax]"),
    ] {
        fs::write(folder.path().join("a.yaml"), text).expect("a file");
        let run = run_in(folder.path(), &["validate", "a.yaml"], b"");
        assert_eq!(run.code, 1);
        assert!(run.stdout.starts_with(at) && run.stdout.contains(shown), "{}", run.stdout);
        assert!(run.stdout.ends_with("\n1 error in 1 file\n"), "{}", run.stdout);
    }
}

/// A document may come from anybody: it must not speak to the terminal.
#[test]
fn nothing_of_a_document_reaches_the_terminal_raw() {
    let text = "\"w\\u001b[31m\\u202e\": 1\nx: ['\u{9b}31m', {name: \"\\u001b]0;x\\u0007\"}]\n";
    let is_raw = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    for format in ["human", "github", "gitlab"] {
        let run = run_in(&documents(), &["validate", "-", "--format", format], text.as_bytes());
        assert_eq!(run.code, 1);
        assert!(!run.stdout.contains(is_raw) && !run.stderr.contains(is_raw), "{run:?}");
    }
    // Nor does what stands on the command line.
    for arguments in [
        &["validate", "no\u{1b}[31m\u{202e}\n::error::x"][..],
        &["validate", "--format", "github", "no\u{1b}[31m\u{202e}\n::error::x"],
        &["explain", "--rules", GOOD, "--limiter", "x\u{1b}[31m\u{202e}\n::error::x"],
    ] {
        let run = run_in(&documents(), arguments, b"");
        assert_misuse(&run, "\\u{1b}[31m\\u{202e}\\n::error::x");
        assert!(!run.stderr.contains(is_raw), "{run:?}");
    }
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    let plain = validate(&[CONTRACT, BAD]).stdout;
    assert!(!plain.contains('\u{1b}'));
    let run = run_on_terminal(&documents(), &["validate", CONTRACT, BAD], b"", &[]);
    assert_eq!(run.code, 1);
    assert!(run.stdout.contains("\u{1b}[31m"), "{}", run.stdout);
    let run = run_on_terminal(&documents(), &["validate", CONTRACT, BAD], b"", &[("NO_COLOR", "1")]);
    assert_eq!(run.stdout.replace("\r\n", "\n"), plain);
}

/// As under `| head -1`.
#[test]
fn a_reader_that_goes_away_changes_no_exit_code() {
    for (file, code) in [(BAD, 1), (GOOD, 0)] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_labkit-ratelimit"))
            .args(["validate", CONTRACT, file, "-"])
            .current_dir(documents())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary");
        // It writes once its input ends: by then nobody reads.
        drop(child.stdout.take());
        drop(child.stdin.take());
        let output = child.wait_with_output().expect("a run");
        let note = "note: standard input is empty: it holds no rules\n";
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(code), note.as_bytes()), "{file}");
    }
}

#[test]
fn the_help_says_what_there_is() {
    let help = validate(&["--help"]);
    assert_eq!(help.code, 0);
    for part in ["Examples:", "Exit codes:", "--strict", "--format", "github", "gitlab", "available_limiters"] {
        assert!(help.stdout.contains(part), "{part} in {}", help.stdout);
    }
}
