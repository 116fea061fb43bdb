//! What a host lends for the length of a call.

use crate::status::Status;
use std::slice;

/// A pointer that can be dereferenced, as far as one can tell.
fn is_good<T>(pointer: *const T) -> bool {
    !pointer.is_null() && pointer.is_aligned()
}

/// # Safety
/// `len` elements can be read at `pointer` until the call returns, and nobody writes them.
pub(crate) unsafe fn slice<'a, T>(pointer: *const T, len: usize) -> Result<&'a [T], Status> {
    match len {
        0 => Ok(&[]),
        _ if !is_good(pointer) || len > isize::MAX.unsigned_abs() / size_of::<T>() => Err(Status::BadArgument),
        // SAFETY: the caller's word; null, alignment and length were looked at.
        _ => Ok(unsafe { slice::from_raw_parts(pointer, len) }),
    }
}

/// # Safety
/// `len` elements can be written at `pointer` until the call returns, nobody else does, and they hold values of `T`.
pub(crate) unsafe fn slice_mut<'a, T>(pointer: *mut T, len: usize) -> Result<&'a mut [T], Status> {
    match len {
        0 => Ok(&mut []),
        _ if !is_good(pointer) || len > isize::MAX.unsigned_abs() / size_of::<T>() => Err(Status::BadArgument),
        // SAFETY: the caller's word; null, alignment and length were looked at.
        _ => Ok(unsafe { slice::from_raw_parts_mut(pointer, len) }),
    }
}

/// # Safety
/// A `T` can be written at `pointer` until the call returns, nobody else does, and it holds a value of `T`.
pub(crate) unsafe fn place<'a, T>(pointer: *mut T) -> Result<&'a mut T, Status> {
    if !is_good(pointer) {
        return Err(Status::BadArgument);
    }
    // SAFETY: the caller's word; null and alignment were looked at.
    Ok(unsafe { &mut *pointer })
}
