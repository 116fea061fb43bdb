//! `Result`: what a check answers, read as it is asked for.

use crate::evaluation::{Info, One};
use labkit_ratelimit::{Decision, HeaderFormat, Headers, Rule, Verdict};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

/// What a check, or a peek, came to. True where the call may go on.
#[pyclass(frozen, name = "Result", module = "labkit_ratelimit")]
pub(crate) struct Outcome {
    // Large: it is moved once, and Python need not clear the room for it.
    pub(crate) decision: Box<Decision>,
}

/// The fields as Python gets them.
///
/// # Errors
/// A `ValueError` for a format that there is none of.
pub(crate) fn headers<'py>(
    py: Python<'py>,
    format: &str,
    of: impl FnOnce(HeaderFormat) -> Headers,
) -> PyResult<Bound<'py, PyDict>> {
    let format = match format {
        "gitlab" => HeaderFormat::Gitlab,
        "ietf" => HeaderFormat::IetfDraft11,
        other => return Err(PyValueError::new_err(format!("the format of headers is gitlab or ietf, not {other:?}"))),
    };
    let fields = PyDict::new(py);
    for (name, value) in of(format) {
        fields.set_item(name, value)?;
    }
    Ok(fields)
}

impl Outcome {
    /// The object that Python gets.
    pub(crate) fn object(py: Python<'_>, decision: Decision) -> PyResult<Bound<'_, PyAny>> {
        Ok(Bound::new(py, Self { decision: Box::new(decision) })?.into_any())
    }
}

#[pymethods]
impl Outcome {
    /// `"allow"` or `"block"`.
    #[getter]
    fn action<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        match self.decision.verdict() {
            Verdict::Allow => intern!(py, Verdict::Allow.as_str()).clone(),
            Verdict::Block => intern!(py, Verdict::Block.as_str()).clone(),
        }
    }

    /// The call may go on.
    #[getter]
    fn allowed(&self) -> bool {
        self.decision.is_allowed()
    }

    /// The call may not go on.
    #[getter]
    fn blocked(&self) -> bool {
        self.decision.is_blocked()
    }

    /// Some rule matched.
    #[getter]
    fn matched(&self) -> bool {
        self.decision.is_matched()
    }

    /// The reported rule is over.
    #[getter]
    fn exceeded(&self) -> bool {
        self.decision.is_exceeded()
    }

    /// A `skip` rule ended the chain.
    #[getter]
    fn skipped(&self) -> bool {
        self.decision.is_skipped()
    }

    /// A `warn` rule is over.
    #[getter]
    fn warned(&self) -> bool {
        self.decision.is_warned()
    }

    /// There is no verdict: `action` is what the limiter's `on_error` says.
    #[getter]
    fn error(&self) -> bool {
        self.decision.is_error()
    }

    /// There is a verdict, but not the whole one.
    #[getter]
    fn degraded(&self) -> bool {
        self.decision.is_degraded()
    }

    /// The name of the reported rule: the first block, else the skip that ended the chain, else the most constraining.
    #[getter]
    fn rule(&self) -> Option<&str> {
        self.decision.rule().map(Rule::name)
    }

    /// The numbers of the reported rule; `None` where a skip is reported, on no match and on failure.
    #[getter]
    fn info(&self) -> Option<Info> {
        self.decision.info().map(Info::from)
    }

    /// Every counting rule that was evaluated, in order; none on failure.
    #[getter]
    fn evaluations<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let count = this.get().decision.evaluations().len();
        PyTuple::new(this.py(), (0..count).map(|at| One::new(this.clone().unbind(), at)))
    }

    /// Seconds until this call could pass; `None` where nothing blocks, or no wait helps.
    #[getter]
    fn retry_after(&self) -> Option<f64> {
        self.decision.info()?.retry_after().map(|wait| wait.as_secs_f64())
    }

    /// The HTTP fields of the most constraining evaluation that is not of a `log` rule.
    #[pyo3(signature = (format = "gitlab"))]
    fn headers<'py>(&self, py: Python<'py>, format: &str) -> PyResult<Bound<'py, PyDict>> {
        headers(py, format, |format| self.decision.headers(format))
    }

    fn __bool__(&self) -> bool {
        self.decision.is_allowed()
    }

    fn __repr__(&self) -> String {
        let flags = [
            ("exceeded", self.exceeded()),
            ("skipped", self.skipped()),
            ("warned", self.warned()),
            ("error", self.error()),
            ("degraded", self.degraded()),
        ];
        let flags = flags.iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| format!(", {flag}=True"));
        format!(
            "Result(action='{}', rule={}{}, info={})",
            self.decision.verdict().as_str(),
            self.rule().map_or_else(|| "None".to_owned(), |name| format!("'{name}'")),
            flags.collect::<String>(),
            self.info().map_or_else(|| "None".to_owned(), |info| info.shown()),
        )
    }
}
