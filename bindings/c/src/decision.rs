//! Decisions as flat numbers.

use crate::{heard, said, text};
use labkit_ratelimit::{Decision, FailureKind, Info, Outcome, RuleEvaluation, Verdict};

/// No such index.
pub const NONE: u32 = u32::MAX;
/// No such time.
const NEVER: u64 = u64::MAX;

/// What a call answers. Which fields it sets depends on the status that comes with it; the others are 0.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Answer {
    /// The serial number of the rules that decided; with `STALE`, of those in force.
    pub rules: u64,
    /// `CALL`: the handle to settle it with.
    pub pending: u64,
    /// `CALL`: how long it may be waited for, in µs.
    pub deadline_us: u64,
    /// Of the reported rule: how long to wait, in µs; all bits set where it refuses nothing, or no wait helps.
    pub retry_after_us: u64,
    /// How many keys a clear deleted so far.
    pub deleted: u64,
    /// The limiter's clock, in µs since 1970.
    pub now_us: u64,
    /// A text to take, or 0: what failed, and what is to be logged.
    pub text: u64,
    /// `CALL` and `ASK`: the length of what is in the buffer, or with `TOO_SMALL` would be.
    pub len: u64,
    /// How many evaluations there are.
    pub evaluations: u32,
    /// Which of them is of the reported rule, or all bits set.
    pub reported: u32,
    /// Which of them HTTP fields speak of, or all bits set.
    pub shown: u32,
    /// The place of the reported rule among the rules, or all bits set.
    pub rule: u32,
    /// `CALL`: which script, as `labkit_ratelimit_script` numbers them.
    pub script: u32,
    /// `CALL`: how many keys there are in the buffer.
    pub keys: u32,
    /// `CALL`: how many arguments there are behind them.
    pub args: u32,
    /// 0: the call may go on; 1: it may not.
    pub verdict: u8,
    /// 1 matched, 2 exceeded, 4 skipped, 8 warned, 16 error, 32 degraded.
    pub flags: u8,
    /// What failed: 0 nothing, 1 the identifier, 2 the cost, 3 a callable, 4 a pattern, 5 a value of the wrong type, 6 the
    /// store, 7 the circuit is open, 8 the call was abandoned, 9 the library.
    pub failure: u8,
    /// 0.
    pub reserved: u8,
}

/// What came of one counting rule.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Evaluation {
    /// What was counted, this call included.
    pub count: f64,
    /// What is left.
    pub remaining: f64,
    /// The limit in force.
    pub limit: u64,
    /// Until the counter is fresh again, in µs.
    pub reset_after_us: u64,
    /// How long to wait before the same call passes, in µs; all bits set where it refuses nothing, or no wait helps.
    pub retry_after_us: u64,
    /// The period in force, in seconds.
    pub period_s: u32,
    /// The rule's place among the rules.
    pub rule: u32,
    /// 0 allow, 1 block, 2 warn, 3 log, 4 banned.
    pub outcome: u8,
    /// 1: the rule is over.
    pub exceeded: u8,
    /// 1: it refused the call.
    pub blocks: u8,
    /// 1: its ban is in force.
    pub banned: u8,
    /// 0.
    pub reserved: u32,
}

impl Answer {
    /// Nothing yet.
    pub(crate) const EMPTY: Self = Self {
        rules: 0,
        pending: 0,
        deadline_us: 0,
        retry_after_us: NEVER,
        deleted: 0,
        now_us: 0,
        text: 0,
        len: 0,
        evaluations: 0,
        reported: NONE,
        shown: NONE,
        rule: NONE,
        script: 0,
        keys: 0,
        args: 0,
        verdict: 0,
        flags: 0,
        failure: 0,
        reserved: 0,
    };

    /// Fills in a decision, and its evaluations as far as there is room.
    pub(crate) fn fill(&mut self, decision: &Decision, room: &mut [Evaluation]) {
        self.rules = decision.rules_by().serial();
        self.verdict = u8::from(decision.verdict() == Verdict::Block);
        self.flags = flags(decision);
        let reported = decision.rule();
        let shown = decision.shown();
        let evaluations = decision.evaluations();
        self.evaluations = narrow(evaluations.len());
        for (index, (evaluation, place)) in (0..).zip(evaluations.iter().zip(room.iter_mut())) {
            let info = evaluation.info();
            *place = flat(&evaluation, &info);
            self.now_us = info.now_us;
            if reported.is_some_and(|rule| std::ptr::eq(rule, evaluation.rule())) {
                self.reported = index;
                self.rule = place.rule;
            }
            if shown.is_some_and(|shown| shown.place() == evaluation.place()) {
                self.shown = index;
            }
        }
        if self.reported == NONE {
            // No evaluation: a skip is reported, or nothing.
            self.rule = reported.and(decision.skipped_at()).map_or(NONE, narrow);
        } else if self.verdict == 1 {
            self.retry_after_us = decision.info().and_then(|info| info.retry_after_us).unwrap_or(NEVER);
        }
        self.tell(decision);
    }

    /// What failed, and what was said meanwhile.
    fn tell(&mut self, decision: &Decision) {
        let (events, failure) = (heard::take(), decision.failure());
        self.failure = failure.map_or(0, |failure| kind(failure.kind));
        let is_new = failure.is_some_and(|failure| failure.kind != FailureKind::CircuitOpen);
        if is_new || !events.is_empty() {
            self.text = text::keep(&said::course(failure, decision.rules(), &events));
        }
    }
}

fn flags(decision: &Decision) -> u8 {
    let flags = [
        decision.is_matched(),
        decision.is_exceeded(),
        decision.is_skipped(),
        decision.is_warned(),
        decision.is_error(),
        decision.is_degraded(),
    ];
    flags.into_iter().rev().fold(0, |bits, flag| bits << 1 | u8::from(flag))
}

pub(crate) const fn kind(kind: FailureKind) -> u8 {
    match kind {
        FailureKind::BadIdentifier => 1,
        FailureKind::BadCost => 2,
        FailureKind::Callable => 3,
        FailureKind::Pattern => 4,
        FailureKind::WrongType => 5,
        FailureKind::Store => 6,
        FailureKind::CircuitOpen => 7,
        FailureKind::Abandoned => 8,
        FailureKind::Internal => 9,
    }
}

fn flat(evaluation: &RuleEvaluation<'_>, info: &Info) -> Evaluation {
    let outcome = match evaluation.outcome() {
        Outcome::Allow => 0,
        Outcome::Block => 1,
        Outcome::Warn => 2,
        Outcome::Log => 3,
        Outcome::Banned => 4,
    };
    Evaluation {
        count: info.count,
        remaining: info.remaining,
        limit: info.limit,
        reset_after_us: info.reset_after_us,
        retry_after_us: info.retry_after_us.unwrap_or(NEVER),
        period_s: info.period_s,
        rule: narrow(evaluation.place()),
        outcome,
        exceeded: u8::from(evaluation.is_exceeded()),
        blocks: u8::from(evaluation.blocks()),
        banned: u8::from(info.banned),
        reserved: 0,
    }
}

/// A limiter has no more rules than fit in 32 bits.
pub(crate) fn narrow(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(NONE)
}
