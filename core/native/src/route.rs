//! From a call to its reply.

use crate::cluster::Cluster;
use crate::dial::Dialer;
use crate::error::ConfigError;
use crate::link::Link;
use crate::request::Request;
use crate::sentinel::Sentinels;
use crate::server::{Place, Server};
use crate::wire::Trouble;
use labkit_ratelimit::Fault;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Stands for a deadline beyond what a clock can tell.
const A_YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// How a process reaches its server.
#[derive(Clone)]
pub(crate) enum Route {
    /// To one server, or to the master.
    Single(Arc<Link>),
    Cluster(Arc<Cluster>),
}

/// What routes are made from: the server, and certificates that were read once.
pub(crate) struct Routes {
    place: Place,
    dialer: Dialer,
    sentinels: Dialer,
}

impl Routes {
    pub(crate) fn to(server: &Server, patience: Duration) -> Result<Self, ConfigError> {
        server.validate()?;
        let (dialer, sentinels) = Dialer::pair(server, patience)?;
        Ok(Self { place: server.place.clone(), dialer, sentinels })
    }

    /// A route without any connection yet.
    pub(crate) fn open(&self) -> Route {
        let dialer = self.dialer.clone();
        match &self.place {
            Place::Single(address) => Route::Single(Arc::new(Link::to(address.clone(), dialer))),
            Place::Sentinel { master, sentinels } => {
                let sentinels = Sentinels::new(master.clone(), sentinels.clone(), self.sentinels.clone(), dialer);
                Route::Single(Arc::new(Link::to_master(sentinels)))
            }
            Place::Cluster(seeds) => Route::Cluster(Cluster::new(seeds.clone(), dialer)),
        }
    }
}

impl Route {
    /// Runs a call within `deadline`, connecting included. It runs from now on, however late the runtime begins.
    pub(crate) fn run(
        self,
        request: Request,
        deadline: Duration,
    ) -> impl Future<Output = Result<Vec<u8>, Fault>> + Send + 'static {
        let now = Instant::now();
        let until = now.checked_add(deadline).unwrap_or(now + A_YEAR);
        async move {
            let outcome = match &self {
                Self::Single(link) => link.run(&request, false, until).await,
                Self::Cluster(cluster) => cluster.run(&request, until).await,
            };
            outcome.map_err(|trouble| match trouble {
                Trouble::Late => Fault::deadline(deadline),
                Trouble::Refused(fault) | Trouble::Lost(fault) => fault,
                Trouble::Moved(address) | Trouble::Ask(address) => Fault::new(
                    "CommandError",
                    format!("MOVED to {address}: this is a cluster, configure it as redis+cluster://"),
                ),
            })
        }
    }
}
