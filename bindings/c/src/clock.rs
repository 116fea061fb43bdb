//! A clock that stands still until it is told otherwise, for tests of hosts.

use crate::borrowed;
use crate::boundary::stopped;
use crate::status::Status;
use crate::table::Table;
use labkit_ratelimit::{Clock as _, ManualClock};
use std::sync::Arc;

static CLOCKS: Table<Arc<ManualClock>> = Table::new();

/// The clock of a handle.
pub(crate) fn get(clock: u64) -> Option<Arc<ManualClock>> {
    CLOCKS.with(clock, |clock| Arc::clone(clock))
}

/// Makes a clock that stands at `unix_seconds`; limiters name it in their text. Gives its handle; 0 is a defect.
#[unsafe(no_mangle)]
pub extern "C" fn labkit_ratelimit_clock_new(unix_seconds: u32) -> u64 {
    let new = || CLOCKS.insert(Arc::new(ManualClock::at_unix_seconds(u64::from(unix_seconds))));
    crate::boundary::guarded(new).unwrap_or(0)
}

/// Moves it by `by_us` µs; back where that is negative.
#[unsafe(no_mangle)]
pub extern "C" fn labkit_ratelimit_clock_advance(clock: u64, by_us: i64) -> Status {
    stopped(|| {
        get(clock).ok_or(Status::UnknownHandle)?.advance_us(by_us);
        Ok(Status::Done)
    })
}

/// Reads it: `*now_us` is in µs since 1970.
///
/// # Safety
/// A `uint64_t` can be written at `now_us`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn labkit_ratelimit_clock_now(clock: u64, now_us: *mut u64) -> Status {
    stopped(|| {
        // SAFETY: the caller's word.
        *unsafe { borrowed::place(now_us)? } = get(clock).ok_or(Status::UnknownHandle)?.now_us();
        Ok(Status::Done)
    })
}

/// Frees it. Limiters that go by it keep it.
#[unsafe(no_mangle)]
pub extern "C" fn labkit_ratelimit_clock_free(clock: u64) -> Status {
    stopped(|| CLOCKS.take(clock).map(|_| Status::Done).ok_or(Status::UnknownHandle))
}
