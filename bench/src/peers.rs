//! One GCRA rule beside governor's keyed limiter: the same keys, the same order, the same quota.

use crate::report::{Beside, Report, Target};
use crate::rounds::{Case, Rounds, cpu_time, interleave, nanos, ns_per_call};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use labkit_ratelimit::{Limiter, MemoryStore};
use labkit_ratelimit_bench::{GCRA_BURST, GCRA_LIMIT, PERIOD_S, by_user, gcra, random_order, users};
use std::hint::black_box;
use std::num::NonZeroU32;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

const KEYS: u32 = 100_000;
const CALLS: u32 = 1_000_000;
const SECTION: &str = "governor";

fn limiter() -> Limiter {
    gcra(Arc::new(MemoryStore::with_max_keys(500_000)))
}

fn peer() -> DefaultKeyedRateLimiter<String> {
    let between = Duration::from_secs(u64::from(PERIOD_S)) / GCRA_LIMIT;
    let quota =
        Quota::with_period(between).map(|quota| quota.allow_burst(NonZeroU32::MIN.saturating_add(GCRA_BURST - 1)));
    match quota {
        Some(quota) => RateLimiter::keyed(quota),
        None => unreachable!("the interval is not zero"),
    }
}

fn ours<'a>(limiter: &'a Limiter, keys: &'a [String], order: &'a [u32]) -> Case<'a> {
    Box::new(move || {
        ns_per_call(CALLS, || {
            for &at in order {
                let decision = limiter.check(&by_user(black_box(&keys[place(at)])));
                assert!(decision.is_allowed());
                black_box(&decision);
            }
        })
    })
}

fn theirs<'a>(limiter: &'a DefaultKeyedRateLimiter<String>, keys: &'a [String], order: &'a [u32]) -> Case<'a> {
    Box::new(move || {
        ns_per_call(CALLS, || {
            for &at in order {
                let decision = limiter.check_key(black_box(&keys[place(at)]));
                assert!(decision.is_ok());
                let _ = black_box(decision);
            }
        })
    })
}

/// The loop alone: takes the key and reads its first byte.
fn nothing<'a>(keys: &'a [String], order: &'a [u32]) -> Case<'a> {
    Box::new(move || {
        ns_per_call(CALLS, || {
            for &at in order {
                let key = black_box(&keys[place(at)]);
                black_box(key.as_bytes().first().copied());
            }
        })
    })
}

fn place(at: u32) -> usize {
    usize::try_from(at).unwrap_or(0)
}

/// Both, and the loop alone, over the same keys in the same order.
pub(crate) fn beside_governor(rounds: usize, report: &mut Report) {
    for (what, count, most) in [("100,000 keys", KEYS, 1.0), ("one hot key", 1, 2.0)] {
        let (keys, order) = (users(count), random_order(CALLS, count));
        let (ours_, theirs_) = (limiter(), peer());
        // Every key exists before anything is measured, and is inserted in the same order.
        for key in &keys {
            black_box(ours_.check(&by_user(key)));
            let _ = black_box(theirs_.check_key(key));
        }
        let measured: Rounds =
            interleave(rounds, [ours(&ours_, &keys, &order), theirs(&theirs_, &keys, &order), nothing(&keys, &order)]);
        report.add(SECTION, format!("{what}: check / governor"), measured.ratio(0, 1), "×", Target::AtMost(most));
        let gcra = format!("check of a GCRA rule, {what}");
        report.beside("Rust", Beside::new("memory", gcra, "governor", measured.ratio(1, 0)));
        report.add(SECTION, format!("{what}: check, raw"), measured.median(0), "ns", Target::None);
        report.add(SECTION, format!("{what}: governor, raw"), measured.median(1), "ns", Target::None);
        report.add(SECTION, format!("{what}: empty loop"), measured.median(2), "ns", Target::None);
    }
}

/// Calls a second, of all threads together: by wall time, and what their processor time allows.
fn throughput(limiter: &Limiter, parts: &[(&[String], &[u32])]) -> (f64, f64) {
    let start = Barrier::new(parts.len());
    let spans: Vec<(Duration, Duration)> = thread::scope(|scope| {
        let work = |(keys, order): (&[String], &[u32])| {
            start.wait();
            let (wall, cpu) = (Instant::now(), cpu_time());
            for &at in order {
                black_box(limiter.check(&by_user(black_box(&keys[place(at)]))));
            }
            (wall.elapsed(), cpu_time().saturating_sub(cpu))
        };
        let threads: Vec<_> = parts.iter().map(|part| scope.spawn(move || work(*part))).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    let calls = |part: &(&[String], &[u32])| f64::from(u32::try_from(part.1.len()).unwrap_or(0));
    let all: f64 = parts.iter().map(calls).sum();
    let slowest = spans.iter().map(|(wall, _)| *wall).max().unwrap_or_default();
    let by_cpu = parts.iter().zip(&spans).map(|(part, (_, cpu))| calls(part) / nanos(*cpu)).sum();
    (all / nanos(slowest), by_cpu)
}

/// Two threads on keys of their own beside one.
pub(crate) fn two_threads(rounds: usize, report: &mut Report) {
    for (what, count) in [("100,000 keys", KEYS), ("a hot key each", 2)] {
        let keys = users(count);
        let halves = keys.split_at(keys.len() / 2);
        let order = random_order(CALLS, count / 2);
        let limiter = limiter();
        for key in &keys {
            black_box(limiter.check(&by_user(key)));
        }
        let (first, second) = ((halves.0, order.as_slice()), (halves.1, order.as_slice()));
        let (mut wall, mut cpu) = (Vec::new(), Vec::new());
        for round in 0..=rounds {
            let (one, two) = (throughput(&limiter, &[first]), throughput(&limiter, &[first, second]));
            if round > 0 {
                wall.push(two.0 / one.0);
                cpu.push(two.1 / one.1);
            }
        }
        report.add(
            "threads",
            format!("{what}: two threads / one, by wall time"),
            crate::rounds::median(wall),
            "×",
            Target::Hoped(1.8),
        );
        report.add(
            "threads",
            format!("{what}: the same by processor time"),
            crate::rounds::median(cpu),
            "×",
            Target::Hoped(1.8),
        );
    }
}
