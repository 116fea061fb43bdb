//! Requests and refusals of each identity: a rule's characteristics with their values.

use super::values::ValueId;
use indexmap::IndexMap;
use labkit_ratelimit::Info;
use smallvec::SmallVec;
use std::cmp::Reverse;

/// The values of a rule's characteristics, in their order.
pub(crate) type Key = SmallVec<[ValueId; 4]>;

/// The identities that one rule met.
#[derive(Debug, Default)]
pub(crate) struct Identities(IndexMap<Key, Identity>);

/// What came of one identity under one rule.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Identity {
    pub(crate) requests: u64,
    /// Requests for which the rule was over.
    pub(crate) over: u64,
    pub(crate) bans: u64,
    pub(crate) span: Span,
    banned_until_us: u64,
}

/// The first and the last instant of something.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span(Option<(u64, u64)>);

impl Span {
    /// Takes an instant, none before one that it has.
    pub(super) fn take(&mut self, at_us: u64) {
        self.0 = Some((self.0.map_or(at_us, |(first, _)| first), at_us));
    }

    pub(crate) fn first(self) -> Option<u64> {
        self.0.map(|(first, _)| first)
    }

    pub(crate) fn last(self) -> Option<u64> {
        self.0.map(|(_, last)| last)
    }
}

impl Identities {
    /// Adds what the rule found; gives whether a ban started.
    pub(super) fn add(&mut self, key: Key, at_us: u64, over: bool, info: &Info) -> bool {
        let identity = self.0.entry(key).or_default();
        identity.requests += 1;
        if over {
            identity.over += 1;
            identity.span.take(at_us);
        }
        // While a ban lives its end stands still; the next one ends later.
        let starts = info.banned && info.reset_at_us() > identity.banned_until_us;
        if starts {
            identity.bans += 1;
            identity.banned_until_us = info.reset_at_us();
        }
        starts
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// How many of them the rule was ever over for.
    pub(crate) fn over(&self) -> usize {
        self.0.values().filter(|identity| identity.over > 0).count()
    }

    /// Those most often over; of equals the one with more requests, then the one met first.
    pub(crate) fn busiest(&self, top: usize) -> Vec<(&Key, &Identity)> {
        let mut all: Vec<_> = self.0.iter().collect();
        all.sort_by_key(|(_, identity)| Reverse((identity.over, identity.requests)));
        all.truncate(top);
        all
    }
}
