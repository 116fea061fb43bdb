//! Sentinel: who is master.

use crate::address::Address;
use crate::dial::Dialer;
use crate::fault;
use crate::wire::Wire;
use labkit_ratelimit::Fault;
use redis::Value;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The sentinels that know a master.
pub(crate) struct Sentinels {
    master: String,
    addresses: Vec<Address>,
    /// How to reach them, and how to reach the master.
    asking: Dialer,
    dialing: Dialer,
    /// The one that knew last time.
    first: AtomicUsize,
}

impl Sentinels {
    pub(crate) const fn new(master: String, addresses: Vec<Address>, asking: Dialer, dialing: Dialer) -> Self {
        Self { master, addresses, asking, dialing, first: AtomicUsize::new(0) }
    }

    /// A connection to the master: to one that says itself that it is.
    pub(crate) async fn master(&self) -> Result<Wire, Fault> {
        let first = self.first.load(Relaxed);
        let mut faults = Vec::new();
        for nth in (first..self.addresses.len()).chain(0..first) {
            match self.ask(&self.addresses[nth]).await {
                Ok(wire) => {
                    self.first.store(nth, Relaxed);
                    return Ok(wire);
                }
                Err(fault) => faults.push(fault.message),
            }
        }
        Err(Fault::unreachable(format!("no sentinel leads to the master `{}`: {}", self.master, faults.join("; "))))
    }

    async fn ask(&self, sentinel: &Address) -> Result<Wire, Fault> {
        let asked = self.asking.dial(sentinel).await?;
        let mut question = redis::cmd("SENTINEL");
        question.arg("GET-MASTER-ADDR-BY-NAME").arg(&self.master);
        let answer = asked.query(&question, self.asking.patience).await?;
        if answer == Value::Nil {
            return Err(Fault::unreachable(format!("{sentinel} knows no master of that name")));
        }
        let place: Option<(String, u16)> = redis::from_redis_value(answer).ok();
        let address = place.and_then(|(host, port)| Address::told(&host, port, sentinel));
        let address = address.ok_or_else(|| fault::unexpected("a sentinel's answer is no address"))?;
        let wire = self.dialing.dial(&address).await?;
        match role(&wire, &self.dialing).await {
            Some(role) if role != "master" => Err(Fault::unreachable(format!("{address} says that it is a {role}"))),
            None if !wire.is_alive() => Err(Fault::unreachable(format!("{address} does not say what it is"))),
            // One that may not tell is taken at the sentinel's word.
            _ => Ok(wire),
        }
    }
}

async fn role(wire: &Wire, dialer: &Dialer) -> Option<String> {
    let answer = wire.query(&redis::cmd("ROLE"), dialer.patience).await.ok()?;
    match answer.into_sequence().ok()?.into_iter().next()? {
        Value::BulkString(role) => String::from_utf8(role).ok(),
        _ => None,
    }
}
