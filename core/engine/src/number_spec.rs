//! Numbers as rules write them, and what can be wrong with them.

use crate::finding::{Code, Finding, Findings};
use crate::host::CallableId;
use crate::rule::Amount;
use crate::rule_spec::PERIOD_MAX_S;

/// A number of a rule as it was written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum NumberSpec {
    /// Not given.
    #[default]
    Absent,
    /// An integer.
    Int(i128),
    /// A float: a fraction is cut off.
    Float(f64),
    /// Called anew in each check.
    Callable(CallableId),
    /// Given, but of a wrong type that whoever read it has reported already.
    Reported,
}

impl NumberSpec {
    /// Something was given.
    pub const fn is_given(self) -> bool {
        !matches!(self, Self::Absent)
    }
}

impl From<u64> for NumberSpec {
    fn from(n: u64) -> Self {
        Self::Int(i128::from(n))
    }
}

impl From<u32> for NumberSpec {
    fn from(n: u32) -> Self {
        Self::Int(i128::from(n))
    }
}

impl From<i32> for NumberSpec {
    fn from(n: i32) -> Self {
        Self::Int(i128::from(n))
    }
}

impl From<i64> for NumberSpec {
    fn from(n: i64) -> Self {
        Self::Int(i128::from(n))
    }
}

impl From<f64> for NumberSpec {
    fn from(n: f64) -> Self {
        Self::Float(n)
    }
}

impl From<CallableId> for NumberSpec {
    fn from(id: CallableId) -> Self {
        Self::Callable(id)
    }
}

/// Checks the four numbers of a rule or of an override.
pub(crate) struct NumberCheck<'a> {
    pub(crate) findings: &'a mut Findings,
    pub(crate) prefix: &'a str,
    pub(crate) gcra: bool,
    pub(crate) distinct: bool,
}

impl NumberCheck<'_> {
    pub(crate) fn all(&mut self, [limit, period_s, burst, ban_for_s]: [NumberSpec; 4]) -> [Option<Amount>; 4] {
        let u64_max = i128::from(u64::MAX);
        let numbers = [
            self.one("limit", limit, Code::LimitBelowOne, u64_max, Code::WrongType),
            self.one("period_s", period_s, Code::PeriodBelowOne, i128::from(PERIOD_MAX_S), Code::PeriodAboveMax),
            self.one("burst", burst, Code::BurstBelowOne, u64_max, Code::WrongType),
            self.one("ban_for_s", ban_for_s, Code::BanBelowOne, i128::from(u32::MAX), Code::WrongType),
        ];
        if burst.is_given() && !self.gcra {
            self.add(Code::BurstRequiresGcra, "burst", "a window has no burst".into());
        }
        if matches!(burst, NumberSpec::Callable(_)) {
            self.add(Code::WrongType, "burst", "burst is a number, no callable".into());
        }
        if ban_for_s.is_given() && self.distinct {
            self.add(Code::BanExcludesCountDistinct, "ban_for_s", "the rule counts distinct values".into());
        }
        numbers
    }

    fn one(&mut self, field: &str, given: NumberSpec, below: Code, max: i128, above: Code) -> Option<Amount> {
        let n = match given {
            NumberSpec::Absent | NumberSpec::Reported => return None,
            NumberSpec::Callable(id) => return Some(Amount::Callable(id)),
            NumberSpec::Int(n) => n,
            NumberSpec::Float(f) if f.is_finite() => crate::numbers::cut_to_i128(f),
            NumberSpec::Float(f) => {
                self.add(Code::WrongType, field, format!("{f} is no finite number"));
                return None;
            }
        };
        if n < 1 {
            self.add(below, field, format!("{field} is {n}"));
        } else if n > max {
            self.add(above, field, format!("{field} is {n}, above {max}"));
        }
        u64::try_from(n).ok().filter(|_| n >= 1 && n <= max).map(Amount::Fixed)
    }

    fn add(&mut self, code: Code, field: &str, message: String) {
        self.findings.push(Finding::new(code, format!("{}{field}", self.prefix), message));
    }
}
