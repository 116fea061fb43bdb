//! The report as one JSON object.

use super::verdict::Verdict;
use crate::machine_finding::MachineFinding;
use crate::mistake::Mistake;
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Report<'f> {
    /// Whether the exit code is 0.
    valid: bool,
    errors: usize,
    warnings: usize,
    findings: Vec<MachineFinding<'f>>,
    /// Why it could not be done; only there where it could not.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

pub(super) fn write(out: &mut dyn Write, verdict: &Verdict) -> io::Result<()> {
    let report = Report {
        valid: verdict.is_good(),
        errors: verdict.errors,
        warnings: verdict.warnings,
        findings: MachineFinding::all(&verdict.findings),
        error: None,
    };
    write_report(out, &report)
}

/// The report of a validation that could not be done.
pub(super) fn write_error(out: &mut dyn Write, error: &Mistake) -> io::Result<()> {
    let error = Some(error.to_string());
    write_report(out, &Report { valid: false, errors: 0, warnings: 0, findings: Vec::new(), error })
}

fn write_report(out: &mut dyn Write, report: &Report<'_>) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report)?;
    writeln!(out)
}
