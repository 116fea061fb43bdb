//! Findings as a code quality report, which GitLab shows in the merge request.

use super::place;
use super::verdict::Verdict;
use crate::printable;
use labkit_ratelimit_engine::{Finding, Findings, Severity};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

/// One of its issues.
#[derive(Debug, Serialize)]
struct Issue {
    description: String,
    check_name: &'static str,
    fingerprint: String,
    severity: &'static str,
    location: Place,
}

#[derive(Debug, Serialize)]
struct Place {
    path: String,
    lines: Lines,
}

#[derive(Debug, Serialize)]
struct Lines {
    begin: u32,
}

pub(super) fn write(out: &mut dyn Write, verdict: &Verdict) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &issues(&verdict.findings))?;
    writeln!(out)
}

/// The report of a validation that could not be done: it is no finding, and the exit code tells.
pub(super) fn write_none(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "[]")
}

fn issues(findings: &Findings) -> Vec<Issue> {
    // How often each was there before: the same code may stand twice at one path.
    let mut equals: HashMap<(String, &str, &str), u32> = HashMap::new();
    let issue = |finding| {
        let issue = Issue::new(finding);
        let nth = equals.entry((issue.location.path.clone(), &finding.path, issue.check_name)).or_default();
        *nth += 1;
        Issue { fingerprint: fingerprint(&issue.location.path, finding, *nth), ..issue }
    };
    findings.iter().map(issue).collect()
}

impl Issue {
    fn new(finding: &Finding) -> Self {
        let at = if finding.path.is_empty() { String::new() } else { format!("{}: ", finding.path) };
        Self {
            description: printable::line(&format!("{at}{}. {}", finding.message, finding.mend())),
            check_name: finding.code.as_str(),
            fingerprint: String::new(),
            severity: match finding.severity {
                Severity::Error => "major",
                Severity::Warning => "minor",
            },
            location: Place {
                path: place::file_of(finding).unwrap_or_default(),
                lines: Lines { begin: finding.location.as_ref().map_or(1, |at| at.line) },
            },
        }
    }
}

/// The same in every run, so that GitLab knows what is new: it hangs on no line.
fn fingerprint(file: &str, finding: &Finding, nth: u32) -> String {
    let named = format!("{file}\0{}\0{}\0{nth}", finding.path, finding.code);
    Sha256::digest(named).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use labkit_ratelimit_documents::{Documents, Source};
    use std::collections::HashSet;

    fn fingerprints(text: &str) -> Vec<String> {
        let findings = Documents::new().rate_limits(Source::new("a.yaml", text)).read().expect_err("findings");
        issues(&findings).into_iter().map(|issue| issue.fingerprint).collect()
    }

    #[test]
    fn fingerprints_are_unique_and_hang_on_no_line() {
        let rule = "web: [{name: a, action: skip, limit: 1, wat: 1, wat: 2, wat: 3}]";
        let found = fingerprints(rule);
        assert!(found.len() >= 4, "{found:?}");
        assert_eq!(found.iter().collect::<HashSet<_>>().len(), found.len());
        assert_eq!(fingerprints(&format!("# a line\n\n{rule}")), found);
    }
}
