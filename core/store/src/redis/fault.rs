//! A call that gave no reply.

use labkit_ratelimit_engine::{Failure, FailureKind};

/// Why a call gave no reply: an error of the server, of the connection, or the deadline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The class or type of the error in the host's client, for the log.
    pub class_name: String,
    /// Its message; of a server error its text, such as `LOADING Redis is loading the dataset in memory`.
    pub message: String,
}

impl Fault {
    /// A fault of the host's client.
    pub fn new(class_name: impl Into<String>, message: impl Into<String>) -> Self {
        Self { class_name: class_name.into(), message: message.into() }
    }

    /// The deadline passed.
    pub fn deadline(deadline: std::time::Duration) -> Self {
        Self::new("DeadlineExceeded", format!("no reply within {} ms", deadline.as_millis()))
    }

    /// Nobody can be reached.
    pub fn unreachable(message: impl Into<String>) -> Self {
        Self::new("ConnectionError", message)
    }

    /// The failure of a check that it is. A value of the wrong type is no failure of the store.
    pub fn into_failure(self, rule: Option<u32>) -> Failure {
        let kind = if is_wrong_type(&self.message) { FailureKind::WrongType } else { FailureKind::Store };
        Failure { rule, ..Failure::new(kind, self.class_name, self.message) }
    }
}

/// What Redis says of a value that a command cannot work on.
fn is_wrong_type(message: &str) -> bool {
    message.contains("WRONGTYPE")
        || message.contains("not a valid float")
        || message.contains("would produce NaN or Infinity")
}
