//! The warnings of a limiter.

use crate::limiter::Limiter;
use crate::log::{self, LogEvent};
use labkit_ratelimit_engine::{Failure, FailureKind, Rule};

impl Limiter {
    /// One line for a failure, of `rule` if of any; none while the circuit is open.
    pub(crate) fn warn_failure(&self, failure: &Failure, rule: Option<&Rule>, names: &dyn Fn() -> Vec<String>) {
        if failure.kind == FailureKind::CircuitOpen {
            return;
        }
        self.warn(LogEvent {
            message: "rate_limit_error",
            error_type: Some("rate_limit_error"),
            rule: rule.map(|rule| rule.name().to_owned()),
            class_name: Some(failure.class_name.clone()),
            error_message: Some(failure.message.clone()),
            identifier_keys: names(),
            ..LogEvent::default()
        });
    }

    /// A distinct rule was passed over.
    pub(crate) fn warn_missing_distinct(&self, rule: &Rule, names: &dyn Fn() -> Vec<String>) {
        self.warn(LogEvent {
            message: "rate_limit_missing_count_distinct",
            rule: Some(rule.name().to_owned()),
            count_distinct: rule.count_distinct().map(str::to_owned),
            identifier_keys: names(),
            ..LogEvent::default()
        });
    }

    /// The circuit opened or closed.
    pub(crate) fn warn_circuit(&self, message: &'static str) {
        self.warn(LogEvent { message, ..LogEvent::default() });
    }

    fn warn(&self, event: LogEvent) {
        log::warn(&*self.logger, &LogEvent { name: self.name().to_owned(), ..event });
    }
}
