//! The cost of a call, and counts of such costs, in millionths.

use crate::numbers::{self, EXACT_MAX};
use std::fmt;
use std::fmt::Write as _;

/// A whole number of millionths. Exact up to 2^53 of them, beyond that to double precision.
///
/// The double holds an integer; sums of two are exact while they stay below 2^53.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Millionths(f64);

impl Millionths {
    /// None at all.
    pub const ZERO: Self = Self(0.0);
    /// One unit.
    pub const ONE: Self = Self(1_000_000.0);

    /// `n` units.
    pub fn from_units(n: u64) -> Self {
        Self(numbers::to_f64(n) * 1_000_000.0)
    }

    /// In units, as results report it.
    pub fn units(self) -> f64 {
        self.0 / 1_000_000.0
    }

    /// The integer, for integer arithmetic.
    pub fn whole(self) -> u128 {
        numbers::floor_to_wide(self.0)
    }

    /// Not more than nothing.
    pub fn is_zero(self) -> bool {
        self.0 <= 0.0
    }

    /// The sum; at most the largest double.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self((self.0 + other.0).min(f64::MAX))
    }

    /// The difference.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }

    /// Reads a number as a store holds it, rounded to 6 places; `None` for what is no number.
    ///
    /// Old processes leave `1.0000000000000001` after ten times 0.1; that reads as 1.
    pub fn parse(text: &str) -> Option<Self> {
        let nearest: f64 = text.parse().ok().filter(|n: &f64| n.is_finite())?;
        let (sign, digits) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let plain = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if !plain(whole) || !plain(fraction) {
            return Some(Self((nearest * 1e6).round().clamp(-f64::MAX, f64::MAX)));
        }
        match decimal(whole, fraction, |rest| rest.first().is_some_and(|&digit| digit >= b'5')) {
            Some(n) if n < EXACT_MAX => Some(Self(sign * n)),
            _ => Some(Self((nearest * 1e6).clamp(-f64::MAX, f64::MAX))),
        }
    }
}

/// `whole.fraction` in millionths, the digits behind the sixth place rounded as `up` says of them.
fn decimal(whole: &str, fraction: &str, up: impl Fn(&[u8]) -> bool) -> Option<f64> {
    let fraction = fraction.as_bytes();
    let mut n: u64 = 0;
    for place in 0..whole.len() + 6 {
        let digit = match place.checked_sub(whole.len()) {
            None => whole.as_bytes()[place],
            Some(behind) => fraction.get(behind).copied().unwrap_or(b'0'),
        };
        n = n.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
    }
    let rest = fraction.get(6..).unwrap_or_default();
    Some(numbers::to_f64(n + u64::from(up(rest))))
}

/// The cost of one call: finite, at least 0, kept to 6 decimal places. Above 1.7e302, where millionths
/// are no longer doubles, it counts as that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost(Millionths);

/// The text of a cost for Redis: up to 303 digits.
pub type CostText = arrayvec::ArrayString<352>;

impl Cost {
    /// The default: one call costs 1.
    pub const ONE: Self = Self(Millionths::ONE);

    /// A cost from a host's number, rounded half-even at the sixth place of its shortest round-trip
    /// decimal text.
    ///
    /// # Errors
    /// [`BadCost`] for a negative number, NaN and the infinities.
    pub fn new(cost: f64) -> Result<Self, BadCost> {
        if !cost.is_finite() || cost < 0.0 {
            return Err(BadCost(cost));
        }
        let plain = cost * 1_000_000.0;
        if cost.fract() == 0.0 || plain >= EXACT_MAX {
            return Ok(Self(Millionths(plain.min(f64::MAX))));
        }
        let mut text = CostText::new();
        // At most 17 digits and 324 zeros.
        let _ = write!(text, "{cost}");
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let odd = fraction.as_bytes().get(5).or(whole.as_bytes().last()).is_some_and(|d| d % 2 == 1);
        let rounded = decimal(whole, fraction, |rest| match rest {
            [] => false,
            [b'5', tail @ ..] => odd && tail.is_empty() || !tail.is_empty(),
            [digit, ..] => *digit > b'5',
        });
        Ok(Self(Millionths(rounded.unwrap_or(plain))))
    }

    /// In millionths.
    pub const fn millionths(self) -> Millionths {
        self.0
    }

    /// Reads the state and writes nothing.
    pub fn is_zero(self) -> bool {
        self.0.is_zero()
    }

    /// The decimal text: no exponent, no trailing zeros.
    pub fn text(self) -> CostText {
        let mut text = CostText::new();
        let n = self.0.0;
        // Both writes fit.
        if n < EXACT_MAX {
            let whole = self.0.whole();
            let _ = write!(text, "{}.{:06}", whole / 1_000_000, whole % 1_000_000);
            let kept = text.trim_end_matches('0').trim_end_matches('.').len();
            text.truncate(kept);
        } else {
            let _ = write!(text, "{}", self.0.units());
        }
        text
    }
}

impl Default for Cost {
    fn default() -> Self {
        Self::ONE
    }
}

/// A cost that cannot be charged: negative, NaN or infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BadCost(pub f64);

impl fmt::Display for BadCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cost must be a finite number of 0 or more, not {}", self.0)
    }
}

impl std::error::Error for BadCost {}

#[cfg(test)]
mod tests {
    use super::*;

    fn millionths(cost: f64) -> u128 {
        Cost::new(cost).expect("a good cost").millionths().whole()
    }

    #[test]
    fn costs_round_half_even_on_their_decimal_text() {
        for (cost, expected) in [
            (1.0, 1_000_000),
            (0.1, 100_000),
            (0.000_000_5, 0),
            (0.000_001_5, 2),
            (0.000_002_5, 2),
            (1.000_000_5, 1_000_000),
            (1.000_001_5, 1_000_002),
            (0.000_000_500_001, 1),
            (0.999_999_6, 1_000_000),
            (1e-300, 0),
            (9_007_199_254.5, 9_007_199_254_500_000),
        ] {
            assert_eq!(millionths(cost), expected, "{cost}");
        }
    }

    #[test]
    fn bad_costs_are_named() {
        for cost in [-1.0, f64::NAN, f64::INFINITY, -f64::MIN_POSITIVE] {
            assert!(Cost::new(cost).is_err(), "{cost}");
        }
        assert_eq!(millionths(-0.0), 0);
    }

    #[test]
    fn text_is_plain_decimal() {
        for (cost, expected) in
            [(1.0, "1"), (0.5, "0.5"), (10.0, "10"), (0.000_001, "0.000001"), (1e15, "1000000000000000")]
        {
            assert_eq!(Cost::new(cost).expect("a good cost").text().as_str(), expected);
        }
        assert_eq!(Cost::new(f64::MAX).expect("a good cost").text().len(), 303);
    }

    #[test]
    fn stored_numbers_are_read_rounded() {
        for (text, expected) in [
            ("1.0000000000000001", Some(1.0)),
            ("3", Some(3.0)),
            ("2.5", Some(2.5)),
            ("0.9999999", Some(1.0)),
            ("-2", Some(-2.0)),
            ("1e3", Some(1000.0)),
            ("1e305", Some(f64::MAX / 1e6)),
            ("-1.50000000000001", Some(-1.5)),
            ("9007199254.740991", Some(9_007_199_254.740_991)),
            ("abc", None),
            ("", None),
        ] {
            assert_eq!(Millionths::parse(text).map(Millionths::units), expected, "{text}");
        }
    }
}
