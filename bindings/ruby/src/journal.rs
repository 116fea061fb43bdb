//! The warnings of one limiter, until Ruby takes them.

use labkit_ratelimit::{LogEvent, Logger};
use magnus::{Error, RArray, Ruby};
use parking_lot::Mutex;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// So many are kept at most: a host that takes none must not grow of them.
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

    /// Those since the last call, as Hashes.
    ///
    /// # Errors
    /// Ruby has no memory for them.
    pub(crate) fn take(&self, ruby: &Ruby) -> Result<RArray, Error> {
        self.any.store(false, Relaxed);
        // The lock is let go of before Ruby runs.
        let events = mem::take(&mut *self.events.lock());
        let taken = ruby.ary_new_capa(events.len());
        for event in events {
            let hash = ruby.hash_new();
            hash.aset(ruby.to_symbol("message"), event.message)?;
            hash.aset(ruby.to_symbol("error_type"), event.error_type)?;
            hash.aset(ruby.to_symbol("name"), event.name)?;
            hash.aset(ruby.to_symbol("rule"), event.rule)?;
            hash.aset(ruby.to_symbol("count_distinct"), event.count_distinct)?;
            hash.aset(ruby.to_symbol("class_name"), event.class_name)?;
            hash.aset(ruby.to_symbol("error_message"), event.error_message)?;
            hash.aset(ruby.to_symbol("identifier_keys"), event.identifier_keys)?;
            taken.push(hash)?;
        }
        Ok(taken)
    }
}
