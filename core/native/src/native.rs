//! The connection itself: for async callers, and for those that block.

use crate::builder::Builder;
use crate::error::ConfigError;
use crate::process::Process;
use crate::request::Request;
use crate::route::{Route, Routes};
use crate::server::Server;
use arc_swap::ArcSwapOption;
use labkit_ratelimit::{
    Call, CallOptions, Clearing, Connection, Decision, Fault, Identifier, Limiter, Mode, Planned, RedisOptions,
};
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// The runtime keeps the deadline; how much later the thread that waits for it loses patience with the runtime.
const GRACE: Duration = Duration::from_millis(10);

/// A Redis connection of this crate's own, shared by any number of limiters, threads and tasks.
///
/// The first call connects. A connection that broke is replaced by the next call. In a process forked from
/// this one the first call starts afresh; the parent's connection is left alone.
///
/// Dropped, it leaves calls under way without a reply.
pub struct NativeRedis {
    server: Server,
    routes: Routes,
    workers: usize,
    /// A runtime of the host's, and the process that it is in.
    given: Option<(Handle, u32)>,
    process: ArcSwapOption<Process>,
}

impl NativeRedis {
    /// A connection to `server` on a runtime of its own with one thread, started by the first call.
    ///
    /// # Errors
    /// What is wrong with the server, and how to mend it.
    pub fn new(server: Server) -> Result<Self, ConfigError> {
        Self::builder(server).build()
    }

    /// A connection to `server` with more of a say.
    pub const fn builder(server: Server) -> Builder {
        Builder::new(server)
    }

    pub(crate) fn with(server: Server, routes: Routes, workers: usize, handle: Option<Handle>) -> Self {
        let given = handle.map(|handle| (handle, std::process::id()));
        Self { server, routes, workers, given, process: ArcSwapOption::empty() }
    }

    /// The server.
    pub const fn server(&self) -> &Server {
        &self.server
    }

    /// Options for a limiter on this server: its topology, the default deadline, a circuit of its own.
    pub fn options(&self) -> RedisOptions {
        RedisOptions { topology: self.server.topology(), ..RedisOptions::default() }
    }

    /// Charges and decides, without blocking the thread. As [`Limiter::check_with`].
    ///
    /// It is planned here and now and charged once the future is polled. A future dropped before it is ready
    /// has no result and no metric; whether it counted is unknown. How long it was waited for is not forgotten: see
    /// [`Limiter::waited_in_vain`].
    pub fn check<'n, 'l, I: Identifier + ?Sized>(
        &'n self,
        limiter: &'l Limiter,
        identifier: &I,
        options: CallOptions<'_>,
    ) -> impl Future<Output = Decision> + Send + use<'n, 'l, I> {
        self.settle(limiter, limiter.plan(identifier, options, Mode::Check))
    }

    /// Decides on the state as it stands and changes nothing, without blocking the thread. As
    /// [`Limiter::peek_with`].
    pub fn peek<'n, 'l, I: Identifier + ?Sized>(
        &'n self,
        limiter: &'l Limiter,
        identifier: &I,
        options: CallOptions<'_>,
    ) -> impl Future<Output = Decision> + Send + use<'n, 'l, I> {
        self.settle(limiter, limiter.plan(identifier, options, Mode::Peek))
    }

    /// Deletes counters and bans of this identifier, without blocking the thread; gives how many keys it
    /// deleted. As [`Limiter::clear`].
    pub fn clear<'n, 'l, I: Identifier + ?Sized>(
        &'n self,
        limiter: &'l Limiter,
        identifier: &I,
    ) -> impl Future<Output = u64> + Send + use<'n, 'l, I> {
        self.settle_clear(limiter, limiter.plan_clear(identifier))
    }

    async fn settle(&self, limiter: &Limiter, mut planned: Planned) -> Decision {
        loop {
            match planned {
                Planned::Done(decision) => return decision,
                Planned::Call(pending) => {
                    let wait = Wait::begins(limiter, pending.deadline());
                    let reply = self.answer(pending.call(), pending.deadline()).await;
                    wait.ends();
                    planned = limiter.settle(pending, reply);
                }
            }
        }
    }

    async fn settle_clear(&self, limiter: &Limiter, mut clearing: Clearing) -> u64 {
        while let Some(call) = clearing.call() {
            let wait = Wait::begins(limiter, clearing.deadline());
            let reply = self.answer(call, clearing.deadline()).await;
            wait.ends();
            limiter.settle_clear(&mut clearing, reply);
        }
        clearing.deleted()
    }

    /// Runs a call. It is a task of its own, so that whoever waits may be on another runtime, or give up.
    fn answer(&self, call: &Call, deadline: Duration) -> impl Future<Output = Result<Vec<u8>, Fault>> + Send + use<> {
        let request = Request::new(call);
        let started = self.here().map(|(handle, route)| handle.spawn(route.run(request, deadline)));
        async move { started?.await.unwrap_or_else(|_| Err(broken_off())) }
    }

    /// What this process has, which is started now if there is nothing yet.
    fn here(&self) -> Result<(Handle, Route), Fault> {
        loop {
            let current = self.process.load();
            if let Some((handle, route)) = current.as_ref().and_then(|process| process.here()) {
                return Ok((handle.clone(), route));
            }
            // A runtime is not there in a process that was forked from its own.
            let given = self.given.as_ref().filter(|(_, process)| *process == std::process::id());
            let fresh = Process::start(given.map(|(handle, _)| handle), self.workers, self.routes.open())?;
            // Another thread may have been first: then its own is used, and this one dropped.
            drop(self.process.compare_and_swap(&current, Some(Arc::new(fresh))));
        }
    }
}

/// Blocks the thread for a round trip, for `deadline` at most.
///
/// Inside an async task it does not panic, but holds up that task's thread: prefer [`NativeRedis::check`] there,
/// and see [`Builder::handle`].
impl Connection for NativeRedis {
    fn run(&self, call: &Call, deadline: Duration) -> Result<Vec<u8>, Fault> {
        let (handle, route) = self.here()?;
        let (sender, receiver) = sync_channel(1);
        let reply = route.run(Request::new(call), deadline);
        handle.spawn(async move {
            // Nobody waits any more if this fails.
            let _ = sender.send(reply.await);
        });
        match receiver.recv_timeout(deadline.saturating_add(GRACE)) {
            Ok(reply) => reply,
            // The runtime itself is late. A reply that is there is used, however late.
            Err(RecvTimeoutError::Timeout) => receiver.try_recv().unwrap_or_else(|_| Err(Fault::deadline(deadline))),
            Err(RecvTimeoutError::Disconnected) => Err(broken_off()),
        }
    }
}

impl fmt::Debug for NativeRedis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NativeRedis({})", self.server)
    }
}

/// A caller that waits; one that is dropped meanwhile went before its call was answered.
struct Wait<'l> {
    limiter: &'l Limiter,
    since: Instant,
    deadline: Duration,
    is_over: bool,
}

impl<'l> Wait<'l> {
    fn begins(limiter: &'l Limiter, deadline: Duration) -> Self {
        Self { limiter, since: Instant::now(), deadline, is_over: false }
    }

    fn ends(mut self) {
        self.is_over = true;
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.limiter.waited_in_vain(self.since.elapsed(), self.deadline);
        }
    }
}

/// The runtime went away, or the task panicked.
fn broken_off() -> Fault {
    Fault::new("RuntimeError", "the call was broken off: its runtime has ended")
}
