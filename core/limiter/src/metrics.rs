//! Counters and gauges of one generation of rules (semantics section 11).

use crate::generation::{Decision, Generation};
use crate::stripe::Stripe;
use crossbeam_utils::CachePadded;
use labkit_ratelimit_engine::{Action, Evaluated, Outcome, Rule, Rules, Verdict};
use std::array;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Counters of a cache line pair.
const BLOCK: usize = 16;

const CHECKS: usize = 8;
const PEEKS: usize = 2;
/// The series of calls: checks, then peeks.
pub(crate) const CALLS: usize = CHECKS + PEEKS;
/// A rule's results: the outcomes, and `skip`.
pub(crate) const RESULTS: usize = Outcome::ALL.len() + 1;
/// The place of `skip` among them.
pub(crate) const SKIP: usize = RESULTS - 1;

/// The numbers of a rule when it was last evaluated.
#[derive(Debug, Default)]
struct Gauges {
    limit: AtomicU64,
    period_s: AtomicU64,
    is_set: AtomicBool,
}

/// The counters of one generation.
#[derive(Debug)]
pub(crate) struct Metrics {
    // Stripe after stripe, each of as many blocks.
    counters: Box<[CachePadded<[AtomicU64; BLOCK]>]>,
    blocks: usize,
    gauges: Box<[Gauges]>,
}

pub(crate) fn check_series(verdict: Verdict, matched: bool, error: bool) -> usize {
    usize::from(verdict == Verdict::Block) * 4 + usize::from(matched) * 2 + usize::from(error)
}

pub(crate) fn peek_series(error: bool) -> usize {
    CHECKS + usize::from(error)
}

fn rule_series(rule: usize, result: usize) -> usize {
    CALLS + rule * RESULTS + result
}

pub(crate) const fn result_of(outcome: Outcome) -> usize {
    match outcome {
        Outcome::Allow => 0,
        Outcome::Block => 1,
        Outcome::Warn => 2,
        Outcome::Log => 3,
        Outcome::Banned => 4,
    }
}

impl Metrics {
    pub(crate) fn new(rules: usize) -> Self {
        let blocks = rule_series(rules, 0).div_ceil(BLOCK);
        Self {
            counters: (0..blocks * Stripe::COUNT).map(|_| CachePadded::default()).collect(),
            blocks,
            gauges: (0..rules).map(|_| Gauges::default()).collect(),
        }
    }

    fn add(&self, stripe: Stripe, series: usize) {
        let counter = &self.counters[stripe.index() * self.blocks + series / BLOCK][series % BLOCK];
        if stripe.is_shared() {
            counter.fetch_add(1, Relaxed);
        } else {
            // Nobody else writes it: no bus lock is needed.
            counter.store(counter.load(Relaxed).wrapping_add(1), Relaxed);
        }
    }

    fn get(&self, series: usize) -> u64 {
        self.counters
            .iter()
            .skip(series / BLOCK)
            .step_by(self.blocks)
            .map(|block| block[series % BLOCK].load(Relaxed))
            .sum()
    }

    /// A check ended.
    pub(crate) fn checked(&self, decision: &Decision) {
        let stripe = Stripe::own();
        for evaluation in decision.counted() {
            self.add(stripe, rule_series(evaluation.place(), result_of(evaluation.outcome())));
            self.set_gauges(evaluation);
        }
        if let Some(rule) = decision.skipped_at() {
            self.add(stripe, rule_series(rule, SKIP));
        }
        let error = decision.is_error() || decision.is_degraded();
        self.add(stripe, check_series(decision.verdict(), decision.is_matched(), error));
    }

    /// A peek ended.
    pub(crate) fn peeked(&self, decision: &Decision) {
        self.add(Stripe::own(), peek_series(decision.is_error() || decision.is_degraded()));
    }

    fn set_gauges(&self, evaluation: &Evaluated) {
        let gauges = &self.gauges[evaluation.place()];
        for (gauge, value) in
            [(&gauges.limit, evaluation.limit()), (&gauges.period_s, u64::from(evaluation.period_s()))]
        {
            // Written only where it changed: reading is free among threads, writing is not.
            if gauge.load(Relaxed) != value {
                gauge.store(value, Relaxed);
            }
        }
        if !gauges.is_set.load(Relaxed) {
            gauges.is_set.store(true, Relaxed);
        }
    }

    /// Checks and peeks, as [`CALLS`] of them are told apart.
    pub(crate) fn calls(&self) -> [u64; CALLS] {
        array::from_fn(|series| self.get(series))
    }

    /// The results of the rule at `place`.
    pub(crate) fn results(&self, place: usize) -> [u64; RESULTS] {
        array::from_fn(|result| self.get(rule_series(place, result)))
    }

    /// The limit and the period in seconds of the rule at `place` when it was last evaluated.
    pub(crate) fn gauges(&self, place: usize) -> Option<(u64, u64)> {
        let gauges = &self.gauges[place];
        gauges.is_set.load(Relaxed).then(|| (gauges.limit.load(Relaxed), gauges.period_s.load(Relaxed)))
    }

    /// Takes over the gauges of rules that are in force under the same name before and after.
    pub(crate) fn inherit(&mut self, rules: &Rules, from: &Generation) {
        let before: HashMap<&str, usize> = from.rules.iter().map(Rule::name).zip(0..).collect();
        for (rule, gauges) in rules.iter().zip(&mut self.gauges).filter(|(rule, _)| rule.action() != Action::Skip) {
            if let Some((limit, period_s)) = before.get(rule.name()).and_then(|place| from.metrics.gauges(*place)) {
                *gauges = Gauges { limit: limit.into(), period_s: period_s.into(), is_set: true.into() };
            }
        }
    }
}
