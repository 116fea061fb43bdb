//! Runs the binary as a shell does.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot run fails")]

use serde_json::Value as Json;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// What a run left.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// What is on standard error, but for the note that most tests have: that they give no contract.
    pub(crate) fn said(&self) -> &str {
        self.stderr.strip_prefix(NO_CONTRACT).unwrap_or(&self.stderr)
    }

    /// The report on standard output, of a run that went well.
    pub(crate) fn json(&self) -> Json {
        assert_eq!((self.code, self.said()), (0, ""), "{self:?}");
        serde_json::from_str(&self.stdout).expect("a JSON report")
    }
}

/// What a replay without a contract says beside its result.
pub(crate) const NO_CONTRACT: &str = "note: no contract is given with --available: its default rules take no part\n";

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the root").to_owned()
}

/// Runs the binary in `folder`, with `input` on its standard input.
pub(crate) fn run_in(folder: &Path, arguments: &[&str], input: &[u8]) -> Run {
    run_with(folder, arguments, input, &[])
}

/// As [`run_in`], with more in its environment.
pub(crate) fn run_with(folder: &Path, arguments: &[&str], input: &[u8], environment: &[(&str, &str)]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_labkit-ratelimit"));
    command.args(arguments);
    run(command, folder, input, environment)
}

/// As [`run_with`], where standard input, output and error are a terminal: what it shows is the output.
pub(crate) fn run_on_terminal(folder: &Path, arguments: &[&str], input: &[u8], environment: &[(&str, &str)]) -> Run {
    const SPAWN: &str = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
    let mut command = Command::new("python3");
    command.args(["-c", SPAWN, env!("CARGO_BIN_EXE_labkit-ratelimit")]).args(arguments);
    run(command, folder, input, &[&[("TERM", "xterm")], environment].concat())
}

fn run(mut command: Command, folder: &Path, input: &[u8], environment: &[(&str, &str)]) -> Run {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("LABKIT_RATELIMIT_") {
            command.env_remove(name);
        }
    }
    let mut child = command
        .env_remove("NO_COLOR")
        .envs(environment.iter().copied())
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary");
    let mut stdin = child.stdin.take().expect("standard input");
    let input = input.to_owned();
    // A run that fails early does not read its input.
    let feeding = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("a run");
    feeding.join().expect("input");
    Run {
        code: output.status.code().expect("an exit code"),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// Compares with a file of `tests/snapshots`, which `UPDATE_SNAPSHOTS=1` writes anew.
pub(crate) fn assert_snapshot(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&path, text).expect("a snapshot");
    }
    let expected = fs::read_to_string(&path).expect("a snapshot");
    assert_eq!(text, expected, "{name} differs: UPDATE_SNAPSHOTS=1 writes it anew");
}

/// A run that did nothing, said why, and wrote nothing on standard output.
pub(crate) fn assert_misuse(run: &Run, says: &str) {
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(run.stderr.contains(says), "{says} in {}", run.stderr);
}

/// The documents of the tests.
pub(crate) fn documents() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents")
}

/// A folder with a rules document and a log.
#[derive(Debug)]
pub(crate) struct Bench(TempDir);

/// Two requests a minute for each `ip`.
pub(crate) const TWO_A_MINUTE: &str = "
rate_limits:
  web:
    - {name: per_ip, action: limit, characteristics: [ip], limit: 2, period_s: 60}
";

impl Bench {
    pub(crate) fn new(rules: &str, log: impl AsRef<[u8]>) -> Self {
        let bench = Self(TempDir::new().expect("a folder"));
        bench.put("rules.yaml", rules);
        bench.put("access.log", log);
        bench
    }

    pub(crate) fn put(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.0.path().join(name), text).expect("a file");
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).expect("a file")
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// The names of all files, in order.
    pub(crate) fn files(&self) -> Vec<String> {
        let name =
            |entry: std::io::Result<fs::DirEntry>| entry.expect("a file").file_name().into_string().expect("UTF-8");
        let mut names: Vec<String> = fs::read_dir(self.path()).expect("a folder").map(name).collect();
        names.sort();
        names
    }

    /// `labkit-ratelimit replay --rules rules.yaml access.log`, and more.
    pub(crate) fn replay(&self, more: &[&str]) -> Run {
        run_in(self.path(), &[["replay", "--rules", "rules.yaml", "access.log"].as_slice(), more].concat(), b"")
    }

    /// The JSON report of a replay.
    pub(crate) fn report(&self, more: &[&str]) -> Json {
        self.replay(&[["--format", "json"].as_slice(), more].concat()).json()
    }

    /// The decisions of a replay: line, action, reported rule.
    pub(crate) fn decisions(&self, more: &[&str]) -> Vec<(u64, String, Option<String>)> {
        self.report(&[["--decisions", "decisions.jsonl"].as_slice(), more].concat());
        let text = self.text("decisions.jsonl");
        let decision = |line: &str| {
            let json: Json = serde_json::from_str(line).expect("a decision");
            let text = |field: &str| json[field].as_str().map(str::to_owned);
            (json["line"].as_u64().expect("a number"), text("action").expect("an action"), text("rule"))
        };
        text.lines().map(decision).collect()
    }
}

/// A line of the common format.
pub(crate) fn common(ip: &str, second: u32) -> String {
    format!("{ip} - - [17/May/2015:10:{:02}:{:02} +0000] \"GET /a HTTP/1.1\" 200 5\n", second / 60, second % 60)
}
