//! Comma-separated values below a line that names the fields. Every value is text.

use super::rows::Rows;
use super::{Entry, Property, Unreadable, Why, time};
use crate::mistake::Mistake;
use crate::printable::excerpt;
use csv::ByteRecord;
use std::io::{self, BufRead};

/// A reader of records behind the line that names their fields.
pub(super) struct Table {
    rows: Rows<Box<dyn BufRead>>,
    /// The columns of the properties that are asked for.
    properties: Vec<Option<usize>>,
    time: usize,
    fields: usize,
}

impl Table {
    pub(super) fn new(
        name: &str,
        reader: Box<dyn BufRead>,
        properties: &[String],
        time_fields: &[String],
    ) -> Result<Self, Mistake> {
        let mut rows = Rows::new(reader);
        let failed = |error: io::Error| Mistake::unreadable(name, &error);
        rows.pass_while(|line| is_comment(line, time_fields)).map_err(failed)?;
        if let Some((line, Err(unreadable))) = rows.next().map_err(failed)? {
            let detail = unreadable.detail;
            return Err(Mistake::Misuse(format!("line {line} of {name} should name the fields: {detail}")));
        }
        let header = rows.record();
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
    pub(super) fn next(&mut self) -> io::Result<Option<(u64, Result<Entry<'_>, Unreadable>)>> {
        let read = self.rows.next()?;
        Ok(read.map(|(line, done)| (line, done.and_then(|()| self.entry()))))
    }

    fn entry(&self) -> Result<Entry<'_>, Unreadable> {
        let record = self.rows.record();
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

fn time_column(header: &ByteRecord, time_fields: &[String]) -> Option<usize> {
    time_fields.iter().find_map(|name| header.iter().position(|field| field == name.as_bytes()))
}

/// Whether the line is one that names fields, the time's among them.
pub(super) fn names_a_time(line: &[u8], time_fields: &[String]) -> bool {
    let mut rows = Rows::new(line);
    rows.next().is_ok_and(|_| time_column(rows.record(), time_fields).is_some())
}

/// Whether the line, above the one that names the fields, is only said to people.
pub(super) fn is_comment(line: &[u8], time_fields: &[String]) -> bool {
    line.starts_with(b"#") && !names_a_time(line, time_fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_as_an_editor_does() {
        for end in ["\n", "\r\n"] {
            let text = "\u{feff}time,ip\n\n1,\"two\nlines\"\n2,b\n\n\n3,c".replace('\n', end);
            let properties = ["ip".to_owned()];
            let reader: Box<dyn BufRead> = Box::new(std::io::Cursor::new(text.into_bytes()));
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
