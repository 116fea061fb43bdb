//! Errors of the connection and of the server as faults.

use labkit_ratelimit::Fault;
use redis::{ErrorKind, RedisError};
use std::fmt;

/// What a server answered in place of a reply: its own words, code first.
pub(crate) fn of_server(error: &RedisError) -> Fault {
    let code = error.code().unwrap_or("ERR");
    let message = error.detail().map_or_else(|| code.to_owned(), |detail| format!("{code} {detail}"));
    // A call with many keys is no command to a server that nobody logged in to, but a breach of its protocol.
    if code == "NOAUTH" || message.contains("unauthenticated") {
        return Fault::new(
            "AuthenticationError",
            format!("the server asks for a password, and none was given: {message}"),
        );
    }
    Fault::new("CommandError", message)
}

/// A connection that is lost, or could not be made.
pub(crate) fn of_connection(place: &impl fmt::Display, error: &RedisError) -> Fault {
    match error.kind() {
        ErrorKind::Server(_) | ErrorKind::Extension => of_server(error),
        ErrorKind::AuthenticationFailed => {
            let why = error.detail().unwrap_or("user or password are wrong");
            Fault::new("AuthenticationError", format!("{place}: {why}"))
        }
        _ => Fault::unreachable(format!("{place}: {error}")),
    }
}

/// Whether it is the server that answered with an error, over a connection that works.
pub(crate) fn is_of_server(error: &RedisError) -> bool {
    matches!(error.kind(), ErrorKind::Server(_) | ErrorKind::Extension)
}

/// What came is no reply of a script of ours.
pub(crate) fn unexpected(what: &str) -> Fault {
    Fault::new("UnexpectedReply", what)
}
