//! What the native half asks of the Python half: its exceptions, and what it knows of Python's values.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDateTime, PyDelta, PyType, PyTzInfo};

const ERRORS: &str = "labkit_ratelimit.errors";
const VALUES: &str = "labkit_ratelimit._values";

/// `labkit_ratelimit.InternalError`: a panic on a path that is no check.
#[cold]
pub(crate) fn internal_error(py: Python<'_>, said: String) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    match CLASS.import(py, ERRORS, "InternalError") {
        Ok(class) => PyErr::from_type(class.clone(), said),
        Err(error) => error,
    }
}

/// An exception of `labkit_ratelimit.errors` that takes a message and findings.
#[cold]
pub(crate) fn invalid(py: Python<'_>, class: &str, message: &str, findings: Vec<Bound<'_, PyAny>>) -> PyErr {
    let raised = || py.import(ERRORS)?.getattr(class)?.call1((message, findings));
    raised().map_or_else(|error| error, PyErr::from_value)
}

/// `labkit_ratelimit.errors.Finding`.
pub(crate) fn finding_class(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    py.import(ERRORS)?.getattr("Finding")
}

/// What a value of another class is: a plain value, by the contract's table.
///
/// # Errors
/// A `TypeError` if it cannot be one; what its own methods raise.
#[cold]
pub(crate) fn plain<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    FUNCTION.import(value.py(), VALUES, "plain")?.call1((value,))
}

/// What a value of another class is as a number: an `int` or a `float`.
///
/// # Errors
/// A `TypeError` if it is none; what its own methods raise.
#[cold]
pub(crate) fn number<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    FUNCTION.import(value.py(), VALUES, "number")?.call1((value,))
}

/// Whether a callable requires a parameter.
pub(crate) fn takes_context(callable: &Bound<'_, PyAny>) -> PyResult<bool> {
    callable.py().import(VALUES)?.getattr("takes_context")?.call1((callable,))?.extract()
}

/// Bytes of a string that is no UTF-8: it holds lone surrogates.
#[cold]
pub(crate) fn surrogates<'py>(text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    text.call_method1(intern!(text.py(), "encode"), ("utf-8", "surrogatepass"))
}

/// An instant in UTC.
pub(crate) fn instant(py: Python<'_>, unix_us: u64) -> PyResult<Bound<'_, PyAny>> {
    const DAY_US: u64 = 86_400_000_000;
    let utc = PyTzInfo::utc(py)?;
    let epoch = PyDateTime::new(py, 1970, 1, 1, 0, 0, 0, 0, Some(&utc))?;
    let days = i32::try_from(unix_us / DAY_US).unwrap_or(i32::MAX);
    let (seconds, us) = ((unix_us % DAY_US) / 1_000_000, unix_us % 1_000_000);
    let since = PyDelta::new(
        py,
        days,
        i32::try_from(seconds).unwrap_or_default(),
        i32::try_from(us).unwrap_or_default(),
        false,
    )?;
    epoch.add(since)
}
