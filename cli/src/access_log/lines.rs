//! Lines of bounded length.

use super::{Unreadable, Why};
use std::error::Error;
use std::fmt;
use std::io::{self, BufRead, Read};

/// The longest line that is read: servers cut requests long before.
pub(super) const LONGEST: u64 = 1 << 20;

/// The lines of a reader, one held at a time.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    line: Vec<u8>,
    number: u64,
    damaged: bool,
}

/// What a reader fails with where what was packed is damaged: nothing can be read from here on.
#[derive(Debug)]
pub(super) struct Damage(pub(super) String);

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Damage {}

/// Whether it is [`Damage`].
pub(super) fn is_damage(error: &io::Error) -> bool {
    error.get_ref().is_some_and(<dyn Error + Send + Sync>::is::<Damage>)
}

/// A line with its number, the first being 1.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'l> {
    pub(super) number: u64,
    /// Without its end; none if it is longer than [`LONGEST`], or damaged.
    pub(super) text: Result<&'l [u8], Unreadable>,
    /// `\n`, `\r\n`, or less where the log ends.
    pub(super) end: &'l [u8],
}

impl<R: BufRead> Lines<R> {
    pub(super) const fn new(reader: R) -> Self {
        Self { reader, line: Vec::new(), number: 0, damaged: false }
    }

    /// How many lines were read.
    pub(super) const fn read(&self) -> u64 {
        self.number
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        if self.damaged {
            return Ok(None);
        }
        let read = match (&mut self.reader).take(LONGEST + 1).read_until(b'\n', &mut self.line) {
            Ok(read) => read,
            Err(error) => return self.damaged(error).map(Some),
        };
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        if self.line.len() > usize::try_from(LONGEST).unwrap_or(usize::MAX) && !self.line.ends_with(b"\n") {
            match self.reader.skip_until(b'\n') {
                // It is said with the line after this one.
                Err(error) if !is_damage(&error) => return Err(error),
                _ => {}
            }
            let text = Err(Unreadable::new(Why::TooLong, "more than 1 MiB"));
            return Ok(Some(Line { number: self.number, text, end: b"" }));
        }
        let text = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let end = &self.line[text.len()..];
        let text = if self.number == 1 { text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text) } else { text };
        Ok(Some(Line { number: self.number, text: Ok(text), end }))
    }

    /// Damage is the last line: what is there of that line is no more than a part.
    fn damaged(&mut self, error: io::Error) -> io::Result<Line<'_>> {
        if !is_damage(&error) {
            return Err(error);
        }
        self.damaged = true;
        self.number += 1;
        Ok(Line { number: self.number, text: Err(Unreadable::new(Why::Damaged, error.to_string())), end: b"" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_marks_are_cut_off() {
        let mut lines = Lines::new(b"\xef\xbb\xbfa\r\n\nb".as_slice());
        for (number, text, end) in [(1, b"a".as_slice(), b"\r\n".as_slice()), (2, b"", b"\n"), (3, b"b", b"")] {
            assert_eq!(lines.next().expect("a line"), Some(Line { number, text: Ok(text), end }));
        }
        assert_eq!(lines.next().expect("the end"), None);
    }

    #[test]
    fn a_line_without_end_is_not_held() {
        let long = [vec![b'x'; 3 << 20], b"\nb\n".to_vec()].concat();
        let mut lines = Lines::new(long.as_slice());
        let first = lines.next().expect("a line").expect("a line");
        assert_eq!((first.number, first.text.map_err(|unreadable| unreadable.why)), (1, Err(Why::TooLong)));
        assert!(lines.line.capacity() < 3 << 20);
        assert_eq!(lines.next().expect("a line"), Some(Line { number: 2, text: Ok(b"b"), end: b"\n" }));
    }
}
