//! Knowing a log's format by its beginning.

use super::common::{Common, Tail};
use super::lines::Lines;
use super::table;
use super::{Format, LineFormat};

/// How many lines are tried.
const TRIED: usize = 50;

/// The format of the first line that has one, or none.
pub(crate) fn detect(head: &[u8], time_fields: &[String]) -> Option<Format> {
    let mut lines = Lines::new(head);
    let mut first = true;
    for _ in 0..TRIED {
        let Ok(Some(line)) = lines.next() else { break };
        let Some(text) = line.text.map(<[u8]>::trim_ascii).filter(|text| !text.is_empty()) else { continue };
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
        first = false;
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
            ("ip,when\na,1\n".into(), None),
            (String::new(), None),
        ] {
            let times = ["time", "@timestamp"].map(String::from);
            assert_eq!(detect(head.as_bytes(), &times), expected, "{head}");
        }
    }
}
