//! Servers for tests: each on free ports of 127.0.0.1, in a folder of its own, gone when it is dropped.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "shared by several test crates, none of which uses all of it"
)]

pub mod cluster;
pub mod limiters;
pub mod pretender;
pub mod server;

use std::net::TcpListener;
use std::time::{Duration, Instant};

/// A port that nobody listens on.
pub fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr()).expect("a free port").port()
}

/// Waits until `holds`, for 20 s at most.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(20), "not within 20 s: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
