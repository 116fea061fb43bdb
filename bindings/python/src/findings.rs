//! Findings as exceptions: everything that is wrong with a limiter or its documents.

use crate::python;
use labkit_ratelimit::{BuildError, Finding, Findings, LoadError};
use pyo3::prelude::*;

/// What the rules and options of code raise, and what documents do.
pub(crate) const RULES: &str = "InvalidRules";
pub(crate) const DOCUMENTS: &str = "InvalidDocuments";

/// Of mistakes that the binding found, and those that the library did, if it got so far.
#[cold]
pub(crate) fn of_build(
    py: Python<'_>,
    class: &str,
    limiter: &str,
    read: Findings,
    built: Option<&BuildError>,
) -> PyErr {
    let message = match built {
        Some(error) if read.is_empty() => error.to_string(),
        _ => {
            let all = read.iter().chain(built.iter().flat_map(|error| error.findings()));
            let lines: Vec<String> = all.map(ToString::to_string).collect();
            format!("limiter `{limiter}` cannot be built:\n{}", lines.join("\n"))
        }
    };
    let built = built.map(|error| error.findings().clone()).unwrap_or_default();
    raised(py, class, &message, &read.into_iter().chain(built).collect())
}

/// Of documents that were not loaded.
#[cold]
pub(crate) fn of_load(py: Python<'_>, error: &LoadError) -> PyErr {
    let findings = match error {
        LoadError::Invalid(findings) => findings.clone(),
        _ => Findings::default(),
    };
    raised(py, DOCUMENTS, &error.to_string(), &findings)
}

fn raised(py: Python<'_>, class: &str, message: &str, findings: &Findings) -> PyErr {
    let shown: PyResult<Vec<_>> = findings.iter().map(|finding| shown(py, finding)).collect();
    shown.map_or_else(|error| error, |shown| python::invalid(py, class, message, shown))
}

/// A `labkit_ratelimit.Finding`.
fn shown<'py>(py: Python<'py>, finding: &Finding) -> PyResult<Bound<'py, PyAny>> {
    let location = finding.location.as_ref();
    python::finding_class(py)?.call1((
        finding.code.as_str(),
        &finding.path,
        &finding.message,
        finding.mend(),
        finding.severity.as_str(),
        location.map(|location| location.file.as_ref()),
        location.map(|location| location.line),
        location.map(|location| location.column),
    ))
}
