//! What the library says in the course of one call. It leaves with that call: no lock, no list that grows.

use labkit_ratelimit::{LogEvent, Logger};
use std::cell::RefCell;

thread_local! {
    static EVENTS: RefCell<Vec<LogEvent>> = const { RefCell::new(Vec::new()) };
}

/// The logger of every limiter here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listener;

impl Logger for Listener {
    fn warn(&self, event: &LogEvent) {
        // A thread that is ending keeps nothing.
        let _ = EVENTS.try_with(|events| events.borrow_mut().push(event.clone()));
    }
}

/// What was said on this thread since it was last asked.
pub(crate) fn take() -> Vec<LogEvent> {
    EVENTS.try_with(|events| std::mem::take(&mut *events.borrow_mut())).unwrap_or_default()
}
