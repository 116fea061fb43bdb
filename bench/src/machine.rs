//! Where and with what it was measured.

use std::fs;
use std::process::Command;
use std::time::SystemTime;

const LOCK: &str = include_str!("../../Cargo.lock");

#[derive(Default)]
pub(crate) struct Machine {
    /// When it began.
    pub(crate) date: String,
    pub(crate) host: String,
    /// How many processes wanted a processor in the minute before it began.
    pub(crate) load: String,
    pub(crate) versions: Vec<String>,
}

impl Machine {
    pub(crate) fn here() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let cpu = field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown processor".to_owned());
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let crates = ["labkit-ratelimit", "governor", "redis"];
        let mut versions: Vec<_> = crates.iter().map(|name| format!("{name} {}", locked(name))).collect();
        versions.push(first_line("rustc", "--version"));
        versions.push(first_line("redis-server", "--version"));
        Self {
            date: httpdate::fmt_http_date(SystemTime::now()),
            host: format!("{cpu}, {cores} cores, Linux {}", kernel.trim()),
            load: load.split_whitespace().next().unwrap_or("unknown").to_owned(),
            versions,
        }
    }
}

/// The value behind `name:` in a file of such lines.
pub(crate) fn field(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_once(':').map(|(_, value)| value.trim().to_owned())
}

fn locked(name: &str) -> &'static str {
    let heading = format!("name = \"{name}\"\nversion = \"");
    let version = LOCK.split_once(&heading).and_then(|(_, rest)| rest.split_once('"'));
    version.map_or("?", |(version, _)| version)
}

fn first_line(program: &str, argument: &str) -> String {
    let output = Command::new(program).arg(argument).output().ok();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let line = text.lines().next().unwrap_or("");
    let kept: Vec<_> = line.split_whitespace().take(3).filter(|word| !word.starts_with('(')).collect();
    if kept.is_empty() { format!("no {program}") } else { kept.join(" ") }
}
