//! Reading the call of a handle once more.

use crate::boundary::stopped;
use crate::decision::Answer;
use crate::status::Status;
use crate::waiting::Waiting;
use crate::{borrowed, boundary};

/// Writes the call of `pending`, for a host whose buffer was too small. Of one that was written before, which the host has
/// to keep, `BAD_ARGUMENT` may come.
///
/// # Safety
/// An answer can be written at `answer`, and `buffer_len` bytes at `buffer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn labkit_ratelimit_call(
    pending: u64,
    answer: *mut Answer,
    buffer: *mut u8,
    buffer_len: usize,
) -> Status {
    stopped(|| {
        boundary::probed();
        // SAFETY: the caller's word.
        let (answer, buffer) = unsafe { (borrowed::place(answer)?, borrowed::slice_mut(buffer, buffer_len)?) };
        *answer = Answer { pending, ..Answer::EMPTY };
        Waiting::shown(pending, answer, buffer)
    })
}
