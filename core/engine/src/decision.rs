//! Decisions: what a check answers.

use crate::cost::Cost;
use crate::numbers;
use crate::reading::{self, Info, Outcome, Reading};
use crate::rule::Rule;
use crate::rule_spec::Action;
use crate::rules::Rules;
use crate::step::CountStep;
use smallvec::SmallVec;
use std::cmp::Ordering;

/// Whether the request may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It may.
    Allow,
    /// It may not.
    Block,
}

impl Verdict {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Allow, Self::Block];

    /// As results and metrics spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Block => "block",
        }
    }
}

/// What came of one counting rule.
#[derive(Clone, Copy, Debug)]
pub struct Evaluation<'l> {
    rule: &'l Rule,
    place: u32,
    outcome: Outcome,
    info: Info,
}

impl<'l> Evaluation<'l> {
    pub(crate) fn new(rules: &'l Rules, step: &CountStep, reading: &Reading, cost: Cost, now_us: u64) -> Self {
        let (outcome, info) = reading::evaluate(step, reading, cost, now_us);
        Self { rule: rules.rule(step.rule), place: step.rule, outcome, info }
    }

    /// The rule.
    pub const fn rule(&self) -> &'l Rule {
        self.rule
    }

    /// The rule's place in its limiter.
    pub fn place(&self) -> usize {
        numbers::offset(self.place)
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
        self.is_exceeded() && self.rule.action() == Action::Limit
    }

    /// Its numbers.
    pub const fn info(&self) -> &Info {
        &self.info
    }

    /// `Less` is more constraining: a block, then over, then the smaller remaining. Equal rank is no
    /// identity; ties keep rule order.
    pub fn constrains(&self, other: &Self) -> Ordering {
        let key = |e: &Self| (!e.blocks(), !e.is_exceeded());
        key(self).cmp(&key(other)).then(self.info.remaining.total_cmp(&other.info.remaining))
    }
}

/// The wait that a block reports where several rules block.
#[derive(Clone, Copy, Debug)]
enum LongestWait {
    /// One rule blocks, or none: its own.
    Own,
    /// The longest of theirs, in µs; absent if one of them has none.
    OfAll(Option<u64>),
}

/// What a check or a peek answers. Borrows the limiter's rules.
#[derive(Clone, Debug)]
pub struct Decision<'l> {
    evaluated: SmallVec<[Evaluation<'l>; 4]>,
    skip: Option<&'l Rule>,
    verdict: Verdict,
    failed: bool,
    degraded: bool,
    wait: LongestWait,
}

impl<'l> Decision<'l> {
    pub(crate) fn of(evaluated: SmallVec<[Evaluation<'l>; 4]>, skip: Option<&'l Rule>, degraded: bool) -> Self {
        let mut blocks = evaluated.iter().filter(|e| e.blocks());
        let verdict = if blocks.next().is_some() { Verdict::Block } else { Verdict::Allow };
        let wait = if blocks.next().is_none() {
            LongestWait::Own
        } else {
            let waits = evaluated.iter().filter(|e| e.blocks()).map(|e| e.info.retry_after_us);
            LongestWait::OfAll(waits.reduce(|a, b| Some(a?.max(b?))).flatten())
        };
        Self { evaluated, skip, verdict, failed: false, degraded, wait }
    }

    pub(crate) fn failed(evaluated: SmallVec<[Evaluation<'l>; 4]>, verdict: Verdict) -> Self {
        Self { evaluated, skip: None, verdict, failed: true, degraded: false, wait: LongestWait::Own }
    }

    /// The same verdict, found without the whole truth.
    #[must_use]
    pub const fn degraded(mut self) -> Self {
        self.degraded = true;
        self
    }

    /// Whether the request may go on.
    pub const fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// It may.
    pub fn is_allowed(&self) -> bool {
        self.verdict == Verdict::Allow
    }

    /// It may not.
    pub fn is_blocked(&self) -> bool {
        self.verdict == Verdict::Block
    }

    /// Some rule matched.
    pub fn is_matched(&self) -> bool {
        !self.failed && (self.skip.is_some() || !self.evaluated.is_empty())
    }

    /// The reported rule is over.
    pub fn is_exceeded(&self) -> bool {
        self.reported().is_some_and(Evaluation::is_exceeded)
    }

    /// A skip rule ended the chain.
    pub fn is_skipped(&self) -> bool {
        !self.failed && self.skip.is_some()
    }

    /// A warn rule is over.
    pub fn is_warned(&self) -> bool {
        self.evaluations().iter().any(|e| e.rule.action() == Action::Warn && e.is_exceeded())
    }

    /// There is no verdict; the action is what `on_error` says.
    pub const fn is_error(&self) -> bool {
        self.failed
    }

    /// There is a verdict, but not the whole one.
    pub const fn is_degraded(&self) -> bool {
        self.degraded
    }

    /// The reported rule: the first block, else a skip that ended the chain, else the rule of the
    /// most constraining evaluation.
    pub fn rule(&self) -> Option<&'l Rule> {
        self.reported().map(Evaluation::rule).or(if self.failed { None } else { self.skip })
    }

    /// The numbers of the reported rule; absent where a skip is reported, on no match and on failure.
    /// Where several rules block, its `retry_after` is the longest of theirs.
    pub fn info(&self) -> Option<Info> {
        self.reported().map(|e| self.info_of(e))
    }

    pub(crate) fn info_of(&self, evaluation: &Evaluation<'l>) -> Info {
        let mut info = evaluation.info;
        if let (LongestWait::OfAll(wait), true) = (self.wait, evaluation.blocks()) {
            info.retry_after_us = wait;
        }
        info
    }

    fn reported(&self) -> Option<&Evaluation<'l>> {
        let evaluations = self.evaluations();
        if self.is_blocked() {
            return evaluations.iter().find(|e| e.blocks());
        }
        if self.skip.is_some() { None } else { self.most_constraining() }
    }

    /// The most constraining evaluation; set even where a skip is reported.
    pub fn most_constraining(&self) -> Option<&Evaluation<'l>> {
        // `min_by` keeps the first of equals: ties keep rule order.
        self.evaluations().iter().min_by(|a, b| a.constrains(b))
    }

    /// Every evaluated counting rule, in order; none on failure.
    pub fn evaluations(&self) -> &[Evaluation<'l>] {
        if self.failed { &[] } else { &self.evaluated }
    }

    /// Every rule that was evaluated, also before a failure, for metrics.
    pub fn counted(&self) -> &[Evaluation<'l>] {
        &self.evaluated
    }

    /// The skip rule that ended the chain.
    pub const fn skipped_by(&self) -> Option<&'l Rule> {
        self.skip
    }
}

/// The decision of a chain in the making: readings go in, in chain order.
#[derive(Debug)]
pub struct Tally<'l> {
    rules: &'l Rules,
    cost: Cost,
    now_us: u64,
    evaluated: SmallVec<[Evaluation<'l>; 4]>,
    degraded: bool,
}

impl<'l> Tally<'l> {
    /// Nothing yet. `cost` is what the call is judged by (a peek: 1), `now_us` the host's clock.
    pub fn new(rules: &'l Rules, cost: Cost, now_us: u64) -> Self {
        Self { rules, cost, now_us, evaluated: SmallVec::new(), degraded: false }
    }

    /// Takes a step's reading; gives whether the chain stops there.
    pub fn count(&mut self, step: &CountStep, reading: &Reading) -> bool {
        let evaluation = Evaluation::new(self.rules, step, reading, self.cost, self.now_us);
        let over = evaluation.is_exceeded();
        self.evaluated.push(evaluation);
        step.stop.at(over)
    }

    /// A distinct rule was passed over for want of its property.
    pub const fn missing_distinct(&mut self) {
        self.degraded = true;
    }

    /// The chain stopped at a step, or came to its end without one.
    pub fn stopped(self) -> Decision<'l> {
        Decision::of(self.evaluated, None, self.degraded)
    }

    /// The chain ended at the skip rule whose place this is.
    pub fn skipped(self, rule: u32) -> Decision<'l> {
        Decision::of(self.evaluated, Some(self.rules.rule(rule)), self.degraded)
    }

    /// The chain failed. A block decided before stands; else `verdict` is what `on_error` says.
    pub fn failed(self, verdict: Verdict) -> Decision<'l> {
        if self.evaluated.iter().any(Evaluation::blocks) {
            return Decision::of(self.evaluated, None, true);
        }
        Decision::failed(self.evaluated, verdict)
    }
}
