//! A Redis of the test's own: on loopback, on a free port, gone with the test.

use labkit_ratelimit_store::redis::Call;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) struct Server {
    process: Child,
    connection: redis::Connection,
}

impl Server {
    pub(crate) fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").port();
        let binary = std::env::var("LABKIT_SPEC_REDIS_SERVER").unwrap_or_else(|_| "redis-server".into());
        let mut process = Command::new(&binary)
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            .stdout(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| {
                panic!("{binary} does not start ({error}): install Debian's redis-server, as ci/setup does")
            });
        let client = redis::Client::open(format!("redis://127.0.0.1:{port}/")).expect("an address");
        let begun = Instant::now();
        loop {
            match client.get_connection() {
                Ok(connection) => return Self { process, connection },
                Err(error) if begun.elapsed() > Duration::from_secs(10) => {
                    let _ = process.kill();
                    panic!("{binary} does not answer: {error}");
                }
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    pub(crate) fn flush(&mut self) {
        redis::cmd("FLUSHALL").exec(&mut self.connection).expect("FLUSHALL");
    }

    pub(crate) fn eval(&mut self, script: &str, key: &str, argument: i64) {
        redis::cmd("EVAL").arg(script).arg(1).arg(key).arg(argument).exec(&mut self.connection).expect("EVAL");
    }

    /// Runs a call, Redis' clock in µs read before and behind it.
    pub(crate) fn run(&mut self, call: &Call) -> (u64, Vec<u8>, u64) {
        let micros = |(seconds, micros): (u64, u64)| seconds * 1_000_000 + micros;
        let mut pipeline = redis::pipe();
        pipeline
            .cmd("TIME")
            .cmd("EVAL")
            .arg(call.script.source())
            .arg(call.keys.len())
            .arg(&call.keys)
            .arg(&call.args)
            .cmd("TIME");
        let (before, reply, after) = pipeline.query(&mut self.connection).expect("EVAL");
        (micros(before), reply, micros(after))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
