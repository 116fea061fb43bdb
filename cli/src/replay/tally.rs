//! What came of the requests: in all, under each rule, and minute by minute.

use super::identities::{Identities, Key, Span};
use super::minutes::Minutes;
use super::requests::{Request, Requests};
use labkit_ratelimit::{Action, Decision, Rules};
use serde::Serialize;

/// Counts of requests.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Totals {
    pub(crate) requests: u64,
    /// Some rule matched.
    pub(crate) matched: u64,
    pub(crate) allowed: u64,
    pub(crate) refused: u64,
    /// Some `warn` rule was over.
    pub(crate) warned: u64,
    /// Some `log` rule was over.
    pub(crate) logged: u64,
    /// A skip rule ended the chain.
    pub(crate) skipped: u64,
    /// Bans that started, of whichever action.
    pub(crate) bans: u64,
    /// There was no verdict.
    pub(crate) errors: u64,
    /// There was a verdict, but not the whole one.
    pub(crate) degraded: u64,
}

/// What came of one rule.
#[derive(Debug)]
pub(crate) struct RuleTally {
    /// The places of its characteristics among the properties that are held.
    slots: Vec<usize>,
    pub(crate) matched: u64,
    /// Matched and over.
    pub(crate) over: u64,
    pub(crate) bans: u64,
    pub(crate) span: Span,
    pub(crate) identities: Identities,
}

/// Everything that is counted.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) totals: Totals,
    /// In rule order.
    pub(crate) rules: Vec<RuleTally>,
    pub(crate) minutes: Minutes,
}

impl Totals {
    /// No rule matched.
    pub(crate) const fn unmatched(&self) -> u64 {
        self.requests - self.matched - self.errors
    }
}

impl Tally {
    pub(super) fn new(rules: &Rules, requests: &Requests) -> Self {
        let rule = |rule: &labkit_ratelimit::Rule| RuleTally {
            slots: rule.characteristics().filter_map(|name| requests.slot(name)).collect(),
            matched: 0,
            over: 0,
            bans: 0,
            span: Span::default(),
            identities: Identities::default(),
        };
        Self { totals: Totals::default(), rules: rules.iter().map(rule).collect(), minutes: Minutes::default() }
    }

    /// Takes a decision; they come in order of time.
    pub(super) fn add(&mut self, rules: &Rules, requests: &Requests, request: &Request<'_>, decision: &Decision) {
        let over = |action| decision.evaluations().iter().any(|e| e.is_exceeded() && e.rule().action() == action);
        let totals = &mut self.totals;
        totals.requests += 1;
        totals.matched += u64::from(decision.is_matched());
        totals.allowed += u64::from(decision.is_allowed());
        totals.refused += u64::from(decision.is_blocked());
        totals.warned += u64::from(over(Action::Warn));
        totals.logged += u64::from(over(Action::Log));
        totals.skipped += u64::from(decision.is_skipped());
        totals.errors += u64::from(decision.is_error());
        totals.degraded += u64::from(decision.is_degraded());
        self.minutes.add(request.at_us, decision.is_blocked());
        if let Some(skip) = decision.rule().filter(|rule| rule.action() == Action::Skip)
            && let Some(at) = rules.iter().position(|rule| rule.name() == skip.name())
        {
            self.rules[at].matched += 1;
        }
        for evaluation in decision.evaluations().iter() {
            let rule = &mut self.rules[evaluation.place()];
            let key: Key = rule.slots.iter().map(|slot| requests.values().counted_as(request.id(*slot))).collect();
            rule.matched += 1;
            if evaluation.is_exceeded() {
                rule.over += 1;
                rule.span.take(request.at_us);
            }
            if rule.identities.add(key, request.at_us, evaluation.is_exceeded(), &evaluation.info()) {
                rule.bans += 1;
                totals.bans += 1;
            }
        }
    }
}
