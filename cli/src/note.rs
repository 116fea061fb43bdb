//! What is said beside the result, on standard error.

use crate::printable;
use std::io::{self, Write};

/// Says it, on a line of its own.
pub(crate) fn write(what: &str) {
    // Where standard error is closed, nobody reads it.
    let _ = writeln!(io::stderr(), "note: {}", printable::line(what));
}
