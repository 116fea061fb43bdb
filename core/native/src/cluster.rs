//! Redis Cluster: which node has a slot, and where a redirection leads.
//!
//! The client's own cluster connection is not used: it either sends a call again whose connection broke,
//! which may have counted, or follows no redirection at all.

use crate::address::Address;
use crate::dial::Dialer;
use crate::flight::Flight;
use crate::link::Link;
use crate::request::Request;
use crate::slot_map::{SlotMap, ranges_in};
use crate::wire::Trouble;
use labkit_ratelimit::Fault;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How often a call may be redirected.
const REDIRECTIONS: usize = 5;
/// How soon the map is drawn again, at the soonest.
const REDRAWN_AFTER: Duration = Duration::from_millis(100);

/// A cluster: a map of its slots, and a link to each node.
pub(crate) struct Cluster {
    seeds: Vec<Address>,
    dialer: Dialer,
    map: Mutex<SlotMap>,
    drawing: Flight<()>,
}

impl Cluster {
    pub(crate) fn new(seeds: Vec<Address>, dialer: Dialer) -> Arc<Self> {
        let map = Mutex::new(SlotMap::blank(dialer.clone()));
        Arc::new(Self { seeds, dialer, map, drawing: Flight::default() })
    }

    fn map(&self) -> MutexGuard<'_, SlotMap> {
        self.map.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a script call on the node that has its slot.
    pub(crate) async fn run(self: &Arc<Self>, request: &Request, until: Instant) -> Result<Vec<u8>, Trouble> {
        let mut link = self.owner(request.slot, until).await?;
        let mut asking = false;
        for _ in 0..=REDIRECTIONS {
            // A redirected call was not run: it is sent again.
            (link, asking) = match link.run(request, asking, until).await {
                Err(Trouble::Moved(address)) => {
                    let link = self.map().moved(request.slot, address);
                    self.redraw_soon();
                    (link, false)
                }
                Err(Trouble::Ask(address)) => (self.map().node(address), true),
                Err(trouble) => {
                    self.redraw_soon();
                    return Err(mended(trouble));
                }
                Ok(reply) => return Ok(reply),
            };
        }
        self.redraw_soon();
        let message = format!("slot {} was redirected more than {REDIRECTIONS} times", request.slot);
        Err(Trouble::Refused(Fault::new("TooManyRedirections", message)))
    }

    async fn owner(self: &Arc<Self>, slot: u16, until: Instant) -> Result<Arc<Link>, Trouble> {
        if let Some(link) = self.map().owner(slot) {
            return Ok(link);
        }
        if self.may_redraw() {
            let drawing = self.drawing.get(|()| false, || Arc::clone(self).redraw());
            match timeout_at(until, drawing).await {
                Err(_) => return Err(Trouble::Late),
                Ok(Err(fault)) => return Err(Trouble::Lost(fault)),
                Ok(Ok(())) => {}
            }
        }
        let unserved = || Trouble::Refused(Fault::new("CommandError", format!("CLUSTERDOWN no node has slot {slot}")));
        self.map().owner(slot).ok_or_else(unserved)
    }

    fn may_redraw(&self) -> bool {
        self.map().drawn_at.is_none_or(|at| at.elapsed() >= REDRAWN_AFTER)
    }

    fn redraw_soon(self: &Arc<Self>) {
        if self.may_redraw() {
            drop(self.drawing.join(|()| false, || Arc::clone(self).redraw()));
        }
    }

    /// Asks one node after the other, connected ones first, what the cluster looks like.
    async fn redraw(self: Arc<Self>) -> Result<(), Fault> {
        let links = {
            let mut map = self.map();
            for seed in &self.seeds {
                map.node(seed.clone());
            }
            map.known()
        };
        let mut faults = Vec::new();
        for link in links {
            match self.ask(&link).await {
                Ok(owners) => {
                    self.map().redraw(owners);
                    return Ok(());
                }
                Err(fault) if faults.contains(&fault.message) => {}
                Err(fault) => faults.push(fault.message),
            }
        }
        Err(Fault::unreachable(format!("no node of the cluster tells who has which slot: {}", faults.join("; "))))
    }

    async fn ask(&self, link: &Link) -> Result<Vec<(u16, u16, Address)>, Fault> {
        let wire = link.wire().await?;
        let mut question = redis::cmd("CLUSTER");
        question.arg("SLOTS");
        let answer = wire.query(&question, self.dialer.patience).await?;
        let owners = ranges_in(answer, wire.address());
        if owners.is_empty() {
            return Err(Fault::unreachable(format!("{} knows of no slots", wire.address())));
        }
        Ok(owners)
    }
}

/// With a word on what to do, where the limiter was built for one server.
fn mended(trouble: Trouble) -> Trouble {
    match trouble {
        Trouble::Refused(mut fault) if fault.message.starts_with("CROSSSLOT") => {
            fault.message.push_str(": build the limiter with NativeRedis::options");
            Trouble::Refused(fault)
        }
        other => other,
    }
}
