//! The limiters of this process, by handle. Looking one up locks nothing and counts nothing that threads share.

use arc_swap::{ArcSwapOption, Guard};
use labkit_ratelimit::Limiter;
use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};

const CHUNK: usize = 64;
const CHUNKS: usize = 1024;

/// A limiter, and the handle that it has.
pub(crate) struct Entry {
    handle: u64,
    pub(crate) limiter: Limiter,
}

type Slot = ArcSwapOption<Entry>;

static SLOTS: [OnceLock<Box<[Slot]>>; CHUNKS] = [const { OnceLock::new() }; CHUNKS];
static PLACES: Mutex<Places> = Mutex::new(Places { taken: Vec::new(), free: Vec::new() });

struct Places {
    // How often each was taken.
    taken: Vec<u32>,
    free: Vec<usize>,
}

fn slot(handle: u64) -> Option<&'static Slot> {
    let at = usize::try_from(handle & u64::from(u32::MAX)).ok()?;
    SLOTS.get(at / CHUNK)?.get()?.get(at % CHUNK)
}

/// Keeps a limiter; gives its handle, which is never 0. `None`: there are 65,536 already.
pub(crate) fn insert(limiter: Limiter) -> Option<u64> {
    let mut places = PLACES.lock();
    let at = places.free.pop().unwrap_or(places.taken.len());
    let chunk = SLOTS.get(at / CHUNK)?.get_or_init(|| (0..CHUNK).map(|_| Slot::empty()).collect());
    if at == places.taken.len() {
        places.taken.push(0);
    }
    places.taken[at] = places.taken[at].wrapping_add(1).max(1);
    let handle = u64::from(places.taken[at]) << 32 | u64::try_from(at).ok()?;
    chunk[at % CHUNK].store(Some(Arc::new(Entry { handle, limiter })));
    Some(handle)
}

/// The limiter of a handle. It stays while this is held, also where it is freed.
pub(crate) fn get(handle: u64) -> Option<Held> {
    let guard = slot(handle)?.load();
    let is_its = guard.as_ref().is_some_and(|entry| entry.handle == handle);
    is_its.then_some(Held(guard))
}

/// Frees a limiter; calls under way end with it. Gives whether the handle was one.
pub(crate) fn remove(handle: u64) -> bool {
    let mut places = PLACES.lock();
    if get(handle).is_none() {
        return false;
    }
    let (Some(slot), Ok(at)) = (slot(handle), usize::try_from(handle & u64::from(u32::MAX))) else { return false };
    let freed = slot.swap(None);
    places.free.push(at);
    drop(places);
    drop(freed);
    true
}

/// A limiter that stays for the length of a call.
pub(crate) struct Held(Guard<Option<Arc<Entry>>>);

impl Held {
    /// The handle that it has.
    pub(crate) fn handle(&self) -> u64 {
        self.0.as_ref().map_or(0, |entry| entry.handle)
    }
}

impl std::ops::Deref for Held {
    type Target = Limiter;

    fn deref(&self) -> &Limiter {
        match &*self.0 {
            Some(entry) => &entry.limiter,
            None => unreachable!("it was looked at"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use labkit_ratelimit::{RuleSpec, Store};

    fn limiter(name: &str) -> Limiter {
        let rule = RuleSpec::limit("r", 1_u32, 60_u32);
        Limiter::builder(name).rule(rule).store(Store::memory(10)).build().expect("good rules")
    }

    #[test]
    fn a_freed_handle_is_told_also_when_its_slot_is_taken_again() {
        let handles: Vec<u64> = (0..200).map(|n| insert(limiter(&format!("l{n}"))).expect("room")).collect();
        assert_eq!(get(handles[5]).expect("there").name(), "l5");
        let held = get(handles[5]).expect("there");
        assert!(remove(handles[5]) && !remove(handles[5]));
        assert_eq!(held.name(), "l5", "a call under way keeps it");
        assert!(get(handles[5]).is_none());
        let next = insert(limiter("next")).expect("room");
        assert!(get(handles[5]).is_none() && get(next).is_some());
        for odd in [0, 1, u64::MAX, 1 << 60] {
            assert!(get(odd).is_none());
        }
        for handle in handles.into_iter().chain([next]) {
            remove(handle);
        }
    }
}
