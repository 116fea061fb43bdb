//! Checks a second on Rust's own connection, beside what `redis-benchmark` gets from the same server.

use crate::ceiling::{self, Ceiling, Keys, Load};
use crate::report::{Beside, Report, Target};
use crate::rounds::{Case, interleave};
use crate::server::Server;
use labkit_ratelimit::{CallOptions, Decision, RedisOptions};
use labkit_ratelimit_bench::{by_user, connected, users};
use labkit_ratelimit_native::{NativeRedis, Server as Address};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::{self, Runtime};

const SECTION: &str = "redis";
const USERS: u32 = 1000;
/// A check that fails is no measurement, and the machine may be busy with other things.
const DEADLINE: Duration = Duration::from_secs(5);

/// What `redis-benchmark` gets, and what a limiter on its own connection gets: one caller that waits, and fifty tasks.
pub(crate) fn beside_the_ceiling(rounds: usize, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let server = Server::start()?;
    // It loads the script, and says at once what is missing.
    Ceiling::of(&server, Keys::Users, &Load::ALL)?.sample()?;
    let (waiting, tasks) = (Waiting::on(&server)?, Tasks::on(&server)?);
    let keys = users(USERS);
    let (server, waiting, tasks, keys) = (&server, &waiting, &tasks, &keys);
    let top =
        |load| -> Case<'_> { Box::new(move || ceiling::rate(server.port(), Keys::Users, load).unwrap_or(f64::NAN)) };
    let own = |load: Load| -> Case<'_> {
        if load.connections == 1 {
            Box::new(move || waiting.rate(load, keys))
        } else {
            Box::new(move || tasks.rate(load, keys))
        }
    };
    let [a, b, c, d] = Load::ALL;
    let measured = interleave(rounds, [top(a), own(a), top(b), own(b), top(c), own(c), top(d), own(d)]);
    for (at, load) in Load::ALL.into_iter().enumerate() {
        let rules = if load.rules == 1 { "1 rule" } else { "3 rules" };
        let who = if load.connections == 1 { "one caller that waits" } else { "50 tasks, one connection" };
        let what = format!("redis-benchmark: {}", load.text());
        report.add(SECTION, what, measured.median(2 * at), "/s", Target::None);
        report.add(SECTION, format!("native: {rules}, {who}"), measured.median(2 * at + 1), "/s", Target::None);
        let share = measured.ratio(2 * at + 1, 2 * at);
        report.add(SECTION, "the same / redis-benchmark", share, "×", Target::None);
        if load.rules == 3 {
            let peer = format!("redis-benchmark, the ceiling, {}", load.text());
            report.beside("Rust", Beside::new("Redis", format!("check of {rules}, {who}"), peer, share));
        }
    }
    Ok(())
}

fn address(server: &Server) -> Result<Address, Box<dyn Error>> {
    Ok(Address::parse(&format!("redis://127.0.0.1:{}", server.port()))?)
}

fn passed(decision: &Decision) {
    assert!(decision.is_allowed() && !decision.is_error(), "{:?}", decision.failure());
}

/// A host without a runtime: the connection has its own.
struct Waiting(Arc<NativeRedis>);

impl Waiting {
    const CALLS: u32 = 4_000;

    fn on(server: &Server) -> Result<Self, Box<dyn Error>> {
        Ok(Self(Arc::new(NativeRedis::new(address(server)?)?)))
    }

    fn rate(&self, load: Load, keys: &[String]) -> f64 {
        let options = RedisOptions { deadline: DEADLINE, ..self.0.options() };
        let limiter = connected(load.rules, self.0.clone(), options);
        let start = Instant::now();
        for key in keys.iter().cycle().take(usize::try_from(Self::CALLS).unwrap_or(0)) {
            passed(&limiter.check(&by_user(key)));
        }
        f64::from(Self::CALLS) / start.elapsed().as_secs_f64()
    }
}

/// A host's own runtime, of one thread, and the connection on it.
struct Tasks {
    runtime: Runtime,
    redis: Arc<NativeRedis>,
}

impl Tasks {
    const CALLS: u32 = 25_000;

    fn on(server: &Server) -> Result<Self, Box<dyn Error>> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let redis = NativeRedis::builder(address(server)?).handle(runtime.handle().clone()).build()?;
        Ok(Self { runtime, redis: Arc::new(redis) })
    }

    /// As many tasks as `redis-benchmark` has connections; each takes the next user when its check is answered.
    fn rate(&self, load: Load, keys: &[String]) -> f64 {
        let options = RedisOptions { deadline: DEADLINE, ..self.redis.options() };
        let limiter = Arc::new(connected(load.rules, self.redis.clone(), options));
        let (next, calls) = (Arc::new(AtomicUsize::new(0)), usize::try_from(Self::CALLS).unwrap_or(0));
        let keys: Arc<[String]> = keys.into();
        let start = Instant::now();
        self.runtime.block_on(async {
            let task = || {
                let (redis, limiter, next) = (Arc::clone(&self.redis), Arc::clone(&limiter), Arc::clone(&next));
                let keys = Arc::clone(&keys);
                tokio::spawn(async move {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        if at >= calls {
                            return;
                        }
                        let identifier = by_user(&keys[at % keys.len()]);
                        passed(&redis.check(&limiter, &identifier, CallOptions::default()).await);
                    }
                })
            };
            let tasks: Vec<_> = (0..load.connections).map(|_| task()).collect();
            for task in tasks {
                let ended = task.await;
                assert!(ended.is_ok(), "{ended:?}");
            }
        });
        f64::from(Self::CALLS) / start.elapsed().as_secs_f64()
    }
}
