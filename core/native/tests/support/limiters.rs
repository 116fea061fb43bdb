//! Limiters for tests.

use labkit_ratelimit::{Limiter, LogEvent, LogRecorder, RedisOptions, RuleSpec, Value};
use labkit_ratelimit_native::{NativeRedis, Server};
use std::sync::Arc;
use std::time::Duration;

/// Long enough for a busy machine where no test is about the deadline.
pub const PATIENCE: Duration = Duration::from_secs(5);

pub fn native(url: &str) -> Arc<NativeRedis> {
    Arc::new(NativeRedis::new(Server::parse(url).expect("a server")).expect("a connection"))
}

/// A limiter by IP address, and what it logs.
pub struct PerIp {
    pub redis: Arc<NativeRedis>,
    pub limiter: Limiter,
    logs: Arc<LogRecorder>,
}

impl PerIp {
    pub fn new(redis: Arc<NativeRedis>, limit: u64, deadline: Duration) -> Self {
        let logs = Arc::new(LogRecorder::default());
        let options = RedisOptions { deadline, ..redis.options() };
        let limiter = Limiter::builder("native")
            .rule(RuleSpec::limit("per_ip", limit, 600).characteristics(["ip"]))
            .redis(redis.clone(), options)
            .logger(Arc::clone(&logs))
            .build()
            .expect("a limiter");
        Self { redis, limiter, logs }
    }

    pub fn on(url: &str, limit: u64) -> Self {
        Self::new(native(url), limit, PATIENCE)
    }

    /// Checks, and gives what remains; nothing where the check failed.
    pub fn remaining(&self, ip: &str) -> Option<f64> {
        self.limiter.check(&[("ip", Value::from(ip))]).info().map(|info| info.remaining)
    }

    /// The messages logged since the last call, with the errors.
    pub fn logged(&self) -> Vec<String> {
        self.logs.take().iter().map(LogEvent::to_string).collect()
    }
}

/// The counter's key in Redis.
pub fn key(ip: &str) -> String {
    format!("labkit:rl:{{native:per_ip:ip:{ip}}}")
}
