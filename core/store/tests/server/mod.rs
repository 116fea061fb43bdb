//! A Redis of the test's own: on loopback, on a free port, gone with the test.

use labkit_ratelimit_store::redis::Call;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) struct Server {
    process: Child,
    connection: redis::Connection,
}

#[allow(dead_code, reason = "each test file is a program of its own")]
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

/// What not every test here asks of it.
#[allow(dead_code, reason = "each test file is a program of its own")]
impl Server {
    /// Redis' clock in µs.
    pub(crate) fn now_us(&mut self) -> u64 {
        let (seconds, micros): (u64, u64) = redis::cmd("TIME").query(&mut self.connection).expect("TIME");
        seconds * 1_000_000 + micros
    }

    pub(crate) fn query<T: redis::FromRedisValue>(&mut self, words: &[&str]) -> T {
        redis::cmd(words[0]).arg(&words[1..]).query(&mut self.connection).expect(words[0])
    }

    /// Runs a call with `TIME` answering `now_us`.
    pub(crate) fn eval_at(&mut self, call: &Call, now_us: u64) -> Vec<u8> {
        let clock = format!(
            "local now, server = {{'{}', '{}'}}, redis\n\
             local redis = {{ pcall = function(...) if (...) == 'TIME' then return now end return server.pcall(...) end }}\n",
            now_us / 1_000_000,
            now_us % 1_000_000
        );
        let script = clock + call.script.source();
        let mut eval = redis::cmd("EVAL");
        eval.arg(script).arg(call.keys.len()).arg(&call.keys).arg(&call.args);
        eval.query(&mut self.connection).expect("EVAL")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
