//! Why a check has no verdict.

use crate::host::HostError;
use std::fmt;

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// The identifier holds a value that cannot be one.
    BadIdentifier,
    /// The cost is negative, NaN or infinite.
    BadCost,
    /// A callable failed, or returned what is no such number.
    Callable,
    /// A pattern object failed.
    Pattern,
    /// The key holds a value of another type.
    WrongType,
    /// The store did not answer, or answered with an error.
    Store,
    /// The circuit is open: the store was not asked. Never logged.
    CircuitOpen,
    /// The caller did not wait for the store's answer: that says nothing of the store.
    Abandoned,
    /// A defect here: a panic, a reply that no script of ours gives.
    Internal,
}

/// A failure of one check, with what its log line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind.
    pub kind: FailureKind,
    /// The rule in hand: its place in [`crate::Rules`].
    pub rule: Option<u32>,
    /// The class or type of the error.
    pub class_name: String,
    /// What it said.
    pub message: String,
}

impl Failure {
    /// A failure with no rule in hand.
    pub fn new(kind: FailureKind, class_name: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind, rule: None, class_name: class_name.into(), message: message.into() }
    }

    /// The host failed at a rule.
    pub(crate) fn of_host(kind: FailureKind, rule: u32, error: HostError) -> Self {
        Self { kind, rule: Some(rule), class_name: error.class_name, message: error.message }
    }

    /// Whether it is the store's, so that `on_error: local` may count in memory.
    pub const fn is_of_store(&self) -> bool {
        matches!(self.kind, FailureKind::Store | FailureKind::CircuitOpen)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.class_name, self.message)
    }
}

impl std::error::Error for Failure {}
