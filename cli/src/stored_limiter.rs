//! A limiter of documents on a Redis, and the request that a command asks it about.

use crate::chosen_limiter::{Chain, ChosenLimiter, LimiterArguments};
use crate::identity::{Identity, IdentityArguments};
use crate::mistake::Mistake;
use crate::note;
use crate::redis_server::{RedisArguments, RedisServer};
use clap::Args;
use labkit_ratelimit::{Limiter, LogRecorder};
use labkit_ratelimit_documents::Contract;
use std::sync::Arc;

/// Which limiter, which request, which Redis.
#[derive(Args, Debug)]
pub(crate) struct StoredArguments {
    #[command(flatten)]
    limiter: LimiterArguments,
    #[command(flatten)]
    identity: IdentityArguments,
    #[command(flatten)]
    redis: RedisArguments,
}

/// All three, read. The Redis is not asked yet.
#[derive(Debug)]
pub(crate) struct StoredLimiter {
    pub(crate) limiter: Limiter,
    chain: Chain,
    pub(crate) identity: Identity,
    pub(crate) redis: RedisServer,
    pub(crate) logs: Arc<LogRecorder>,
}

impl StoredArguments {
    /// Reads them.
    pub(crate) fn read(&self) -> Result<StoredLimiter, Mistake> {
        let identity = self.identity.read()?;
        let chosen = self.limiter.read()?;
        let redis = RedisServer::of_environment(&self.redis)?;
        let logs = Arc::new(LogRecorder::default());
        let limiter = limiter(&chosen.chain, &[], &redis, &logs)?;
        note_unknown(&chosen, &limiter, &identity);
        Ok(StoredLimiter { limiter, chain: chosen.chain, identity, redis, logs })
    }
}

impl StoredLimiter {
    /// The limiter as it were without some of its rules.
    pub(crate) fn without(&self, rules: &[String]) -> Result<Limiter, Mistake> {
        limiter(&self.chain, rules, &self.redis, &self.logs)
    }
}

fn limiter(
    chain: &Chain,
    without: &[String],
    redis: &RedisServer,
    logs: &Arc<LogRecorder>,
) -> Result<Limiter, Mistake> {
    Limiter::builder(&chain.name)
        .rules(chain.rules.iter().filter(|rule| !without.contains(&rule.name)).cloned())
        .evaluation(chain.evaluation)
        .redis(redis.connection.clone(), redis.options.clone())
        .logger(Arc::clone(logs))
        .build()
        .map_err(|error| Mistake::Misuse(error.to_string()))
}

/// Says which properties are none of the limiter's: mostly they are misspelt.
fn note_unknown(chosen: &ChosenLimiter, limiter: &Limiter, identity: &Identity) {
    let offered = chosen.document.contract().map(Contract::properties);
    let is_unknown = |name: &String| offered.is_none_or(|offered| !offered.contains(name));
    let unknown: Vec<String> = identity.unused(&limiter.rules()).into_iter().filter(is_unknown).collect();
    if !unknown.is_empty() {
        note::write(&format!("{} knows no property {}", chosen.chain.name, unknown.join(", ")));
    }
}
