//! The boundary: where panics stop, and exceptions of the host that are not ours to rescue pass.

use magnus::value::Lazy;
use magnus::{Error, ExceptionClass, Module as _, RModule, Ruby, prelude::*};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};

thread_local! {
    static HEARD: RefCell<Option<String>> = const { RefCell::new(None) };
}

static INTERNAL_ERROR: Lazy<ExceptionClass> = Lazy::new(|ruby| {
    let class = ruby.class_object().funcall("const_get", ("Labkit::RateLimit::Native::InternalError",));
    class.unwrap_or_else(|_| ruby.exception_runtime_error())
});

/// An exception of the host that must leave a call as it came. It waits here, on the stack, where Ruby's garbage
/// collector sees it, while the frames of the library unwind.
#[derive(Default)]
pub(crate) struct Passage(Cell<Option<Error>>);

/// The payload of such an unwinding.
struct Passing;

impl Passage {
    /// Unwinds the library, whose state is as if it was never called: hosts are asked before anything is counted.
    pub(crate) fn leave(&self, error: Error) -> ! {
        self.0.set(Some(error));
        // No panic: no hook hears of it.
        panic::resume_unwind(Box::new(Passing))
    }
}

/// How a call came to its end before its time.
pub(crate) enum Stopped {
    /// A panic: what it said, and where.
    Panicked(String),
    /// An exception, to be raised.
    Raised(Error),
}

impl Stopped {
    /// Of calls that are no checks: a panic is an `InternalError`.
    pub(crate) fn raised(self, ruby: &Ruby) -> Error {
        match self {
            Self::Raised(error) => error,
            Self::Panicked(said) => Error::new(ruby.get_inner(&INTERNAL_ERROR), said),
        }
    }
}

/// Runs an entry. What it owns is dropped here, before anything is raised.
pub(crate) fn guarded<T>(passage: &Passage, entry: impl FnOnce() -> Result<T, Error>) -> Result<T, Stopped> {
    match panic::catch_unwind(AssertUnwindSafe(entry)) {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(Stopped::Raised(error)),
        Err(payload) => Err(stopped(passage, &*payload)),
    }
}

/// Runs an entry that is no check and asks no host.
pub(crate) fn controlled<T>(ruby: &Ruby, entry: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    guarded(&Passage::default(), entry).map_err(|stopped| stopped.raised(ruby))
}

#[cold]
fn stopped(passage: &Passage, payload: &(dyn Any + Send)) -> Stopped {
    if payload.is::<Passing>()
        && let Some(error) = passage.0.take()
    {
        return Stopped::Raised(error);
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
    assert!(!probe::ASKED.swap(false, std::sync::atomic::Ordering::Relaxed), "asked for");
}

/// Panics never.
#[cfg(not(feature = "panic-probe"))]
pub(crate) const fn probe() {}

#[cfg(feature = "panic-probe")]
mod probe {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    pub(super) static ASKED: AtomicBool = AtomicBool::new(false);

    pub(super) fn ask() {
        ASKED.store(true, Relaxed);
    }
}

pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    native.define_error("InternalError", ruby.exception_standard_error())?;
    #[cfg(feature = "panic-probe")]
    native.define_singleton_method("panic!", magnus::function!(probe::ask, 0))?;
    Ok(())
}
