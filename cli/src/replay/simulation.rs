//! The simulation: one limiter, a memory store and a clock that stands at each request's time.

use super::failures::{Failure, Failures};
use super::requests::{Request, Requests};
use super::tally::Tally;
use crate::chosen_limiter::Chain;
use crate::mistake::Mistake;
use labkit_ratelimit::{Decision, Limiter, ManualClock, MemoryStore, RulesRef};
use std::sync::Arc;

/// A limiter in a world of its own.
#[derive(Debug)]
pub(super) struct Simulation {
    limiter: Limiter,
    store: Arc<MemoryStore>,
    clock: Arc<ManualClock>,
    failures: Arc<Failures>,
}

/// A simulation on its way through the requests.
#[derive(Debug)]
pub(super) struct Running<'s> {
    simulation: &'s Simulation,
    requests: &'s Requests,
    /// The places of the rules' properties among those that are held: all of them are.
    slots: Vec<usize>,
    tally: Tally,
}

/// What came of it beside the tally.
#[derive(Debug)]
pub(super) struct Aftermath {
    /// Live counters and bans that were removed to make room: none, for the store is without bound.
    pub(super) evicted: u64,
    pub(super) failures: Vec<Failure>,
}

impl Simulation {
    pub(super) fn new(chain: &Chain) -> Result<Self, Mistake> {
        // It grows with what is live in it, whatever its bound.
        let store = Arc::new(MemoryStore::with_max_keys(usize::MAX));
        let clock = Arc::new(ManualClock::default());
        let failures = Arc::new(Failures::default());
        let limiter = Limiter::builder(&chain.name)
            .rules(chain.rules.iter().cloned())
            .evaluation(chain.evaluation)
            .memory(Arc::clone(&store))
            .clock(Arc::clone(&clock))
            .logger(Arc::clone(&failures))
            .build()
            .map_err(|error| Mistake::Misuse(error.to_string()))?;
        Ok(Self { limiter, store, clock, failures })
    }

    pub(super) fn rules(&self) -> RulesRef {
        self.limiter.rules()
    }

    /// The properties that the rules mention.
    pub(super) fn properties(&self) -> Vec<String> {
        self.limiter.rules().properties().map(str::to_owned).collect()
    }

    /// Makes it ready for these requests.
    pub(super) fn start<'s>(&'s self, requests: &'s Requests) -> Running<'s> {
        let rules = self.limiter.rules();
        let slots = rules.properties().filter_map(|name| requests.slot(name)).collect();
        Running { simulation: self, requests, slots, tally: Tally::new(&rules, requests) }
    }
}

impl Running<'_> {
    /// Decides the next request; they come in order of time.
    pub(super) fn decide(&mut self, request: Request<'_>) -> Decision {
        let limiter = &self.simulation.limiter;
        self.simulation.clock.set_us(request.at_us);
        let decision = limiter.check(&request.seen(&self.slots));
        self.tally.add(&limiter.rules(), self.requests, &request, &decision);
        decision
    }

    /// What came of all of them.
    pub(super) fn finish(self) -> (Tally, Aftermath) {
        let evictions = self.simulation.store.evictions();
        let evicted = evictions.idle + evictions.exceeded + evictions.members;
        (self.tally, Aftermath { evicted, failures: self.simulation.failures.counted() })
    }
}
