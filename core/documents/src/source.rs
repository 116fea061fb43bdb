//! The text of a document, under the name that findings give it.

use labkit_ratelimit_engine::{Code, Finding, Location};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// The largest document: 10 MiB.
pub const MAX_BYTES: usize = 10 * 1024 * 1024;

/// A document that was not read yet: its bytes, and the name of its file.
///
/// ```
/// use labkit_ratelimit_documents::Source;
/// let source = Source::new("rate_limits.yaml", "rate_limits: {}");
/// assert_eq!(source.name(), "rate_limits.yaml");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    name: Arc<str>,
    bytes: Arc<[u8]>,
}

impl Source {
    /// A document called `name` in findings. Of one that is too large it keeps no more than shows that it is.
    pub fn new(name: impl Into<Arc<str>>, bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        Self { name: name.into(), bytes: bytes[..bytes.len().min(MAX_BYTES + 1)].into() }
    }

    /// Reads a file. Of one that is too large, no more than shows that it is.
    ///
    /// # Errors
    /// The file cannot be read. What is in it is judged later.
    pub fn read_file(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        Self::read_from(path.display().to_string(), File::open(path)?)
    }

    /// Reads a stream to its end, or to where it is too large.
    ///
    /// # Errors
    /// The stream cannot be read.
    pub fn read_from(name: impl Into<Arc<str>>, stream: impl Read) -> io::Result<Self> {
        let mut bytes = Vec::new();
        let enough = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
        stream.take(enough).read_to_end(&mut bytes)?;
        Ok(Self::new(name, bytes))
    }

    /// The name that findings give it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its lines, without their ends, as findings count them; none where it is too large or no UTF-8.
    ///
    /// ```
    /// use labkit_ratelimit_documents::Source;
    /// let source = Source::new("rate_limits.yaml", "a: []\r\nb: []\n");
    /// assert_eq!(source.lines().collect::<Vec<_>>(), ["a: []", "b: []"]);
    /// ```
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        let text = self.text().unwrap_or_default();
        // YAML ends a line at a carriage return alone too.
        text.split_inclusive('\n').flat_map(|line| {
            let line = line.strip_suffix('\n').unwrap_or(line);
            line.strip_suffix('\r').unwrap_or(line).split('\r')
        })
    }

    /// A place in it.
    pub(crate) fn location(&self, place: Place) -> Location {
        Location { file: self.name.clone(), line: place.line, column: place.column }
    }

    /// Its text, without a byte order mark.
    pub(crate) fn text(&self) -> Result<&str, Finding> {
        if self.bytes.len() > MAX_BYTES {
            let message = format!("the document is larger than {MAX_BYTES} bytes");
            return Err(Finding::new(Code::DocumentTooLarge, "", message).at(self.location(Place::START)));
        }
        match std::str::from_utf8(&self.bytes) {
            Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
            Err(error) => Err(self.not_utf8(error.valid_up_to())),
        }
    }

    fn not_utf8(&self, at: usize) -> Finding {
        let message = match self.bytes.get(..2) {
            Some(b"\xff\xfe" | b"\xfe\xff") => "the file is UTF-16".to_owned(),
            _ => format!("byte {} is no UTF-8", at + 1),
        };
        let before = String::from_utf8_lossy(&self.bytes[..at]);
        let before = before.strip_prefix('\u{feff}').unwrap_or(&before);
        Finding::new(Code::NotUtf8, "", message).at(self.location(Place::after(before)))
    }
}

/// A place in a text. Lines and columns count from 1, columns in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl Place {
    pub(crate) const START: Self = Self { line: 1, column: 1 };

    /// From a line and a column that count from 1. No document has lines beyond 32 bits.
    pub(crate) fn new(line: usize, column: usize) -> Self {
        let cut = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self { line: cut(line), column: cut(column) }
    }

    /// Behind a text.
    fn after(text: &str) -> Self {
        let unix = text.replace("\r\n", "\n").replace('\r', "\n");
        let last = unix.rsplit('\n').next().unwrap_or_default();
        Self::new(unix.matches('\n').count() + 1, last.chars().count() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream without end that counts what is read of it.
    struct Endless(usize);

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            buffer.fill(b' ');
            self.0 += buffer.len();
            Ok(buffer.len())
        }
    }

    fn code(source: &Source) -> Option<Code> {
        source.text().err().map(|finding| finding.code)
    }

    #[test]
    fn no_more_is_read_than_shows_that_it_is_too_large() {
        let mut stream = Endless(0);
        let source = Source::read_from("f", &mut stream).expect("a stream");
        assert_eq!((stream.0, code(&source)), (MAX_BYTES + 1, Some(Code::DocumentTooLarge)));
        let hundred = Source::new("f", vec![b' '; 100_000_000]);
        assert_eq!((hundred.bytes.len(), code(&hundred)), (MAX_BYTES + 1, Some(Code::DocumentTooLarge)));
    }

    #[test]
    fn ten_mebibytes_are_not_too_large() {
        for (size, expected) in [(MAX_BYTES, None), (MAX_BYTES + 1, Some(Code::DocumentTooLarge))] {
            let bytes = vec![b'#'; size];
            assert_eq!(code(&Source::new("f", &bytes)), expected, "{size}");
            assert_eq!(code(&Source::read_from("f", bytes.as_slice()).expect("a stream")), expected, "{size}");
        }
    }
}
