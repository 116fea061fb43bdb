//! `ManualClock`: a clock that stands still until it is told otherwise, for tests.

use labkit_ratelimit::{Clock as _, ManualClock};
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::Duration;

/// One, shared with the limiters that go by it.
#[pyclass(frozen, name = "ManualClock", module = "labkit_ratelimit")]
pub(crate) struct Clock {
    pub(crate) clock: Arc<ManualClock>,
}

#[pymethods]
impl Clock {
    #[new]
    #[pyo3(signature = (unix_seconds = 1_700_000_000))]
    fn new(unix_seconds: u32) -> Self {
        Self { clock: Arc::new(ManualClock::at_unix_seconds(u64::from(unix_seconds))) }
    }

    /// Moves it by so many seconds; back where they are negative. Whole microseconds count.
    fn advance(&self, seconds: f64) -> PyResult<()> {
        let by = Duration::try_from_secs_f64(seconds.abs())
            .ok()
            .and_then(|by| i64::try_from((by.as_nanos() + 500) / 1000).ok())
            .ok_or_else(|| PyOverflowError::new_err("so many seconds no clock can move by"))?;
        self.clock.advance_us(if seconds < 0.0 { -by } else { by });
        Ok(())
    }

    /// Microseconds since 1970.
    fn now_us(&self) -> u64 {
        self.clock.now_us()
    }

    fn __repr__(&self) -> String {
        format!("ManualClock(now_us={})", self.clock.now_us())
    }
}
