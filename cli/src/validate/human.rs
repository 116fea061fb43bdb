//! Findings for people: each with its line, and where in it.

use super::verdict::Verdict;
use crate::printable;
use console::{Style, measure_text_width, style};
use labkit_ratelimit_documents::Source;
use labkit_ratelimit_engine::{Finding, Location, Severity};
use std::collections::HashMap;
use std::io::{self, Write};

/// The most characters of a line that are shown.
const WIDTH: usize = 100;

/// The lines of every file, by its name.
type Files<'s> = HashMap<&'s str, Vec<&'s str>>;

pub(super) fn write(out: &mut dyn Write, verdict: &Verdict, sources: &[Source]) -> io::Result<()> {
    let mut files = Files::new();
    if !verdict.findings.is_empty() {
        for source in sources {
            files.entry(source.name()).or_insert_with(|| source.lines().collect());
        }
    }
    for finding in &verdict.findings {
        write_finding(out, finding, &files)?;
        writeln!(out)?;
    }
    let summary = verdict.summary();
    let colour = match (verdict.errors, verdict.warnings) {
        (0, 0) => Style::new().green(),
        (0, _) => Style::new().yellow(),
        _ => Style::new().red(),
    };
    writeln!(out, "{}", colour.bold().apply_to(summary))
}

fn write_finding(out: &mut dyn Write, finding: &Finding, files: &Files<'_>) -> io::Result<()> {
    let grave = match finding.severity {
        Severity::Error => Style::new().red(),
        Severity::Warning => Style::new().yellow(),
    };
    let grave = grave.bold();
    if let Some(at) = &finding.location {
        write!(out, "{}: ", printable::line(&at.to_string()))?;
    }
    let kind = grave.apply_to(format!("{}[{}]", finding.severity, finding.code));
    writeln!(out, "{kind}: {}", style(printable::line(&finding.message)).bold())?;
    if !finding.path.is_empty() {
        writeln!(out, "  {}", printable::line(&finding.path))?;
    }
    if let Some(at) = &finding.location
        && let Some((line, caret)) = excerpt(at, files)
    {
        let number = at.line.to_string();
        let (margin, bar) = (" ".repeat(number.len()), style("|").dim());
        writeln!(out, "  {} {bar} {line}", style(number).dim())?;
        writeln!(out, "  {margin} {bar} {}{}", " ".repeat(caret), grave.apply_to("^"))?;
    }
    writeln!(out, "  {}: {}", style("help").cyan(), finding.mend())
}

/// The line of a place, fit for a terminal, cut where it is long, and how far in the place is.
fn excerpt(at: &Location, files: &Files<'_>) -> Option<(String, usize)> {
    let lines = files.get(&*at.file)?;
    let line = lines.get(usize::try_from(at.line).ok()?.checked_sub(1)?)?;
    let column = usize::try_from(at.column).ok()?.saturating_sub(1);
    // A place behind the middle of a long line is shown in the middle.
    let skipped = if line.chars().nth(WIDTH).is_some() { column.saturating_sub(WIDTH / 2) } else { 0 };
    let shown = |c: char| match c {
        '\t' => ' ',
        c if printable::is_safe(c) => c,
        _ => '\u{fffd}',
    };
    let mut rest = line.chars().skip(skipped).map(shown);
    let before: String = rest.by_ref().take(column - skipped).collect();
    let lead = if skipped > 0 { "…" } else { "" };
    let behind: String = rest.by_ref().take(WIDTH.saturating_sub(column - skipped)).collect();
    let tail = if rest.next().is_some() { "…" } else { "" };
    let caret = measure_text_width(lead) + measure_text_width(&before);
    Some((format!("{lead}{before}{behind}{tail}"), caret))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str, column: u32) -> (String, usize) {
        let files = Files::from([("a", vec![line])]);
        excerpt(&Location { file: "a".into(), line: 1, column }, &files).expect("a line")
    }

    #[test]
    fn the_caret_stands_under_the_place() {
        assert_eq!(shown("limit: 0", 8), ("limit: 0".into(), 7));
        assert_eq!(shown("\tx\u{1b}[31m: 0", 3), (" x\u{fffd}[31m: 0".into(), 2));
        assert_eq!(shown("", 1), (String::new(), 0));
        assert_eq!(shown("x", 9), ("x".into(), 1));
    }

    #[test]
    fn of_a_long_line_the_part_around_the_place_is_shown() {
        let long = format!("{}!{}", "a".repeat(5_000), "b".repeat(5_000));
        let (line, caret) = shown(&long, 5_001);
        assert_eq!(line.chars().count(), WIDTH + 2);
        assert_eq!(line.chars().nth(caret), Some('!'));
        assert!(line.starts_with('…') && line.ends_with('…'));
        let (line, caret) = shown(&long, 1);
        assert_eq!((line.chars().next(), caret), (Some('a'), 0));
    }

    #[test]
    fn a_place_that_is_not_there_has_no_line() {
        let files = Files::from([("a", vec!["x"])]);
        assert_eq!(excerpt(&Location { file: "a".into(), line: 2, column: 1 }, &files), None);
        assert_eq!(excerpt(&Location { file: "b".into(), line: 1, column: 1 }, &files), None);
    }
}
