//! Generations: a limiter's rules are replaced whole, and a call keeps those that it began with.

use crate::held::Held;
use crate::metrics::Metrics;
use crate::sample::Sample;
use crate::store::Store;
use crate::totals::Totals;
use arc_swap::ArcSwap;
use labkit_ratelimit_engine as engine;
use labkit_ratelimit_engine::{RuleSpec, Rules};
use labkit_ratelimit_store::RuleKeys;
use parking_lot::Mutex;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How many generations this process has made.
static GENERATIONS: AtomicU64 = AtomicU64::new(0);

/// Rules, and what belongs to them alone. Immutable but for its counters.
#[derive(Debug)]
pub(crate) struct Generation {
    /// The limiter that it is of.
    pub(crate) limiter: u64,
    serial: u64,
    is_retired: AtomicBool,
    pub(crate) rules: Rules,
    specs: Box<[RuleSpec]>,
    pub(crate) keys: RuleKeys,
    pub(crate) metrics: Metrics,
}

impl Generation {
    pub(crate) fn new(limiter: u64, rules: Rules, specs: Box<[RuleSpec]>, store: &Store) -> Self {
        let keys = match store {
            Store::Memory(memory) => RuleKeys::new(memory, &rules),
            Store::Connected(..) | Store::Planned(_) => RuleKeys::none(),
        };
        let metrics = Metrics::new(rules.len());
        let serial = GENERATIONS.fetch_add(1, Ordering::Relaxed) + 1;
        Self { limiter, serial, is_retired: AtomicBool::new(false), rules, specs, keys, metrics }
    }

    fn retire(&self) {
        self.is_retired.store(true, Ordering::Release);
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
        self.0.fmt(f)
    }
}

impl RulesRef {
    /// The rules as they were written, in chain order: for hosts that show them, those of documents above all.
    pub fn specs(&self) -> &[RuleSpec] {
        &self.0.specs
    }

    /// Whether both are the same rules of one limiter, put in force at one time.
    pub fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(&raw const *self.0, &raw const *other.0)
    }

    /// A number of these rules alone, above 0: no others of this process ever have it. For hosts that keep numbers where
    /// they cannot keep a reference.
    pub fn serial(&self) -> u64 {
        self.0.serial
    }

    pub(crate) fn is_of(&self, limiter: u64) -> bool {
        self.0.limiter == limiter
    }

    pub(crate) fn generation(&self) -> &Generation {
        &self.0
    }
}

impl From<Held> for RulesRef {
    fn from(held: Held) -> Self {
        Self(held)
    }
}

impl From<RulesRef> for Held {
    fn from(rules: RulesRef) -> Self {
        rules.0
    }
}

/// What a check or a peek answers.
///
/// It owns what it speaks of: it may go to another thread and outlive its limiter, and says the same where the
/// limiter's rules are replaced. While it is held, so are the rules that it was decided with.
pub type Decision = engine::Decision<RulesRef>;

/// A decision of rules that are put in once it is decided.
pub(crate) fn undecided() -> Decision {
    Decision::undecided(RulesRef(Held::NONE))
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
        match Held::kept(self.limiter) {
            Some(held) => held,
            None => self.load_anew(),
        }
    }

    #[cold]
    fn load_anew(&self) -> Held {
        self.current.load_full().into()
    }

    /// Puts `next` in force. A call sees the one or the other, whole.
    pub(crate) fn replace(&self, mut next: Generation) {
        // The lock keeps readers of metrics from missing the old one, or counting it twice.
        let mut past = self.past.lock();
        let old = self.current.load_full();
        next.metrics.inherit(&next.rules, &old);
        // Before the swap: once anybody has seen the new one, nobody takes the old one that a thread kept.
        old.retire();
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

impl Drop for Generations {
    fn drop(&mut self) {
        // Decisions outlive it. No thread needs to keep what they hold, and this one keeps nothing.
        self.current.load().retire();
        drop(Held::kept(self.limiter));
    }
}

#[cfg(test)]
mod tests {
    use crate::{Evaluation, Limiter, RuleSpec, Store, Value};
    use std::sync::Barrier;
    use std::thread;

    fn limiter() -> Limiter {
        let rule = RuleSpec::limit("r", 1_000_000, 60);
        Limiter::builder("lim").rule(rule).store(Store::memory(100)).build().expect("good rules")
    }

    fn replace(limiter: &Limiter, n: u32) {
        let rules = [RuleSpec::limit(format!("r{}", n % 3), 1_000_000 + u64::from(n), 60)];
        limiter.replace_rules(&rules, Evaluation::FirstBlock).expect("good rules");
    }

    const NOBODY: [(&str, Value<'_>); 0] = [];

    #[test]
    fn ten_thousand_replacements_leave_nothing_behind() {
        let limiter = limiter();
        for n in 0..10_000 {
            limiter.check(&NOBODY);
            replace(&limiter, n);
            // The one before may be what this thread keeps for its next call.
            assert!(limiter.generations.living() <= 2, "{}", limiter.generations.living());
        }
        let checks: u64 =
            limiter.metrics().iter().filter(|sample| sample.name.ends_with("checks_total")).map(|s| s.value).sum();
        assert_eq!(10_000_u64, checks);
    }

    #[test]
    fn what_is_held_stays_and_only_that() {
        let limiter = limiter();
        let mut held = Vec::new();
        for n in 0..100 {
            if n % 10 == 0 {
                held.push((limiter.check(&NOBODY), limiter.rules()));
            }
            replace(&limiter, n);
        }
        let living = limiter.generations.living();
        assert!((10..=12).contains(&living), "{living}");
        held.clear();
        limiter.metrics();
        assert!(limiter.generations.living() <= 2);
    }

    #[test]
    fn an_idle_thread_keeps_one_at_most() {
        let (limiter, barrier) = (limiter(), Barrier::new(5));
        thread::scope(|scope| {
            let work = || {
                limiter.check(&NOBODY);
                barrier.wait();
                barrier.wait();
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
            barrier.wait();
            for n in 0..1_000 {
                replace(&limiter, n);
            }
            // Besides the one in force and the one before it.
            assert!(limiter.generations.living() <= 2 + 4);
            barrier.wait();
            // A scope ends before its threads do; joined, they are gone.
            for thread in threads {
                thread.join().expect("no panic");
            }
        });
        limiter.metrics();
        assert_eq!(limiter.generations.living(), 1, "threads that ended keep nothing");
    }
}
