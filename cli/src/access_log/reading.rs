//! Reading a log from end to end.

use super::common::{Common, Tail};
use super::json_lines::JsonLines;
use super::lines::Lines;
use super::table::Table;
use super::{Entry, Format, LineFormat, Noticed, Source, Unreadable};
use crate::mistake::Mistake;
use crate::printable::excerpt;

/// What is wanted of each line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'w> {
    /// The properties, in the order in which entries hold them.
    pub(crate) properties: &'w [String],
    /// The fields that may hold the time, the preferred first.
    pub(crate) time_fields: &'w [String],
    pub(crate) format: Format,
    /// The format was not asked for but known by the first lines: lines may differ in their tails.
    pub(crate) detected: bool,
}

/// What was noticed on the way.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// Lines that are not blank; of CSV those below the one that names the fields.
    pub(crate) lines: u64,
    pub(crate) unreadable: Noticed,
    /// Requests all the same.
    pub(crate) odd: Noticed,
}

/// Hands every request to `take`, with its line's number, in the order of the log.
pub(crate) fn read(
    source: Source,
    wanted: &Wanted<'_>,
    mut take: impl FnMut(u64, &Entry<'_>) -> Result<(), Mistake>,
) -> Result<Notes, Mistake> {
    let mut notes = Notes::default();
    let mut each = |line: u64, entry: Result<Entry<'_>, Unreadable>| {
        notes.lines += 1;
        match entry {
            Ok(entry) => {
                if let Some((oddity, place)) = &entry.odd {
                    notes.odd.add(oddity.as_str(), line, || excerpt(place));
                }
                take(line, &entry)
            }
            Err(unreadable) => {
                notes.unreadable.add(unreadable.why.as_str(), line, || unreadable.detail);
                Ok(())
            }
        }
    };
    let name = source.name;
    let tail = |explicit| if wanted.detected { Tail::Optional } else { explicit };
    match wanted.format {
        Format::Common => {
            each_line(&name, source.reader, &Common::new(wanted.properties, tail(Tail::Ignored)), &mut each)?;
        }
        Format::Combined => {
            each_line(&name, source.reader, &Common::new(wanted.properties, tail(Tail::Required)), &mut each)?;
        }
        Format::Json => {
            each_line(&name, source.reader, &JsonLines::new(wanted.properties, wanted.time_fields), &mut each)?;
        }
        Format::Csv => {
            let mut table = Table::new(&name, source.reader, wanted.properties, wanted.time_fields)?;
            while let Some((line, entry)) = table.next().map_err(|error| Mistake::unreadable(&name, &error))? {
                each(line, entry)?;
            }
        }
    }
    Ok(notes)
}

/// Takes a line's number and what it says.
type Each<'e> = dyn FnMut(u64, Result<Entry<'_>, Unreadable>) -> Result<(), Mistake> + 'e;

fn each_line(
    name: &str,
    reader: Box<dyn std::io::BufRead>,
    format: &dyn LineFormat,
    each: &mut Each<'_>,
) -> Result<(), Mistake> {
    let mut lines = Lines::new(reader);
    loop {
        let read = lines.read();
        let next = lines.next().map_err(|error| Mistake::unreadable(&format!("{name} after line {read}"), &error))?;
        let Some(line) = next else { return Ok(()) };
        match line.text {
            Ok(text) if text.trim_ascii().is_empty() => {}
            Ok(text) => each(line.number, format.entry(text))?,
            Err(unreadable) => each(line.number, Err(unreadable))?,
        }
    }
}
