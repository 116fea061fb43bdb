//! The boundary: where panics stop.

use crate::status::Status;
use std::any::Any;
use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static HEARD: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs an entry. `Err` holds what a panic said.
pub(crate) fn guarded<T>(entry: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(entry)).map_err(|payload| said(&*payload))
}

/// Runs an entry that has no better answer to a panic than its status.
pub(crate) fn stopped(entry: impl FnOnce() -> Result<Status, Status>) -> Status {
    match guarded(entry) {
        Ok(Ok(status) | Err(status)) => status,
        Err(_) => Status::Panic,
    }
}

#[cold]
fn said(payload: &(dyn Any + Send)) -> String {
    let heard = HEARD.try_with(|heard| heard.borrow_mut().take()).ok().flatten();
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    heard.or(text).or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned())
}

/// Keeps what a panic says, and standard error clean: it is the host's.
pub(crate) fn hear_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        panic::set_hook(Box::new(|info| {
            let said = info.to_string();
            // A thread that is ending keeps nothing.
            let _ = HEARD.try_with(|heard| heard.replace(Some(said)));
        }));
    });
}

/// Panics never.
#[cfg(not(feature = "panic-probe"))]
pub(crate) const fn probed() {}

#[cfg(feature = "panic-probe")]
pub(crate) use probe::probed;

#[cfg(feature = "panic-probe")]
pub(crate) mod probe {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    static ASKED: AtomicBool = AtomicBool::new(false);

    /// Makes the next call panic.
    #[unsafe(no_mangle)]
    pub extern "C" fn labkit_ratelimit_panic_at_next_call() {
        ASKED.store(true, Relaxed);
    }

    /// Panics where a test asked for it.
    pub(crate) fn probed() {
        assert!(!ASKED.swap(false, Relaxed), "asked for");
    }
}
