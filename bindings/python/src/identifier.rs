//! The identifier of one call: what its dict holds for the properties that the rules mention.

use crate::fact::Fact;
use arc_swap::ArcSwapOption;
use labkit_ratelimit::{Identifier, RulesRef, Value as Property};
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

/// The dict of a call.
///
/// # Errors
/// A `TypeError` for what is no mapping: a mistake of the caller's, not of a request.
pub(crate) fn dict<'py>(identifier: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    if let Ok(dict) = identifier.cast::<PyDict>() {
        return Ok(dict.clone());
    }
    let copy = PyDict::new(identifier.py());
    copy.update(identifier.cast::<PyMapping>()?)?;
    Ok(copy)
}

/// What a call brings, by slot.
pub(crate) struct Facts<'py> {
    dict: Bound<'py, PyDict>,
    facts: SmallVec<[Fact<'py>; 6]>,
}

impl<'py> Facts<'py> {
    /// The names alone: enough for the log.
    pub(crate) fn names_of(dict: Bound<'py, PyDict>) -> Self {
        Self { dict, facts: SmallVec::new() }
    }

    /// Looks up what the rules mention, where it stands. No default of the dict is asked for.
    ///
    /// # Errors
    /// What a key's `__eq__` raises; exceptions of a value's own methods that are no `Exception`.
    pub(crate) fn gather(&mut self, in_force: &InForce) -> PyResult<()> {
        for name in &in_force.names {
            self.facts.push(match self.dict.get_item(name.bind_borrowed(self.dict.py()))? {
                Some(value) => Fact::of(value)?,
                None => Fact::Null,
            });
        }
        Ok(())
    }
}

impl Identifier for Facts<'_> {
    fn value(&self, slot: usize, _: &str) -> Property<'_> {
        self.facts.get(slot).map_or(Property::Null, Fact::property)
    }

    fn each_name(&self, each: &mut dyn FnMut(&str)) {
        for (key, _) in &self.dict {
            if let Ok(Ok(name)) = key.cast::<PyString>().map(|name| name.to_str()) {
                each(name);
            }
        }
    }
}
