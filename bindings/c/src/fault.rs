//! What came of a call that the host ran.

use crate::status::Status;
use labkit_ratelimit::Fault;
use std::time::Duration;

/// The reply, or the fault in its place: `kind` is 0 for a reply, which is `text`; 1 for a fault of class `class` that
/// says `text`; 2 where the deadline passed.
pub(crate) fn outcome<'r>(
    kind: u32,
    class: &[u8],
    text: &'r [u8],
    deadline: Duration,
) -> Result<Result<&'r [u8], Fault>, Status> {
    match kind {
        0 => Ok(Ok(text)),
        1 => Ok(Err(Fault::new(String::from_utf8_lossy(class), String::from_utf8_lossy(text)))),
        2 => Ok(Err(Fault::deadline(deadline))),
        _ => Err(Status::BadArgument),
    }
}
