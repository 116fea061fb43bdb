//! The way to one server, whichever connection it takes.

use crate::address::Address;
use crate::dial::Dialer;
use crate::flight::Flight;
use crate::request::Request;
use crate::sentinel::Sentinels;
use crate::wire::{Trouble, Wire};
use labkit_ratelimit::Fault;
use std::sync::Arc;
use tokio::time::{Instant, timeout_at};

/// The way to one server. A connection that broke is replaced when the next call comes.
pub(crate) struct Link {
    end: Arc<End>,
    dialing: Flight<Wire>,
}

/// Where it ends.
enum End {
    Fixed(Address, Dialer),
    /// At whoever is master when it is dialed.
    Master(Sentinels),
}

impl Link {
    pub(crate) fn to(address: Address, dialer: Dialer) -> Self {
        Self { end: Arc::new(End::Fixed(address, dialer)), dialing: Flight::default() }
    }

    pub(crate) fn to_master(sentinels: Sentinels) -> Self {
        Self { end: Arc::new(End::Master(sentinels)), dialing: Flight::default() }
    }

    /// The connection it has.
    pub(crate) fn connected(&self) -> Option<Wire> {
        self.dialing.landed(Wire::is_alive)
    }

    /// The connection it has, or a new one.
    pub(crate) async fn wire(&self) -> Result<Wire, Fault> {
        let end = Arc::clone(&self.end);
        let dial = || async move {
            match &*end {
                End::Fixed(address, dialer) => dialer.dial(address).await,
                End::Master(sentinels) => sentinels.master().await,
            }
        };
        self.dialing.get(Wire::is_alive, dial).await
    }

    /// Runs a script call.
    pub(crate) async fn run(&self, request: &Request, asking: bool, until: Instant) -> Result<Vec<u8>, Trouble> {
        match timeout_at(until, self.wire()).await {
            Err(_) => Err(Trouble::Late),
            Ok(Err(fault)) => Err(Trouble::Lost(fault)),
            Ok(Ok(wire)) => wire.run(request, asking, until).await,
        }
    }
}
