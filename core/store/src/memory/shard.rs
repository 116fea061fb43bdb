//! A shard: cells side by side, an index over them, and what is removed to make room.

use super::Evictions;
use super::cell::{Cell, Members, State};
use super::fingerprint::Key;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use labkit_ratelimit_engine::numbers::{index, offset};

/// Cells looked at for the one to remove when the shard is full.
const EXAMINED: u32 = 8;
/// Cells looked at on every insertion, so that what is over goes before the shard is full.
const SWEPT: usize = 2;

#[derive(Debug)]
pub(super) struct Shard {
    cells: Vec<Cell>,
    places: HashTable<u32>,
    members: usize,
    max: usize,
    swept: usize,
    evictions: Evictions,
}

impl Shard {
    pub(super) const fn new(max: usize) -> Self {
        let evictions = Evictions { expired: 0, idle: 0, exceeded: 0, members: 0 };
        Self { cells: Vec::new(), places: HashTable::new(), members: 0, max, swept: 0, evictions }
    }

    /// Keys held: cells, and the distinct values in them.
    pub(super) const fn used(&self) -> usize {
        self.cells.len() + self.members
    }

    pub(super) const fn max(&self) -> usize {
        self.max
    }

    pub(super) const fn evictions(&self) -> Evictions {
        self.evictions
    }

    fn place(&self, key: Key) -> Option<usize> {
        self.places.find(key.hash(), |at| self.cells[offset(*at)].key == key).copied().map(offset)
    }

    /// The live cell of `key`, touched at `now_us`.
    pub(super) fn look(&mut self, key: Key, now_us: u64) -> Option<&mut Cell> {
        let at = self.place(key)?;
        let cell = &mut self.cells[at];
        cell.touched_s = seconds(now_us);
        (!cell.state.is_expired(now_us)).then_some(cell)
    }

    /// Sets the state of `key`, making room for it if it is new.
    pub(super) fn put(&mut self, key: Key, state: State, over: bool, now_us: u64) {
        if let Some(at) = self.place(key) {
            let cell = &mut self.cells[at];
            cell.touched_s = seconds(now_us);
            cell.set(state, over);
            return;
        }
        self.sweep(now_us);
        while self.used() + state.weight() > self.max && self.evict(key, None, now_us) {}
        // Growing by an eighth, not by doubling, bounds the memory of a key.
        if self.cells.len() == self.cells.capacity() {
            self.cells.reserve_exact(self.cells.len() / 8 + 8);
        }
        let at = index(self.cells.len());
        self.members += state.weight() - 1;
        self.cells.push(Cell { key, state, touched_s: seconds(now_us), over });
        let cells = &self.cells;
        self.places.insert_unique(key.hash(), at, |at| cells[offset(*at)].key.hash());
    }

    /// Adds a value to the set of `key`; gives how many it holds and what is left of its window, in µs.
    pub(super) fn add_member(&mut self, key: Key, member: u64, period_us: u64, now_us: u64) -> (u64, Option<u64>) {
        if self.look(key, now_us).is_none() {
            self.remove(key, now_us);
            self.put(
                key,
                State::Distinct { members: Box::new(Members::new()), ends_us: now_us.saturating_add(period_us) },
                false,
                now_us,
            );
        }
        if self.used() >= self.max && !self.holds(key, member) && !self.evict(key, Some(key), now_us) {
            // The set alone fills the shard. Forgetting it would let its identity start anew.
            self.evictions.members += 1;
        } else if let Some(State::Distinct { members, .. }) = self.look(key, now_us).map(|cell| &mut cell.state)
            && let Entry::Vacant(free) = members.entry(member, |known| *known == member, |known| *known)
        {
            free.insert(member);
            self.members += 1;
        }
        self.look(key, now_us).map_or((0, None), |cell| (cell.state.members(), cell.state.left_us(now_us)))
    }

    fn holds(&self, key: Key, member: u64) -> bool {
        self.place(key).is_some_and(|at| match &self.cells[at].state {
            State::Distinct { members, .. } => members.find(member, |known| *known == member).is_some(),
            _ => false,
        })
    }

    /// Removes `key`; gives whether it was there and live.
    pub(super) fn remove(&mut self, key: Key, now_us: u64) -> bool {
        self.place(key).is_some_and(|at| {
            let live = !self.cells[at].state.is_expired(now_us);
            self.remove_at(at);
            live
        })
    }

    fn remove_at(&mut self, at: usize) {
        let last = self.cells.len() - 1;
        let (key, last_key) = (self.cells[at].key, self.cells[last].key);
        if let Ok(found) = self.places.find_entry(key.hash(), |place| offset(*place) == at) {
            found.remove();
        }
        if at != last
            && let Some(place) = self.places.find_mut(last_key.hash(), |place| offset(*place) == last)
        {
            *place = index(at);
        }
        self.members -= self.cells[at].state.weight() - 1;
        self.cells.swap_remove(at);
    }

    /// Looks at the next few cells and removes those that are over.
    fn sweep(&mut self, now_us: u64) {
        for _ in 0..SWEPT.min(self.cells.len()) {
            if self.swept >= self.cells.len() {
                self.swept = 0;
            }
            if self.cells[self.swept].state.is_expired(now_us) {
                self.remove_at(self.swept);
                self.evictions.expired += 1;
            } else {
                self.swept += 1;
            }
            if self.cells.is_empty() {
                return;
            }
        }
    }

    /// Removes one of a few cells drawn by `key`: one that is over, else the live one longest
    /// untouched, else the exceeded one or ban ending soonest. False where there is none but `kept`.
    fn evict(&mut self, key: Key, kept: Option<Key>, now_us: u64) -> bool {
        let mut chosen: Option<(Standing, usize)> = None;
        let only = if self.cells.len() <= offset(EXAMINED) { self.cells.len() } else { 0 };
        for turn in 0..EXAMINED {
            // A shard as small as the sample is looked at whole.
            let at = if only > 0 { offset(turn) } else { key.draw(turn, self.cells.len()) };
            let Some(cell) = self.cells.get(at).filter(|cell| Some(cell.key) != kept) else { continue };
            let standing = Standing::of(cell, now_us);
            if chosen.is_none_or(|(best, _)| standing < best) {
                chosen = Some((standing, at));
            }
        }
        let Some((standing, at)) = chosen else { return false };
        match standing {
            Standing::Expired => self.evictions.expired += 1,
            Standing::Idle { .. } => self.evictions.idle += 1,
            Standing::Exceeded { .. } => self.evictions.exceeded += 1,
        }
        self.remove_at(at);
        true
    }
}

/// How easily a cell is given up, the easiest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    Expired,
    Idle { touched_s: u32 },
    Exceeded { ends_us: u64 },
}

impl Standing {
    const fn of(cell: &Cell, now_us: u64) -> Self {
        if cell.state.is_expired(now_us) {
            Self::Expired
        } else if cell.over {
            Self::Exceeded { ends_us: cell.state.ends_us() }
        } else {
            Self::Idle { touched_s: cell.touched_s }
        }
    }
}

fn seconds(now_us: u64) -> u32 {
    u32::try_from(now_us / 1_000_000).unwrap_or(u32::MAX)
}
