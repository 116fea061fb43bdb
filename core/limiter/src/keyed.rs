//! Limiters for callers who have only a key: no rules, no identifier, no policy.

use crate::clock::{Clock, SystemClock};
use labkit_ratelimit_engine::gcra::Rate;
use labkit_ratelimit_engine::{
    Action, BadCost, Cost, CountStep, Counter, Counting, Millionths, Mode, PERIOD_MAX_S, Stop, numbers,
};
use labkit_ratelimit_store::{MAX_STACKED, MemoryStore};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Decides by a key alone, and reserves in the same step. Linearizable per key.
pub trait RateLimiter: Send + Sync {
    /// Takes `cost` from the key's allowance, or refuses.
    ///
    /// `cost` is a finite number of 0 or more, kept to 6 decimal places; 0 only looks.
    ///
    /// # Errors
    /// [`KeyedError`] for a bad cost, and where a backend fails: what then happens is the caller's policy.
    fn check(&self, key: &str, cost: f64) -> Result<RateDecision, KeyedError>;
}

/// What a [`RateLimiter`] answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateDecision {
    /// Whether the call may go on.
    pub allowed: bool,
    /// The limit of the window reported: the one that refused, else the one with least remaining.
    pub limit: u64,
    /// What that window still allows.
    pub remaining: f64,
    /// Until that window is fresh again.
    pub reset_after: Duration,
    /// Until the same call passes; `None` where it is allowed, and where no wait helps.
    pub retry_after: Option<Duration>,
}

/// A check by key that has no answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum KeyedError {
    /// The cost is negative, NaN or infinite.
    Cost(BadCost),
    /// The backend gave no answer.
    Backend(String),
}

impl fmt::Display for KeyedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cost(bad) => bad.fmt(f),
            Self::Backend(message) => write!(f, "the rate limiter's backend did not answer: {message}"),
        }
    }
}

impl std::error::Error for KeyedError {}

/// So many requests in so many seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Requests; at least 1.
    pub requests: u64,
    /// The window, 1 to 31 622 400 seconds.
    pub window_seconds: u32,
}

/// One GCRA window: a quota and how much of it may come at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GcraWindow {
    /// The rate.
    pub quota: Quota,
    /// Requests that may come at once; at least 1.
    pub burst: u64,
}

impl From<Quota> for GcraWindow {
    /// One window whose burst is its requests.
    fn from(quota: Quota) -> Self {
        Self { quota, burst: quota.requests }
    }
}

/// A quota that no limiter can keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaError(String);

impl fmt::Display for QuotaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for QuotaError {}

fn checked(quota: Quota) -> Result<Quota, QuotaError> {
    if quota.requests < 1 {
        return Err(QuotaError("requests must be 1 or more".into()));
    }
    if !(1..=PERIOD_MAX_S).contains(&quota.window_seconds) {
        return Err(QuotaError(format!(
            "window_seconds must be within 1 and {PERIOD_MAX_S}, not {}",
            quota.window_seconds
        )));
    }
    Ok(quota)
}

/// A fixed window per key, in memory: it starts at the first call and ends `window_seconds` later.
///
/// ```
/// use labkit_ratelimit::{FixedWindowLimiter, Quota, RateLimiter};
/// let limiter = FixedWindowLimiter::new(Quota { requests: 1, window_seconds: 60 })?;
/// assert!(limiter.check("198.18.0.1", 1.0)?.allowed);
/// assert!(!limiter.check("198.18.0.1", 1.0)?.allowed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FixedWindowLimiter {
    quota: Quota,
    step: CountStep,
    store: Arc<MemoryStore>,
    clock: Box<dyn Clock>,
}

impl FixedWindowLimiter {
    /// A limiter with a memory store of its own, on the system's clock.
    ///
    /// # Errors
    /// [`QuotaError`] where the quota is out of range.
    pub fn new(quota: Quota) -> Result<Self, QuotaError> {
        Self::with(quota, Arc::default(), SystemClock)
    }

    /// A limiter in `store` on `clock`. Limiters of one store share a key's count: give each its own prefix.
    ///
    /// # Errors
    /// [`QuotaError`] where the quota is out of range.
    pub fn with(quota: Quota, store: Arc<MemoryStore>, clock: impl Clock + 'static) -> Result<Self, QuotaError> {
        let quota = checked(quota)?;
        let step = CountStep {
            rule: 0,
            action: Action::Limit,
            limit: quota.requests,
            period_s: quota.window_seconds,
            ban_for_s: None,
            counting: Counting::Window,
            stop: Stop::WhenOver,
        };
        Ok(Self { quota, step, store, clock: Box::new(clock) })
    }
}

impl RateLimiter for FixedWindowLimiter {
    fn check(&self, key: &str, cost: f64) -> Result<RateDecision, KeyedError> {
        let cost = Cost::new(cost).map_err(KeyedError::Cost)?;
        let key = self.store.key_of(key.as_bytes());
        let reading = self.store.run(key, &self.step, None, cost, Mode::Check, self.clock.now_us());
        let (count, left_us) = match reading.counter {
            Counter::Window { count, left_us, .. } => (count, left_us),
            Counter::Gcra(_) => (Millionths::ZERO, None),
        };
        let reset_after =
            Duration::from_micros(left_us.unwrap_or(numbers::seconds_to_micros(u64::from(self.step.period_s))));
        let limit = Millionths::from_units(self.quota.requests);
        let allowed = !reading.is_over();
        Ok(RateDecision {
            allowed,
            limit: self.quota.requests,
            remaining: limit.minus(count).units().max(0.0),
            reset_after,
            retry_after: (!allowed && self.step.can_pass(cost)).then_some(reset_after),
        })
    }
}

/// Several GCRA windows per key, in memory: say 10 a second and 100 an hour.
///
/// A call passes where every window lets it pass, and is then taken from all; a refused one is taken
/// from none. The shortest window is asked first, and the first that refuses is reported.
#[derive(Debug)]
pub struct GcraLimiter {
    rates: Box<[Rate]>,
    store: Arc<MemoryStore>,
    clock: Box<dyn Clock>,
}

impl GcraLimiter {
    /// A limiter with a memory store of its own, on the system's clock. A [`Quota`] is a window too.
    ///
    /// # Errors
    /// [`QuotaError`] where there is no window, more than 16, or one out of range.
    pub fn new<W: Into<GcraWindow>>(windows: impl IntoIterator<Item = W>) -> Result<Self, QuotaError> {
        Self::with(windows, Arc::default(), SystemClock)
    }

    /// A limiter in `store` on `clock`. Limiters of one store share a key's count: give each its own prefix.
    ///
    /// # Errors
    /// [`QuotaError`] where there is no window, more than 16, or one out of range.
    pub fn with<W: Into<GcraWindow>>(
        windows: impl IntoIterator<Item = W>,
        store: Arc<MemoryStore>,
        clock: impl Clock + 'static,
    ) -> Result<Self, QuotaError> {
        let mut windows: Vec<GcraWindow> = windows.into_iter().map(Into::into).collect();
        if windows.is_empty() || windows.len() > MAX_STACKED {
            return Err(QuotaError(format!("give 1 to {MAX_STACKED} windows, not {}", windows.len())));
        }
        windows.sort_by_key(|window| window.quota.window_seconds);
        let rate = |window: &GcraWindow| {
            let quota = checked(window.quota)?;
            if window.burst < 1 {
                return Err(QuotaError("burst must be 1 or more".into()));
            }
            Rate::new(quota.requests, u64::from(quota.window_seconds), window.burst).map_err(|_| {
                QuotaError(format!(
                    "{window:?} is out of range: keep requests x seconds within 2^53 and a full burst within a year"
                ))
            })
        };
        let rates = windows.iter().map(rate).collect::<Result<_, _>>()?;
        Ok(Self { rates, store, clock: Box::new(clock) })
    }
}

impl RateLimiter for GcraLimiter {
    fn check(&self, key: &str, cost: f64) -> Result<RateDecision, KeyedError> {
        let cost = Cost::new(cost).map_err(KeyedError::Cost)?;
        let key = self.store.key_of(key.as_bytes());
        let taken = self.store.take_all(key, &self.rates, cost, self.clock.now_us());
        let Some(stack) = taken else { return Err(KeyedError::Backend("no window".into())) };
        let (rate, reading) = (&self.rates[stack.level], stack.reading);
        let wait = || Duration::from_micros(reading.wait_us(rate, rate.span(cost)));
        Ok(RateDecision {
            allowed: !reading.refused,
            limit: rate.bucket.limit,
            remaining: reading.remaining(&rate.bucket),
            reset_after: Duration::from_micros(reading.reset_after_us(&rate.bucket)),
            retry_after: (reading.refused && rate.can_pass(cost)).then(wait),
        })
    }
}
