//! Knowing a log's format by its beginning.

use super::common::{Common, Tail};
use super::lines::Lines;
use super::table;
use super::{Format, LineFormat};

/// How many lines are tried, as far as the head holds them.
pub(crate) const LINES_TRIED: usize = 1_000;

/// The format of the first line that has one, or none.
pub(crate) fn detect(head: &[u8], time_fields: &[String]) -> Option<Format> {
    let mut lines = Lines::new(head);
    let mut first = true;
    for _ in 0..LINES_TRIED {
        let Ok(Some(line)) = lines.next() else { break };
        let Some(text) = line.text.ok().map(<[u8]>::trim_ascii).filter(|text| !text.is_empty()) else { continue };
        if text.starts_with(b"{") {
            return Some(Format::Json);
        }
        for (format, tail) in [(Format::Combined, Tail::Required), (Format::Common, Tail::Ignored)] {
            if Common::new(&[], tail).entry(text).is_ok() {
                return Some(format);
            }
        }
        if first && table::names_a_time(text, time_fields) {
            return Some(Format::Csv);
        }
        first &= table::is_comment(text, time_fields);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_known_by_their_first_good_line() {
        let common = r#"h - - [17/May/2015:10:05:03 +0000] "GET /,time, HTTP/1.1" 200 1"#;
        for (head, expected) in [
            (format!("{common}\n"), Some(Format::Common)),
            (format!("{common} \"-\" \"-\""), Some(Format::Combined)),
            (format!("\n# a comment\n{common}\n"), Some(Format::Common)),
            ("\u{feff}{\"time\": 1}\n".into(), Some(Format::Json)),
            ("ip,time\na,1\n".into(), Some(Format::Csv)),
            ("\"ip\",\"@timestamp\"\r\n".into(), Some(Format::Csv)),
            ("# a comment\n\n#and, \"another\nip,time\n".into(), Some(Format::Csv)),
            ("junk\nip,time\n".into(), None),
            (format!("{}{common}\n", "junk\n".repeat(999)), Some(Format::Common)),
            (format!("{}{common}\n", "junk\n".repeat(1000)), None),
            (format!("{}\n{common}\n", "x".repeat(70_000)), Some(Format::Common)),
            ("ip,when\na,1\n".into(), None),
            (String::new(), None),
        ] {
            let times = ["time", "@timestamp"].map(String::from);
            assert_eq!(detect(head.as_bytes(), &times), expected, "{head}");
        }
    }
}
