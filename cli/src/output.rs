//! Standard output, for readers of both kinds.

use crate::mistake::Mistake;
use clap::ValueEnum;
use std::io::{self, BufWriter, Write};

/// For whom a command writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// for people
    #[default]
    Human,
    /// one JSON object
    Json,
}

/// Writes to standard output, locked and buffered, so that a long report is one piece.
pub(crate) fn write(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Mistake> {
    let mut out = BufWriter::new(io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).map_err(|error| Mistake::unwritable("standard output", &error))
}
