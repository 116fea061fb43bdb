//! What is thought of a set of documents.

use crate::mistake;
use crate::words;
use labkit_ratelimit_documents::{Catalog, LimiterDocument};
use labkit_ratelimit_engine::{Findings, Severity};
use std::collections::HashSet;

/// The findings, counted, and whether they are failures.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) findings: Findings,
    pub(super) errors: usize,
    pub(super) warnings: usize,
    /// There are more findings than are listed.
    is_cut: bool,
    strict: bool,
    files: usize,
    limiters: usize,
    rules: usize,
}

impl Verdict {
    pub(super) fn of(files: usize, read: Result<Catalog, Findings>, strict: bool) -> Self {
        let (findings, limiters, rules) = match read {
            Ok(catalog) => {
                let rules = |limiter: &LimiterDocument| limiter.file_rules().len() + limiter.default_rules().len();
                (catalog.warnings().clone(), catalog.limiters().len(), catalog.limiters().map(rules).sum())
            }
            Err(findings) => (findings, 0, 0),
        };
        let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
        let warnings = findings.len() - errors;
        let is_cut = mistake::are_cut(&findings);
        Self { findings, errors, warnings, is_cut, strict, files, limiters, rules }
    }

    /// Whether the exit code is 0.
    pub(super) const fn is_good(&self) -> bool {
        self.errors == 0 && (self.warnings == 0 || !self.strict)
    }

    /// All of it on one line.
    pub(super) fn summary(&self) -> String {
        let mut found = Vec::new();
        if self.errors > 0 {
            found.push(some(self.errors, "error"));
        }
        if self.warnings > 0 {
            found.push(some(self.warnings, "warning"));
        }
        let places: HashSet<_> =
            self.findings.iter().filter_map(|finding| finding.location.as_ref()).map(|at| &at.file).collect();
        let least = if self.is_cut { "at least " } else { "" };
        let found =
            (!found.is_empty()).then(|| format!("{least}{} in {}", found.join(", "), some(places.len(), "file")));
        let read = || {
            format!(
                "{} with {} in {}",
                some(self.limiters, "limiter"),
                some(self.rules, "rule"),
                some(self.files, "file")
            )
        };
        match (self.errors, found) {
            (0, None) => format!("valid: {}", read()),
            (0, Some(found)) if self.strict => format!("{found}, and --strict lets none pass"),
            (0, Some(found)) => format!("valid, {found}: {}", read()),
            (_, found) => found.unwrap_or_default(),
        }
    }
}

fn some(n: usize, what: &str) -> String {
    words::some(u64::try_from(n).unwrap_or(u64::MAX), what)
}
