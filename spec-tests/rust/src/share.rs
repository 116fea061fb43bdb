//! One limiter that others use at the same time: many callers, one identifier, one Redis.

use crate::tags::{Closures, Fact};
use labkit_ratelimit::{Limiter, RedisOptions, Store, Value};
use labkit_ratelimit_documents::{Dialect, read_rule};
use labkit_ratelimit_native::{NativeRedis, Server};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};
use std::error::Error;
use std::io::BufRead as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// What is shared.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Share {
    limiter: String,
    rules: Vec<Json>,
    identifier: Map<String, Json>,
    /// How many threads call.
    callers: u64,
    /// How often each of them calls.
    calls: u64,
}

/// What came of the calls of a round.
#[derive(Default)]
struct Counts {
    allowed: AtomicU64,
    blocked: AtomicU64,
    failed: AtomicU64,
}

/// Plays a round for each line of standard input; `print` gets that it may begin, and the counts of each round.
pub(crate) fn play(file: &str, address: &str, print: impl Fn(&Json)) -> Result<(), Box<dyn Error>> {
    let share: Share = serde_json::from_slice(&std::fs::read(file)?)?;
    let mut closures = Closures::default();
    let rules: Vec<_> = share.rules.iter().map(|rule| read_rule(rule, Dialect::Code, &mut closures).spec).collect();
    let redis = NativeRedis::new(Server::single(address)?)?;
    let options = RedisOptions { deadline: Duration::from_secs(20), ..redis.options() };
    let limiter =
        Limiter::builder(&share.limiter).rules(rules).store(Store::Connected(Arc::new(redis), options)).build()?;
    let facts: Vec<(&str, Fact)> =
        share.identifier.iter().map(|(name, value)| (name.as_str(), Fact::read(value))).collect();
    print(&json!({"ready": true}));
    for line in std::io::stdin().lock().lines() {
        line?;
        let counts = Counts::default();
        thread::scope(|scope| {
            for _ in 0..share.callers {
                scope.spawn(|| {
                    let identifier: Vec<(&str, Value<'_>)> =
                        facts.iter().map(|(name, fact)| (*name, fact.value())).collect();
                    (0..share.calls).for_each(|_| counts.add(&limiter, &identifier));
                });
            }
        });
        print(&counts.written());
    }
    Ok(())
}

impl Counts {
    fn add(&self, limiter: &Limiter, identifier: &[(&str, Value<'_>)]) {
        let decision = limiter.check(identifier);
        let counter = match decision.verdict().as_str() {
            _ if decision.is_error() || decision.is_degraded() => &self.failed,
            "allow" => &self.allowed,
            _ => &self.blocked,
        };
        counter.fetch_add(1, Relaxed);
    }

    fn written(&self) -> Json {
        let [allowed, blocked, failed] = [&self.allowed, &self.blocked, &self.failed].map(|count| count.load(Relaxed));
        json!({"allowed": allowed, "blocked": blocked, "failed": failed})
    }
}
