//! What belongs to one process: a runtime, and the route to the server. A fork leaves both behind.

use crate::route::Route;
use labkit_ratelimit::Fault;
use tokio::runtime::{Builder, Handle, Runtime};

/// Threads that look up host names.
const LOOK_UPS: usize = 2;

/// A runtime and a route, of the process that made them.
pub(crate) struct Process {
    id: u32,
    host: Option<Host>,
    route: Option<Route>,
}

/// Where tasks run.
enum Host {
    Own(Runtime),
    Given(Handle),
}

impl Process {
    /// Tasks run on `given`, or on a runtime of its own with `workers` threads.
    pub(crate) fn start(given: Option<&Handle>, workers: usize, route: Route) -> Result<Self, Fault> {
        let host = match given {
            Some(handle) => Host::Given(handle.clone()),
            None => Host::Own(
                Builder::new_multi_thread()
                    .worker_threads(workers)
                    .max_blocking_threads(LOOK_UPS)
                    .thread_name("labkit-ratelimit")
                    .enable_all()
                    .build()
                    .map_err(|error| Fault::new("RuntimeError", format!("no thread can be started: {error}")))?,
            ),
        };
        Ok(Self { id: std::process::id(), host: Some(host), route: Some(route) })
    }

    /// Where to run what, unless it is another process's that this one was forked from.
    pub(crate) fn here(&self) -> Option<(&Handle, Route)> {
        if self.id != std::process::id() {
            return None;
        }
        let handle = match self.host.as_ref()? {
            Host::Own(runtime) => runtime.handle(),
            Host::Given(handle) => handle,
        };
        Some((handle, self.route.clone()?))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let (host, route) = (self.host.take(), self.route.take());
        if self.id != std::process::id() {
            // Its threads are not here, its locks may be held for ever, and its poll set is the parent's
            // too: what is let go of there is let go of for the parent. So it is left as it is.
            std::mem::forget(host);
            std::mem::forget(route);
            return;
        }
        drop(route);
        if let Some(Host::Own(runtime)) = host {
            // A runtime must not be waited for where tasks run.
            runtime.shutdown_background();
        }
    }
}
