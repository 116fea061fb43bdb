//! Decisions, with the rules that they were decided with.

use crate::held::Held;
use labkit_ratelimit_engine as engine;
use labkit_ratelimit_engine::{Action, HeaderFormat, Headers, Info, Outcome, Rule, Rules, Verdict};

/// What a check or a peek answers.
///
/// It owns what it speaks of: it may go to another thread and outlive its limiter, and says the same where the
/// limiter's rules are replaced. While it is held, so are the rules that it was decided with.
#[derive(Clone, Debug)]
pub struct Decision {
    pub(crate) held: Held,
    pub(crate) decided: engine::Decision,
}

impl Decision {
    /// Before anything was looked at, with rules still to be put in.
    pub(crate) fn undecided() -> Self {
        Self { held: Held::NONE, decided: engine::Decision::undecided() }
    }

    /// The rules that it was decided with.
    pub fn rules(&self) -> &Rules {
        &self.held.rules
    }

    /// Whether the request may go on.
    pub const fn verdict(&self) -> Verdict {
        self.decided.verdict()
    }

    /// It may.
    pub fn is_allowed(&self) -> bool {
        self.decided.is_allowed()
    }

    /// It may not.
    pub fn is_blocked(&self) -> bool {
        self.decided.is_blocked()
    }

    /// Some rule matched.
    pub fn is_matched(&self) -> bool {
        self.decided.is_matched()
    }

    /// The reported rule is over.
    pub fn is_exceeded(&self) -> bool {
        self.decided.is_exceeded()
    }

    /// A skip rule ended the chain.
    pub fn is_skipped(&self) -> bool {
        self.decided.is_skipped()
    }

    /// A warn rule is over.
    pub fn is_warned(&self) -> bool {
        self.decided.is_warned()
    }

    /// There is no verdict; the action is what `on_error` says.
    pub const fn is_error(&self) -> bool {
        self.decided.is_error()
    }

    /// There is a verdict, but not the whole one.
    pub const fn is_degraded(&self) -> bool {
        self.decided.is_degraded()
    }

    /// The reported rule: the first block, else a skip that ended the chain, else the rule of the
    /// most constraining evaluation.
    pub fn rule(&self) -> Option<&Rule> {
        self.decided.rule(self.rules())
    }

    /// The numbers of the reported rule; absent where a skip is reported, on no match and on failure.
    /// Where several rules block, its `retry_after` is the longest of theirs.
    pub fn info(&self) -> Option<Info> {
        self.decided.info()
    }

    /// The most constraining evaluation; set even where a skip is reported.
    pub fn most_constraining(&self) -> Option<RuleEvaluation<'_>> {
        self.decided.most_constraining().map(|evaluated| RuleEvaluation { rules: self.rules(), evaluated })
    }

    /// Every evaluated counting rule, in order; none on failure.
    pub fn evaluations(&self) -> Evaluations<'_> {
        Evaluations { rules: self.rules(), evaluated: self.decided.evaluations() }
    }

    /// The skip rule that ended the chain.
    pub fn skipped_by(&self) -> Option<&Rule> {
        self.decided.skipped_by(self.rules())
    }

    /// That rule's place among [`Decision::rules`].
    pub fn skipped_at(&self) -> Option<usize> {
        self.decided.skipped_at()
    }

    /// The HTTP fields of the most constraining evaluation whose rule is not a `log` rule; none for
    /// unmatched and failed decisions, nor where a skip is reported.
    pub fn headers(&self, format: HeaderFormat) -> Headers {
        self.decided.headers(self.rules(), format)
    }
}

/// What came of one counting rule.
#[derive(Clone, Copy, Debug)]
pub struct RuleEvaluation<'d> {
    rules: &'d Rules,
    evaluated: &'d engine::RuleEvaluation,
}

impl<'d> RuleEvaluation<'d> {
    /// The rule.
    pub fn rule(&self) -> &'d Rule {
        self.evaluated.rule(self.rules)
    }

    /// The rule's place among [`Decision::rules`].
    pub const fn place(&self) -> usize {
        self.evaluated.place()
    }

    /// What the rule does.
    pub const fn action(&self) -> Action {
        self.evaluated.action()
    }

    /// What came of it.
    pub const fn outcome(&self) -> Outcome {
        self.evaluated.outcome()
    }

    /// It is over, or its ban is in force.
    pub fn is_exceeded(&self) -> bool {
        self.evaluated.is_exceeded()
    }

    /// It is over and refuses.
    pub fn blocks(&self) -> bool {
        self.evaluated.blocks()
    }

    /// Its numbers, worked out now.
    pub fn info(&self) -> Info {
        self.evaluated.info()
    }

    /// The limit in force.
    pub const fn limit(&self) -> u64 {
        self.evaluated.limit()
    }

    /// The period in force, in seconds.
    pub const fn period_s(&self) -> u32 {
        self.evaluated.period_s()
    }

    /// The HTTP fields of this evaluation, a `log` rule's too.
    pub fn headers(&self, format: HeaderFormat) -> Headers {
        self.evaluated.headers(self.rules, format)
    }
}

/// The evaluations of one decision, in chain order.
#[derive(Clone, Copy, Debug)]
pub struct Evaluations<'d> {
    rules: &'d Rules,
    evaluated: &'d [engine::RuleEvaluation],
}

impl<'d> Evaluations<'d> {
    /// How many there are.
    pub const fn len(&self) -> usize {
        self.evaluated.len()
    }

    /// There is none.
    pub const fn is_empty(&self) -> bool {
        self.evaluated.is_empty()
    }

    /// The one at `at`, counted among evaluations, not among rules.
    pub fn get(&self, at: usize) -> Option<RuleEvaluation<'d>> {
        self.evaluated.get(at).map(|evaluated| RuleEvaluation { rules: self.rules, evaluated })
    }

    /// Each of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = RuleEvaluation<'d>> + use<'d> {
        let rules = self.rules;
        self.evaluated.iter().map(move |evaluated| RuleEvaluation { rules, evaluated })
    }
}
