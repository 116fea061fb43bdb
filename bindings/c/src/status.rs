//! What a function says of how it went.

/// How a call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Status {
    /// Done: the answer is there.
    Done = 0,
    /// A call is to be run on Redis, and to be settled.
    Call = 1,
    /// The host is asked something first: nothing was counted yet.
    Ask = 2,
    /// The rules were replaced since the host last looked: nothing was counted. Look again, and repeat.
    Stale = 3,
    /// The buffer is too small; the length that it must have was given.
    TooSmall = 4,
    /// The limiter was not built, or the documents were not loaded: the text says why.
    Rejected = 5,
    /// A pointer is null or not aligned, bytes are not of the format, or a number is none that the argument takes.
    BadArgument = 16,
    /// The handle was freed, or never was one.
    UnknownHandle = 17,
    /// A defect: the library panicked. Nothing else is to be done with this call.
    Panic = 18,
}
