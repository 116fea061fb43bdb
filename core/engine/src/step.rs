//! Steps: what a check asks of its store, in chain order, with every number resolved.

use crate::cost::{Cost, Millionths};
use crate::failure::Failure;
use crate::gcra::Rate;
use crate::rule_spec::Action;
use smallvec::SmallVec;

/// What a call does to the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Charge and decide.
    Check,
    /// Decide on the state as it stands and change nothing.
    Peek,
}

/// How a step counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Sums costs in a fixed window.
    Window,
    /// Counts distinct values in a fixed window.
    Distinct {
        /// The property's place among [`crate::Rules::properties`].
        slot: u32,
    },
    /// GCRA.
    Gcra(Rate),
}

/// When the chain stops at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Never.
    Never,
    /// When it is over.
    WhenOver,
    /// When it is not over.
    WhenPassed,
    /// Always.
    Always,
}

impl Stop {
    /// Whether it stops here.
    pub const fn at(self, over: bool) -> bool {
        match self {
            Self::Never => false,
            Self::WhenOver => over,
            Self::WhenPassed => !over,
            Self::Always => true,
        }
    }
}

/// One counting rule, its numbers resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CountStep {
    /// The rule's place in [`crate::Rules`].
    pub rule: u32,
    /// The rule's action.
    pub action: Action,
    /// The limit in force; 0 refuses everything.
    pub limit: u64,
    /// The period in force, in seconds.
    pub period_s: u32,
    /// The ban, in seconds; `None`: the rule has none.
    pub ban_for_s: Option<u32>,
    /// How it counts.
    pub counting: Counting,
    /// When the chain stops here.
    pub stop: Stop,
}

impl CountStep {
    /// The place of the property whose distinct values it counts.
    pub const fn counted(&self) -> Option<usize> {
        if let Counting::Distinct { slot } = self.counting { Some(crate::numbers::offset(slot)) } else { None }
    }

    /// The period in force, in µs.
    pub const fn period_us(&self) -> u64 {
        crate::numbers::seconds_to_micros(crate::numbers::widen(self.period_s))
    }

    /// Whether a call of `cost` can ever pass from an empty counter.
    pub fn can_pass(&self, cost: Cost) -> bool {
        match &self.counting {
            Counting::Gcra(rate) => rate.can_pass(cost),
            Counting::Distinct { .. } => self.limit > 0,
            Counting::Window => self.limit > 0 && cost.millionths() <= Millionths::from_units(self.limit),
        }
    }
}

/// One place in the chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Count, and decide.
    Count(CountStep),
    /// The same for a rule whose step is always the same: [`crate::Rules::fixed`] has it.
    Fixed {
        /// The rule's place in [`crate::Rules`].
        rule: u32,
    },
    /// A distinct rule whose property the identifier lacks: passed over, and said.
    MissingDistinct {
        /// The rule's place in [`crate::Rules`].
        rule: u32,
    },
}

/// How the chain ends, when no step stops it before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// There are no more rules.
    #[default]
    Open,
    /// At a skip rule, whose place this is.
    Skip(u32),
    /// A rule failed.
    Failed(Failure),
}

/// The steps of one check.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// In chain order.
    pub steps: SmallVec<[Step; 4]>,
    /// Behind the last of them.
    pub end: End,
}
