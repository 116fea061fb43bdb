//! Comma-separated values below a line that names the fields. Every value is text.

use super::{Entry, Property, Unreadable, Why, time};
use crate::mistake::Mistake;
use crate::printable::excerpt;
use csv::{ByteRecord, Reader, ReaderBuilder, Terminator};
use std::io::Read;

/// A reader of records behind the line that names their fields.
pub(super) struct Table {
    rows: Rows<Box<dyn Read>>,
    /// The columns of the properties that are asked for.
    properties: Vec<Option<usize>>,
    time: usize,
    fields: usize,
}

impl Table {
    pub(super) fn new(
        name: &str,
        reader: Box<dyn Read>,
        properties: &[String],
        time_fields: &[String],
    ) -> Result<Self, Mistake> {
        let mut rows = Rows::new(reader);
        rows.next().map_err(|error| Mistake::Misuse(format!("cannot read {name}: {error}")))?;
        let header = &rows.record;
        let Some(time) = time_column(header, time_fields) else {
            let names: Vec<String> = header.iter().map(excerpt).collect();
            return Err(Mistake::Misuse(format!(
                "the first line of {name} names no field {}; it names {}. Say --time-field",
                time_fields.join(" or "),
                names.join(", "),
            )));
        };
        let column = |name: &String| header.iter().position(|field| field == name.as_bytes());
        let properties = properties.iter().map(column).collect();
        Ok(Self { properties, time, fields: header.len(), rows })
    }

    /// The number of the line that the next record starts at, and what it says.
    pub(super) fn next(&mut self) -> csv::Result<Option<(u64, Result<Entry<'_>, Unreadable>)>> {
        let line = self.rows.next()?;
        Ok(line.map(|line| (line, self.entry())))
    }

    fn entry(&self) -> Result<Entry<'_>, Unreadable> {
        let record = &self.rows.record;
        if record.len() != self.fields {
            let detail = format!("{} fields, where the first line names {}", record.len(), self.fields);
            return Err(Unreadable::new(Why::FieldCount, detail));
        }
        let at_us = time::parse(record.get(self.time).unwrap_or_default())?;
        let value =
            |column: &Option<usize>| column.and_then(|at| record.get(at)).map_or(Property::Absent, Property::from);
        Ok(Entry { at_us, properties: self.properties.iter().map(value).collect(), odd: None })
    }
}

/// Records with the numbers of their lines.
struct Rows<R> {
    reader: Reader<std::io::Chain<R, &'static [u8]>>,
    record: ByteRecord,
}

impl<R: Read> Rows<R> {
    fn new(reader: R) -> Self {
        // The reader counts a line when it sees its end. So that it always does, lines end in `\n` alone,
        // what stands before it is taken off below, and the last one has an end, too.
        let ended = reader.chain(b"\n".as_slice());
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .terminator(Terminator::Any(b'\n'))
            .from_reader(ended);
        Self { reader, record: ByteRecord::new() }
    }

    /// Reads the next record that is not blank; gives the number of its first line.
    fn next(&mut self) -> csv::Result<Option<u64>> {
        while self.reader.read_byte_record(&mut self.record)? {
            let last = self.record.iter().next_back().unwrap_or_default();
            if let Some(end) = last.strip_suffix(b"\r").map(<[u8]>::to_vec) {
                self.record.truncate(self.record.len() - 1);
                self.record.push_field(&end);
            }
            if self.record.len() == 1 && self.record[0].trim_ascii().is_empty() {
                continue;
            }
            let inner = self.record.as_slice().split(|byte| *byte == b'\n').count() - 1;
            let behind = self.reader.position().line();
            return Ok(Some(behind.saturating_sub(1 + u64::try_from(inner).unwrap_or(0))));
        }
        Ok(None)
    }
}

fn time_column(header: &ByteRecord, time_fields: &[String]) -> Option<usize> {
    time_fields.iter().find_map(|name| header.iter().position(|field| field == name.as_bytes()))
}

/// Whether the line is one that names fields, the time's among them.
pub(super) fn names_a_time(line: &[u8], time_fields: &[String]) -> bool {
    let mut rows = Rows::new(line);
    rows.next().is_ok_and(|_| time_column(&rows.record, time_fields).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_as_an_editor_does() {
        for end in ["\n", "\r\n"] {
            let text = "\u{feff}time,ip\n\n1,\"two\nlines\"\n2,b\n\n\n3,c".replace('\n', end);
            let properties = ["ip".to_owned()];
            let reader: Box<dyn Read> = Box::new(std::io::Cursor::new(text.into_bytes()));
            let mut table = Table::new("it", reader, &properties, &["time".to_owned()]).expect("a table");
            let mut read = Vec::new();
            while let Some((line, entry)) = table.next().expect("a record") {
                read.push((line, entry.expect("a request").properties[0].to_string()));
            }
            let two_lines = format!("two{end}lines");
            assert_eq!(read, [(3, two_lines), (5, "b".to_owned()), (8, "c".to_owned())]);
        }
    }
}
