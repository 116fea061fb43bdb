//! Lines of bounded length.

use std::io::{self, BufRead, Read};

/// The longest line that is read: servers cut requests long before.
pub(super) const LONGEST: u64 = 1 << 20;

/// The lines of a reader, one held at a time.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    line: Vec<u8>,
    number: u64,
}

/// A line with its number, the first being 1.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'l> {
    pub(super) number: u64,
    /// Without its end; `None` if it is longer than [`LONGEST`].
    pub(super) text: Option<&'l [u8]>,
}

impl<R: BufRead> Lines<R> {
    pub(super) const fn new(reader: R) -> Self {
        Self { reader, line: Vec::new(), number: 0 }
    }

    /// How many lines were read.
    pub(super) const fn read(&self) -> u64 {
        self.number
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let read = (&mut self.reader).take(LONGEST + 1).read_until(b'\n', &mut self.line)?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        if self.line.len() > usize::try_from(LONGEST).unwrap_or(usize::MAX) && !self.line.ends_with(b"\n") {
            self.reader.skip_until(b'\n')?;
            return Ok(Some(Line { number: self.number, text: None }));
        }
        let text = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let text = if self.number == 1 { text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text) } else { text };
        Ok(Some(Line { number: self.number, text: Some(text) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_marks_are_cut_off() {
        let mut lines = Lines::new(b"\xef\xbb\xbfa\r\n\nb".as_slice());
        for (number, text) in [(1, b"a".as_slice()), (2, b""), (3, b"b")] {
            assert_eq!(lines.next().expect("a line"), Some(Line { number, text: Some(text) }));
        }
        assert_eq!(lines.next().expect("the end"), None);
    }

    #[test]
    fn a_line_without_end_is_not_held() {
        let long = [vec![b'x'; 3 << 20], b"\nb\n".to_vec()].concat();
        let mut lines = Lines::new(long.as_slice());
        assert_eq!(lines.next().expect("a line"), Some(Line { number: 1, text: None }));
        assert!(lines.line.capacity() < 3 << 20);
        assert_eq!(lines.next().expect("a line"), Some(Line { number: 2, text: Some(b"b") }));
    }
}
