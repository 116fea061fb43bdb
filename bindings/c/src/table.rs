//! Handles: numbers that a host holds for values that stay here. One that was given back, or never was one, is told.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// So many locks, that threads seldom meet.
const SHARDS: u32 = 16;

/// Values by handle. A handle is the number of a slot, and how often that slot was taken before.
pub(crate) struct Table<T> {
    shards: [Mutex<Slots<T>>; 16],
    next: AtomicU32,
}

struct Slots<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
}

struct Slot<T> {
    generation: u32,
    value: Option<T>,
}

impl<T> Table<T> {
    pub(crate) const fn new() -> Self {
        let shards = [const { Mutex::new(Slots { slots: Vec::new(), free: Vec::new() }) }; 16];
        Self { shards, next: AtomicU32::new(0) }
    }

    /// Keeps a value; gives its handle, which is never 0.
    pub(crate) fn insert(&self, value: T) -> u64 {
        let shard = self.next.fetch_add(1, Relaxed) % SHARDS;
        let mut slots = self.shard(shard).lock();
        let at = slots.free.pop().unwrap_or_else(|| {
            slots.slots.push(Slot { generation: 0, value: None });
            u32::try_from(slots.slots.len() - 1).unwrap_or(u32::MAX)
        });
        let slot = &mut slots.slots[offset(at)];
        // 0 is nobody's.
        slot.generation = slot.generation.wrapping_add(1).max(1);
        slot.value = Some(value);
        u64::from(slot.generation) << 32 | u64::from(at) << 4 | u64::from(shard)
    }

    /// Takes a value out: its handle is no more.
    pub(crate) fn take(&self, handle: u64) -> Option<T> {
        let (shard, at, generation) = parts(handle);
        let mut slots = self.shard(shard).lock();
        let slot = slots.slots.get_mut(offset(at)).filter(|slot| slot.generation == generation)?;
        let value = slot.value.take()?;
        slots.free.push(at);
        Some(value)
    }

    /// Looks at a value where it is.
    pub(crate) fn with<R>(&self, handle: u64, look: impl FnOnce(&mut T) -> R) -> Option<R> {
        let (shard, at, generation) = parts(handle);
        let mut slots = self.shard(shard).lock();
        let slot = slots.slots.get_mut(offset(at)).filter(|slot| slot.generation == generation)?;
        slot.value.as_mut().map(look)
    }

    fn shard(&self, shard: u32) -> &Mutex<Slots<T>> {
        &self.shards[offset(shard)]
    }
}

fn offset(at: u32) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

/// Shard, place and generation.
fn parts(handle: u64) -> (u32, u32, u32) {
    let low = |n: u64| u32::try_from(n & u64::from(u32::MAX)).unwrap_or(0);
    (low(handle) % SHARDS, low(handle) >> 4, low(handle >> 32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_has_one_end() {
        let table = Table::new();
        let handles: Vec<u64> = (0..100).map(|n| table.insert(n)).collect();
        assert_eq!(table.with(handles[7], |n| *n), Some(7));
        assert_eq!(table.take(handles[7]), Some(7));
        assert_eq!(table.take(handles[7]), None, "freed");
        for n in 100..200 {
            assert_ne!(table.insert(n), handles[7], "its slot is taken anew, under another handle");
        }
        assert_eq!(table.take(handles[7]), None);
        for odd in [0, 1, u64::MAX, handles[3] + (1 << 32)] {
            assert_eq!(table.take(odd), None, "{odd}");
        }
    }
}
