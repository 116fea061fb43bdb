//! A fork in a process whose runtime runs: both go on.
#![cfg(unix)]
#![allow(clippy::expect_used, reason = "helpers of tests")]

mod support;

use fork::{Fork, fork, waitpid_nohang};
use labkit_ratelimit_native::NativeRedis;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};
use support::limiters::PerIp;
use support::server::RedisServer;

const IP: &str = "198.18.0.1";
const DEADLINE: Duration = Duration::from_secs(1);

/// Runs `child` in a forked process and gives its exit code; nothing where it hangs.
fn forked(child: impl FnOnce() -> i32) -> Option<i32> {
    let pid = match fork().expect("a fork") {
        Fork::Child => std::process::exit(child()),
        Fork::Parent(pid) => pid,
    };
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(10) {
        if let Some(status) = waitpid_nohang(pid).expect("a child") {
            return Some(status >> 8);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
    None
}

/// Checks in a child: 0 where both checks counted, and the first took no longer than the deadline.
fn checks(per_ip: &PerIp) -> i32 {
    let start = Instant::now();
    let first = per_ip.remaining(IP);
    let in_time = start.elapsed() < DEADLINE;
    match (first, per_ip.remaining(IP)) {
        (Some(a), Some(b)) if a > b => i32::from(!in_time),
        (None, _) => 2,
        _ => 3,
    }
}

// One test: whatever else ran in this process could hold a lock while it forks.
#[test]
fn parent_and_child_go_on_after_a_fork() {
    let server = RedisServer::start();
    let started = PerIp::new(support::limiters::native(&server.url()), 1_000_000, DEADLINE);
    let unused = PerIp::new(support::limiters::native(&server.url()), 1_000_000, DEADLINE);
    assert!(started.remaining(IP).is_some());

    assert_eq!(forked(|| checks(&started)), Some(0), "a runtime that was started is started again");
    assert_eq!(forked(|| checks(&unused)), Some(0), "one that was not is started");
    assert_eq!(forked(|| forked(|| checks(&started)).unwrap_or(4) + checks(&started)), Some(0), "a fork of a fork");
    assert_eq!(
        forked(move || {
            drop(unused);
            0
        }),
        Some(0),
        "what was never used can be dropped"
    );
    assert!(started.remaining(IP).is_some(), "the parent's connection is still its own");

    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let given = NativeRedis::builder(server.url().parse().unwrap()).handle(runtime.handle().clone()).build().unwrap();
    let given = PerIp::new(Arc::new(given), 1_000_000, DEADLINE);
    assert_eq!(forked(|| checks(&given)), Some(0), "the host's runtime is not in the child, so it has its own");
    assert!(given.remaining(IP).is_some());
    assert_eq!(forked(|| checks(&given)), Some(0));
    assert!(given.remaining(IP).is_some());

    forks_under_load(&server);
}

/// Other threads check all the while.
fn forks_under_load(server: &RedisServer) {
    let per_ip = PerIp::new(support::limiters::native(&server.url()), 1_000_000, DEADLINE);
    let (stop, checked) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !stop.load(SeqCst) {
                    assert!(per_ip.remaining(IP).is_some());
                    checked.fetch_add(1, SeqCst);
                }
            });
        }
        for nth in 0..20 {
            let before = checked.load(SeqCst);
            assert_eq!(forked(|| checks(&per_ip)), Some(0), "child {nth}");
            support::eventually("the parent goes on", || checked.load(SeqCst) > before + 3);
        }
        stop.store(true, SeqCst);
    });
}
