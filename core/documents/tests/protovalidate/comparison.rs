//! What the library says of a message beside what the engine says.

use crate::message::Message;
use crate::oracle::Violation;
use crate::table::Table;
use std::collections::BTreeSet;

/// Code and place.
type Mistakes = BTreeSet<(String, String)>;

/// The comparison of many messages, and the rows of the table that they have met.
pub(crate) struct Comparison {
    table: Table,
    /// How often each written row was met.
    met: Vec<usize>,
    pub(crate) differences: Vec<String>,
}

impl Comparison {
    pub(crate) fn new() -> Self {
        let table = Table::read();
        Self { met: vec![0; table.written.len()], table, differences: Vec::new() }
    }

    /// Compares one; `label` finds it again.
    pub(crate) fn compare(&mut self, label: &str, message: &Message, violations: &[Violation]) {
        let all: Mistakes = message
            .check()
            .iter()
            .map(|finding| (finding.code.to_string(), self.table.coarse(finding.code.as_str(), &finding.path)))
            .collect();
        let hiding: Vec<_> = all.iter().filter(|(code, _)| self.table.hides(code)).cloned().collect();
        let own: Mistakes = all.into_iter().filter(|(code, _)| self.table.expressible(code)).collect();
        let theirs: Mistakes =
            violations.iter().filter_map(|violation| self.finding(label, message, violation, &hiding)).collect();
        if own != theirs {
            let only = |a: &Mistakes, b: &Mistakes| a.difference(b).cloned().collect::<Vec<_>>();
            self.differences.push(format!(
                "{label}: only the library says {:?}, only the engine says {:?}\n{message:?}\n{violations:?}",
                only(&own, &theirs),
                only(&theirs, &own),
            ));
        }
    }

    /// What the library has to say, if the engine says `violation`.
    fn finding(
        &mut self,
        label: &str,
        message: &Message,
        violation: &Violation,
        hiding: &[(String, String)],
    ) -> Option<(String, String)> {
        let Some((row, place)) = self.table.find(violation) else {
            panic!("{label}: no row of the table fits {violation:?}")
        };
        let ignored = row.counting && message.skips(&violation.path);
        let hidden = || hiding.iter().any(|(code, at)| hides(code, at, &place));
        if ignored || (row.code.starts_with("matcher_") && hidden()) {
            return None;
        }
        self.met[row.number] += 1;
        Some((row.code.clone(), place))
    }

    /// Fails if there was a difference. Gives the rows, and how often each was met.
    pub(crate) fn done(self) -> Vec<(String, usize)> {
        let some: Vec<&str> = self.differences.iter().map(String::as_str).take(5).collect();
        assert!(some.is_empty(), "{} differences, of them\n{}", self.differences.len(), some.join("\n\n"));
        self.table.written.into_iter().zip(self.met).collect()
    }
}

/// A finding of `code` at `at` hides what stands below; that a matcher is too deep hides what stands at its own place too.
fn hides(code: &str, at: &str, place: &str) -> bool {
    place.strip_prefix(at).is_some_and(|rest| match rest.chars().next() {
        None => code == "matcher_too_deep",
        Some(next) => next == '.' || next == '[',
    })
}
