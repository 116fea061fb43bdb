//! The pages that show the latest run: `bench/run --write` puts its tables into them.

use crate::sdk::at;
use std::fs;
use std::io;

const START: &str = "<!-- from here on written by bench/run --write -->";
const END: &str = "<!-- up to here -->";
/// The whole table, the short one, and the run as JSON.
const TABLE: &str = "bench/README.md";
const SHORT: &str = "README.md";
const JSON: &str = "bench/results.json";

pub(crate) fn write(table: &str, short: &str, json: &str) -> io::Result<()> {
    for (page, text) in [(TABLE, table), (SHORT, short)] {
        let before = fs::read_to_string(at(page))?;
        let after = between(&before, text).ok_or_else(|| io::Error::other(format!("{page} has no place for it")))?;
        fs::write(at(page), after)?;
    }
    fs::write(at(JSON), format!("{json}\n"))
}

/// The page with `text` between its marks.
fn between(page: &str, text: &str) -> Option<String> {
    let (head, rest) = page.split_once(START)?;
    let (_, tail) = rest.split_once(END)?;
    Some(format!("{head}{START}\n\n{text}\n\n{END}{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn what_is_between_the_marks_is_new_and_the_rest_is_kept() {
        let page = format!("a\n{START}\nold\n{END}\nb\n");
        let after = between(&page, "new").expect("a page");
        assert_eq!(after, format!("a\n{START}\n\nnew\n\n{END}\nb\n"));
        assert_eq!(between(&after, "new").as_deref(), Some(after.as_str()));
        assert_eq!(between("a page without marks", "new"), None);
        assert_eq!(between(START, "new"), None);
    }

    /// One run: the pages show what the file holds.
    #[test]
    fn the_pages_and_the_file_are_of_one_run() {
        let read = |page: &str| fs::read_to_string(at(page)).expect(page);
        let run: Value = serde_json::from_str(&read(JSON)).expect("JSON");
        let date = run["date"].as_str().expect("a date");
        for page in [TABLE, SHORT] {
            let text = read(page);
            let shown = text.split(START).nth(1).and_then(|rest| rest.split(END).next()).expect("marks");
            assert!(shown.trim_start().starts_with(date), "{page} is not of {date}");
        }
        let missed = run["rows"].as_array().expect("rows").iter().filter(|row| row["ok"] == false).count();
        assert_eq!(read(TABLE).split(END).next().unwrap_or("").matches("| MISSED |").count(), missed);
    }
}
