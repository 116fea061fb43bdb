//! The page for operators and the page of the examples: every command on them runs.

#![allow(clippy::expect_used, reason = "a test that cannot run fails")]

mod kit;
#[path = "../../core/native/tests/support/mod.rs"]
mod support;

use flate2::read::GzDecoder;
use kit::{root, run_with};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use support::server::RedisServer;
use tempfile::TempDir;

/// The examples, and what the pages speak of beside them.
fn folder() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    let examples = root().join("examples");
    for entry in fs::read_dir(&examples).expect("the examples") {
        let path = entry.expect("a file").path();
        fs::copy(&path, folder.path().join(path.file_name().expect("a name"))).expect("a copy");
    }
    for name in ["today.yaml", "old.yaml"] {
        fs::copy(examples.join("rate_limits.yaml"), folder.path().join(name)).expect("a copy");
    }
    let mut log = GzDecoder::new(File::open(examples.join("access.log.gz")).expect("the log"));
    io::copy(&mut log, &mut File::create(folder.path().join("access.log")).expect("a file")).expect("the log");
    folder
}

/// The commands of a page: lines of code, or of a comment, that begin with the binary's name.
fn commands(page: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(page).expect("the page").replace("\\\n#", "");
    let command = |line: &str| {
        let line = line.trim_start_matches([' ', '#', '$']).strip_prefix("labkit-ratelimit ")?;
        Some(line.split_whitespace().map(str::to_owned).collect())
    };
    text.lines().filter_map(command).collect()
}

#[test]
fn every_command_runs() {
    let folder = folder();
    let server = RedisServer::start();
    let environment = [("LABKIT_RATELIMIT_REDIS_URL", server.url())];
    let environment = environment.each_ref().map(|(name, value)| (*name, value.as_str()));
    let pages = ["docs/operators.md", "examples/README.md", "examples/rate_limits.example.yaml"];
    let pages = pages.map(|page| commands(&root().join(page)));
    assert!(pages[0].len() >= 6 && pages[1].len() >= 3 && pages[2].len() == 4, "{pages:?}");
    for command in pages.concat() {
        let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        if arguments[0] == "clear" {
            // Nobody is there to be asked.
            arguments.push("--yes");
        }
        let run = run_with(folder.path(), &arguments, b"", &environment);
        assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
        // Whom rules refuse hangs on the defaults too.
        let is_of_a_limiter_of_the_contract = arguments.contains(&"rack_request");
        assert!(!is_of_a_limiter_of_the_contract || !run.stderr.contains("no contract"), "{arguments:?}: {run:?}");
    }
    assert!(folder.path().join("change.html").exists());
}

/// The block of `kind` that comes next behind `heading`.
fn block<'p>(page: &'p str, heading: &str, kind: &str) -> &'p str {
    let (_, behind) = page.split_once(heading).expect(heading);
    let (_, behind) = behind.split_once(&format!("```{kind}\n")).expect(kind);
    behind.split_once("```").expect("its end").0
}

/// The numbers of a change are those that the page's own files have.
#[test]
fn the_change_is_as_it_is_shown() {
    let page = fs::read_to_string(root().join("docs/operators.md")).expect("the page");
    let folder = folder();
    for (name, heading, kind) in [
        ("available_limiters.yaml", "## The two files", "yaml available_limiters"),
        ("today.yaml", "## The smallest rule", "yaml rate_limits"),
        ("rate_limits.yaml", "## Deploy it", "yaml rate_limits"),
    ] {
        fs::write(folder.path().join(name), block(&page, heading, kind)).expect("a file");
    }
    let commands = commands(&root().join("docs/operators.md"));
    let command = commands.iter().find(|command| command.iter().any(|word| word == "--against")).expect("it");
    let arguments: Vec<&str> = command.iter().map(String::as_str).collect();
    let run = run_with(folder.path(), &arguments, b"", &[]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let shown = block(&page, "**A change.**", "text");
    assert!(run.stdout.contains(shown), "{shown} in {}", run.stdout);
}

/// The output that the page shows is what its file gives.
#[test]
fn the_mistake_is_shown_as_it_is() {
    let page = fs::read_to_string(root().join("docs/operators.md")).expect("the page");
    let shown = block(&page, "## A mistake", "text");
    let file = block(&page, "## The smallest rule", "yaml rate_limits");
    let folder = folder();
    fs::write(folder.path().join("rate_limits.yaml"), file.replace("limit: 5000", "limit: 0")).expect("a file");
    let run = run_with(folder.path(), &["validate", "available_limiters.yaml", "rate_limits.yaml"], b"", &[]);
    assert_eq!((run.code, run.stdout.as_str()), (1, shown));
}
