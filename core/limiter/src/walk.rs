//! Walks along the chain of a check: what its store read, turned into a decision.

use crate::generation::{Decision, RulesRef, undecided};
use crate::held::Held;
use crate::limiter::Limiter;
use labkit_ratelimit_engine::{
    Cost, CountStep, End, Failure, FailureKind, Mode, Reading, Rules, Selection, Step, Tally,
};

/// A walk along a chain.
pub(crate) struct Walk<'a> {
    pub(crate) selection: &'a Selection,
    pub(crate) cost: Cost,
    pub(crate) mode: Mode,
    pub(crate) names: &'a dyn Fn() -> Vec<String>,
    pub(crate) now_us: u64,
    /// Counted in the store's place.
    pub(crate) locally: bool,
}

impl Limiter {
    /// Walks along the chain of `rules`; [`conclude`] ends the decision. `read` gives the reading of a counting step,
    /// the n-th of them, or the failure that ends the chain there.
    pub(crate) fn walk(
        &self,
        rules: &Rules,
        walk: &Walk<'_>,
        decision: &mut Decision,
        mut read: impl FnMut(usize, &CountStep) -> Result<Reading, Failure>,
    ) {
        let mut tally = Tally::new(Rules::judged_cost(walk.mode, walk.cost), walk.now_us, decision);
        let mut counted = 0;
        for step in &walk.selection.steps {
            match step {
                Step::MissingDistinct { rule } => {
                    tally.missing_distinct();
                    self.warn_missing_distinct(rules.rule(*rule), walk.names);
                }
                Step::Count(_) | Step::Fixed { .. } => {
                    let Some(step) = counting_step(rules, step) else { continue };
                    match read(counted, step) {
                        Ok(reading) if tally.count(step, &reading) => return,
                        Ok(_) => {}
                        Err(failure) => return self.fail(rules, tally, &failure, walk),
                    }
                    counted += 1;
                }
            }
        }
        match &walk.selection.end {
            End::Open => {}
            End::Skip(rule) => tally.skipped(*rule),
            End::Failed(failure) => self.fail(rules, tally, failure, walk),
        }
    }

    fn fail(&self, rules: &Rules, tally: Tally<'_, RulesRef>, failure: &Failure, walk: &Walk<'_>) {
        self.warn_failure(failure, failure.rule.map(|rule| rules.rule(rule)), walk.names);
        tally.failed(failure.clone(), self.on_error.verdict());
    }

    /// The decision of a call that failed before any rule was looked at.
    pub(crate) fn decide_failed(&self, failure: Failure, mode: Mode, names: &dyn Fn() -> Vec<String>) -> Decision {
        let mut decision = undecided();
        self.fail_before(self.generations.load(), failure, mode, names, &mut decision);
        decision
    }

    /// No rule was looked at.
    pub(crate) fn fail_before(
        &self,
        held: Held,
        failure: Failure,
        mode: Mode,
        names: &dyn Fn() -> Vec<String>,
        decision: &mut Decision,
    ) {
        let selection = Selection { end: End::Failed(failure), ..Selection::default() };
        let now_us = self.clock.now_us();
        let walk = Walk { selection: &selection, cost: Cost::ONE, mode, names, now_us, locally: false };
        self.walk(&held.rules, &walk, decision, |_, _| Err(Failure::new(FailureKind::Internal, "Internal", "no step")));
        conclude(held, &walk, decision);
    }
}

/// Gives the decision its rules, and counts it.
pub(crate) fn conclude(held: Held, walk: &Walk<'_>, decision: &mut Decision) {
    decision.set_rules(held.into());
    if walk.locally && !decision.is_error() {
        decision.degrade();
    }
    let metrics = &decision.rules_by().generation().metrics;
    match walk.mode {
        Mode::Check => metrics.checked(decision),
        Mode::Peek => metrics.peeked(decision),
    }
}

pub(crate) fn counting_step<'s>(rules: &'s Rules, step: &'s Step) -> Option<&'s CountStep> {
    match step {
        Step::Count(step) => Some(step),
        Step::Fixed { rule } => rules.fixed(*rule),
        Step::MissingDistinct { .. } => None,
    }
}
