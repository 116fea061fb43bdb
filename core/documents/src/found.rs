//! Findings of one document, no more than anyone reads.

use labkit_ratelimit_engine::{Finding, Findings, Severity};

/// The most errors of one document, and the most warnings. Where there are more, something else is wrong.
pub(crate) const MAX_FINDINGS: usize = 10_000;
/// The most bytes of their texts, and what they take besides.
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// The most guesses at what was meant: each looks through everything that is known.
const MAX_GUESSES: usize = 200;

/// Gathers findings until there are too many. The first error is always kept.
#[derive(Debug, Default)]
pub(crate) struct Found {
    errors: Vec<Finding>,
    warnings: Vec<Finding>,
    bytes: usize,
    waiting: usize,
    more: bool,
    guesses: usize,
    /// The size of all patterns so far.
    pub(crate) patterns: usize,
}

impl Found {
    /// Adds one, unless there are too many.
    pub(crate) fn push(&mut self, finding: Finding) {
        let full = self.bytes > MAX_BYTES;
        let list = if finding.severity == Severity::Error { &mut self.errors } else { &mut self.warnings };
        if list.len() >= MAX_FINDINGS || (full && !list.is_empty()) {
            self.more = true;
            return;
        }
        self.bytes += size_of::<Finding>() + finding.path.len() + finding.message.len();
        list.push(finding);
    }

    /// Adds those of a rule that stands at `parent`.
    pub(crate) fn extend_below(&mut self, parent: &str, others: Findings) {
        for finding in others {
            if self.is_full() {
                self.more = true;
                return;
            }
            self.push(finding.below(parent));
        }
    }

    /// Counts errors that rules hold until they are built, and says whether there is room for more.
    pub(crate) fn awaits(&mut self, errors: usize) -> bool {
        self.waiting += errors;
        let room = self.errors.len() + self.waiting <= MAX_FINDINGS;
        self.more |= !room;
        room
    }

    /// No further error is kept.
    pub(crate) fn is_full(&self) -> bool {
        self.errors.len() >= MAX_FINDINGS || self.bytes > MAX_BYTES
    }

    /// No further warning is kept.
    pub(crate) fn is_full_of_warnings(&self) -> bool {
        self.warnings.len() >= MAX_FINDINGS || self.bytes > MAX_BYTES
    }

    /// Whether there is time to guess what was meant.
    pub(crate) fn may_guess(&mut self) -> bool {
        self.guesses += 1;
        self.guesses <= MAX_GUESSES
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.errors.len() + self.warnings.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Errors first, then warnings as far as there is room; and whether there were more.
    pub(crate) fn into_parts(self) -> (impl Iterator<Item = Finding>, bool) {
        // Where it is full, nobody looked for more.
        let more = self.more || self.len() > MAX_FINDINGS || self.is_full() || self.is_full_of_warnings();
        (self.errors.into_iter().chain(self.warnings).take(MAX_FINDINGS), more)
    }
}

impl Extend<Finding> for Found {
    fn extend<T: IntoIterator<Item = Finding>>(&mut self, findings: T) {
        findings.into_iter().for_each(|finding| self.push(finding));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use labkit_ratelimit_engine::Code;

    #[test]
    fn a_thousand_warnings_hide_no_error() {
        let mut found = Found::default();
        for i in 0..20_000 {
            found.push(Finding::new(Code::RuleUnreachable, format!("a[{i}]"), "never runs"));
        }
        assert!(found.is_full_of_warnings() && !found.is_full());
        found.push(Finding::new(Code::UnknownLimiter, "b", "there is no limiter `b`"));
        let (mut kept, more) = found.into_parts();
        assert_eq!(kept.next().map(|finding| finding.code), Some(Code::UnknownLimiter));
        assert_eq!((kept.count(), more), (MAX_FINDINGS - 1, true));
    }

    #[test]
    fn long_texts_fill_it_too() {
        let mut found = Found::default();
        for _ in 0..100 {
            found.push(Finding::new(Code::WrongType, "x".repeat(1 << 20), ""));
        }
        assert!(found.is_full() && found.len() < 20, "{}", found.len());
    }
}
