//! Decisions: what a check answers.

use crate::cost::Cost;
use crate::numbers;
use crate::reading::{self, Found, Info, Outcome, Reading};
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

/// What came of one counting rule. It knows its rule by place.
#[derive(Clone, Copy, Debug)]
pub struct Evaluation {
    place: u32,
    action: Action,
    outcome: Outcome,
    found: Found,
}

impl Evaluation {
    /// The rule, one of the `rules` that it was evaluated with.
    pub fn rule<'r>(&self, rules: &'r Rules) -> &'r Rule {
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

/// What a check or a peek answers. It knows rules by place; where one is asked for, the rules that it was
/// decided with are handed in.
#[derive(Clone, Debug)]
pub struct Decision {
    evaluated: SmallVec<[Evaluation; 4]>,
    // The place of the skip rule that ended the chain.
    skip: Option<u32>,
    verdict: Verdict,
    failed: bool,
    degraded: bool,
    // Several rules block: the longest of their waits, in µs; absent if one of them has none.
    longest_wait_us: Option<u64>,
    blocks: u32,
}

impl Decision {
    /// Before anything was looked at: allowed, unmatched. A [`Tally`] fills it in.
    pub fn undecided() -> Self {
        Self {
            evaluated: SmallVec::new(),
            skip: None,
            verdict: Verdict::Allow,
            failed: false,
            degraded: false,
            longest_wait_us: None,
            blocks: 0,
        }
    }

    /// Marks it as found without the whole truth.
    pub const fn degrade(&mut self) {
        self.degraded = true;
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
        self.evaluations().iter().any(|e| e.action == Action::Warn && e.is_exceeded())
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
    pub fn rule<'r>(&self, rules: &'r Rules) -> Option<&'r Rule> {
        let skip = if self.failed { None } else { self.skip };
        self.reported().map(|e| e.place).or(skip).map(|place| rules.rule(place))
    }

    /// The numbers of the reported rule; absent where a skip is reported, on no match and on failure.
    /// Where several rules block, its `retry_after` is the longest of theirs.
    pub fn info(&self) -> Option<Info> {
        self.reported().map(|e| self.info_of(e))
    }

    pub(crate) fn info_of(&self, evaluation: &Evaluation) -> Info {
        let mut info = evaluation.info();
        if self.blocks > 1 && evaluation.blocks() {
            info.retry_after_us = self.longest_wait_us;
        }
        info
    }

    fn reported(&self) -> Option<&Evaluation> {
        let evaluations = self.evaluations();
        if self.is_blocked() {
            return evaluations.iter().find(|e| e.blocks());
        }
        if self.skip.is_some() { None } else { self.most_constraining() }
    }

    /// The most constraining evaluation; set even where a skip is reported.
    pub fn most_constraining(&self) -> Option<&Evaluation> {
        // `min_by` keeps the first of equals: ties keep rule order.
        self.evaluations().iter().min_by(|a, b| a.constrains(b))
    }

    /// Every evaluated counting rule, in order; none on failure.
    pub fn evaluations(&self) -> &[Evaluation] {
        if self.failed { &[] } else { &self.evaluated }
    }

    /// Every rule that was evaluated, also before a failure, for metrics.
    pub fn counted(&self) -> &[Evaluation] {
        &self.evaluated
    }

    /// The place of the skip rule that ended the chain.
    pub fn skipped_at(&self) -> Option<usize> {
        self.skip.map(numbers::offset)
    }

    /// That rule.
    pub fn skipped_by<'r>(&self, rules: &'r Rules) -> Option<&'r Rule> {
        self.skip.map(|place| rules.rule(place))
    }
}

/// The decision of a chain in the making: readings go in, in chain order.
#[derive(Debug)]
pub struct Tally<'d> {
    cost: Cost,
    now_us: u64,
    decision: &'d mut Decision,
}

impl<'d> Tally<'d> {
    /// Fills in `decision`, which is undecided yet. `cost` is what the call is judged by (a peek: 1),
    /// `now_us` the host's clock.
    pub const fn new(cost: Cost, now_us: u64, decision: &'d mut Decision) -> Self {
        Self { cost, now_us, decision }
    }

    /// Takes a step's reading; gives whether the chain stops there.
    pub fn count(&mut self, step: &CountStep, reading: &Reading) -> bool {
        let outcome = reading::outcome(step, reading);
        let found = Found::new(step, reading, self.cost, self.now_us);
        let evaluation = Evaluation { place: step.rule, action: step.action, outcome, found };
        if evaluation.blocks() {
            let own = found.retry_after_us;
            let longest = self.decision.longest_wait_us;
            self.decision.longest_wait_us =
                if self.decision.blocks == 0 { own } else { own.zip(longest).map(|(a, b)| a.max(b)) };
            self.decision.blocks += 1;
            self.decision.verdict = Verdict::Block;
        }
        self.decision.evaluated.push(evaluation);
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
    pub const fn failed(self, verdict: Verdict) {
        if self.decision.blocks > 0 {
            self.decision.degraded = true;
        } else {
            self.decision.verdict = verdict;
            self.decision.failed = true;
            self.decision.degraded = false;
        }
    }
}
