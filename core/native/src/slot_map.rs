//! The map of a cluster.

use crate::address::Address;
use crate::dial::Dialer;
use crate::link::Link;
use redis::Value;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::time::Instant;

/// How many slots a cluster has.
const SLOTS: u16 = 16_384;

/// Which node has which slot, and the links to all nodes.
pub(crate) struct SlotMap {
    owners: Vec<Option<Arc<Link>>>,
    nodes: HashMap<Address, Arc<Link>>,
    dialer: Dialer,
    /// When a node last told; never, at first.
    pub(crate) drawn_at: Option<Instant>,
}

impl SlotMap {
    pub(crate) fn blank(dialer: Dialer) -> Self {
        Self { owners: vec![None; usize::from(SLOTS)], nodes: HashMap::new(), dialer, drawn_at: None }
    }

    pub(crate) fn owner(&self, slot: u16) -> Option<Arc<Link>> {
        self.owners.get(usize::from(slot)).cloned().flatten()
    }

    /// The link to a node, which may be new.
    pub(crate) fn node(&mut self, address: Address) -> Arc<Link> {
        let dialer = &self.dialer;
        let link =
            self.nodes.entry(address).or_insert_with_key(|address| Arc::new(Link::to(address.clone(), dialer.clone())));
        Arc::clone(link)
    }

    /// A node said that another one has the slot.
    pub(crate) fn moved(&mut self, slot: u16, to: Address) -> Arc<Link> {
        let link = self.node(to);
        if let Some(owner) = self.owners.get_mut(usize::from(slot)) {
            *owner = Some(Arc::clone(&link));
        }
        link
    }

    /// The links to all nodes, connected ones first.
    pub(crate) fn known(&self) -> Vec<Arc<Link>> {
        let mut links: Vec<_> = self.nodes.values().cloned().collect();
        links.sort_by_key(|link| link.connected().is_none());
        links
    }

    /// Draws it anew. Links to nodes that left are dropped.
    pub(crate) fn redraw(&mut self, ranges: Vec<(u16, u16, Address)>) {
        let mut fresh = Self { drawn_at: Some(Instant::now()), ..Self::blank(self.dialer.clone()) };
        for (first, last, address) in ranges {
            if let Some(link) = self.nodes.get(&address) {
                fresh.nodes.entry(address.clone()).or_insert_with(|| Arc::clone(link));
            }
            let link = fresh.node(address);
            for slot in first..=last.min(SLOTS - 1) {
                fresh.owners[usize::from(slot)] = Some(Arc::clone(&link));
            }
        }
        *self = fresh;
    }
}

/// The ranges of slots and their masters in an answer of `CLUSTER SLOTS`. A node that knows no name of
/// its own is the one that was asked.
pub(crate) fn ranges_in(answer: Value, asked: &Address) -> Vec<(u16, u16, Address)> {
    let ranges = answer.into_sequence().unwrap_or_default();
    ranges.into_iter().filter_map(|range| range_in(range, asked)).collect()
}

fn range_in(range: Value, asked: &Address) -> Option<(u16, u16, Address)> {
    let mut parts = range.into_sequence().ok()?.into_iter();
    let first: u16 = redis::from_redis_value(parts.next()?).ok()?;
    let last: u16 = redis::from_redis_value(parts.next()?).ok()?;
    let mut master = parts.next()?.into_sequence().ok()?.into_iter();
    let host: Option<String> = redis::from_redis_value(master.next()?).ok()?;
    let port: u16 = redis::from_redis_value(master.next()?).ok()?;
    Some((first, last, Address::told(host.as_deref().unwrap_or_default(), port, asked)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(host: Value, port: i64) -> Value {
        Value::Array(vec![host, Value::Int(port), Value::SimpleString("id".into()), Value::Array(Vec::new())])
    }

    fn text(text: &str) -> Value {
        Value::BulkString(text.into())
    }

    #[test]
    fn the_masters_of_all_ranges_are_read() {
        let asked = Address::parse("asked:1", 1).unwrap();
        let range =
            |first, last, master| Value::Array(vec![Value::Int(first), Value::Int(last), master, node(text("r"), 9)]);
        let answer = Value::Array(vec![
            range(0, 99, node(text("a"), 7000)),
            range(100, 199, node(Value::Nil, 7001)),
            range(200, 299, node(text(""), 7002)),
            Value::Int(7),
        ]);
        let read: Vec<_> =
            ranges_in(answer, &asked).into_iter().map(|(first, last, at)| (first, last, at.to_string())).collect();
        let expected = [(0, 99, "a:7000"), (100, 199, "asked:7001"), (200, 299, "asked:7002")];
        assert_eq!(read, expected.map(|(first, last, at)| (first, last, at.to_owned())));
        assert!(ranges_in(Value::Okay, &asked).is_empty());
    }
}
