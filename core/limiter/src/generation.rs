//! Generations: a limiter's rules are replaced whole, and a call keeps those that it began with.

use crate::held::Held;
use crate::metrics::Metrics;
use crate::sample::Sample;
use crate::store::Store;
use crate::totals::Totals;
use arc_swap::ArcSwap;
use labkit_ratelimit_engine::Rules;
use labkit_ratelimit_store::RuleKeys;
use parking_lot::Mutex;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Rules, and what belongs to them alone. Immutable but for its counters.
#[derive(Debug)]
pub(crate) struct Generation {
    /// The limiter that it is of.
    pub(crate) limiter: u64,
    is_retired: AtomicBool,
    pub(crate) rules: Rules,
    pub(crate) keys: RuleKeys,
    pub(crate) metrics: Metrics,
}

impl Generation {
    pub(crate) fn new(limiter: u64, rules: Rules, store: &Store) -> Self {
        let keys = match store {
            Store::Memory(memory) => RuleKeys::new(memory, &rules),
            Store::Connected(..) | Store::Planned(_) => RuleKeys::none(),
        };
        let metrics = Metrics::new(rules.len());
        Self { limiter, is_retired: AtomicBool::new(false), rules, keys, metrics }
    }

    /// Another one is in force, or is about to be.
    pub(crate) fn is_retired(&self) -> bool {
        self.is_retired.load(Ordering::Acquire)
    }
}

/// The rules that were in force when this was asked for. They stay as they are, also where the limiter's are replaced.
#[derive(Clone)]
pub struct RulesRef(Held);

impl Deref for RulesRef {
    type Target = Rules;

    fn deref(&self) -> &Rules {
        &self.0.rules
    }
}

impl fmt::Debug for RulesRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.rules.fmt(f)
    }
}

impl From<Held> for RulesRef {
    fn from(held: Held) -> Self {
        Self(held)
    }
}

/// The generation in force, and what is left of those before it.
#[derive(Debug)]
pub(crate) struct Generations {
    limiter: u64,
    current: ArcSwap<Generation>,
    past: Mutex<Past>,
}

#[derive(Debug, Default)]
struct Past {
    // No longer in force, but a call may still hold them and count there.
    held: Vec<Arc<Generation>>,
    // What those counted that nobody holds any more.
    totals: Totals,
}

impl Past {
    /// Adds up what nobody holds any more, and drops it.
    fn fold(&mut self) {
        for generation in std::mem::take(&mut self.held) {
            // The only owner sees every count of those before it, and nobody can come by another.
            match Arc::try_unwrap(generation) {
                Ok(last) => self.totals.add(&last),
                Err(held) => self.held.push(held),
            }
        }
    }
}

impl Generations {
    pub(crate) fn new(first: Generation) -> Self {
        Self { limiter: first.limiter, current: ArcSwap::from_pointee(first), past: Mutex::default() }
    }

    /// The one in force.
    pub(crate) fn load(&self) -> Held {
        Held::kept(self.limiter).unwrap_or_else(|| self.current.load_full().into())
    }

    /// Puts `next` in force. A call sees the one or the other, whole.
    pub(crate) fn replace(&self, mut next: Generation) {
        // The lock keeps readers of metrics from missing the old one, or counting it twice.
        let mut past = self.past.lock();
        let old = self.current.load_full();
        next.metrics.inherit(&next.rules, &old);
        // Before the swap: once anybody has seen the new one, nobody takes the old one that a thread kept.
        old.is_retired.store(true, Ordering::Release);
        self.current.store(Arc::new(next));
        past.held.push(old);
        past.fold();
    }

    /// Counters of all generations, gauges of the one in force.
    pub(crate) fn samples(&self) -> Vec<Sample> {
        let mut past = self.past.lock();
        past.fold();
        let mut totals = past.totals.clone();
        for held in &past.held {
            totals.add(held);
        }
        let current = self.load();
        totals.add(&current);
        totals.samples(&current)
    }

    /// How many there are: the one in force, and those that something still holds.
    #[cfg(test)]
    pub(crate) fn living(&self) -> usize {
        1 + self.past.lock().held.len()
    }
}
