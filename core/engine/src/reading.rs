//! What a store found for one step, and what that means: the evaluation of a rule.

use crate::cost::{Cost, Millionths};
use crate::gcra::{self, Bucket};
use crate::numbers::seconds_to_micros;
use crate::rule_spec::Action;
use crate::step::{CountStep, Counting};
use crate::window;
use std::time::{Duration, SystemTime};

/// A counter as one call found or left it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Counter {
    /// A window or a set of distinct values.
    Window {
        /// After this call.
        count: Millionths,
        /// Until it ends, in µs; `None` for a missing one and one without expiry: a full period.
        left_us: Option<u64>,
        /// count > limit, as the store compared it.
        over: bool,
    },
    /// A GCRA cell.
    Gcra(gcra::Reading),
}

/// A step's counter and its ban.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// The counter.
    pub counter: Counter,
    /// Until the ban in force ends, in µs; the one that this call started included.
    pub ban_left_us: Option<u64>,
}

impl Reading {
    /// The counter is over, or a ban is in force.
    pub const fn is_over(&self) -> bool {
        let over = match &self.counter {
            Counter::Window { over, .. } => *over,
            Counter::Gcra(reading) => reading.refused,
        };
        over || self.ban_left_us.is_some()
    }
}

/// What came of one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Not over.
    Allow,
    /// A `limit` rule that is over.
    Block,
    /// A `warn` rule that is over.
    Warn,
    /// A `log` rule that is over.
    Log,
    /// A ban is in force, whatever the action.
    Banned,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 5] = [Self::Allow, Self::Block, Self::Warn, Self::Log, Self::Banned];

    /// As metrics and results spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Block => "block",
            Self::Warn => "warn",
            Self::Log => "log",
            Self::Banned => "banned",
        }
    }
}

/// The numbers of one evaluation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info {
    /// The limit in force.
    pub limit: u64,
    /// The period in force, in seconds.
    pub period_s: u32,
    /// What was counted, this call included.
    pub count: f64,
    /// What is left, within 0 and the limit (GCRA: the burst).
    pub remaining: f64,
    /// A ban is in force.
    pub banned: bool,
    /// The clock of the check, in µs since 1970.
    pub now_us: u64,
    /// As [`Info::reset_after`], in µs.
    pub reset_after_us: u64,
    /// As [`Info::retry_after`], in µs.
    pub retry_after_us: Option<u64>,
}

impl Info {
    /// Until the counter is fresh again, or the ban's end.
    pub const fn reset_after(&self) -> Duration {
        Duration::from_micros(self.reset_after_us)
    }

    /// How long to wait before the same call passes; only of a `limit` rule that is over, and `None`
    /// where no wait helps.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after_us.map(Duration::from_micros)
    }

    /// The instant of the reset, by the clock of the check.
    pub fn reset_at(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_micros(self.reset_at_us())
    }

    /// The instant of the reset in µs since 1970.
    pub const fn reset_at_us(&self) -> u64 {
        self.now_us.saturating_add(self.reset_after_us)
    }
}

/// What came of a step that a store has read.
pub(crate) fn outcome(step: &CountStep, reading: &Reading) -> Outcome {
    match (reading.ban_left_us.is_some(), reading.is_over(), step.action) {
        (true, ..) => Outcome::Banned,
        (_, false, _) => Outcome::Allow,
        (_, true, Action::Warn) => Outcome::Warn,
        (_, true, Action::Log) => Outcome::Log,
        (_, true, Action::Limit | Action::Skip) => Outcome::Block,
    }
}

/// What an evaluation's numbers are worked out from, once somebody asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    bucket: Bucket,
    reading: Reading,
    now_us: u64,
    pub(crate) retry_after_us: Option<u64>,
}

impl Found {
    /// For the call of `cost` (a peek: of 1) at `now_us` of the host.
    pub(crate) fn new(step: &CountStep, reading: &Reading, cost: Cost, now_us: u64) -> Self {
        let CountStep { limit, period_s, .. } = *step;
        let bucket = match &step.counting {
            Counting::Gcra(rate) => rate.bucket,
            Counting::Window | Counting::Distinct { .. } => Bucket { limit, period_s, burst: limit },
        };
        let retry_after_us = if reading.is_over() { wait_us(step, reading, cost) } else { None };
        Self { bucket, reading: *reading, now_us, retry_after_us }
    }

    pub(crate) const fn limit(&self) -> u64 {
        self.bucket.limit
    }

    pub(crate) const fn period_s(&self) -> u32 {
        self.bucket.period_s
    }

    pub(crate) fn remaining(&self) -> f64 {
        match &self.reading.counter {
            _ if self.reading.ban_left_us.is_some() => 0.0,
            Counter::Gcra(cell) => cell.remaining(&self.bucket),
            Counter::Window { count, .. } => {
                let limit = Millionths::from_units(self.bucket.limit);
                limit.minus(*count).units().clamp(0.0, limit.units())
            }
        }
    }

    pub(crate) fn info(&self) -> Info {
        let period_us = seconds_to_micros(u64::from(self.bucket.period_s));
        let (count, reset_us) = match &self.reading.counter {
            Counter::Gcra(cell) => (cell.count(&self.bucket), cell.reset_after_us(&self.bucket)),
            Counter::Window { count, left_us, .. } => (count.units(), left_us.unwrap_or(period_us)),
        };
        Info {
            limit: self.bucket.limit,
            period_s: self.bucket.period_s,
            count,
            remaining: self.remaining(),
            banned: self.reading.ban_left_us.is_some(),
            now_us: self.now_us,
            reset_after_us: self.reading.ban_left_us.unwrap_or(reset_us),
            retry_after_us: self.retry_after_us,
        }
    }
}

/// How long to wait before a call of `cost` passes a step that is over: the later of the ban's end and
/// the instant the counter alone would let it pass. `None` where no wait helps, and of rules that refuse nothing.
fn wait_us(step: &CountStep, reading: &Reading, cost: Cost) -> Option<u64> {
    if step.action != Action::Limit || !step.can_pass(cost) {
        return None;
    }
    let counter_us = match (&reading.counter, &step.counting) {
        (Counter::Gcra(cell), Counting::Gcra(rate)) => cell.wait_us(rate, rate.span(cost)),
        (Counter::Gcra(_), _) => step.period_us(),
        (Counter::Window { count, left_us, over }, counting) => {
            let next =
                if matches!(counting, Counting::Distinct { .. }) { *count } else { count.plus(cost.millionths()) };
            if *over || window::is_over(next, step.limit) { left_us.unwrap_or_else(|| step.period_us()) } else { 0 }
        }
    };
    Some(counter_us.max(reading.ban_left_us.unwrap_or(0)))
}
