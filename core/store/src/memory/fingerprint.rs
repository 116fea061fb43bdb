//! Keys of the memory store: 122 bits of a keyed hash stand for the text of a key.
//!
//! SipHash-1-3 with 128 bits of output (Aumasson and Bernstein 2012) under a seed that this process drew
//! is a pseudo-random function: nobody outside can make two keys meet, nor fill one shard. Two of n
//! honest keys meet with probability n²/2^123.

use super::MemoryStore;
use super::cell::Kind;
use crate::keys::{Segment, segment};
use labkit_ratelimit_engine::numbers::offset;
use labkit_ratelimit_engine::{Rule, Rules, Scratch, Value};
use siphasher::sip128::{Hash128, SipHasher13};
use smallvec::SmallVec;
use std::hash::{BuildHasher, RandomState};

/// The low bits of `low` that say what the cell is: two of kind, four of level.
const TAG_BITS: u32 = 6;
const TAG: u64 = (1 << TAG_BITS) - 1;

/// A key of the memory store. The same text gives the same key in one store only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    high: u64,
    low: u64,
}

impl Key {
    /// The key of another kind of state of the same rule and identifier, in the same shard.
    pub(super) const fn of(self, kind: Kind) -> Self {
        Self { low: (self.low & !TAG) | kind.tag(), ..self }
    }

    /// The key of one of several stacked rates, in the same shard.
    pub(super) fn of_level(self, level: usize) -> Self {
        let level = u64::try_from(level).unwrap_or(0) << 2;
        Self { low: (self.low & !TAG) | (level & TAG) | Kind::Gcra.tag(), ..self }
    }

    /// Its shard among a power of two of them.
    pub(super) fn shard(self, shards: usize) -> usize {
        let top = usize::try_from(self.low >> 32).unwrap_or(0);
        top & (shards - 1)
    }

    /// Where it stands in its shard's index.
    pub(super) const fn hash(self) -> u64 {
        // The tag spreads over all bits, so that the kinds of one rule do not pile up.
        self.high ^ (self.low & TAG).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    /// Random numbers below `below`, different for each key and each `turn`.
    pub(super) fn draw(self, turn: u32, below: usize) -> usize {
        let mixed = (self.high.rotate_left(turn * 7) ^ self.low).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let below = u64::try_from(below).unwrap_or(u64::MAX);
        usize::try_from(mixed.wrapping_mul(below) >> 32).unwrap_or(0)
    }
}

/// The secret of one store.
#[derive(Debug)]
pub(super) struct Seed(SipHasher13);

impl Seed {
    pub(super) fn random() -> Self {
        // The standard library's hasher is keyed from the system's entropy; two of its hashes are a seed.
        let state = RandomState::new();
        Self(SipHasher13::new_with_keys(state.hash_one(0_u8), state.hash_one(1_u8)))
    }

    pub(super) fn key_of(&self, text: &[u8]) -> Key {
        self.0.hash(text).into()
    }

    pub(super) fn member(&self, text: &str) -> u64 {
        self.key_of(text.as_bytes()).high
    }

    /// The hasher of one rule, under a key of its own: of all that is constant in its keys.
    fn rule(&self, limiter: &str, rule: &Rule) -> SipHasher13 {
        // No name holds a colon.
        let constant: Vec<&str> = [limiter, rule.name()].into_iter().chain(rule.characteristics()).collect();
        let own = self.0.hash(constant.join(":").as_bytes());
        SipHasher13::new_with_keys(own.h1, own.h2)
    }
}

/// Room for the values of several characteristics; longer ones go to the heap.
type Values = SmallVec<[u8; 256]>;

/// The hashers of one limiter's rules: what is constant in their keys is in the hashers' own.
#[derive(Debug)]
pub struct RuleKeys(Vec<SipHasher13>);

impl RuleKeys {
    /// For the rules of `rules` in `store`.
    pub fn new(store: &MemoryStore, rules: &Rules) -> Self {
        Self(rules.iter().map(|rule| store.seed.rule(rules.limiter(), rule)).collect())
    }

    /// For a limiter that counts elsewhere.
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// The key of the rule at `rule`; bad values count as missing (a check never gets here with one).
    pub fn key(&self, rules: &Rules, rule: u32, facts: &[Value<'_>]) -> Key {
        let hasher = &self.0[offset(rule)];
        let keyed = rules.keyed(rule, facts);
        let mut scratch = Scratch::default();
        // One value stands alone: only a missing one is empty.
        if keyed.len() == 1 {
            let only = keyed.clone().next().and_then(|(_, value)| segment(value, &mut scratch, std::iter::empty()));
            return hasher.hash(only.as_ref().and_then(Segment::present).unwrap_or_default().as_bytes()).into();
        }
        let mut values = Values::new();
        for (i, (_, value)) in keyed.clone().enumerate() {
            let later = keyed.clone().skip(i + 1).map(|(name, _)| name);
            let own = segment(value, &mut scratch, later);
            let text = own.as_ref().and_then(Segment::present).unwrap_or_default();
            values.extend_from_slice(text.as_bytes());
            // Its length behind it: read from the end, values cannot run into one another.
            values.extend_from_slice(&text.len().to_le_bytes());
        }
        hasher.hash(&values).into()
    }
}

impl From<Hash128> for Key {
    fn from(hash: Hash128) -> Self {
        Self { high: hash.h1, low: hash.h2 }
    }
}
