//! Why checks had no verdict, or not the whole one: the warnings of the limiter, counted.

use labkit_ratelimit::{LogEvent, Logger};
use serde::Serialize;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Counts warnings by what they say.
#[derive(Debug, Default)]
pub(crate) struct Failures(Mutex<Vec<Failure>>);

/// One kind of warning.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Failure {
    pub(crate) rule: Option<String>,
    pub(crate) message: String,
    pub(crate) count: u64,
}

impl Failures {
    /// What was counted.
    pub(crate) fn counted(&self) -> Vec<Failure> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Failure>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Logger for Failures {
    fn warn(&self, event: &LogEvent) {
        let message = match (&event.error_message, &event.count_distinct) {
            (Some(message), _) => message.clone(),
            (None, Some(property)) => format!("passed over: the request lacks `{property}`, whose values are counted"),
            (None, None) => event.message.to_owned(),
        };
        let mut failures = self.lock();
        // Few kinds: a message names a rule or a property, never a value.
        match failures.iter_mut().find(|failure| failure.rule == event.rule && failure.message == message) {
            Some(failure) => failure.count += 1,
            None => failures.push(Failure { rule: event.rule.clone(), message, count: 1 }),
        }
    }
}
