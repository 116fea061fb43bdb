//! Totals: what generations of rules counted together, by the names of their rules.

use crate::generation::Generation;
use crate::metrics::{CALLS, RESULTS, SKIP, check_series, peek_series, result_of};
use crate::sample::{Sample, SampleKind};
use labkit_ratelimit_engine::{Action, Outcome, Rule, Verdict};
use std::collections::BTreeMap;

/// The results of one rule name, for each action that it ever had.
type Results = [[u64; RESULTS]; Action::ALL.len()];

/// Sums of counters. It grows with the names that were ever in force, as its series do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    calls: [u64; CALLS],
    rules: BTreeMap<Box<str>, Results>,
}

fn place(action: Action) -> usize {
    Action::ALL.iter().position(|other| *other == action).unwrap_or(0)
}

impl Totals {
    /// Adds what a generation counted so far.
    pub(crate) fn add(&mut self, generation: &Generation) {
        let add = |sum: &mut [u64], more: &[u64]| sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        add(&mut self.calls, &generation.metrics.calls());
        for (at, rule) in generation.rules.iter().enumerate() {
            let counted = generation.metrics.results(at);
            if counted.iter().all(|count| *count == 0) {
                continue;
            }
            let own = match self.rules.get_mut(rule.name()) {
                Some(known) => known,
                None => self.rules.entry(rule.name().into()).or_default(),
            };
            add(&mut own[place(rule.action())], &counted);
        }
    }

    /// Every series that was written so far: the rules in force in their order, then those of the past by name. Gauges
    /// are of rules in force only.
    pub(crate) fn samples(mut self, current: &Generation) -> Vec<Sample> {
        let limiter = current.rules.limiter();
        let mut samples = Vec::new();
        self.calls_into(limiter, &mut samples);
        for (at, rule) in current.rules.iter().enumerate() {
            if let Some(results) = self.rules.remove(rule.name()) {
                results_into(limiter, rule.name(), &results, &mut samples);
            }
            gauges_into(limiter, rule, current.metrics.gauges(at), &mut samples);
        }
        for (rule, results) in &self.rules {
            results_into(limiter, rule, results, &mut samples);
        }
        samples.retain(|sample| sample.kind == SampleKind::Gauge || sample.value > 0);
        samples
    }

    fn calls_into(&self, limiter: &str, samples: &mut Vec<Sample>) {
        let limiter = || ("rate_limiter", limiter.to_owned());
        let flag = |on: bool| if on { "true" } else { "false" }.to_owned();
        for verdict in Verdict::ALL {
            for (matched, error) in [(false, false), (false, true), (true, false), (true, true)] {
                let labels = vec![
                    ("action", verdict.as_str().to_owned()),
                    ("error", flag(error)),
                    ("matched", flag(matched)),
                    limiter(),
                ];
                let count = self.calls[check_series(verdict, matched, error)];
                samples.push(Sample::counter("checks_total", labels, count));
            }
        }
        for error in [false, true] {
            let labels = vec![("error", flag(error)), limiter()];
            samples.push(Sample::counter("peeks_total", labels, self.calls[peek_series(error)]));
        }
    }
}

fn results_into(limiter: &str, rule: &str, results: &Results, samples: &mut Vec<Sample>) {
    for (action, counted) in Action::ALL.iter().zip(results) {
        let spelled = Outcome::ALL.map(|outcome| (result_of(outcome), outcome.as_str()));
        for (result, text) in spelled.into_iter().chain([(SKIP, Action::Skip.as_str())]) {
            let labels = vec![
                ("action", action.as_str().to_owned()),
                ("rate_limiter", limiter.to_owned()),
                ("result", text.to_owned()),
                ("rule", rule.to_owned()),
            ];
            samples.push(Sample::counter("rule_evaluations_total", labels, counted[result]));
        }
    }
}

fn gauges_into(limiter: &str, rule: &Rule, gauges: Option<(u64, u64)>, samples: &mut Vec<Sample>) {
    let Some((limit, period_s)) = gauges else { return };
    for (metric, value) in [("limit", limit), ("period_seconds", period_s)] {
        let labels = vec![("rate_limiter", limiter.to_owned()), ("rule", rule.name().to_owned())];
        samples.push(Sample { kind: SampleKind::Gauge, ..Sample::counter(metric, labels, value) });
    }
}
