//! Memory of live keys, each case in a process of its own.

use crate::machine;
use crate::report::{Report, Target};
use labkit_ratelimit::{Limiter, MemoryStore};
use labkit_ratelimit_bench::{by_user, slow_gcra, window};
use std::env;
use std::fmt::Write as _;
use std::hint::black_box;
use std::io;
use std::process::Command;
use std::sync::Arc;

const KEYS: u32 = 1_000_000;
const CAP: u32 = 10_000;

/// What a child measured: KiB of resident memory that were added, and what the store says.
struct Measured {
    grown_kib: f64,
    held: f64,
    evicted: f64,
}

pub(crate) fn live_keys(report: &mut Report) -> io::Result<()> {
    for case in ["window", "gcra"] {
        let measured = in_a_child(case)?;
        let bytes = measured.grown_kib * 1024.0 / f64::from(KEYS);
        report.add("memory", format!("{case}, 1,000,000 live keys: a key"), bytes, "bytes", Target::AtMost(96.0));
        report.add("memory", format!("{case}: keys held"), measured.held, "", Target::AtLeast(f64::from(KEYS)));
        report.add("memory", format!("{case}: keys evicted"), measured.evicted, "", Target::Exactly(0.0));
    }
    Ok(())
}

/// As it was in the field: far more keys than there is room for.
pub(crate) fn field_case(report: &mut Report) -> io::Result<()> {
    let measured = in_a_child("field")?;
    report.add("field", "growth from 10,000 to 1,000,000 keys seen", measured.grown_kib, "KiB", Target::AtMost(1024.0));
    report.add("field", "keys held", measured.held, "", Target::AtMost(f64::from(CAP)));
    report.add("field", "live keys evicted", measured.evicted, "", Target::AtLeast(f64::from(KEYS - CAP)));
    Ok(())
}

fn in_a_child(case: &str) -> io::Result<Measured> {
    let output = Command::new(env::current_exe()?).args(["--child", case]).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [grown_kib, held, evicted] = numbers[..] else {
        return Err(io::Error::other(format!("the child for {case} measured nothing: {text:?}")));
    };
    Ok(Measured { grown_kib, held, evicted })
}

/// Runs a case in this process, which is a child, and gives the line that it prints.
pub(crate) fn child(case: &str) -> String {
    let max = if case == "field" { CAP } else { KEYS + KEYS / 5 };
    let store = Arc::new(MemoryStore::with_max_keys(usize::try_from(max).unwrap_or(0)));
    let limiter = if case == "gcra" { slow_gcra(Arc::clone(&store)) } else { window(Arc::clone(&store)) };
    // What is paid once is not a key's: code pages, the clock, the metrics' stripe. The field case starts full.
    fill(&limiter, 0..if case == "field" { CAP * 2 } else { 1 });
    let before = resident_kib();
    fill(&limiter, 0..KEYS);
    let grown = resident_kib() - before;
    let evictions = store.evictions();
    format!("{grown} {} {}", store.len(), evictions.idle + evictions.exceeded)
}

/// Charges one call on each key; the keys themselves are not kept.
fn fill(limiter: &Limiter, keys: std::ops::Range<u32>) {
    let mut key = String::with_capacity(32);
    for n in keys {
        key.clear();
        // Writing to a String does not fail.
        let _ = write!(key, "tenant:42:user:{n:08}");
        black_box(limiter.check(&by_user(&key)));
    }
}

fn resident_kib() -> f64 {
    let text = machine::field("/proc/self/status", "VmRSS").unwrap_or_default();
    text.split_whitespace().next().and_then(|kib| kib.parse().ok()).unwrap_or(0.0)
}
