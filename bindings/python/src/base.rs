//! `Base`: what `labkit_ratelimit.Limiter` inherits, so that a check in memory is one step.

use crate::core::{Core, Cost};
use crate::result::Outcome;
use labkit_ratelimit::Mode;
use pyo3::exceptions::PyRuntimeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::OnceLock;

/// A limiter that its `__init__` gives a core.
#[pyclass(frozen, subclass, name = "Base", module = "labkit_ratelimit._native")]
pub(crate) struct Base {
    core: OnceLock<Py<Core>>,
}

#[pymethods]
impl Base {
    #[new]
    #[pyo3(signature = (*_words, **_options))]
    fn new(_words: &Bound<'_, PyTuple>, _options: Option<&Bound<'_, PyDict>>) -> Self {
        Self { core: OnceLock::new() }
    }

    /// Takes the core; a second one is not taken.
    #[pyo3(signature = (core, /))]
    fn _start(&self, core: Py<Core>) {
        let _ = self.core.set(core);
    }

    /// Count a call, and decide on it. Never raises for a store that fails.
    ///
    /// Args:
    ///     identifier: property → value: `str`, `bytes`, `int`, `float`, `bool`, `None`; an `Enum` is its value;
    ///         decimals, UUIDs, dates, times, paths and IP addresses are their text.
    ///     cost: of this call: finite, 0 or more, kept to 6 decimal places. 0 reads the state, and writes nothing.
    ///     context: what callables that require a parameter are given.
    ///
    /// Raises a `TypeError` if the identifier is no mapping, or the limiter's client is asynchronous.
    #[pyo3(
        signature = (identifier, cost = Cost::One, context = None),
        text_signature = "($self, identifier, cost=1, context=None)"
    )]
    fn check<'py>(
        this: &Bound<'py, Self>,
        identifier: &Bound<'py, PyAny>,
        cost: Cost,
        context: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = this.py();
        let built = || PyRuntimeError::new_err("this limiter was not built: call the __init__ of Limiter");
        let core = this.get().core.get().ok_or_else(built)?;
        let answer = Core::decide(core.bind(py), Mode::Check, identifier, cost, context)?;
        if answer.is_exact_instance_of::<Outcome>() {
            return Ok(answer);
        }
        this.call_method1(intern!(py, "_run"), (answer,))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // It keeps it: a cycle is broken elsewhere, in what a callable holds.
        visit.call(self.core.get())
    }
}
