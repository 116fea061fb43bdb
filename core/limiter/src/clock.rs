//! Clocks. Time is an argument everywhere else.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Tells the time, in microseconds since 1970.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Now, in µs since 1970.
    fn now_us(&self) -> u64;
}

/// How often the system's wall clock is asked, in µs; in between a monotonic clock counts on.
const ASKED_EVERY_US: u64 = 1_000_000;

/// The system's wall clock, read through the processor's time-stamp counter.
///
/// A step of the wall clock is seen within a second.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

struct Anchor {
    counter: quanta::Clock,
    start: u64,
    // Wall clock minus the counter, and when it was measured, in µs of the counter.
    ahead_us: AtomicI64,
    measured_us: AtomicU64,
}

impl Anchor {
    fn get() -> &'static Self {
        static ANCHOR: OnceLock<Anchor> = OnceLock::new();
        ANCHOR.get_or_init(|| {
            let counter = quanta::Clock::new();
            let anchor =
                Self { start: counter.raw(), counter, ahead_us: AtomicI64::new(0), measured_us: AtomicU64::new(0) };
            anchor.measure(0);
            anchor
        })
    }

    fn counted_us(&self) -> u64 {
        self.counter.delta_as_nanos(self.start, self.counter.raw()) / 1000
    }

    fn measure(&self, counted_us: u64) {
        let wall = micros(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
        self.ahead_us.store(wall.cast_signed().wrapping_sub(counted_us.cast_signed()), Relaxed);
        self.measured_us.store(counted_us, Relaxed);
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

impl Clock for SystemClock {
    fn now_us(&self) -> u64 {
        let anchor = Anchor::get();
        let counted_us = anchor.counted_us();
        if counted_us.saturating_sub(anchor.measured_us.load(Relaxed)) > ASKED_EVERY_US {
            anchor.measure(counted_us);
        }
        counted_us.saturating_add_signed(anchor.ahead_us.load(Relaxed))
    }
}

/// A clock that stands still until it is told otherwise, for tests.
///
/// ```
/// use labkit_ratelimit::{Clock, ManualClock};
/// use std::time::Duration;
/// let clock = ManualClock::at_unix_seconds(1_700_000_000);
/// clock.advance(Duration::from_millis(1500));
/// assert_eq!(clock.now_us(), 1_700_000_001_500_000);
/// ```
#[derive(Debug, Default)]
pub struct ManualClock(AtomicU64);

impl ManualClock {
    /// A clock that stands at `seconds` since 1970.
    pub fn at_unix_seconds(seconds: u64) -> Self {
        Self(AtomicU64::new(seconds * 1_000_000))
    }

    /// Moves it on.
    pub fn advance(&self, by: Duration) {
        self.0.fetch_add(micros(by), Relaxed);
    }

    /// Moves it by `by_us` µs; back where that is negative.
    pub fn advance_us(&self, by_us: i64) {
        self.set_us(self.now_us().saturating_add_signed(by_us));
    }

    /// Sets it to `now_us` µs since 1970.
    pub fn set_us(&self, now_us: u64) {
        self.0.store(now_us, Relaxed);
    }
}

impl Clock for ManualClock {
    fn now_us(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

impl<C: Clock + ?Sized> Clock for std::sync::Arc<C> {
    fn now_us(&self) -> u64 {
        (**self).now_us()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_clock_is_the_wall_clock() {
        let wall = micros(SystemTime::now().duration_since(UNIX_EPOCH).unwrap());
        assert!(SystemClock.now_us().abs_diff(wall) < 50_000);
    }
}
