//! The warnings of one limiter, until Python takes them.

use labkit_ratelimit::{LogEvent, Logger};
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// So many are kept at most, where Python takes none.
const MOST: usize = 1000;

/// Warnings, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    any: AtomicBool,
    events: Mutex<Vec<LogEvent>>,
}

impl Logger for Journal {
    fn warn(&self, event: &LogEvent) {
        let mut events = self.events.lock();
        if events.len() < MOST {
            events.push(event.clone());
        }
        self.any.store(true, Relaxed);
    }
}

impl Journal {
    /// Whether there are any.
    pub(crate) fn has_any(&self) -> bool {
        self.any.load(Relaxed)
    }

    /// Tells each of those since the last call to `tell`: its text, and its fields.
    ///
    /// # Errors
    /// What `tell` raises.
    #[cold]
    pub(crate) fn tell(&self, tell: &Bound<'_, PyAny>) -> PyResult<()> {
        self.any.store(false, Relaxed);
        // The lock is let go of before Python runs.
        let events = mem::take(&mut *self.events.lock());
        for event in events {
            let fields = PyDict::new(tell.py());
            let text = event.to_string();
            fields.set_item("message", event.message)?;
            fields.set_item("error_type", event.error_type)?;
            fields.set_item("name", event.name)?;
            fields.set_item("rule", event.rule)?;
            fields.set_item("count_distinct", event.count_distinct)?;
            fields.set_item("class_name", event.class_name)?;
            fields.set_item("error_message", event.error_message)?;
            fields.set_item("identifier_keys", event.identifier_keys)?;
            tell.call1((text, fields))?;
        }
        Ok(())
    }
}
