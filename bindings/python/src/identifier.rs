//! The identifier of one call: what its dict holds for the properties that the rules mention.

use crate::fact::Fact;
use labkit_ratelimit::{Identifier, RulesRef, Value as Property};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString};
use smallvec::SmallVec;

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
    /// The names alone, for the log.
    pub(crate) fn names_of(dict: Bound<'py, PyDict>) -> Self {
        Self { dict, facts: SmallVec::new() }
    }

    /// Looks up what the rules mention. No default of the dict is asked for.
    ///
    /// # Errors
    /// What a key's `__eq__` raises; exceptions of a value's own methods that are no `Exception`.
    pub(crate) fn gather(dict: Bound<'py, PyDict>, in_force: &InForce) -> PyResult<Self> {
        let mut facts = SmallVec::new();
        for name in &in_force.names {
            facts.push(match dict.get_item(name.bind_borrowed(dict.py()))? {
                Some(value) => Fact::of(value)?,
                None => Fact::Null,
            });
        }
        Ok(Self { dict, facts })
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
