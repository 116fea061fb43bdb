//! Decisions: what a check answers.

use crate::cost::Cost;
use crate::evaluation::{Evaluated, Evaluation, Evaluations};
use crate::failure::Failure;
use crate::numbers;
use crate::reading::{self, Found, Info, Outcome, Reading};
use crate::rule::Rule;
use crate::rule_spec::Action;
use crate::rules::Rules;
use crate::step::CountStep;
use smallvec::SmallVec;
use std::ops::Deref;

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

/// What a check or a peek answers. It has its rules by `R`, a reference or an owner of them, and knows each by its
/// place among them.
#[derive(Clone, Debug)]
pub struct Decision<R> {
    rules: R,
    evaluated: SmallVec<[Evaluated; 4]>,
    // The place of the skip rule that ended the chain.
    skip: Option<u32>,
    verdict: Verdict,
    failed: bool,
    degraded: bool,
    // Boxed: few have one, and every decision is moved about.
    failure: Option<Box<Failure>>,
    // Several rules block: the longest of their waits, in µs; absent if one of them has none.
    longest_wait_us: Option<u64>,
    blocks: u32,
}

impl<R> Decision<R> {
    /// Before anything was looked at: allowed, unmatched. A [`Tally`] fills it in.
    pub fn undecided(rules: R) -> Self {
        Self {
            rules,
            evaluated: SmallVec::new(),
            skip: None,
            verdict: Verdict::Allow,
            failed: false,
            degraded: false,
            failure: None,
            longest_wait_us: None,
            blocks: 0,
        }
    }

    /// Puts in the rules that it was decided with, where they were not at hand before.
    pub fn set_rules(&mut self, rules: R) {
        self.rules = rules;
    }

    /// What it has its rules by.
    pub const fn rules_by(&self) -> &R {
        &self.rules
    }

    /// Marks it as found without the whole truth.
    pub const fn degrade(&mut self) {
        self.degraded = true;
    }

    /// Keeps what went wrong on the way to it, whether it is an error of it or not.
    pub fn set_failure(&mut self, failure: Failure) {
        self.failure = Some(Box::new(failure));
    }

    /// What went wrong: why there is no verdict, or not the whole one.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_deref()
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
        self.reported().is_some_and(Evaluated::is_exceeded)
    }

    /// A skip rule ended the chain.
    pub fn is_skipped(&self) -> bool {
        !self.failed && self.skip.is_some()
    }

    /// A warn rule is over.
    pub fn is_warned(&self) -> bool {
        self.evaluated().iter().any(|e| e.action() == Action::Warn && e.is_exceeded())
    }

    /// There is no verdict; the action is what `on_error` says.
    pub const fn is_error(&self) -> bool {
        self.failed
    }

    /// There is a verdict, but not the whole one.
    pub const fn is_degraded(&self) -> bool {
        self.degraded
    }

    /// The numbers of the reported rule; absent where a skip is reported, on no match and on failure.
    /// Where several rules block, its `retry_after` is the longest of theirs.
    pub fn info(&self) -> Option<Info> {
        self.reported().map(|e| self.info_of(e))
    }

    pub(crate) fn info_of(&self, evaluated: &Evaluated) -> Info {
        let mut info = evaluated.info();
        if self.blocks > 1 && evaluated.blocks() {
            info.retry_after_us = self.longest_wait_us;
        }
        info
    }

    fn reported(&self) -> Option<&Evaluated> {
        if self.is_blocked() {
            return self.evaluated().iter().find(|e| e.blocks());
        }
        if self.skip.is_some() { None } else { self.tightest() }
    }

    fn tightest(&self) -> Option<&Evaluated> {
        // `min_by` keeps the first of equals: ties keep rule order.
        self.evaluated().iter().min_by(|a, b| a.constrains(b))
    }

    fn evaluated(&self) -> &[Evaluated] {
        if self.failed { &[] } else { &self.evaluated }
    }

    /// Every rule that was evaluated, also before a failure, for metrics.
    pub fn counted(&self) -> &[Evaluated] {
        &self.evaluated
    }

    /// The place of the skip rule that ended the chain.
    pub fn skipped_at(&self) -> Option<usize> {
        self.skip.map(numbers::offset)
    }
}

impl<R: Deref<Target = Rules>> Decision<R> {
    /// The rules that it was decided with.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The reported rule: the first block, else a skip that ended the chain, else the rule of the
    /// most constraining evaluation.
    pub fn rule(&self) -> Option<&Rule> {
        let reported = self.reported().map(|e| e.rule(&self.rules));
        reported.or(if self.failed { None } else { self.skipped_by() })
    }

    /// The most constraining evaluation; set even where a skip is reported.
    pub fn most_constraining(&self) -> Option<Evaluation<'_>> {
        self.tightest().map(|evaluated| Evaluation::new(&self.rules, evaluated))
    }

    /// Every evaluated counting rule, in order; none on failure.
    pub fn evaluations(&self) -> Evaluations<'_> {
        Evaluations::new(&self.rules, self.evaluated())
    }

    /// The skip rule that ended the chain.
    pub fn skipped_by(&self) -> Option<&Rule> {
        self.skip.map(|place| self.rules.rule(place))
    }
}

/// The decision of a chain in the making: readings go in, in chain order.
#[derive(Debug)]
pub struct Tally<'d, R> {
    cost: Cost,
    now_us: u64,
    decision: &'d mut Decision<R>,
}

impl<'d, R> Tally<'d, R> {
    /// Fills in `decision`, which is undecided yet. `cost` is what the call is judged by (a peek: 1),
    /// `now_us` the host's clock.
    pub const fn new(cost: Cost, now_us: u64, decision: &'d mut Decision<R>) -> Self {
        Self { cost, now_us, decision }
    }

    /// Takes a step's reading; gives whether the chain stops there.
    pub fn count(&mut self, step: &CountStep, reading: &Reading) -> bool {
        let outcome = reading::outcome(step, reading);
        let found = Found::new(step, reading, self.cost, self.now_us);
        let evaluated = Evaluated::new(step, outcome, found);
        if evaluated.blocks() {
            let own = found.retry_after_us;
            let longest = self.decision.longest_wait_us;
            self.decision.longest_wait_us =
                if self.decision.blocks == 0 { own } else { own.zip(longest).map(|(a, b)| a.max(b)) };
            self.decision.blocks += 1;
            self.decision.verdict = Verdict::Block;
        }
        self.decision.evaluated.push(evaluated);
        step.stop.at(outcome != Outcome::Allow)
    }

    /// A distinct rule was passed over for want of its property.
    pub const fn missing_distinct(&mut self) {
        self.decision.degraded = true;
    }

    /// The chain ended at the skip rule whose place this is.
    pub const fn skipped(self, rule: u32) {
        self.decision.skip = Some(rule);
    }

    /// The chain failed. A block decided before it stands; else `verdict` is what `on_error` says.
    pub fn failed(self, failure: Failure, verdict: Verdict) {
        self.decision.set_failure(failure);
        if self.decision.blocks > 0 {
            self.decision.degraded = true;
        } else {
            self.decision.verdict = verdict;
            self.decision.failed = true;
            self.decision.degraded = false;
        }
    }
}
