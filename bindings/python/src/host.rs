//! The callables and the patterns of a limiter's rules: the rules hold their numbers, this holds them.

use crate::boundary::leave;
use crate::{number, python};
use labkit_ratelimit::{CallableId, Host, HostError, HostNumber, PatternId, Scratch, Value as Property};
use pyo3::exceptions::PyException;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

struct Callable {
    function: Py<PyAny>,
    /// It requires a parameter, and gets the call's context.
    takes_context: bool,
}

struct Pattern {
    object: Py<PyAny>,
    search: Py<PyAny>,
    /// Compiled from bytes: it is given bytes.
    is_of_bytes: bool,
}

/// Python objects that rules ask, by number.
#[derive(Default)]
pub(crate) struct Asked {
    callables: Vec<Callable>,
    patterns: Vec<Pattern>,
}

/// The number of the next one.
fn next<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).unwrap_or(u32::MAX)
}

impl Asked {
    /// Keeps a callable.
    ///
    /// # Errors
    /// What looking at its signature raises.
    pub(crate) fn callable(&mut self, function: &Bound<'_, PyAny>) -> PyResult<CallableId> {
        let id = next(&self.callables);
        let takes_context = python::takes_context(function)?;
        self.callables.push(Callable { function: function.clone().unbind(), takes_context });
        Ok(CallableId(id))
    }

    /// Keeps a pattern object, if it is one: `re.Pattern`, or what is like it.
    pub(crate) fn pattern(&mut self, value: &Bound<'_, PyAny>) -> Option<PatternId> {
        let py = value.py();
        let search = value.getattr_opt(intern!(py, "search")).ok()??;
        let source = value.getattr_opt(intern!(py, "pattern")).ok()??;
        let id = next(&self.patterns);
        self.patterns.push(Pattern {
            object: value.clone().unbind(),
            search: search.unbind(),
            is_of_bytes: source.is_instance_of::<PyBytes>(),
        });
        Some(PatternId(id))
    }

    pub(crate) fn callable_of(&self, id: CallableId) -> Option<&Py<PyAny>> {
        self.callables.get(usize::try_from(id.0).ok()?).map(|callable| &callable.function)
    }

    pub(crate) fn pattern_of(&self, id: PatternId) -> Option<&Py<PyAny>> {
        self.patterns.get(usize::try_from(id.0).ok()?).map(|pattern| &pattern.object)
    }

    /// For the garbage collector: a callable may well know its limiter.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        for callable in &self.callables {
            visit.call(&callable.function)?;
        }
        for pattern in &self.patterns {
            visit.call(&pattern.object)?;
            visit.call(&pattern.search)?;
        }
        Ok(())
    }
}

/// The host of one call.
pub(crate) struct Asking<'c, 'py> {
    pub(crate) py: Python<'py>,
    pub(crate) asked: &'c Asked,
    pub(crate) context: Option<&'c Bound<'py, PyAny>>,
}

impl Asking<'_, '_> {
    /// An `Exception` is a failure of the rule. Anything else leaves the library at once.
    fn failure(&self, error: PyErr) -> HostError {
        let py = self.py;
        if !error.is_instance_of::<PyException>(py) {
            leave(error);
        }
        let class = error.get_type(py).qualname().map(|name| name.to_string()).unwrap_or_default();
        HostError::new(class, error.value(py).str().map(|said| said.to_string()).unwrap_or_default())
    }

    fn search(&self, pattern: &Pattern, value: Property<'_>) -> PyResult<bool> {
        let py = self.py;
        let mut scratch = Scratch::default();
        // Null is asked for as "".
        let text = value.text(&mut scratch).unwrap_or_default();
        let search = pattern.search.bind(py);
        let found = if pattern.is_of_bytes {
            search.call1((PyBytes::new(py, text),))?
        } else {
            search.call1((std::str::from_utf8(text).unwrap_or_default(),))?
        };
        found.is_truthy()
    }

    fn call(&self, callable: &Callable) -> PyResult<HostNumber> {
        let function = callable.function.bind(self.py);
        let answer = if callable.takes_context { function.call1((self.context,))? } else { function.call0()? };
        number::read(&answer)
    }
}

impl Host for Asking<'_, '_> {
    fn matches(&self, pattern: PatternId, value: Property<'_>) -> Result<bool, HostError> {
        let known = usize::try_from(pattern.0).ok().and_then(|at| self.asked.patterns.get(at));
        let pattern = known.ok_or_else(|| HostError::new("LookupError", "no such pattern"))?;
        self.search(pattern, value).map_err(|error| self.failure(error))
    }

    fn number(&self, callable: CallableId) -> Result<HostNumber, HostError> {
        let known = usize::try_from(callable.0).ok().and_then(|at| self.asked.callables.get(at));
        let callable = known.ok_or_else(|| HostError::new("LookupError", "no such callable"))?;
        self.call(callable).map_err(|error| self.failure(error))
    }
}
