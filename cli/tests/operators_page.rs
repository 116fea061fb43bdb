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
    fs::copy(examples.join("rate_limits.yaml"), folder.path().join("today.yaml")).expect("a copy");
    let mut log = GzDecoder::new(File::open(examples.join("access.log.gz")).expect("the log"));
    io::copy(&mut log, &mut File::create(folder.path().join("access.log")).expect("a file")).expect("the log");
    folder
}

/// The commands of a page: lines of code that begin with the binary's name.
fn commands(page: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(page).expect("the page");
    let command = |line: &str| {
        let line = line.trim_start().trim_start_matches("$ ").strip_prefix("labkit-ratelimit ")?;
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
    let pages = ["docs/operators.md", "examples/README.md"].map(|page| commands(&root().join(page)));
    assert!(pages[0].len() >= 6 && pages[1].len() >= 3, "{pages:?}");
    for command in pages.concat() {
        let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        if arguments[0] == "clear" {
            // Nobody is there to be asked.
            arguments.push("--yes");
        }
        let run = run_with(folder.path(), &arguments, b"", &environment);
        assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
    }
    assert!(folder.path().join("change.html").exists());
}

/// The output that the page shows is what its file gives.
#[test]
fn the_mistake_is_shown_as_it_is() {
    let page = fs::read_to_string(root().join("docs/operators.md")).expect("the page");
    let (_, behind) = page.split_once("```text\n").expect("the output");
    let (shown, _) = behind.split_once("```").expect("its end");
    let (_, behind) = page.split_once("## The smallest rule").expect("the section");
    let (_, behind) = behind.split_once("```yaml rate_limits\n").expect("the file");
    let (file, _) = behind.split_once("```").expect("its end");
    let folder = folder();
    fs::write(folder.path().join("rate_limits.yaml"), file.replace("limit: 5000", "limit: 0")).expect("a file");
    let run = run_with(folder.path(), &["validate", "available_limiters.yaml", "rate_limits.yaml"], b"", &[]);
    assert_eq!((run.code, run.stdout.as_str()), (1, shown));
}
