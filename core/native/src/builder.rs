//! How a connection is run.

use crate::error::{ConfigError, ConfigErrorKind};
use crate::native::NativeRedis;
use crate::route::Routes;
use crate::server::Server;
use std::time::Duration;
use tokio::runtime::Handle;

const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
const DEFAULT_WORKERS: usize = 1;

/// Says how a [`NativeRedis`] is run; [`Builder::build`] checks it.
#[derive(Clone, Debug)]
pub struct Builder {
    server: Server,
    connect_timeout: Duration,
    workers: usize,
    handle: Option<Handle>,
}

impl Builder {
    pub(crate) const fn new(server: Server) -> Self {
        Self { server, connect_timeout: DEFAULT_CONNECT_TIMEOUT, workers: DEFAULT_WORKERS, handle: None }
    }

    /// How long one attempt to connect may take, TLS and login included; 1 s by default. It bounds no call:
    /// a call waits for its deadline at most, and the attempt goes on behind it.
    #[must_use]
    pub const fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// The number of threads of the runtime it starts; 1 by default, and enough: one connection is one
    /// stream of bytes.
    #[must_use]
    pub const fn worker_threads(mut self, number: usize) -> Self {
        self.workers = number;
        self
    }

    /// Runs on a runtime of the host's, with its timer and I/O enabled, and starts none.
    ///
    /// The blocking side ([`labkit_ratelimit::Connection`]) must then not be called by a task of that runtime
    /// (`spawn_blocking` is fine): the task that would answer may be waiting for that very thread, and the call
    /// then fails at its deadline. In a process forked from this one a runtime of its own is started after all.
    #[must_use]
    pub fn handle(mut self, handle: Handle) -> Self {
        self.handle = Some(handle);
        self
    }

    /// Checks the server and reads certificates. Connects to nothing, starts no thread.
    ///
    /// # Errors
    /// What is wrong with the server or a setting, and how to mend it.
    pub fn build(self) -> Result<NativeRedis, ConfigError> {
        if self.connect_timeout.is_zero() || self.workers == 0 {
            let message = "connect_timeout and worker_threads must be above 0: leave them out for the defaults";
            return Err(ConfigError::new(ConfigErrorKind::Parameter, message));
        }
        let routes = Routes::to(&self.server, self.connect_timeout)?;
        Ok(NativeRedis::with(self.server, routes, self.workers, self.handle))
    }
}
