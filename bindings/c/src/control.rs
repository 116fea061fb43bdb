//! Making, changing, asking and freeing limiters.

use crate::boundary::{hear_panics, probed, stopped};
use crate::status::Status;
use crate::{borrowed, config, heard, limiters, said, text};
use serde_json::{Value as Json, json};

/// Makes a limiter from the JSON in `config`. `*limiter` is its handle, to be freed with
/// `labkit_ratelimit_limiter_free`; `*text` a text to take: `{"rules": …, "logs": […]}` with `DONE`, `{"error": …,
/// "logs": […]}` with `REJECTED`. Both are 0 with any other status.
///
/// # Safety
/// `config_len` bytes can be read at `config`, and a `uint64_t` written at `limiter` and at `text`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn labkit_ratelimit_limiter_new(
    config: *const u8,
    config_len: usize,
    limiter: *mut u64,
    text: *mut u64,
) -> Status {
    hear_panics();
    stopped(|| {
        // SAFETY: the caller's word.
        let (limiter, answer) = unsafe { (borrowed::place(limiter)?, borrowed::place(text)?) };
        (*limiter, *answer) = (0, 0);
        // SAFETY: the caller's word.
        let config = unsafe { borrowed::slice(config, config_len)? };
        probed();
        heard::take();
        match config::build(config)? {
            Ok(built) => {
                let rules = said::rules(&built.rules());
                *limiter = limiters::insert(built).ok_or(Status::BadArgument)?;
                *answer = text::keep(&json!({"rules": rules, "logs": said::logs(&heard::take())}));
                Ok(Status::Done)
            }
            Err(error) => {
                *answer = text::keep(&json!({"error": error, "logs": said::logs(&heard::take())}));
                Ok(Status::Rejected)
            }
        }
    })
}

/// Loads documents, JSON as `documents` of `labkit_ratelimit_limiter_new`, in place of those in force. `*text` as there.
///
/// # Safety
/// `documents_len` bytes can be read at `documents`, and a `uint64_t` written at `text`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn labkit_ratelimit_limiter_reload(
    limiter: u64,
    documents: *const u8,
    documents_len: usize,
    text: *mut u64,
) -> Status {
    stopped(|| {
        // SAFETY: the caller's word.
        let (answer, documents) = unsafe { (borrowed::place(text)?, borrowed::slice(documents, documents_len)?) };
        *answer = 0;
        let limiter = limiters::get(limiter).ok_or(Status::UnknownHandle)?;
        probed();
        heard::take();
        let documents: Json = serde_json::from_slice(documents).map_err(|_| Status::BadArgument)?;
        let loaded = limiter.reload(&config::read_documents(&documents)?);
        let logs = said::logs(&heard::take());
        let (status, said) = match loaded {
            Ok(()) => (Status::Done, json!({"rules": said::rules(&limiter.rules()), "logs": logs})),
            Err(error) => (Status::Rejected, json!({"error": said::not_loaded(&error), "logs": logs})),
        };
        *answer = text::keep(&said);
        Ok(status)
    })
}

/// The rules in force: `*text` is a text to take.
///
/// # Safety
/// A `uint64_t` can be written at `text`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn labkit_ratelimit_limiter_rules(limiter: u64, text: *mut u64) -> Status {
    stopped(|| {
        // SAFETY: the caller's word.
        let answer = unsafe { borrowed::place(text)? };
        *answer = 0;
        let limiter = limiters::get(limiter).ok_or(Status::UnknownHandle)?;
        probed();
        *answer = text::keep(&said::rules(&limiter.rules()));
        Ok(Status::Done)
    })
}

/// Counters and gauges as they stand: `*text` is a text to take, a list of `{"name", "kind", "labels", "value"}`.
///
/// # Safety
/// A `uint64_t` can be written at `text`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn labkit_ratelimit_limiter_metrics(limiter: u64, text: *mut u64) -> Status {
    stopped(|| {
        // SAFETY: the caller's word.
        let answer = unsafe { borrowed::place(text)? };
        *answer = 0;
        let limiter = limiters::get(limiter).ok_or(Status::UnknownHandle)?;
        probed();
        *answer = text::keep(&said::samples(&limiter.metrics()));
        Ok(Status::Done)
    })
}

/// Closes the circuit of its Redis, as an operator may after mending it.
#[unsafe(no_mangle)]
pub extern "C" fn labkit_ratelimit_limiter_close_circuit(limiter: u64) -> Status {
    stopped(|| {
        limiters::get(limiter).ok_or(Status::UnknownHandle)?.close_circuit();
        Ok(Status::Done)
    })
}

/// Frees a limiter. Calls of other threads that are under way end with it; its pending calls are still to be settled,
/// and are `UNKNOWN_HANDLE` then.
#[unsafe(no_mangle)]
pub extern "C" fn labkit_ratelimit_limiter_free(limiter: u64) -> Status {
    stopped(|| if limiters::remove(limiter) { Ok(Status::Done) } else { Err(Status::UnknownHandle) })
}
