//! `Evaluation` and `Info`: what one rule said, and the numbers behind it.

use crate::python;
use crate::result::{Outcome, headers};
use labkit_ratelimit as library;
use labkit_ratelimit::{Headers, RuleEvaluation};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The numbers behind one evaluation.
#[pyclass(frozen, eq, name = "Info", module = "labkit_ratelimit")]
#[derive(PartialEq)]
pub(crate) struct Info {
    info: library::Info,
}

impl From<library::Info> for Info {
    fn from(info: library::Info) -> Self {
        Self { info }
    }
}

impl Info {
    pub(crate) fn shown(&self) -> String {
        let retry_after = self.retry_after().map_or_else(|| "None".to_owned(), |wait| format!("{wait:?}"));
        format!(
            "Info(limit={}, period_s={}, count={:?}, remaining={:?}, reset_after={:?}, retry_after={retry_after}, banned={})",
            self.info.limit,
            self.info.period_s,
            self.info.count,
            self.info.remaining,
            self.reset_after(),
            if self.info.banned { "True" } else { "False" },
        )
    }
}

#[pymethods]
impl Info {
    /// What the limit was for this call.
    #[getter]
    const fn limit(&self) -> u64 {
        self.info.limit
    }

    /// The window, in seconds.
    #[getter]
    const fn period_s(&self) -> u32 {
        self.info.period_s
    }

    /// What was counted, this call included.
    #[getter]
    const fn count(&self) -> f64 {
        self.info.count
    }

    /// What is left, within 0 and the limit (GCRA: the burst).
    #[getter]
    const fn remaining(&self) -> f64 {
        self.info.remaining
    }

    /// When the window, or the ban, ends: a `datetime` in UTC.
    #[getter]
    fn reset_at<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        python::instant(py, self.info.reset_at_us())
    }

    /// Seconds until then.
    #[getter]
    fn reset_after(&self) -> f64 {
        self.info.reset_after().as_secs_f64()
    }

    /// Seconds until this call could pass; `None` where nothing is refused, or no wait helps.
    #[getter]
    fn retry_after(&self) -> Option<f64> {
        self.info.retry_after().map(|wait| wait.as_secs_f64())
    }

    /// A ban is in force.
    #[getter]
    const fn banned(&self) -> bool {
        self.info.banned
    }

    fn __repr__(&self) -> String {
        self.shown()
    }
}

/// What one counting rule said.
#[pyclass(frozen, name = "Evaluation", module = "labkit_ratelimit")]
pub(crate) struct One {
    result: Py<Outcome>,
    at: usize,
}

impl One {
    /// The one at `at` of a result that has it.
    pub(crate) const fn new(result: Py<Outcome>, at: usize) -> Self {
        Self { result, at }
    }

    fn read<T>(&self, read: impl FnOnce(&RuleEvaluation<'_>) -> T) -> T {
        match self.result.get().decision.evaluations().get(self.at) {
            Some(evaluation) => read(&evaluation),
            None => unreachable!("evaluations are made for places that there are"),
        }
    }
}

#[pymethods]
impl One {
    /// The rule's name.
    #[getter]
    fn rule(&self) -> &str {
        self.result.get().decision.evaluations().get(self.at).map_or("", |evaluation| evaluation.rule().name())
    }

    /// `"allow"`, `"block"`, `"warn"`, `"log"` or `"banned"`.
    #[getter]
    fn result(&self) -> &'static str {
        self.read(|evaluation| evaluation.outcome().as_str())
    }

    /// The rule is over.
    #[getter]
    fn exceeded(&self) -> bool {
        self.read(|evaluation| evaluation.is_exceeded())
    }

    /// The numbers behind it.
    #[getter]
    fn info(&self) -> Info {
        self.read(|evaluation| evaluation.info().into())
    }

    /// The HTTP fields of this evaluation, a `log` rule's too.
    #[pyo3(signature = (format = "gitlab"))]
    fn headers<'py>(&self, py: Python<'py>, format: &str) -> PyResult<Bound<'py, PyDict>> {
        let fields = |format| -> Headers { self.read(|evaluation| evaluation.headers(format)) };
        headers(py, format, fields)
    }

    fn __repr__(&self) -> String {
        format!(
            "Evaluation(rule='{}', result='{}', exceeded={}, info={})",
            self.rule(),
            self.result(),
            if self.exceeded() { "True" } else { "False" },
            self.info().shown()
        )
    }
}
