//! GCRA, the generic cell rate algorithm, in exact integers.
//!
//! Source: ITU-T I.371 (virtual scheduling). A cell holds one theoretical arrival time (TAT). With the
//! emission interval T = period / limit, a call of cost c at `now` conforms if
//! `max(TAT, now) + c·T − now <= burst·T`; then TAT moves to `max(TAT, now) + c·T`.
//!
//! An instant is whole microseconds and a remainder in 1/limit µs, so c·T = c·period·10⁶/limit µs is
//! exact for costs in millionths. Redis' Lua does the same sums in doubles, all below 2^53.

use crate::cost::{Cost, Millionths};
use crate::numbers::{saturate, to_f64};
use crate::rule_spec::PERIOD_MAX_S;
use std::cmp::Ordering;

/// The largest `limit · period_s`.
const PRODUCT_MAX: u64 = 1 << 53;
/// A span that no bucket holds: what a cost above the burst takes.
const NEVER_US: u64 = 1 << 53;
const MICROS: u64 = 1_000_000;

/// A time in whole microseconds and a remainder in 1/limit µs: an instant, or the span between two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fine {
    /// Whole microseconds (an instant: since 1970).
    pub micros: u64,
    /// 1/limit µs beside them, below the limit.
    pub rest: u64,
}

impl Fine {
    /// A whole number of microseconds.
    pub const fn whole(micros: u64) -> Self {
        Self { micros, rest: 0 }
    }

    /// The sum, carrying at `limit`.
    fn plus(self, other: Self, limit: u64) -> Self {
        // `limit - other.rest` instead of a sum of remainders: the Lua side has no room for it.
        // Saturating: a store may hold instants that nobody of us wrote.
        let room = limit.saturating_sub(other.rest);
        let micros = self.micros.saturating_add(other.micros);
        if self.rest >= room {
            Self { micros: micros.saturating_add(1), rest: self.rest - room }
        } else {
            Self { micros, rest: self.rest + other.rest }
        }
    }

    /// The difference, or zero where `other` is larger.
    fn minus(self, other: Self, limit: u64) -> Self {
        match self.cmp(&other) {
            Ordering::Less | Ordering::Equal => Self::default(),
            Ordering::Greater if self.rest >= other.rest => {
                Self { micros: self.micros - other.micros, rest: self.rest - other.rest }
            }
            Ordering::Greater => {
                Self { micros: self.micros - other.micros - 1, rest: limit - (other.rest - self.rest) }
            }
        }
    }

    /// Rounded up to whole microseconds.
    pub const fn ceil(self) -> u64 {
        if self.rest > 0 { self.micros.saturating_add(1) } else { self.micros }
    }
}

/// A rate and a bucket, in units and seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Units per period. 0 refuses everything.
    pub limit: u64,
    /// The period, in seconds.
    pub period_s: u32,
    /// The bucket, in units.
    pub burst: u64,
}

/// A rate and a bucket, with the spans that every call needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// The numbers.
    pub bucket: Bucket,
    /// burst · T.
    pub tolerance: Fine,
    /// T: what a cost of 1 takes.
    interval: Fine,
}

/// The numbers are beyond what exact arithmetic reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfRange;

impl Rate {
    /// A rate of `limit` per `period_s` seconds with a bucket of `burst`.
    ///
    /// # Errors
    /// [`OutOfRange`] where `limit · period_s` is above 2^53 or `burst · T` above 31 622 400 s.
    pub fn new(limit: u64, period_s: u64, burst: u64) -> Result<Self, OutOfRange> {
        let bucket = Bucket { limit, period_s: u32::try_from(period_s).map_err(|_| OutOfRange)?, burst };
        if limit == 0 {
            return Ok(Self { bucket, tolerance: Fine::default(), interval: Fine::default() });
        }
        if limit.checked_mul(period_s).is_none_or(|product| product > PRODUCT_MAX)
            || u128::from(burst) * u128::from(period_s) > u128::from(PERIOD_MAX_S) * u128::from(limit)
        {
            return Err(OutOfRange);
        }
        let span = |units: u64| divide(u128::from(units) * u128::from(period_s) * u128::from(MICROS), limit);
        Ok(Self { bucket, tolerance: span(burst), interval: span(1) })
    }

    /// c · T; a cost above the burst, and any cost at limit 0, takes longer than any bucket holds.
    pub fn span(&self, cost: Cost) -> Fine {
        if cost == Cost::ONE && self.bucket.limit > 0 && self.bucket.burst > 0 {
            self.interval
        } else if !self.can_pass(cost) {
            Fine::whole(NEVER_US)
        } else {
            divide(cost.millionths().whole() * u128::from(self.bucket.period_s), self.bucket.limit)
        }
    }

    /// Whether a call of `cost` can ever pass, from a full bucket.
    pub fn can_pass(&self, cost: Cost) -> bool {
        self.bucket.limit > 0 && cost.millionths() <= Millionths::from_units(self.bucket.burst)
    }
}

fn divide(numerator: u128, limit: u64) -> Fine {
    let divided = |micros: u128, rest: u128| Fine { micros: saturate(micros), rest: saturate(rest) };
    match u64::try_from(numerator) {
        // The usual case, without a 128-bit division.
        Ok(n) => Fine { micros: n / limit, rest: n % limit },
        Err(_) => divided(numerator / u128::from(limit), numerator % u128::from(limit)),
    }
}

/// What the store keeps for one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The theoretical arrival time.
    pub tat: Fine,
    /// The limit that the remainder is counted in.
    pub limit: u64,
    /// The instant of the last change, in µs.
    pub changed_us: u64,
}

impl Cell {
    /// The cell as the limit in force sees it: a remainder of another limit is rounded up.
    fn under(self, limit: u64) -> Self {
        if self.limit == limit { self } else { Self { tat: Fine::whole(self.tat.ceil()), limit, ..self } }
    }

    /// Its TAT has come: as good as no cell.
    pub fn is_over(&self, clock_us: u64) -> bool {
        self.tat <= Fine::whole(clock_us)
    }
}

/// A cell as one call found or left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// max(TAT, now), after the call.
    pub tat: Fine,
    /// max(clock, the cell's last change), in µs.
    pub now_us: u64,
    /// The store's clock, in µs.
    pub clock_us: u64,
    /// This call was refused.
    pub refused: bool,
}

/// Decides a call that takes `span`, and what the cell holds then. A refused one changes nothing.
pub fn take(cell: Option<Cell>, clock_us: u64, rate: &Rate, span: Fine) -> (Reading, Cell) {
    let found = look(cell, clock_us, rate);
    let moved = found.tat.plus(span, rate.bucket.limit.max(1));
    let refused = over(moved.minus(Fine::whole(found.now_us), rate.bucket.limit), rate.tolerance);
    let reading = Reading { tat: if refused { found.tat } else { moved }, refused, ..found };
    (reading, Cell { tat: moved, limit: rate.bucket.limit, changed_us: found.now_us })
}

/// Decides as [`take`] would, and takes nothing.
pub fn peek(cell: Option<Cell>, clock_us: u64, rate: &Rate, span: Fine) -> Reading {
    let found = look(cell, clock_us, rate);
    let (taken, _) = take(cell, clock_us, rate, span);
    Reading { refused: taken.refused, ..found }
}

#[cfg(not(feature = "sabotage"))]
fn over(span: Fine, tolerance: Fine) -> bool {
    span > tolerance
}

#[cfg(feature = "sabotage")]
fn over(span: Fine, tolerance: Fine) -> bool {
    span >= tolerance
}

fn look(cell: Option<Cell>, clock_us: u64, rate: &Rate) -> Reading {
    let found = cell.map(|cell| cell.under(rate.bucket.limit)).filter(|cell| !cell.is_over(clock_us));
    let now_us = found.map_or(clock_us, |cell| cell.changed_us.max(clock_us));
    let tat = found.map_or(Fine::whole(now_us), |cell| cell.tat.max(Fine::whole(now_us)));
    Reading { tat, now_us, clock_us, refused: false }
}

impl Reading {
    /// (TAT − now) / T, in units.
    pub fn count(&self, bucket: &Bucket) -> f64 {
        let owed = self.tat.minus(Fine::whole(self.now_us), bucket.limit);
        let parts = to_f64(owed.micros) * to_f64(bucket.limit) + to_f64(owed.rest);
        if bucket.limit == 0 { 0.0 } else { parts / (f64::from(bucket.period_s) * to_f64(MICROS)) }
    }

    /// floor(burst − count), exactly; never below 0.
    pub fn remaining(&self, bucket: &Bucket) -> f64 {
        if bucket.limit == 0 {
            return 0.0;
        }
        let owed = self.tat.minus(Fine::whole(self.now_us), bucket.limit);
        let unit = u64::from(bucket.period_s) * MICROS;
        let narrow = || {
            let size = bucket.burst.checked_mul(unit)?;
            let owed = owed.micros.checked_mul(bucket.limit)?.checked_add(owed.rest)?;
            Some(to_f64(size.saturating_sub(owed) / unit))
        };
        narrow().unwrap_or_else(|| {
            let size = u128::from(bucket.burst) * u128::from(unit);
            let owed = u128::from(owed.micros) * u128::from(bucket.limit) + u128::from(owed.rest);
            to_f64(saturate(size.saturating_sub(owed) / u128::from(unit)))
        })
    }

    /// Until the bucket is full again, in µs from the clock; a whole period at limit 0.
    pub fn reset_after_us(&self, bucket: &Bucket) -> u64 {
        if bucket.limit == 0 {
            return u64::from(bucket.period_s) * MICROS;
        }
        if self.tat <= Fine::whole(self.now_us) { 0 } else { self.tat.ceil().saturating_sub(self.clock_us) }
    }

    /// Until a call that takes `span` passes, in µs from the clock, rounded up.
    pub fn wait_us(&self, rate: &Rate, span: Fine) -> u64 {
        let due = self.tat.plus(span, rate.bucket.limit.max(1)).minus(rate.tolerance, rate.bucket.limit);
        due.ceil().saturating_sub(self.clock_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T0: u64 = 1_431_857_103_000_000;

    fn rate(limit: u64, period_s: u64, burst: u64) -> Rate {
        Rate::new(limit, period_s, burst).expect("in range")
    }

    /// Calls of cost 1 at `t0 + offset` µs; gives (allowed, remaining, wait in µs) of the last.
    fn call(cell: &mut Option<Cell>, rate: &Rate, offset: u64, cost: f64) -> (bool, f64, u64) {
        let span = rate.span(Cost::new(cost).expect("a good cost"));
        let (reading, next) = take(*cell, T0 + offset, rate, span);
        if !reading.refused {
            *cell = Some(next);
        }
        (!reading.refused, reading.remaining(&rate.bucket), reading.wait_us(rate, span))
    }

    #[test]
    fn case_2_a_rounded_wait_is_enough() {
        let (rate, mut cell) = (rate(5, 1, 5), None);
        for left in (0..5).rev() {
            assert_eq!(call(&mut cell, &rate, 0, 1.0).1, f64::from(left));
        }
        assert_eq!(call(&mut cell, &rate, 0, 1.0), (false, 0.0, 200_000));
        assert!(!call(&mut cell, &rate, 199_999, 1.0).0);
        assert_eq!(call(&mut cell, &rate, 200_000, 1.0).1, 0.0);
    }

    #[test]
    fn case_9_fast_rates_are_exact() {
        let (fast, mut cell) = (rate(6000, 1, 6000), None);
        for k in 0..6000 {
            assert!(call(&mut cell, &fast, 0, 1.0).0, "{k}");
        }
        // 1/6000 s is 166.67 µs: rounded up, never down.
        assert_eq!(call(&mut cell, &fast, 0, 1.0), (false, 0.0, 167));
        let (paced, mut cell) = (rate(2000, 1, 1), None);
        assert!((0..2000).all(|k| call(&mut cell, &paced, k * 500, 1.0).0));
    }

    #[test]
    fn thirds_of_a_second_never_drift() {
        // T is 333333 1/3 µs: after 3 million calls a rounded TAT would be a second off.
        let (rate, mut cell) = (rate(3, 1, 3_000_000), None);
        assert!((0..3_000_000).all(|_| call(&mut cell, &rate, 0, 1.0).0));
        assert_eq!(cell.expect("a cell").tat, Fine::whole(T0 + 1_000_000_000_000));
        assert_eq!(call(&mut cell, &rate, 0, 1.0), (false, 0.0, 333_334));
    }

    #[test]
    fn ranges_end_where_the_contract_says() {
        assert!(Rate::new(1 << 53, 1, 1).is_ok());
        assert!(Rate::new((1 << 53) + 1, 1, 1).is_err());
        assert!(Rate::new(1, 31_622_400, 1).is_ok());
        assert!(Rate::new(1, 31_622_400, 2).is_err());
        assert!(Rate::new(u64::MAX, 31_622_400, 1).is_err());
        let widest = rate(1 << 53, 1, u64::MAX);
        let (reading, _) = take(None, T0, &widest, widest.span(Cost::new(1e15).expect("a good cost")));
        assert!(!reading.refused && reading.remaining(&widest.bucket) > 0.0);
    }

    #[test]
    fn a_remainder_is_rounded_up_when_the_limit_changes() {
        let (three, seven) = (rate(3, 1, 3), rate(7, 1, 7));
        let (_, cell) = take(None, T0, &three, three.span(Cost::ONE));
        assert_eq!(cell.tat, Fine { micros: T0 + 333_333, rest: 1 });
        assert_eq!(peek(Some(cell), T0, &seven, seven.span(Cost::ONE)).tat, Fine::whole(T0 + 333_334));
    }
}
