//! What the limiter tells its host's logger: one warning per failure, names only, never a value.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A warning. Fields that do not apply are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogEvent {
    /// What happened: `rate_limit_error`, `rate_limit_missing_count_distinct`, `rate_limit_circuit_open`,
    /// `rate_limit_circuit_closed`, `rate_limit_invalid_documents` (the rules in force stayed),
    /// `rate_limit_memory_store` (once a process: no store was given).
    pub message: &'static str,
    /// `rate_limit_error` on failures.
    pub error_type: Option<&'static str>,
    /// The limiter.
    pub name: String,
    /// The rule in hand.
    pub rule: Option<String>,
    /// The property that a distinct rule missed.
    pub count_distinct: Option<String>,
    /// The class or type of the error.
    pub class_name: Option<String>,
    /// Its message.
    pub error_message: Option<String>,
    /// The names of the identifier's properties, never a value.
    pub identifier_keys: Vec<String>,
}

impl fmt::Display for LogEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} name={}", self.message, self.name)?;
        let optional = [
            ("rule", &self.rule),
            ("count_distinct", &self.count_distinct),
            ("class_name", &self.class_name),
            ("error_message", &self.error_message),
        ];
        for (field, value) in optional {
            if let Some(value) = value {
                write!(f, " {field}={value:?}")?;
            }
        }
        if self.identifier_keys.is_empty() { Ok(()) } else { write!(f, " identifier_keys={:?}", self.identifier_keys) }
    }
}

/// Takes warnings. One that panics changes no decision.
pub trait Logger: fmt::Debug + Send + Sync {
    /// Takes one.
    fn warn(&self, event: &LogEvent);
}

/// The default: an event of `tracing` at level WARN.
#[derive(Clone, Copy, Debug, Default)]
pub struct TracingLogger;

impl Logger for TracingLogger {
    fn warn(&self, event: &LogEvent) {
        tracing::warn!(
            target: "labkit_ratelimit",
            message = event.message,
            error_type = event.error_type,
            name = event.name,
            rule = event.rule,
            count_distinct = event.count_distinct,
            class_name = event.class_name,
            error_message = event.error_message,
            identifier_keys = ?event.identifier_keys,
        );
    }
}

/// Keeps warnings until they are taken, for tests.
#[derive(Debug, Default)]
pub struct LogRecorder(parking_lot::Mutex<Vec<LogEvent>>);

impl LogRecorder {
    /// The warnings since the last call, oldest first.
    pub fn take(&self) -> Vec<LogEvent> {
        std::mem::take(&mut self.0.lock())
    }
}

impl Logger for LogRecorder {
    fn warn(&self, event: &LogEvent) {
        self.0.lock().push(event.clone());
    }
}

impl<L: Logger + ?Sized> Logger for std::sync::Arc<L> {
    fn warn(&self, event: &LogEvent) {
        (**self).warn(event);
    }
}

/// Hands an event to the host's logger, whatever that does.
pub(crate) fn warn(logger: &dyn Logger, event: &LogEvent) {
    // A logger that panics is the host's defect; a check must not fail of it.
    let _ = catch_unwind(AssertUnwindSafe(|| logger.warn(event)));
}
