//! One key's state: 64 bytes, a cache line.

use super::fingerprint::Key;
use hashbrown::HashTable;
use labkit_ratelimit_engine::gcra;
use labkit_ratelimit_engine::window::Window;

/// What a key holds. Kinds of one rule are separate keys, as they are in Redis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Window,
    Distinct,
    Gcra,
    Ban,
}

impl Kind {
    pub(super) const fn tag(self) -> u64 {
        match self {
            Self::Window => 0,
            Self::Distinct => 1,
            Self::Gcra => 2,
            Self::Ban => 3,
        }
    }
}

/// A set of hashed values.
pub(super) type Members = HashTable<u64>;

#[derive(Debug)]
pub(super) enum State {
    Window(Window),
    Distinct { members: Box<Members>, ends_us: u64 },
    Gcra(gcra::Cell),
    Ban { ends_us: u64 },
}

impl State {
    /// The instant from which it is as good as none.
    pub(super) const fn ends_us(&self) -> u64 {
        match self {
            Self::Window(window) => window.ends_us,
            Self::Distinct { ends_us, .. } | Self::Ban { ends_us } => *ends_us,
            Self::Gcra(cell) => cell.tat.ceil(),
        }
    }

    pub(super) const fn is_expired(&self, now_us: u64) -> bool {
        self.ends_us() <= now_us
    }

    pub(super) fn left_us(&self, now_us: u64) -> Option<u64> {
        self.ends_us().checked_sub(now_us).filter(|left| *left > 0)
    }

    pub(super) const fn window(&self) -> Option<Window> {
        if let Self::Window(window) = self { Some(*window) } else { None }
    }

    pub(super) const fn gcra(&self) -> Option<gcra::Cell> {
        if let Self::Gcra(cell) = self { Some(*cell) } else { None }
    }

    /// How many distinct values it holds.
    pub(super) fn members(&self) -> u64 {
        if let Self::Distinct { members, .. } = self { u64::try_from(members.len()).unwrap_or(u64::MAX) } else { 0 }
    }

    /// How many keys it counts as.
    pub(super) fn weight(&self) -> usize {
        if let Self::Distinct { members, .. } = self { 1 + members.len() } else { 1 }
    }
}

#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Cell {
    pub(super) key: Key,
    pub(super) state: State,
    /// Unix seconds of the last touch.
    pub(super) touched_s: u32,
    /// Over its limit when last decided, or a ban.
    pub(super) over: bool,
}

const _: () = assert!(size_of::<Cell>() == 64, "a cell is one cache line");

impl Cell {
    pub(super) fn set(&mut self, state: State, over: bool) {
        self.state = state;
        self.over = over;
    }
}
