//! No document takes more time or memory than its size lets expect, whatever is in it.
//!
//! Each case runs in a process of its own, at a quarter of its size and at all of it (a build without optimization: of
//! a quarter of it): processor time must grow about
//! as its size does, and the largest resident memory stays within the bound that the crate promises. Limits are
//! generous: they are to tell linear from quadratic, on any machine, in any build.
//!
//! A name on the command line runs that case alone; every run prints its table.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "a test that prints a table and fails by panicking")]

mod bombs;

use bombs::{Case, Papers};
use labkit_ratelimit_documents::{Documents, Source};
use labkit_ratelimit_engine::Severity;
use rustix::time::{ClockId, clock_gettime};
use std::env;
use std::fs;
use std::process::{Command, ExitCode, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

/// What the crate promises: bytes of memory for a byte of documents, and besides.
const BYTES_A_BYTE: usize = 64;
const BYTES_BESIDES: usize = 384 << 20;
/// Milliseconds that any case may take, in a build without optimization.
const MOST_MS: f64 = 60_000.0;
/// How long a case is waited for.
const PATIENCE: Duration = Duration::from_secs(90);
/// How much longer four times as much may take: 4 times if all is linear, 16 times if something is quadratic.
const GROWTH: f64 = 9.0;
/// Milliseconds of which growth says nothing.
const NOISE_MS: f64 = 250.0;

/// Milliseconds of processor time so far.
fn cpu_ms() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    let part = |n: i64| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    part(now.tv_sec) * 1e3 + part(now.tv_nsec) / 1e6
}

/// A line of `/proc/self/status`, in KiB.
fn status_kib(line: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let rest = status.lines().find_map(|text| text.strip_prefix(line)).expect("the line is there");
    rest.split_whitespace().find_map(|word| word.parse().ok()).expect("a number")
}

fn documents(papers: &Papers) -> Documents {
    let mut documents = Documents::new();
    if let Some(text) = &papers.contract {
        documents = documents.available_limiters(Source::new("available_limiters.yaml", text));
    }
    for text in &papers.files {
        documents = documents.rate_limits(Source::new("rate_limits.yaml", text));
    }
    documents
}

/// Reads a case at one size: milliseconds, and what came of it.
fn read(case: &Case, size: usize) -> (f64, usize, String) {
    let papers = (case.make)(size);
    let bytes = papers.contract.iter().chain(&papers.files).map(String::len).sum();
    let documents = documents(&papers);
    drop(papers);
    let start = cpu_ms();
    let read = documents.read();
    let took = cpu_ms() - start;
    let outcome = match read {
        Ok(catalog) => format!("ok:{}", catalog.warnings().len()),
        Err(findings) => {
            assert!(findings.len() <= 10_000, "{}: {} findings", case.name, findings.len());
            let texts: usize = findings.iter().map(|finding| finding.path.len() + finding.message.len()).sum();
            assert!(texts <= 20 << 20, "{}: findings of {texts} bytes", case.name);
            if findings.len() == 10_000 {
                let last = findings.iter().last().expect("10,000 findings");
                assert!(last.message.contains("there may be more"), "{}: nothing says that there are more", case.name);
            }
            let error = findings.iter().find(|finding| finding.severity == Severity::Error).expect("an error");
            format!("{}:{}", error.code, findings.len())
        }
    };
    (took, bytes, outcome)
}

/// What a child runs. One line: bytes, milliseconds of a quarter and of all, KiB beyond what the documents are, what came of it.
fn child(case: &Case) {
    let before = status_kib("VmRSS:");
    // What is not optimized is tenfold slower, and a quarter tells enough.
    let size = if cfg!(debug_assertions) { case.size / 4 } else { case.size };
    let (quarter, ..) = read(case, size / 4);
    let (all, bytes, outcome) = read(case, size);
    println!("{bytes} {quarter} {all} {} {outcome}", status_kib("VmHWM:").saturating_sub(before));
}

/// The complaint about a case, if there is one.
fn judge(case: &Case) -> Option<String> {
    let start = Instant::now();
    let mut command = Command::new(env::current_exe().expect("this program"));
    command.args(["--case", case.name]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn().expect("a child");
    while running.try_wait().expect("a child").is_none() {
        if start.elapsed() > PATIENCE {
            running.kill().expect("a child of our own");
            running.wait().expect("a child");
            return Some(format!("{}: does not end within {PATIENCE:?}", case.name));
        }
        sleep(Duration::from_millis(2));
    }
    let output = running.wait_with_output().expect("a child");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words: Vec<&str> = text.split_whitespace().collect();
    let (&[bytes, quarter, all, kib, outcome], true) = (words.as_slice(), output.status.success()) else {
        return Some(format!("{}: {text}{}", case.name, String::from_utf8_lossy(&output.stderr)));
    };
    let ms = |text: &str| text.parse::<f64>().expect("milliseconds");
    let count = |text: &str| text.parse::<usize>().expect("a number");
    let (bytes, quarter, all, kib) = (count(bytes), ms(quarter), ms(all), count(kib));
    println!(
        "{:<44} {bytes:>9} B {quarter:>8.1} ms {all:>8.1} ms {:>6} MiB  {outcome}  ({:.1?})",
        case.name,
        kib / 1024,
        start.elapsed()
    );
    let mut complaints = Vec::new();
    if all > MOST_MS || all > GROWTH * quarter + NOISE_MS {
        complaints.push(format!("takes {quarter:.0} ms for a quarter and {all:.0} ms for all"));
    }
    let most = BYTES_A_BYTE * bytes + BYTES_BESIDES;
    if kib * 1024 > most {
        complaints.push(format!("takes {} MiB of memory, more than {} MiB", kib / 1024, most >> 20));
    }
    if !outcome.starts_with(case.outcome) {
        complaints.push(format!("is {outcome}, not {}", case.outcome));
    }
    (!complaints.is_empty()).then(|| format!("{}: {}", case.name, complaints.join("; ")))
}

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let cases = bombs::cases();
    if let [flag, name] = args.as_slice()
        && flag == "--case"
    {
        child(cases.iter().find(|case| case.name == name).expect("a case"));
        return ExitCode::SUCCESS;
    }
    let filter = args.iter().find(|arg| !arg.starts_with('-'));
    let chosen = cases.iter().filter(|case| filter.is_none_or(|part| case.name.contains(part.as_str())));
    let chosen: Vec<&Case> = chosen.collect();
    // Two at a time: processor time is what is measured.
    let half =
        |odd: usize| -> Vec<String> { chosen.iter().skip(odd).step_by(2).filter_map(|case| judge(case)).collect() };
    let complaints = thread::scope(|scope| {
        let odd = scope.spawn(|| half(1));
        let mut complaints = half(0);
        complaints.extend(odd.join().expect("the other half"));
        complaints
    });
    for complaint in &complaints {
        println!("FAILED {complaint}");
    }
    println!("{} cases, {} failed", chosen.len(), complaints.len());
    if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
