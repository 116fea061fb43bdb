//! The simulation: one limiter, a memory store and a clock that stands at each request's time.

use super::failures::{Failure, Failures};
use super::requests::Requests;
use super::tally::Tally;
use crate::mistake::Mistake;
use crate::progress;
use labkit_ratelimit::{Decision, Limiter, ManualClock, MemoryStore};
use labkit_ratelimit_documents::DocumentLimiter;
use std::sync::Arc;

/// Requests between two steps of the progress bar.
const STEP: usize = 8192;

/// A limiter in a world of its own.
#[derive(Debug)]
pub(super) struct Simulation {
    limiter: Limiter,
    store: Arc<MemoryStore>,
    clock: Arc<ManualClock>,
    failures: Arc<Failures>,
}

/// What came of it beside the tally.
#[derive(Debug)]
pub(super) struct Aftermath {
    /// Live counters and bans that were removed to make room: none, for the store is without bound.
    pub(super) evicted: u64,
    pub(super) failures: Vec<Failure>,
}

impl Simulation {
    pub(super) fn new(document: &DocumentLimiter) -> Result<Self, Mistake> {
        // It grows with what is live in it, whatever its bound.
        let store = Arc::new(MemoryStore::with_max_keys(usize::MAX));
        let clock = Arc::new(ManualClock::default());
        let failures = Arc::new(Failures::default());
        let limiter = Limiter::builder(&document.name)
            .rules(document.rules.iter().cloned())
            .memory(Arc::clone(&store))
            .clock(Arc::clone(&clock))
            .logger(Arc::clone(&failures))
            .build()
            .map_err(|error| Mistake::Misuse(error.to_string()))?;
        Ok(Self { limiter, store, clock, failures })
    }

    /// The properties that the rules mention.
    pub(super) fn properties(&self) -> Vec<String> {
        self.limiter.rules().properties().map(str::to_owned).collect()
    }

    /// Decides every request, in order, and hands each decision to `each` with its line's number.
    pub(super) fn run(
        &self,
        requests: &Requests,
        each: &mut dyn FnMut(u64, &Decision) -> Result<(), Mistake>,
    ) -> Result<(Tally, Aftermath), Mistake> {
        let rules = self.limiter.rules();
        let mut tally = Tally::new(&rules);
        let bar = progress::bar("deciding", u64::try_from(requests.len()).ok(), progress::REQUESTS);
        for (done, request) in requests.iter().enumerate() {
            if done % STEP == 0 {
                bar.set_position(u64::try_from(done).unwrap_or(u64::MAX));
            }
            self.clock.set_us(request.at_us);
            let decision = self.limiter.check(&request);
            tally.add(&rules, requests, &request, &decision);
            each(request.line, &decision)?;
        }
        bar.finish_and_clear();
        let evictions = self.store.evictions();
        let evicted = evictions.idle + evictions.exceeded + evictions.members;
        Ok((tally, Aftermath { evicted, failures: self.failures.counted() }))
    }
}
