//! Counters and gauges that a host reads (semantics section 11).

use crate::stripe::Stripe;
use crossbeam_utils::CachePadded;
use labkit_ratelimit_engine::{Action, Decision, Outcome, RuleEvaluation, Rules, Verdict};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Counters of a cache line pair.
const BLOCK: usize = 16;

const CHECKS: usize = 8;
const PEEKS: usize = 2;
/// A rule's results: the outcomes, and `skip`.
const RESULTS: usize = Outcome::ALL.len() + 1;

/// The numbers of a rule when it was last evaluated.
#[derive(Debug, Default)]
struct Gauges {
    limit: AtomicU64,
    period_s: AtomicU64,
    is_set: AtomicBool,
}

/// The counters of one limiter.
#[derive(Debug)]
pub(crate) struct Metrics {
    // Stripe after stripe, each of as many blocks.
    counters: Box<[CachePadded<[AtomicU64; BLOCK]>]>,
    blocks: usize,
    gauges: Box<[Gauges]>,
}

fn check_series(verdict: Verdict, matched: bool, error: bool) -> usize {
    usize::from(verdict == Verdict::Block) * 4 + usize::from(matched) * 2 + usize::from(error)
}

fn rule_series(rule: usize, result: usize) -> usize {
    CHECKS + PEEKS + rule * RESULTS + result
}

const fn result_of(outcome: Outcome) -> usize {
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
    pub(crate) fn checked(&self, decision: &Decision<'_>) {
        let stripe = Stripe::own();
        for evaluation in decision.counted() {
            self.add(stripe, rule_series(evaluation.place(), result_of(evaluation.outcome())));
            self.set_gauges(evaluation);
        }
        if let Some(rule) = decision.skipped_at() {
            self.add(stripe, rule_series(rule, RESULTS - 1));
        }
        let error = decision.is_error() || decision.is_degraded();
        self.add(stripe, check_series(decision.verdict(), decision.is_matched(), error));
    }

    /// A peek ended.
    pub(crate) fn peeked(&self, decision: &Decision<'_>) {
        self.add(Stripe::own(), CHECKS + usize::from(decision.is_error() || decision.is_degraded()));
    }

    fn set_gauges(&self, evaluation: &RuleEvaluation<'_>) {
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

    /// Every series that was written so far.
    pub(crate) fn samples(&self, rules: &Rules) -> Vec<Sample> {
        let limiter = || ("rate_limiter", rules.limiter().to_owned());
        let flag = |on: bool| if on { "true" } else { "false" }.to_owned();
        let mut samples = Vec::new();
        for verdict in Verdict::ALL {
            for (matched, error) in [(false, false), (false, true), (true, false), (true, true)] {
                let labels = vec![
                    ("action", verdict.as_str().to_owned()),
                    ("error", flag(error)),
                    ("matched", flag(matched)),
                    limiter(),
                ];
                samples.push(Sample::counter("checks_total", labels, self.get(check_series(verdict, matched, error))));
            }
        }
        for error in [false, true] {
            let labels = vec![("error", flag(error)), limiter()];
            samples.push(Sample::counter("peeks_total", labels, self.get(CHECKS + usize::from(error))));
        }
        for (place, rule) in rules.iter().enumerate() {
            let name = || ("rule", rule.name().to_owned());
            let results = Outcome::ALL.map(|outcome| (result_of(outcome), outcome.as_str()));
            for (result, text) in results.into_iter().chain([(RESULTS - 1, Action::Skip.as_str())]) {
                let labels =
                    vec![("action", rule.action().as_str().to_owned()), limiter(), ("result", text.to_owned()), name()];
                samples.push(Sample::counter("rule_evaluations_total", labels, self.get(rule_series(place, result))));
            }
            let gauges = &self.gauges[place];
            if gauges.is_set.load(Relaxed) {
                for (gauge, metric) in [(&gauges.limit, "limit"), (&gauges.period_s, "period_seconds")] {
                    let sample = Sample::counter(metric, vec![limiter(), name()], gauge.load(Relaxed));
                    samples.push(Sample { kind: SampleKind::Gauge, ..sample });
                }
            }
        }
        samples.retain(|sample| sample.kind == SampleKind::Gauge || sample.value > 0);
        samples
    }
}

/// The type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SampleKind {
    /// Only grows.
    Counter,
    /// The last value; across processes the largest.
    Gauge,
}

/// One series and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The metric's full name.
    pub name: String,
    /// Its type.
    pub kind: SampleKind,
    /// Label names and values, sorted by name.
    pub labels: Vec<(&'static str, String)>,
    /// The value.
    pub value: u64,
}

impl Sample {
    fn counter(metric: &str, labels: Vec<(&'static str, String)>, value: u64) -> Self {
        Self { name: format!("gitlab_labkit_rate_limiter_{metric}"), kind: SampleKind::Counter, labels, value }
    }

    /// The series as Prometheus' text format writes it, without its value.
    pub fn series(&self) -> String {
        let escape = |text: &str| text.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
        let labels: Vec<String> =
            self.labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escape(value))).collect();
        format!("{}{{{}}}", self.name, labels.join(","))
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.series(), self.value)
    }
}
