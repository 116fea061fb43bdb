//! `on_error: local`: memory that counts while the store does not answer.

use labkit_ratelimit_store::MemoryStore;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Made when the store fails, dropped when it answers.
#[derive(Debug, Default)]
pub(crate) struct Fallback {
    in_use: AtomicBool,
    store: Mutex<Option<Arc<MemoryStore>>>,
}

impl Fallback {
    /// The store, made from zero where there is none.
    pub(crate) fn store(&self) -> Arc<MemoryStore> {
        let mut store = self.store.lock();
        self.in_use.store(true, Relaxed);
        Arc::clone(store.get_or_insert_with(Arc::default))
    }

    /// The store, where it is in use.
    pub(crate) fn in_use(&self) -> Option<Arc<MemoryStore>> {
        self.in_use.load(Relaxed).then(|| self.store.lock().clone()).flatten()
    }

    /// The host's store answered.
    pub(crate) fn forget(&self) {
        if self.in_use.load(Relaxed) {
            let mut store = self.store.lock();
            self.in_use.store(false, Relaxed);
            *store = None;
        }
    }
}
