//! Texts that a call leaves for its host to take: JSON, in UTF-8.

use crate::borrowed;
use crate::boundary::stopped;
use crate::status::Status;
use crate::table::Table;
use serde_json::Value as Json;

static TEXTS: Table<Box<str>> = Table::new();

/// Keeps a text; gives its handle.
pub(crate) fn keep(json: &Json) -> u64 {
    TEXTS.insert(json.to_string().into_boxed_str())
}

/// Copies a text into `buffer`, and frees it. `*len` is its length in any case; where `capacity` is less, the status is
/// `TOO_SMALL`, nothing is copied, and the text stays.
///
/// # Safety
/// `capacity` bytes can be written at `buffer`, and a `size_t` at `len`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn labkit_ratelimit_text_take(
    text: u64,
    buffer: *mut u8,
    capacity: usize,
    len: *mut usize,
) -> Status {
    stopped(|| {
        // SAFETY: the caller's word.
        let (buffer, len) = unsafe { (borrowed::slice_mut(buffer, capacity)?, borrowed::place(len)?) };
        *len = TEXTS.with(text, |text| text.len()).ok_or(Status::UnknownHandle)?;
        if *len > buffer.len() {
            return Ok(Status::TooSmall);
        }
        let text = TEXTS.take(text).ok_or(Status::UnknownHandle)?;
        buffer[..text.len()].copy_from_slice(text.as_bytes());
        Ok(Status::Done)
    })
}
