//! Where a log comes from: a file or standard input, plain or compressed.

use super::lines::is_damage;
use super::unpacking::Unpacking;
use crate::mistake::Mistake;
use indicatif::ProgressBar;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

const BUFFER: usize = 128 * 1024;
/// How much is looked at to know the format.
const HEAD: u64 = 1 << 20;
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// An open log.
pub(crate) struct Source {
    /// As it was asked for.
    pub(crate) name: String,
    /// The beginning; the reader gives it again.
    pub(crate) head: Vec<u8>,
    pub(crate) reader: Box<dyn BufRead>,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({})", self.name)
    }
}

impl Source {
    /// Opens the file, or standard input for `-`. The bar follows the bytes as they are read.
    pub(crate) fn open(path: &Path, bar: &ProgressBar) -> Result<Self, Mistake> {
        if path == Path::new("-") {
            return Self::of("standard input".into(), bar.wrap_read(io::stdin().lock()));
        }
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| Mistake::unreadable(&name, &error))?;
        if let Ok(size) = file.metadata().map(|metadata| metadata.len()) {
            bar.set_length(size);
        }
        Self::of(name, bar.wrap_read(file))
    }

    fn of(name: String, reader: impl Read + 'static) -> Result<Self, Mistake> {
        let failed = |error: io::Error| Mistake::unreadable(&name, &error);
        let (magic, reader) = peeked(reader, 2).map_err(failed)?;
        let plain: Box<dyn Read> = if magic == GZIP {
            Box::new(Unpacking::new(BufReader::with_capacity(BUFFER, reader)))
        } else {
            Box::new(reader)
        };
        let (head, whole) = peeked(plain, HEAD).map_err(failed)?;
        Ok(Self { name, head, reader: Box::new(BufReader::with_capacity(BUFFER, whole)) })
    }
}

/// The first bytes of a reader, up to `most`, and a reader that gives them again.
fn peeked<R: Read>(mut reader: R, most: u64) -> io::Result<(Vec<u8>, impl Read)> {
    let mut head = Vec::new();
    match (&mut reader).take(most).read_to_end(&mut head) {
        // The reader says it again behind what it could give.
        Err(error) if head.is_empty() || !is_damage(&error) => return Err(error),
        _ => {}
    }
    Ok((head.clone(), Cursor::new(head).chain(reader)))
}
