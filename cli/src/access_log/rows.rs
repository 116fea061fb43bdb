//! Records of comma-separated values, each within a bounded number of lines.

use super::lines::{LONGEST, Lines};
use super::{Unreadable, Why};
use csv::{ByteRecord, Reader, ReaderBuilder, Terminator};
use std::collections::VecDeque;
use std::io::{self, BufRead, Cursor};

/// The most lines of one record: a quote still open behind them is a stray one.
const MOST_LINES: usize = 100;

/// Records with the numbers of their lines.
#[derive(Debug)]
pub(super) struct Rows<R> {
    lines: Lines<R>,
    /// Lines that were read and belong to no record yet.
    held: VecDeque<Held>,
    parser: Reader<Cursor<Vec<u8>>>,
    record: ByteRecord,
}

#[derive(Debug)]
struct Held {
    number: u64,
    /// With its end.
    text: Result<Vec<u8>, Unreadable>,
}

impl<R: BufRead> Rows<R> {
    pub(super) fn new(reader: R) -> Self {
        // What is given to the parser ends in `\n` alone; a `\r` within is a value's.
        let parser = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .terminator(Terminator::Any(b'\n'))
            .from_reader(Cursor::new(Vec::new()));
        Self { lines: Lines::new(reader), held: VecDeque::new(), parser, record: ByteRecord::new() }
    }

    /// The record that was read last.
    pub(super) const fn record(&self) -> &ByteRecord {
        &self.record
    }

    /// Passes over the lines, blank ones too, that are `passed`.
    pub(super) fn pass_while(&mut self, passed: impl Fn(&[u8]) -> bool) -> io::Result<()> {
        while self.hold(0)?.is_some_and(|held| {
            held.text.as_ref().is_ok_and(|text| text.trim_ascii().is_empty() || passed(text.trim_ascii()))
        }) {
            self.held.pop_front();
        }
        Ok(())
    }

    /// Reads the next record that is not blank; gives the number of its first line. One that cannot be read
    /// takes that line alone, and the next record begins with the line after it.
    pub(super) fn next(&mut self) -> io::Result<Option<(u64, Result<(), Unreadable>)>> {
        loop {
            self.pass_while(|_| false)?;
            let Some(number) = self.hold(0)?.map(|held| held.number) else { return Ok(None) };
            match self.extent()? {
                Ok(lines) => {
                    self.parse(lines)?;
                    if self.record.len() != 1 || !self.record[0].trim_ascii().is_empty() {
                        return Ok(Some((number, Ok(()))));
                    }
                }
                Err(unreadable) => {
                    self.held.pop_front();
                    return Ok(Some((number, Err(unreadable))));
                }
            }
        }
    }

    /// The line at this place behind the last record, or none behind the last line.
    fn hold(&mut self, at: usize) -> io::Result<Option<&Held>> {
        while self.held.len() <= at {
            let Some(line) = self.lines.next()? else { return Ok(None) };
            let text = line.text.map(|text| [text, line.end].concat());
            self.held.push_back(Held { number: line.number, text });
        }
        Ok(self.held.get(at))
    }

    /// How many lines the next record has.
    fn extent(&mut self) -> io::Result<Result<usize, Unreadable>> {
        let cut_off = |how: &str| Unreadable::new(Why::CutOff, format!("a quote that opens here is {how}"));
        let mut place = Place::FieldStart;
        let mut left = usize::try_from(LONGEST).unwrap_or(usize::MAX);
        for at in 0..MOST_LINES {
            let Some(held) = self.hold(at)? else { return Ok(Err(cut_off("not closed before the log ends"))) };
            let text = match &held.text {
                Ok(text) => text,
                Err(unreadable) if at == 0 => return Ok(Err(unreadable.clone())),
                Err(_) => return Ok(Err(cut_off("not closed before a line that cannot be read"))),
            };
            let Some(behind) = place.behind(without_end(text), at > 0) else {
                return Ok(Err(cut_off("closed on a later line within a value")));
            };
            if behind != Place::Quoted {
                return Ok(Ok(at + 1));
            }
            place = behind;
            left = left.saturating_sub(text.len());
            if left == 0 {
                return Ok(Err(cut_off("not closed within 1 MiB")));
            }
        }
        Ok(Err(cut_off(&format!("not closed within {MOST_LINES} lines"))))
    }

    fn parse(&mut self, lines: usize) -> io::Result<()> {
        let mut lines = self.held.drain(..lines).filter_map(|held| held.text.ok());
        let mut text = lines.next().unwrap_or_default();
        lines.for_each(|line| text.extend_from_slice(&line));
        text.truncate(without_end(&text).len());
        text.push(b'\n');
        *self.parser.get_mut() = Cursor::new(text);
        self.parser.read_byte_record(&mut self.record)?;
        Ok(())
    }
}

fn without_end(text: &[u8]) -> &[u8] {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.strip_suffix(b"\r").unwrap_or(text)
}

/// Where in a record a byte stands, as far as quotes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    FieldStart,
    Bare,
    Quoted,
    /// Behind a quote within quotes: it closes them, or is the first of two that stand for one.
    Quote,
}

impl Place {
    /// The place behind a line. With `strict`, none where quotes are closed within a value.
    fn behind(self, line: &[u8], strict: bool) -> Option<Self> {
        let mut place = self;
        for byte in line {
            place = match (place, byte) {
                (Self::Quoted, b'"') => Self::Quote,
                (Self::FieldStart | Self::Quote, b'"') | (Self::Quoted, _) => Self::Quoted,
                (_, b',') => Self::FieldStart,
                (Self::Quote, _) if strict => return None,
                _ => Self::Bare,
            };
        }
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines' numbers with the fields, or why there are none.
    fn read(text: &str) -> Vec<(u64, Result<Vec<String>, Why>)> {
        let mut rows = Rows::new(text.as_bytes());
        let mut read = Vec::new();
        while let Some((line, done)) = rows.next().expect("a record") {
            let fields = rows.record().iter().map(|field| String::from_utf8_lossy(field).into_owned()).collect();
            read.push((line, done.map(|()| fields).map_err(|unreadable| unreadable.why)));
        }
        assert!(rows.held.is_empty());
        read
    }

    #[allow(clippy::unnecessary_wraps, reason = "as `read` gives them")]
    fn fields(fields: &[&str]) -> Result<Vec<String>, Why> {
        Ok(fields.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn quotes_are_followed_as_they_are_parsed() {
        for (line, expected) in [
            (r#"a"b,c"#, fields(&["a\"b", "c"])),
            (r#""a"b",c"#, fields(&["ab\"", "c"])),
            (r#""a""b",c"#, fields(&["a\"b", "c"])),
            (r#""a,""","",c"#, fields(&["a,\"", "", "c"])),
            (r#"a, "b",c"#, fields(&["a", " \"b\"", "c"])),
            ("\"a\"\r", fields(&["a"])),
            (",", fields(&["", ""])),
            (r#"a,"""#, fields(&["a", ""])),
            (r#"a,""""#, Err(Why::CutOff)),
            (r#"a,""b"#, fields(&["a", "b"])),
        ] {
            let after = if line.ends_with("\"\"\"") { "x" } else { "x,\"y\"" };
            let mut all = read(&format!("{line}\n{after}\n"));
            assert_eq!(all.remove(0), (1, expected), "{line}");
            assert_eq!(all.len(), 1, "{line}");
            assert_eq!(all[0].0, 2, "{line}");
        }
    }

    #[test]
    fn a_stray_quote_costs_its_line_alone() {
        assert_eq!(
            read("1,\"x\n2,y\n3,z"),
            [(1, Err(Why::CutOff)), (2, fields(&["2", "y"])), (3, fields(&["3", "z"]))]
        );
        // The second stray quote does not close the first; nor does a quoted value.
        assert_eq!(read("1,\"x\n2,\"y\n"), [(1, Err(Why::CutOff)), (2, Err(Why::CutOff))]);
        assert_eq!(read("1,\"x\n\n\"2\",y\n"), [(1, Err(Why::CutOff)), (3, fields(&["2", "y"]))]);
        // Nor do the quotes of a line far behind.
        let many = format!("1,\"x\n{}9,\"\n", "2,y\n".repeat(150));
        let all = read(&many);
        assert_eq!((all.len(), &all[0], &all[151]), (152, &(1, Err(Why::CutOff)), &(152, Err(Why::CutOff))));
    }

    #[test]
    fn what_is_held_is_bounded() {
        let line = format!("{}\n", "y".repeat(100 << 10));
        let text = format!("1,\"x\n{}", line.repeat(60));
        let mut rows = Rows::new(text.as_bytes());
        let mut most = 0;
        while let Some((number, done)) = rows.next().expect("a record") {
            assert_eq!(done.is_err(), number == 1);
            most = most.max(rows.held.len());
        }
        assert!((5..=11).contains(&most), "{most}");
        let long = format!("1,\"x\n{}\n2,y\n", "y".repeat(2 << 20));
        assert_eq!(read(&long), [(1, Err(Why::CutOff)), (2, Err(Why::TooLong)), (3, fields(&["2", "y"]))]);
    }
}
