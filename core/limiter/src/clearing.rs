//! Clearing an identifier: counters and bans of every rule but the skips.

use crate::generation::{Generation, RulesRef};
use crate::limiter::{Limiter, names_of, run};
use crate::pending::circuit_open;
use crate::store::{DEFAULT_DEADLINE, Store};
use labkit_ratelimit_engine::{Failure, FailureKind, Identifier, Value};
use labkit_ratelimit_store::StoreKeys;
use labkit_ratelimit_store::redis::{Call, Fault, clear_calls, read_clear};
use std::time::Duration;

/// A clear whose calls wait to be run, for hosts that run them themselves.
#[derive(Debug)]
#[must_use = "the calls of a clear must be run and settled"]
pub struct Clearing {
    calls: Vec<Call>,
    at: usize,
    deleted: u64,
    deadline: Duration,
    names: Vec<String>,
    store_failed: bool,
    failure: Option<Failure>,
}

impl Clearing {
    /// The next call to run, if there is one.
    pub fn call(&self) -> Option<&Call> {
        self.calls.get(self.at)
    }

    /// How long each call may be waited for, as of [`crate::Pending::deadline`].
    pub const fn deadline(&self) -> Duration {
        self.deadline
    }

    /// How many keys were deleted so far.
    pub const fn deleted(&self) -> u64 {
        self.deleted
    }

    /// The last thing that failed so far: a property that no counter can be kept by, a call, or that the store is not
    /// asked for now. What the log should say of it was said.
    pub const fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }
}

impl Limiter {
    /// Deletes counter and ban of every rule but the skips for this identifier, matching or not; gives
    /// how many keys it deleted. Never fails: it deletes what it can, and logs.
    pub fn clear<I: Identifier + ?Sized>(&self, identifier: &I) -> u64 {
        let mut clearing = self.plan_clear(identifier);
        while let Some(call) = clearing.call() {
            let Store::Connected(connection, _) = &self.store else {
                let message = "this limiter's host runs its calls: use plan_clear and settle_clear";
                let failure = Failure::new(FailureKind::Internal, "NoConnection", message);
                self.warn_failure(&failure, None, &|| clearing.names.clone());
                break;
            };
            let reply = run(&**connection, call, clearing.deadline());
            self.settle_clear(&mut clearing, reply);
        }
        clearing.deleted
    }

    /// Plans a clear; on the memory store it is done at once.
    pub fn plan_clear<I: Identifier + ?Sized>(&self, identifier: &I) -> Clearing {
        self.plan_clear_held(&self.generations.load(), identifier)
    }

    /// As [`Limiter::plan_clear`], by rules that [`Limiter::rules`] gave: see [`Limiter::plan_by`]. By another
    /// limiter's rules it clears nothing, and logs.
    pub fn plan_clear_by<I: Identifier + ?Sized>(&self, rules: RulesRef, identifier: &I) -> Clearing {
        match self.own(rules) {
            Ok(held) => self.plan_clear_held(&held, identifier),
            Err(failure) => {
                self.warn_failure(&failure, None, &|| names_of(identifier));
                Clearing { failure: Some(failure), ..self.clearing(names_of(identifier)) }
            }
        }
    }

    fn clearing(&self, names: Vec<String>) -> Clearing {
        let deadline = self.redis().map_or(DEFAULT_DEADLINE, |redis| redis.deadline);
        Clearing { calls: Vec::new(), at: 0, deleted: 0, deadline, names, store_failed: false, failure: None }
    }

    fn plan_clear_held<I: Identifier + ?Sized>(&self, held: &Generation, identifier: &I) -> Clearing {
        let rules = &held.rules;
        let (facts, failure) = rules.facts_of_all(identifier);
        let mut clearing = self.clearing(names_of(identifier));
        if let Some(failure) = failure {
            self.warn_failure(&failure, None, &|| clearing.names.clone());
            clearing.failure = Some(failure);
        }
        let now_us = self.clock.now_us();
        let keyed = |rule: &u32| rules.keyed(*rule, &facts).all(|(_, value)| !matches!(value, Value::Bad(_)));
        let counting: Vec<u32> = rules.counting().filter(keyed).collect();
        let algorithm = |rule: u32| rules.rule(rule).algorithm();
        if let Store::Memory(memory) = &self.store {
            let clear = |rule: &u32| memory.clear(held.keys.key(rules, *rule, &facts), algorithm(*rule), now_us);
            clearing.deleted = counting.iter().map(clear).sum();
            return clearing;
        }
        let keys: Vec<StoreKeys> = counting.iter().filter_map(|rule| StoreKeys::build(rules, *rule, &facts)).collect();
        if let Some(local) = self.fallback.in_use() {
            let clear = |(rule, keys): (&u32, &StoreKeys)| {
                local.clear(local.key_of(keys.counter.as_bytes()), algorithm(*rule), now_us)
            };
            clearing.deleted = counting.iter().zip(&keys).map(clear).sum();
        }
        if let Some(redis) = self.redis()
            && !keys.is_empty()
        {
            if redis.circuit.admits(now_us) {
                clearing.calls = clear_calls(&keys, self.terms(redis).topology);
            } else {
                clearing.failure = Some(circuit_open());
            }
        }
        clearing
    }

    /// Takes the reply of the clear's call at hand, or the fault that came in its place.
    pub fn settle_clear(&self, clearing: &mut Clearing, reply: Result<impl AsRef<[u8]>, Fault>) {
        clearing.at += 1;
        let fault = match reply.and_then(|reply| read_clear(reply.as_ref())) {
            Ok((deleted, fault)) => {
                clearing.deleted += deleted;
                fault
            }
            Err(fault) => Some(fault),
        };
        let failure: Option<Failure> = fault.map(|fault| fault.into_failure(None));
        if let Some(failure) = &failure {
            self.warn_failure(failure, None, &|| clearing.names.clone());
        }
        clearing.store_failed |= failure.as_ref().is_some_and(Failure::is_of_store);
        clearing.failure = failure.or(clearing.failure.take());
        // As for a check, whether the store works is known at the end.
        match (clearing.call(), clearing.store_failed) {
            (Some(_), _) => {}
            (None, true) => self.store_failed(),
            (None, false) => self.store_answered(),
        }
    }
}
