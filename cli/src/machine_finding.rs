//! A finding, for machines.

use labkit_ratelimit::{Finding, Findings};
use serde::Serialize;

/// What every JSON report says of a finding. File and place are null where it is of no document.
#[derive(Debug, Serialize)]
pub(crate) struct MachineFinding<'f> {
    file: Option<&'f str>,
    line: Option<u32>,
    column: Option<u32>,
    path: &'f str,
    code: &'static str,
    severity: &'static str,
    message: &'f str,
    mend: &'static str,
}

impl<'f> MachineFinding<'f> {
    /// All of them, in their order.
    pub(crate) fn all(findings: &'f Findings) -> Vec<Self> {
        findings.iter().map(Self::from).collect()
    }
}

impl<'f> From<&'f Finding> for MachineFinding<'f> {
    fn from(finding: &'f Finding) -> Self {
        let at = finding.location.as_ref();
        Self {
            file: at.map(|at| &*at.file),
            line: at.map(|at| at.line),
            column: at.map(|at| at.column),
            path: &finding.path,
            code: finding.code.as_str(),
            severity: finding.severity.as_str(),
            message: &finding.message,
            mend: finding.mend(),
        }
    }
}
