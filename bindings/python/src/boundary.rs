//! The boundary: where panics stop, and exceptions of the host that are not ours to catch pass.

use crate::python;
use pyo3::prelude::*;
use std::any::Any;
use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};

thread_local! {
    static HEARD: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// An exception of the host that must leave a call as it came, while the frames of the library unwind.
struct Passing(PyErr);

/// Unwinds the library, whose state is as if it was never called: hosts are asked before anything is counted.
pub(crate) fn leave(error: PyErr) -> ! {
    // No panic: no hook hears of it.
    panic::resume_unwind(Box::new(Passing(error)))
}

/// How a call came to its end before its time.
pub(crate) enum Stopped {
    /// A panic: what it said, and where.
    Panicked(String),
    /// An exception, to be raised.
    Raised(PyErr),
}

/// Runs an entry.
pub(crate) fn guarded<T>(entry: impl FnOnce() -> PyResult<T>) -> Result<T, Stopped> {
    match panic::catch_unwind(AssertUnwindSafe(entry)) {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(Stopped::Raised(error)),
        Err(payload) => Err(stopped(payload)),
    }
}

/// Runs an entry that is no check: a panic is an `InternalError`.
pub(crate) fn controlled<T>(py: Python<'_>, entry: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    guarded(entry).map_err(|stopped| match stopped {
        Stopped::Raised(error) => error,
        Stopped::Panicked(said) => python::internal_error(py, said),
    })
}

#[cold]
fn stopped(payload: Box<dyn Any + Send>) -> Stopped {
    if let Ok(passing) = payload.downcast::<Passing>() {
        return Stopped::Raised(passing.0);
    }
    let heard = HEARD.try_with(|heard| heard.borrow_mut().take()).ok().flatten();
    Stopped::Panicked(heard.unwrap_or_else(|| "a panic".to_owned()))
}

/// Keeps what a panic says for the line that is logged, and standard error clean.
pub(crate) fn hear_panics() {
    panic::set_hook(Box::new(|info| {
        let said = info.to_string();
        // A thread that is ending keeps nothing.
        let _ = HEARD.try_with(|heard| heard.replace(Some(said)));
    }));
}

/// Panics where a test asked for it.
#[cfg(feature = "panic-probe")]
pub(crate) fn probe() {
    assert!(!ASKED.swap(false, std::sync::atomic::Ordering::Relaxed), "asked for");
}

/// Panics never.
#[cfg(not(feature = "panic-probe"))]
pub(crate) const fn probe() {}

#[cfg(feature = "panic-probe")]
static ASKED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// Has the next call panic.
#[cfg(feature = "panic-probe")]
#[pyfunction]
pub(crate) fn panic_next() {
    ASKED.store(true, std::sync::atomic::Ordering::Relaxed);
}
