//! The embedded store: sharded, bounded, no thread of its own.

mod cell;
mod fingerprint;
mod shard;

pub use fingerprint::{Key, RuleKeys};

use crate::keys::Member;
use cell::{Kind, State};
use crossbeam_utils::CachePadded;
use fingerprint::Seed;
use labkit_ratelimit_engine::gcra::{self, Fine, Rate};
use labkit_ratelimit_engine::numbers::seconds_to_micros;
use labkit_ratelimit_engine::window;
use labkit_ratelimit_engine::{Algorithm, Cost, CountStep, Counter, Counting, Millionths, Mode, Reading, Rules};
use parking_lot::{Mutex, MutexGuard};
use shard::Shard;

/// The default maximum of keys: at most 48 MB.
pub const DEFAULT_MAX_KEYS: usize = 500_000;

const SHARDS_MAX: usize = 64;
/// Below this many keys a shard is not worth splitting: the bound is then exact, and so is the order
/// of evictions.
const SHARD_MIN: usize = 1024;

/// What was removed to make room, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evictions {
    /// Cells as good as none: over, or a full bucket. Nobody notices.
    pub expired: u64,
    /// Live cells under their limit, the longest untouched: their identities start anew.
    pub idle: u64,
    /// Cells over their limit and bans, the one ending soonest. Only where nothing else was found.
    pub exceeded: u64,
    /// Distinct values that were not added, because their set alone fills the store: its count stands still.
    pub members: u64,
}

/// Counts in this process's memory.
///
/// Bounded by a maximum of keys; a ban is a key of its own and so is each distinct value. Worst-case
/// memory: 96 bytes a key. Each operation holds one shard's lock for its own arithmetic and, where it
/// adds a key, for looking at no more than ten others.
#[derive(Debug)]
pub struct MemoryStore {
    shards: Box<[CachePadded<Mutex<Shard>>]>,
    seed: Seed,
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::with_max_keys(DEFAULT_MAX_KEYS)
    }
}

impl MemoryStore {
    /// An empty store for at most `max_keys` keys (at least one).
    ///
    /// From 2,048 keys on it is split in up to 64 shards, each of which holds its part of the maximum;
    /// keys spread by a keyed hash, so that one shard fills a little before the others.
    pub fn with_max_keys(max_keys: usize) -> Self {
        let max_keys = max_keys.max(1);
        let shards = (max_keys / SHARD_MIN).clamp(1, SHARDS_MAX);
        let shards = if shards.is_power_of_two() { shards } else { shards.next_power_of_two() / 2 };
        // Rounded down: all of them together never hold more than the maximum.
        let each = max_keys / shards;
        Self {
            shards: (0..shards).map(|_| CachePadded::new(Mutex::new(Shard::new(each)))).collect(),
            seed: Seed::random(),
        }
    }

    fn shard(&self, key: Key) -> MutexGuard<'_, Shard> {
        self.shards[key.shard(self.shards.len())].lock()
    }

    /// The key of an arbitrary text, for callers who have only a key.
    pub fn key_of(&self, text: &[u8]) -> Key {
        self.seed.key_of(text)
    }

    /// Runs one step of a check or a peek on the rule's key, at `now_us` (µs since 1970).
    ///
    /// `member` is the counted value of a distinct step; a check without one only reads.
    pub fn run(
        &self,
        key: Key,
        step: &CountStep,
        member: Option<&Member>,
        cost: Cost,
        mode: Mode,
        now_us: u64,
    ) -> Reading {
        let mut shard = self.shard(key);
        let ban = key.of(Kind::Ban);
        let ban_left_us =
            step.ban_for_s.and_then(|_| shard.look(ban, now_us)).and_then(|cell| cell.state.left_us(now_us));
        let charged = mode == Mode::Check && !cost.is_zero();
        let charges = charged && !stops_counting(ban_left_us);
        let counter = match &step.counting {
            Counting::Window => {
                count_in_window(&mut shard, key.of(Kind::Window), step, charges.then_some(cost), now_us)
            }
            Counting::Distinct { .. } => {
                let member = member.filter(|_| mode == Mode::Check).map(|member| self.seed.member(member.as_str()));
                count_distinct(&mut shard, key.of(Kind::Distinct), step, member, now_us)
            }
            Counting::Gcra(rate) => {
                let span = rate.span(Rules::judged_cost(mode, cost));
                count_by_gcra(&mut shard, key.of(Kind::Gcra), rate, span, charges, now_us)
            }
        };
        let mut reading = Reading { counter, ban_left_us };
        if let (Some(seconds), None, true) = (step.ban_for_s, ban_left_us, charged && reading.is_over()) {
            let lasts_us = seconds_to_micros(u64::from(seconds));
            shard.put(ban, State::Ban { ends_us: now_us.saturating_add(lasts_us) }, true, now_us);
            reading.ban_left_us = Some(lasts_us);
        }
        reading
    }

    /// Takes `cost` from several GCRA cells of one key, or from none: the first rate that refuses is
    /// reported, and nothing is taken. Where all allow it, the one with least remaining is. At most
    /// [`MAX_STACKED`] rates.
    ///
    /// `None` where there is no rate.
    pub fn take_all(&self, key: Key, rates: &[Rate], cost: Cost, now_us: u64) -> Option<StackReading> {
        let mut shard = self.shard(key);
        let mut cells = arrayvec::ArrayVec::<_, MAX_STACKED>::new();
        let mut tightest: Option<StackReading> = None;
        for (level, rate) in rates.iter().enumerate().take(MAX_STACKED) {
            let at = key.of_level(level);
            let cell = shard.look(at, now_us);
            let (reading, next) =
                gcra::take(cell.as_ref().and_then(|cell| cell.state.gcra()), now_us, rate, rate.span(cost));
            if reading.refused {
                if let Some(cell) = cell {
                    cell.over = true;
                }
                return Some(StackReading { level, reading });
            }
            cells.push((at, next));
            let own = reading.remaining(&rate.bucket);
            if tightest.is_none_or(|other| own < other.reading.remaining(&rates[other.level].bucket)) {
                tightest = Some(StackReading { level, reading });
            }
        }
        if !cost.is_zero() {
            for (at, next) in cells {
                shard.put(at, State::Gcra(next), false, now_us);
            }
        }
        tightest
    }

    /// Deletes a rule's counter, as `algorithm` keeps it, and its ban; gives how many there were.
    pub fn clear(&self, key: Key, algorithm: Algorithm, now_us: u64) -> u64 {
        let kinds = match algorithm {
            // Windows and sets of one rule are one key in Redis; it holds one or the other.
            Algorithm::FixedWindow => [Kind::Window, Kind::Distinct, Kind::Ban].as_slice(),
            Algorithm::Gcra => &[Kind::Gcra, Kind::Ban],
        };
        let mut shard = self.shard(key);
        kinds.iter().map(|kind| u64::from(shard.remove(key.of(*kind), now_us))).sum()
    }

    /// How many keys it holds, the ones that are over but not yet removed included.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().used()).sum()
    }

    /// It holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The most keys it ever holds.
    pub fn max_keys(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().max()).sum()
    }

    /// What was removed to make room since it was made.
    pub fn evictions(&self) -> Evictions {
        self.shards.iter().fold(Evictions::default(), |sum, shard| {
            let own = shard.lock().evictions();
            Evictions {
                expired: sum.expired + own.expired,
                idle: sum.idle + own.idle,
                exceeded: sum.exceeded + own.exceeded,
                members: sum.members + own.members,
            }
        })
    }
}

/// Rates that one key may stack.
pub const MAX_STACKED: usize = 16;

/// What came of [`MemoryStore::take_all`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackReading {
    /// The place of the rate reported.
    pub level: usize,
    /// Its reading.
    pub reading: gcra::Reading,
}

/// While a ban is in force nothing is counted.
#[cfg(not(feature = "sabotage"))]
const fn stops_counting(ban_left_us: Option<u64>) -> bool {
    ban_left_us.is_some()
}

/// Wrong on purpose: the suite must notice.
#[cfg(feature = "sabotage")]
const fn stops_counting(_: Option<u64>) -> bool {
    false
}

fn count_in_window(shard: &mut Shard, key: Key, step: &CountStep, charge: Option<Cost>, now_us: u64) -> Counter {
    let mut cell = shard.look(key, now_us);
    let found = cell.as_ref().and_then(|cell| cell.state.window());
    let window = match charge {
        Some(cost) => Some(window::charge(found, now_us, cost, step.period_s)),
        None => found,
    };
    let count = window.map_or(Millionths::ZERO, |window| window.count);
    let over = window::is_over(count, step.limit);
    match (window, &mut cell, charge) {
        (Some(window), Some(cell), Some(_)) => cell.set(State::Window(window), over),
        (Some(window), None, Some(_)) => shard.put(key, State::Window(window), over, now_us),
        _ => {}
    }
    Counter::Window { count, left_us: window.map(|window| window.ends_us.saturating_sub(now_us)), over }
}

fn count_distinct(shard: &mut Shard, key: Key, step: &CountStep, member: Option<u64>, now_us: u64) -> Counter {
    let (count, left_us) = match member {
        Some(member) => shard.add_member(key, member, seconds_to_micros(u64::from(step.period_s)), now_us),
        None => shard.look(key, now_us).map_or((0, None), |cell| (cell.state.members(), cell.state.left_us(now_us))),
    };
    let count = Millionths::from_units(count);
    let over = window::is_over(count, step.limit);
    if let (Some(_), Some(cell)) = (member, shard.look(key, now_us)) {
        cell.over = over;
    }
    Counter::Window { count, left_us, over }
}

fn count_by_gcra(shard: &mut Shard, key: Key, rate: &Rate, span: Fine, charges: bool, now_us: u64) -> Counter {
    let mut cell = shard.look(key, now_us);
    let found = cell.as_ref().and_then(|cell| cell.state.gcra());
    if !charges {
        return Counter::Gcra(gcra::peek(found, now_us, rate, span));
    }
    let (reading, next) = gcra::take(found, now_us, rate, span);
    match (&mut cell, reading.refused) {
        (Some(cell), false) => cell.set(State::Gcra(next), false),
        (None, false) => shard.put(key, State::Gcra(next), false, now_us),
        (Some(cell), true) => cell.over = true,
        (None, true) => {}
    }
    Counter::Gcra(reading)
}
