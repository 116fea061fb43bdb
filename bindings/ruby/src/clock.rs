//! `Native::ManualClock`: a clock that stands still until it is told otherwise, for tests.

use labkit_ratelimit::{Clock as _, ManualClock};
use magnus::{Error, Module as _, Object as _, RModule, Ruby, function, method};
use std::sync::Arc;

/// One, shared with the limiters that go by it.
#[magnus::wrap(class = "Labkit::RateLimit::Native::ManualClock", free_immediately)]
pub(crate) struct Clock {
    pub(crate) clock: Arc<ManualClock>,
}

impl Clock {
    fn new(unix_seconds: u32) -> Self {
        Self { clock: Arc::new(ManualClock::at_unix_seconds(u64::from(unix_seconds))) }
    }

    /// Moves it; back where `by_us` is negative.
    fn advance_us(&self, by_us: i64) {
        self.clock.advance_us(by_us);
    }

    fn now_us(&self) -> u64 {
        self.clock.now_us()
    }
}

pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("ManualClock", ruby.class_object())?;
    class.define_singleton_method("new", function!(Clock::new, 1))?;
    class.define_method("advance_us", method!(Clock::advance_us, 1))?;
    class.define_method("now_us", method!(Clock::now_us, 0))
}
