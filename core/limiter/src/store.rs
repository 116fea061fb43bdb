//! Where a limiter counts.

use crate::circuit::Circuit;
use labkit_ratelimit_store::MemoryStore;
use labkit_ratelimit_store::redis::{Call, Fault, Topology};
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How long a call of the store may be waited for, unless the host says otherwise.
pub const DEFAULT_DEADLINE: Duration = Duration::from_millis(100);

/// A connection that runs a call and waits for its reply. Whoever implements it owns the socket.
///
/// It sends `EVALSHA`, and on an error that starts with `NOSCRIPT` `EVAL` once. It never sends a call
/// of unknown fate twice.
pub trait Connection: fmt::Debug + Send + Sync {
    /// Runs `call` and gives the script's reply, one string.
    ///
    /// # Errors
    /// A fault: the server's error, the connection's, or `deadline` passed.
    fn run(&self, call: &Call, deadline: Duration) -> Result<Vec<u8>, Fault>;
}

/// How a limiter meets its Redis.
#[derive(Clone, Debug)]
pub struct RedisOptions {
    /// One server, or a cluster.
    pub topology: Topology,
    /// How long each call may be waited for, connecting included.
    pub deadline: Duration,
    /// The circuit; limiters on one Redis may share one.
    pub circuit: Arc<Circuit>,
}

impl Default for RedisOptions {
    fn default() -> Self {
        Self { topology: Topology::Single, deadline: DEFAULT_DEADLINE, circuit: Arc::new(Circuit::new()) }
    }
}

/// What calls are planned by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub(crate) topology: Topology,
    pub(crate) deadline: Duration,
    /// Where the store fails, the limiter counts itself.
    pub(crate) has_fallback: bool,
}

/// Where a limiter counts.
#[derive(Clone, Debug)]
pub enum Store {
    /// In this process's memory.
    Memory(Arc<MemoryStore>),
    /// On a Redis, by a connection that blocks.
    Connected(Arc<dyn Connection>, RedisOptions),
    /// On a Redis that the host talks to: it runs the calls of [`crate::Pending`].
    Planned(RedisOptions),
}

impl Store {
    /// The memory store that all limiters of this process share by default.
    pub fn process_wide() -> Self {
        static STORE: OnceLock<Arc<MemoryStore>> = OnceLock::new();
        Self::Memory(Arc::clone(STORE.get_or_init(Arc::default)))
    }

    /// A memory store of its own.
    pub fn memory(max_keys: usize) -> Self {
        Self::Memory(Arc::new(MemoryStore::with_max_keys(max_keys)))
    }

    pub(crate) const fn redis(&self) -> Option<&RedisOptions> {
        match self {
            Self::Memory(_) => None,
            Self::Connected(_, options) | Self::Planned(options) => Some(options),
        }
    }
}
