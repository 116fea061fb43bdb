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
        let message = without_keys(&self.message);
        let kind = if is_wrong_type(&self.message) { FailureKind::WrongType } else { FailureKind::Store };
        Failure { rule, ..Failure::new(kind, self.class_name, message) }
    }
}

/// What Redis says of a value that a command cannot work on.
fn is_wrong_type(message: &str) -> bool {
    message.contains("WRONGTYPE")
        || message.contains("not a valid float")
        || message.contains("would produce NaN or Infinity")
}

/// The message as far as it shows no key: keys hold values of identifiers, which no log may show. Redis
/// repeats arguments of a command that it does not know.
fn without_keys(message: &str) -> String {
    let shown = ["labkit:rl:", ", with args beginning with"].iter().filter_map(|start| message.find(start)).min();
    shown.map_or_else(|| message.to_owned(), |end| format!("{}…", &message[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_of_an_identifier_reaches_the_log() {
        let said = "ERR unknown command 'EVALSHA', with args beginning with: 'abc' '1' 'labkit:rl:{lim:r:user:alice@example.org}'";
        assert_eq!(Fault::new("CommandError", said).into_failure(None).message, "ERR unknown command 'EVALSHA'…");
        let said = "NOPERM no permission to access key 'labkit:rl:{lim:r:user:alice}'";
        assert_eq!(
            Fault::new("CommandError", said).into_failure(None).message,
            "NOPERM no permission to access key '…"
        );
    }
}
