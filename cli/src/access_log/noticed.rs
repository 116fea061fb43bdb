//! What was noticed about lines: how often, by reason, with the first few of each.

use serde::Serialize;

/// How many lines of a reason are kept.
const KEPT: usize = 3;

/// Counts by reason.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Noticed {
    pub(crate) count: u64,
    pub(crate) reasons: Vec<Group>,
}

/// The lines of one reason.
#[derive(Debug, Serialize)]
pub(crate) struct Group {
    pub(crate) reason: &'static str,
    pub(crate) count: u64,
    /// The first few of them.
    pub(crate) first: Vec<Example>,
}

/// One line.
#[derive(Debug, Serialize)]
pub(crate) struct Example {
    pub(crate) line: u64,
    pub(crate) detail: String,
}

impl Noticed {
    pub(super) fn add(&mut self, reason: &'static str, line: u64, detail: impl FnOnce() -> String) {
        self.count += 1;
        let at = self.reasons.iter().position(|group| group.reason == reason).unwrap_or_else(|| {
            self.reasons.push(Group { reason, count: 0, first: Vec::new() });
            self.reasons.len() - 1
        });
        let group = &mut self.reasons[at];
        group.count += 1;
        if group.first.len() < KEPT {
            group.first.push(Example { line, detail: detail() });
        }
    }
}
