//! Fixed windows: the first charge starts one, it ends `period_s` later whatever happens in between.

use crate::cost::{Cost, Millionths};
use crate::numbers::seconds_to_micros;

/// What the store keeps for one key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// What was charged, refused calls included.
    pub count: Millionths,
    /// The instant it ends, in µs since 1970; at that very instant it is over.
    pub ends_us: u64,
}

impl Window {
    /// Over at `now_us`.
    pub const fn is_over(&self, now_us: u64) -> bool {
        self.ends_us <= now_us
    }
}

/// Charges `cost` at `now_us`; a window that is over, or none, starts anew.
pub fn charge(found: Option<Window>, now_us: u64, cost: Cost, period_s: u32) -> Window {
    match found.filter(|window| !window.is_over(now_us)) {
        Some(window) => Window { count: window.count.plus(cost.millionths()), ..window },
        None => {
            Window { count: cost.millionths(), ends_us: now_us.saturating_add(seconds_to_micros(u64::from(period_s))) }
        }
    }
}

/// Whether `count` is over `limit`: strictly above it, and always at a limit of 0.
#[cfg(not(feature = "sabotage"))]
pub fn is_over(count: Millionths, limit: u64) -> bool {
    limit == 0 || count > Millionths::from_units(limit)
}

/// Wrong on purpose: the suite must notice.
#[cfg(feature = "sabotage")]
pub fn is_over(count: Millionths, limit: u64) -> bool {
    limit == 0 || count >= Millionths::from_units(limit)
}
