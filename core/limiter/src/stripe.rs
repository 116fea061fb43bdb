//! Stripes: threads count apart, so that they do not wait for one another's cache lines.

use parking_lot::Mutex;
use std::cell::Cell;

/// The place where a thread counts: one of its own, or the last one, which is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stripe(usize);

/// Stripes that no living thread has.
static FREE: Mutex<Free> = Mutex::new(Free { returned: Vec::new(), next: 0 });

struct Free {
    returned: Vec<usize>,
    next: usize,
}

thread_local! {
    static OWN: Cell<usize> = const { Cell::new(usize::MAX) };
    static KEPT: Kept = const { Kept(Cell::new(None)) };
}

/// Gives a thread's stripe back when the thread ends. The lock orders its last count before the next owner's first.
struct Kept(Cell<Option<usize>>);

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(stripe) = self.0.take() {
            // What the thread still counts, in destructors behind this one, goes to the shared stripe.
            OWN.set(Stripe::SHARED);
            FREE.lock().returned.push(stripe);
        }
    }
}

impl Stripe {
    /// How many there are.
    pub(crate) const COUNT: usize = 17;
    const SHARED: usize = Self::COUNT - 1;

    /// This thread's.
    pub(crate) fn own() -> Self {
        let own = OWN.get();
        if own == usize::MAX { Self::claim() } else { Self(own) }
    }

    #[cold]
    fn claim() -> Self {
        let mut free = FREE.lock();
        let claimed = free.returned.pop().unwrap_or_else(|| {
            free.next = (free.next + 1).min(Self::COUNT);
            free.next - 1
        });
        drop(free);
        let kept = claimed < Self::SHARED && KEPT.try_with(|kept| kept.0.set(Some(claimed))).is_ok();
        let own = if kept { claimed } else { Self::SHARED };
        OWN.set(own);
        Self(own)
    }

    pub(crate) const fn index(self) -> usize {
        self.0
    }

    /// Whether other threads count there too.
    pub(crate) const fn is_shared(self) -> bool {
        self.0 == Self::SHARED
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::Barrier;

    #[test]
    fn living_threads_share_only_the_last_one() {
        for _ in 0..3 {
            let barrier = Barrier::new(40);
            let stripes: Vec<Stripe> = std::thread::scope(|scope| {
                let claim = || {
                    barrier.wait();
                    let own = Stripe::own();
                    barrier.wait();
                    own
                };
                let threads: Vec<_> = (0..40).map(|_| scope.spawn(claim)).collect();
                threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
            });
            let own: Vec<_> =
                stripes.iter().filter(|stripe| !stripe.is_shared()).map(|stripe| stripe.index()).collect();
            assert_eq!(own.len(), own.iter().collect::<HashSet<_>>().len());
            // Threads that ended gave theirs back.
            assert!(own.len() >= Stripe::COUNT - 8, "{own:?}");
        }
    }
}
