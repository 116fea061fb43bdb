//! The report as one JSON object.

use super::verdict::Verdict;
use crate::machine_finding::MachineFinding;
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Report<'f> {
    /// Whether the exit code is 0.
    valid: bool,
    errors: usize,
    warnings: usize,
    findings: Vec<MachineFinding<'f>>,
}

pub(super) fn write(out: &mut dyn Write, verdict: &Verdict) -> io::Result<()> {
    let report = Report {
        valid: verdict.is_good(),
        errors: verdict.errors,
        warnings: verdict.warnings,
        findings: MachineFinding::all(&verdict.findings),
    };
    serde_json::to_writer_pretty(&mut *out, &report)?;
    writeln!(out)
}
