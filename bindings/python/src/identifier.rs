//! The identifier of one call: what its mapping holds for the properties that the rules mention.

use crate::fact::Fact;
use crate::python;
use arc_swap::ArcSwapOption;
use labkit_ratelimit::{Identifier, RulesRef, Value as Property};
use pyo3::exceptions::PyKeyError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString};
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};

/// The rules in force, and what a call needs to know of them.
pub(crate) struct InForce {
    pub(crate) rules: RulesRef,
    /// The names of the properties, by slot.
    names: Box<[Py<PyString>]>,
}

impl InForce {
    pub(crate) fn new(py: Python<'_>, rules: RulesRef) -> Self {
        let names = rules.properties().map(|name| PyString::intern(py, name).unbind()).collect();
        Self { rules, names }
    }
}

/// The rules in force, whichever those are now.
pub(crate) struct Current {
    // Most limiters never load others: theirs are found without a step between.
    first: InForce,
    later: ArcSwapOption<InForce>,
    is_first: AtomicBool,
}

impl Current {
    pub(crate) fn new(first: InForce) -> Self {
        Self { first, later: ArcSwapOption::empty(), is_first: AtomicBool::new(true) }
    }

    /// Reads them, whole.
    #[inline]
    pub(crate) fn read<T>(&self, read: impl FnOnce(&InForce) -> T) -> T {
        if self.is_first.load(Acquire) {
            read(&self.first)
        } else {
            read(self.later.load().as_deref().unwrap_or(&self.first))
        }
    }

    /// Puts others in their place.
    pub(crate) fn replace(&self, next: InForce) {
        self.later.store(Some(Arc::new(next)));
        self.is_first.store(false, Release);
    }
}

/// The mapping of a call.
#[derive(Clone)]
pub(crate) enum Given<'py> {
    /// A dict that looks up as dicts do. No default of it is asked for.
    Dict(Bound<'py, PyDict>),
    /// Any other mapping, a dict with a `__getitem__` of its own too: only its keys that rules mention are asked for.
    Mapping {
        mapping: Bound<'py, PyMapping>,
        /// It would make up what it does not hold.
        has_defaults: bool,
    },
}

impl<'py> Given<'py> {
    /// # Errors
    /// A `TypeError` for what is no mapping: a mistake of the caller's, not of a request.
    #[inline]
    pub(crate) fn of(identifier: &Bound<'py, PyAny>) -> PyResult<Self> {
        match identifier.cast_exact::<PyDict>() {
            Ok(dict) => Ok(Self::Dict(dict.clone())),
            Err(_) => Self::of_others(identifier),
        }
    }

    fn of_others(identifier: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = identifier.py();
        let class = identifier.get_type();
        if let Ok(dict) = identifier.cast::<PyDict>() {
            let usual = py.get_type::<PyDict>().getattr(intern!(py, "__getitem__"))?;
            if class.getattr(intern!(py, "__getitem__"))?.is(&usual) {
                return Ok(Self::Dict(dict.clone()));
            }
        }
        let has_defaults = class.getattr_opt(intern!(py, "__missing__"))?.is_some();
        Ok(Self::Mapping { mapping: identifier.cast::<PyMapping>()?.clone(), has_defaults })
    }

    /// No identifier: of a call whose own is gone.
    pub(crate) fn nothing(py: Python<'py>) -> Self {
        Self::Dict(PyDict::new(py))
    }

    fn get(&self, name: &Bound<'py, PyString>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (mapping, has_defaults) = match self {
            Self::Dict(dict) => return dict.get_item(name),
            Self::Mapping { mapping, has_defaults } => (mapping, *has_defaults),
        };
        if has_defaults && !mapping.contains(name)? {
            return Ok(None);
        }
        match mapping.as_any().get_item(name) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.is_instance_of::<PyKeyError>(name.py()) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What a property is. An `Exception` on the way to it makes it one that cannot be.
    ///
    /// # Errors
    /// Any other exception.
    #[inline]
    fn fact(&self, name: &Bound<'py, PyString>) -> PyResult<Fact<'py>> {
        match self.get(name) {
            Ok(Some(value)) => Fact::of(value),
            Ok(None) => Ok(Fact::Null),
            Err(error) => {
                let class = python::failed(name.py(), error)?;
                Ok(Fact::Bad(format!("a value that cannot be looked up, for a {class}").into()))
            }
        }
    }
}

/// What a call brings, by slot.
pub(crate) struct Facts<'py> {
    given: Given<'py>,
    facts: SmallVec<[Fact<'py>; 6]>,
}

impl<'py> Facts<'py> {
    /// The names alone: enough for the log.
    pub(crate) fn names_of(given: Given<'py>) -> Self {
        Self { given, facts: SmallVec::new() }
    }

    /// Looks up what the rules mention, and nothing else.
    ///
    /// # Errors
    /// Exceptions of the mapping's or a value's own methods that are no `Exception`.
    pub(crate) fn gather(&mut self, py: Python<'py>, in_force: &InForce) -> PyResult<()> {
        for name in &in_force.names {
            self.facts.push(self.given.fact(name.bind(py))?);
        }
        Ok(())
    }
}

impl Identifier for Facts<'_> {
    fn value(&self, slot: usize, _: &str) -> Property<'_> {
        self.facts.get(slot).map_or(Property::Null, Fact::property)
    }

    fn each_name(&self, each: &mut dyn FnMut(&str)) {
        let mut tell = |key: &Bound<'_, PyAny>| {
            if let Ok(Ok(name)) = key.cast::<PyString>().map(|name| name.to_str()) {
                each(name);
            }
        };
        match &self.given {
            Given::Dict(dict) => dict.iter().for_each(|(key, _)| tell(&key)),
            // One that cannot be walked has no names for the log.
            Given::Mapping { mapping, .. } => {
                mapping.try_iter().into_iter().flatten().map_while(Result::ok).for_each(|key| tell(&key));
            }
        }
    }
}
