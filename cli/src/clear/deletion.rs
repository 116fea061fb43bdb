//! The keys of one request, and which of them were there to delete.

use crate::mistake::Mistake;
use crate::note;
use crate::redis_server::RedisServer;
use crate::stored_limiter::StoredLimiter;
use labkit_ratelimit::{Call, Connection as _, Fault, Rule};
use labkit_ratelimit_store::StoreKeys;
use labkit_ratelimit_store::redis::{clear_calls, read_clear};
use std::collections::BTreeSet;

/// A deletion, key by key, so that it can say which were there.
#[derive(Debug)]
pub(super) struct Deletion {
    calls: Vec<Call>,
    deleted: Vec<String>,
}

impl Deletion {
    /// Finds the keys of every rule that counts, matching or not: those that a limiter's own clear deletes.
    pub(super) fn plan(stored: &StoredLimiter) -> Result<Self, Mistake> {
        let rules = stored.limiter.rules();
        let values = stored.identity.values();
        let facts = rules.facts(&values).map_err(|failure| Mistake::Misuse(failure.to_string()))?;
        let mut lacking = BTreeSet::new();
        let mut keys = Vec::new();
        for rule in rules.counting() {
            lacking.extend(rules.keyed(rule, &facts).filter(|(_, value)| value.is_missing()).map(|(name, _)| name));
            keys.extend(StoreKeys::build(&rules, rule, &facts));
        }
        if !lacking.is_empty() {
            let names = lacking.into_iter().collect::<Vec<_>>().join(", ");
            note::write(&format!(
                "not given: {names}; of a rule that counts by it, the counter of all who lack it is meant"
            ));
        }
        let common = rules.counting().map(|place| rules.rule(place)).filter(|rule| rule.characteristics().len() == 0);
        let common: Vec<&str> = common.map(Rule::name).collect();
        if !common.is_empty() {
            note::write(&format!("everybody's counter is meant of {}: it has no characteristics", common.join(", ")));
        }
        let one_key = |call: Call| {
            let each = |key: &String| Call { keys: vec![key.clone()], ..call.clone() };
            call.keys.iter().map(each).collect::<Vec<_>>()
        };
        let calls = clear_calls(&keys, stored.redis.options.topology).into_iter().flat_map(one_key).collect();
        Ok(Self { calls, deleted: Vec::new() })
    }

    /// Every key that it deletes if it is there.
    pub(super) fn keys(&self) -> impl Iterator<Item = &String> {
        self.calls.iter().flat_map(|call| &call.keys)
    }

    /// Deletes them. Where that fails, those before are deleted.
    pub(super) fn run(&mut self, redis: &RedisServer) -> Result<(), String> {
        for call in &self.calls {
            let reply = redis.connection.run(call, redis.options.deadline).and_then(|reply| read_clear(&reply));
            let (deleted, fault) = reply.map_err(said)?;
            if deleted > 0 {
                self.deleted.extend(call.keys.iter().cloned());
            }
            if let Some(fault) = fault {
                return Err(said(fault));
            }
        }
        Ok(())
    }

    /// Those that were there.
    pub(super) fn deleted(&self) -> &[String] {
        &self.deleted
    }
}

/// A fault in words.
fn said(fault: Fault) -> String {
    fault.into_failure(None).to_string()
}
