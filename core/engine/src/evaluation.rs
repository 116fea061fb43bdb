//! Evaluations: what came of each rule of a decision.

use crate::numbers;
use crate::reading::{Found, Info, Outcome};
use crate::rule::Rule;
use crate::rule_spec::Action;
use crate::rules::Rules;
use crate::step::CountStep;
use std::cmp::Ordering;
use std::ops::Deref;

/// What came of one counting rule, which it knows by place.
#[derive(Clone, Copy, Debug)]
pub struct Evaluated {
    place: u32,
    action: Action,
    outcome: Outcome,
    found: Found,
}

impl Evaluated {
    pub(crate) const fn new(step: &CountStep, outcome: Outcome, found: Found) -> Self {
        Self { place: step.rule, action: step.action, outcome, found }
    }

    pub(crate) fn rule<'r>(&self, rules: &'r Rules) -> &'r Rule {
        rules.rule(self.place)
    }

    /// The rule's place in its limiter.
    pub const fn place(&self) -> usize {
        numbers::offset(self.place)
    }

    /// What the rule does.
    pub const fn action(&self) -> Action {
        self.action
    }

    /// What came of it.
    pub const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// It is over, or its ban is in force.
    pub fn is_exceeded(&self) -> bool {
        self.outcome != Outcome::Allow
    }

    /// It is over and refuses.
    pub fn blocks(&self) -> bool {
        self.is_exceeded() && self.action == Action::Limit
    }

    /// Its numbers, worked out now.
    pub fn info(&self) -> Info {
        self.found.info()
    }

    /// The limit in force.
    pub const fn limit(&self) -> u64 {
        self.found.limit()
    }

    /// The period in force, in seconds.
    pub const fn period_s(&self) -> u32 {
        self.found.period_s()
    }

    /// `Less` is more constraining: a block, then over, then the smaller remaining. Equal rank is no
    /// identity; ties keep rule order.
    pub fn constrains(&self, other: &Self) -> Ordering {
        let key = |e: &Self| (!e.blocks(), !e.is_exceeded());
        key(self).cmp(&key(other)).then_with(|| self.found.remaining().total_cmp(&other.found.remaining()))
    }
}

/// What came of one counting rule, and that rule.
#[derive(Clone, Copy, Debug)]
pub struct Evaluation<'d> {
    rules: &'d Rules,
    evaluated: &'d Evaluated,
}

impl<'d> Evaluation<'d> {
    pub(crate) const fn new(rules: &'d Rules, evaluated: &'d Evaluated) -> Self {
        Self { rules, evaluated }
    }

    /// The rule.
    pub fn rule(&self) -> &'d Rule {
        self.evaluated.rule(self.rules)
    }
}

impl Deref for Evaluation<'_> {
    type Target = Evaluated;

    fn deref(&self) -> &Evaluated {
        self.evaluated
    }
}

/// The evaluations of one decision, in chain order.
#[derive(Clone, Copy, Debug)]
pub struct Evaluations<'d> {
    rules: &'d Rules,
    evaluated: &'d [Evaluated],
}

impl<'d> Evaluations<'d> {
    pub(crate) const fn new(rules: &'d Rules, evaluated: &'d [Evaluated]) -> Self {
        Self { rules, evaluated }
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.evaluated.len()
    }

    /// There is none.
    pub const fn is_empty(&self) -> bool {
        self.evaluated.is_empty()
    }

    /// The one at `at`, counted among evaluations, not among rules.
    pub fn get(&self, at: usize) -> Option<Evaluation<'d>> {
        self.evaluated.get(at).map(|evaluated| Evaluation::new(self.rules, evaluated))
    }

    /// Each of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Evaluation<'d>> + use<'d> {
        let rules = self.rules;
        self.evaluated.iter().map(move |evaluated| Evaluation::new(rules, evaluated))
    }
}
