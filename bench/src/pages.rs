//! The pages that show the latest run: `bench/run --write` puts its tables into them.

use crate::run::Run;
use crate::sdk::at;
use std::fs;
use std::io;

const START: &str = "<!-- from here on written by bench/run --write -->";
const END: &str = "<!-- up to here -->";
/// The whole table, the short one, and the run as JSON.
const TABLE: &str = "bench/README.md";
const SHORT: &str = "README.md";
const JSON: &str = "bench/results.json";

pub(crate) fn write(run: &Run) -> io::Result<()> {
    for (page, text) in shown(run) {
        let before = fs::read_to_string(at(page))?;
        let after = between(&before, &text).ok_or_else(|| io::Error::other(format!("{page} has no place for it")))?;
        fs::write(at(page), after)?;
    }
    fs::write(at(JSON), format!("{}\n", serde_json::to_string_pretty(run)?))
}

/// What each page shows of a run.
fn shown(run: &Run) -> [(&'static str, String); 2] {
    [(TABLE, run.markdown()), (SHORT, run.short())]
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

    #[test]
    fn what_is_between_the_marks_is_new_and_the_rest_is_kept() {
        let page = format!("a\n{START}\nold\n{END}\nb\n");
        let after = between(&page, "new").expect("a page");
        assert_eq!(after, format!("a\n{START}\n\nnew\n\n{END}\nb\n"));
        assert_eq!(between(&after, "new").as_deref(), Some(after.as_str()));
        assert_eq!(between("a page without marks", "new"), None);
        assert_eq!(between(START, "new"), None);
    }

    /// One run: the pages show what the file holds, to the last number. `bench/run --write` writes all three.
    #[test]
    fn the_pages_and_the_file_are_of_one_run() {
        let read = |page: &str| fs::read_to_string(at(page)).expect(page);
        let run: Run = serde_json::from_str(&read(JSON)).expect("a run");
        for (page, text) in shown(&run) {
            let page_now = read(page);
            let page_then = between(&page_now, &text).expect("marks");
            let other = page_now.lines().zip(page_then.lines()).find(|(now, then)| now != then);
            assert!(page_now == page_then, "{page} is not what {JSON} gives: {other:?}");
        }
        // Nor does the file contradict itself.
        assert_eq!(run.missed, run.rows.iter().any(|row| row.gate && row.ok == Some(false)));
    }
}
