//! What the library says of itself.

use crate::boundary::{hear_panics, stopped};
use crate::status::Status;
use crate::{borrowed, call};
use std::ffi::c_char;

/// Rises with each change of a signature, a struct or a format.
const ABI: u32 = 1;

/// What stands before the hash in the library, so that it can be found there without running it.
const MARK: &str = "labkit_ratelimit build ";
const MARKED: &str = concat!("labkit_ratelimit build ", env!("LABKIT_RATELIMIT_BUILD"), "\0");

/// The number of this header. A host compares it with the one that it was built for, before it calls anything else.
#[unsafe(no_mangle)]
pub extern "C" fn labkit_ratelimit_abi_version() -> u32 {
    hear_panics();
    ABI
}

/// The library's version, a text that ends in 0 and lives for ever.
#[unsafe(no_mangle)]
pub extern "C" fn labkit_ratelimit_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// SHA-256 of the sources that it was built from, in hex; it ends in 0 and lives for ever.
#[unsafe(no_mangle)]
pub extern "C" fn labkit_ratelimit_build_hash() -> *const c_char {
    MARKED.as_bytes()[MARK.len()..].as_ptr().cast()
}

/// The script of that number: `*digest` are 40 bytes of hex, `*source` its text. Both live for ever.
///
/// # Safety
/// A pointer, or a `size_t`, can be written at each of the three.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn labkit_ratelimit_script(
    script: u32,
    digest: *mut *const u8,
    source: *mut *const u8,
    source_len: *mut usize,
) -> Status {
    stopped(|| {
        let at = usize::try_from(script).map_err(|_| Status::BadArgument)?;
        let script = *call::scripts().get(at).ok_or(Status::BadArgument)?;
        // SAFETY: the caller's word.
        let (digest, source, len) =
            unsafe { (borrowed::place(digest)?, borrowed::place(source)?, borrowed::place(source_len)?) };
        *digest = script.digest().as_ptr();
        *source = script.source().as_ptr();
        *len = script.source().len();
        Ok(Status::Done)
    })
}
