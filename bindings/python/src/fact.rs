//! Python values as facts: what a property's value is, as the table of the contract says.

use crate::python;
use labkit_ratelimit::Value as Property;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use std::borrow::Cow;

/// One property's value. Text stays in Python's own string: those never change.
pub(crate) enum Fact<'py> {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// A string that is UTF-8.
    Text(Bound<'py, PyString>),
    Bytes(Bound<'py, PyBytes>),
    /// It cannot be a fact; the words say what it is.
    Bad(Cow<'static, str>),
}

impl<'py> Fact<'py> {
    /// What a value is.
    ///
    /// # Errors
    /// An exception of the value's own methods that is no `Exception`.
    #[inline]
    pub(crate) fn of(value: Bound<'py, PyAny>) -> PyResult<Self> {
        match value.cast_into::<PyString>() {
            Ok(text) if text.to_str().is_ok() => Ok(Self::Text(text)),
            Ok(text) => Ok(Self::Bytes(python::surrogates(text.as_any())?.cast_into()?)),
            Err(other) => Self::of_others(other.into_inner()),
        }
    }

    fn of_others(value: Bound<'py, PyAny>) -> PyResult<Self> {
        if value.is_none() {
            return Ok(Self::Null);
        }
        if let Ok(flag) = value.cast::<PyBool>() {
            return Ok(Self::Bool(flag.is_true()));
        }
        if value.is_instance_of::<PyInt>() {
            return Ok(value.extract().map_or_else(|_| Self::of_large(&value), Self::Int));
        }
        if let Ok(float) = value.cast::<PyFloat>() {
            return Ok(Self::Float(float.value()));
        }
        match value.cast_into::<PyBytes>() {
            Ok(bytes) => Ok(Self::Bytes(bytes)),
            Err(other) => Self::of_odd(&other.into_inner()),
        }
    }

    /// An integer beyond 64 bits is its decimal text.
    #[cold]
    fn of_large(integer: &Bound<'py, PyAny>) -> Self {
        integer.str().map_or(Self::Bad("an integer too long to write".into()), Self::Text)
    }

    #[cold]
    fn of_odd(value: &Bound<'py, PyAny>) -> PyResult<Self> {
        if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
            return Ok(Self::Bad("a list".into()));
        }
        if value.is_instance_of::<PyDict>() {
            return Ok(Self::Bad("a map".into()));
        }
        match python::plain(value) {
            // One step: what is plain is of Python's own classes.
            Ok(plain) if !plain.is(value) => Self::of(plain),
            Ok(_) => Ok(Self::Bad("an object of a class without a plain value".into())),
            Err(error) if error.is_instance_of::<PyException>(value.py()) => {
                let class = value.get_type().qualname().map(|name| name.to_string()).unwrap_or_default();
                Ok(Self::Bad(format!("an object of the class {class}").into()))
            }
            Err(error) => Err(error),
        }
    }

    /// As the library takes it.
    pub(crate) fn property(&self) -> Property<'_> {
        match self {
            Self::Null => Property::Null,
            Self::Bool(flag) => Property::Bool(*flag),
            Self::Int(n) => Property::Int(*n),
            Self::Float(f) => Property::Float(*f),
            Self::Text(text) => text.to_str().map_or(Property::Bad("text that cannot be read"), Property::Text),
            Self::Bytes(bytes) => Property::Bytes(bytes.as_bytes()),
            Self::Bad(what) => Property::Bad(what),
        }
    }
}
