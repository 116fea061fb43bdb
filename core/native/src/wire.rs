//! One connection: requests go in as they come, replies come back in order.

use crate::address::Address;
use crate::fault;
use crate::request::Request;
use labkit_ratelimit::Fault;
use redis::aio::MultiplexedConnection;
use redis::{Cmd, ErrorKind, RedisError, RedisResult, ServerErrorKind, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout, timeout_at};

/// One connection. Clones share it.
#[derive(Clone)]
pub(crate) struct Wire {
    address: Arc<Address>,
    connection: MultiplexedConnection,
    state: Arc<State>,
}

struct State {
    dead: AtomicBool,
    /// How many replies came.
    heard: AtomicU64,
    /// Dropped with the last clone.
    _in_use: oneshot::Sender<()>,
}

/// What came in place of a reply.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The deadline passed. The call may have been run.
    Late,
    /// The slot is another node's: not run.
    Moved(Address),
    /// The slot is on its way to another node, which has these keys: not run.
    Ask(Address),
    /// The server answered with an error.
    Refused(Fault),
    /// There is no connection, or it broke. The call may have been run.
    Lost(Fault),
}

impl Wire {
    /// Lets `driver` carry what is asked of `connection`, until it breaks or nobody uses it.
    pub(crate) fn start(
        address: Address,
        connection: MultiplexedConnection,
        driver: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        let (in_use, left) = oneshot::channel();
        let state = Arc::new(State { dead: AtomicBool::new(false), heard: AtomicU64::new(0), _in_use: in_use });
        let watched = Arc::downgrade(&state);
        tokio::spawn(async move {
            let mut driver = Box::pin(driver);
            tokio::select! {
                () = &mut driver => {
                    if let Some(state) = watched.upgrade() {
                        state.dead.store(true, Relaxed);
                    }
                }
                // Nobody waits for a reply any more.
                _ = left => {}
            }
        });
        Self { address: Arc::new(address), connection, state }
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    pub(crate) fn is_alive(&self) -> bool {
        !self.state.dead.load(Relaxed)
    }

    /// Whoever asks next gets a new connection; what was asked on this one may still be answered.
    pub(crate) fn retire(&self) {
        self.state.dead.store(true, Relaxed);
    }

    /// Runs a script call. With `asking`, on a node that the slot is on its way to.
    pub(crate) async fn run(&self, request: &Request, asking: bool, until: Instant) -> Result<Vec<u8>, Trouble> {
        let heard = self.state.heard.load(Relaxed);
        let Ok(result) = timeout_at(until, self.exchange(request, asking)).await else {
            // Not a word since we asked: the connection may be dead without knowing it.
            if heard == self.state.heard.load(Relaxed) {
                self.retire();
            }
            return Err(Trouble::Late);
        };
        let reply = result.map_err(|error| self.trouble(&error))?;
        let text = match reply {
            Value::BulkString(text) => text,
            Value::SimpleString(text) => text.into_bytes(),
            other => return Err(Trouble::Refused(fault::unexpected(&format!("the script replied {other:?}")))),
        };
        if says_read_only(&text) {
            self.retire();
        }
        Ok(text)
    }

    async fn exchange(&self, request: &Request, asking: bool) -> RedisResult<Value> {
        match self.send(request.by_digest(), asking).await {
            // It was not run. The text is known afterwards.
            Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                self.send(&request.by_source(), asking).await
            }
            result => result,
        }
    }

    async fn send(&self, cmd: &Cmd, asking: bool) -> RedisResult<Value> {
        let mut connection = self.connection.clone();
        let sent = if asking {
            let mut pipeline = redis::Pipeline::new();
            pipeline.cmd("ASKING").add_command(cmd.clone());
            let replies = connection.send_packed_commands(&pipeline, 0, 2).await;
            replies.map(|replies| replies.into_iter().next_back().unwrap_or(Value::Nil))
        } else {
            connection.send_packed_command(cmd).await
        };
        let result = sent.and_then(Value::extract_error);
        if result.as_ref().err().is_none_or(fault::is_of_server) {
            self.state.heard.fetch_add(1, Relaxed);
        }
        result
    }

    fn trouble(&self, error: &RedisError) -> Trouble {
        if !fault::is_of_server(error) {
            self.retire();
            return Trouble::Lost(fault::of_connection(&*self.address, error));
        }
        let to = error.redirect_node().and_then(|(address, _)| Address::redirected(address, &self.address));
        match (error.kind(), to) {
            (ErrorKind::Server(ServerErrorKind::Moved), Some(address)) => return Trouble::Moved(address),
            (ErrorKind::Server(ServerErrorKind::Ask), Some(address)) => return Trouble::Ask(address),
            (ErrorKind::Server(ServerErrorKind::ReadOnly), _) => self.retire(),
            _ => {}
        }
        Trouble::Refused(fault::of_server(error))
    }

    /// Asks something else of the server.
    pub(crate) async fn query(&self, cmd: &Cmd, patience: Duration) -> Result<Value, Fault> {
        let Ok(result) = timeout(patience, self.send(cmd, false)).await else {
            self.retire();
            return Err(Fault::unreachable(format!("{}: no reply within {} ms", self.address, patience.as_millis())));
        };
        result.map_err(|error| fault::of_connection(&*self.address, &error))
    }
}

/// Our scripts catch the errors of their commands and put them behind a `!`. This one says that the master
/// has become a replica.
fn says_read_only(reply: &[u8]) -> bool {
    let failure = reply.iter().position(|byte| *byte == b'!');
    failure.is_some_and(|at| reply[at..].starts_with(b"! READONLY"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_only_server_is_told_by_the_reply() {
        assert!(says_read_only(b"! READONLY You can't write against a read only replica."));
        assert!(says_read_only(b"3 60000 0 ! READONLY You can't write"));
        assert!(says_read_only(b"0 ! READONLY You can't write"));
        for reply in [&b"3 60000 0"[..], b"! WRONGTYPE Operation", b"", b"!"] {
            assert!(!says_read_only(reply));
        }
    }
}
