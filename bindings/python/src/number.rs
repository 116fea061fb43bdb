//! Numbers of rules and of calls.

use crate::python;
use labkit_ratelimit::HostNumber;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt};

/// An `int`, a `float`, or what `labkit_ratelimit._values.number` makes one of.
///
/// # Errors
/// A `TypeError` for what is no number; what its own methods raise.
pub(crate) fn read(value: &Bound<'_, PyAny>) -> PyResult<HostNumber> {
    if let Ok(float) = value.cast::<PyFloat>() {
        return Ok(HostNumber::Float(float.value()));
    }
    if value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>() {
        return integer(value).map(HostNumber::Int);
    }
    let number = python::number(value)?;
    match number.cast::<PyFloat>() {
        Ok(float) => Ok(HostNumber::Float(float.value())),
        Err(_) => integer(&number).map(HostNumber::Int),
    }
}

/// One beyond 128 bits is as far out as they go: no rule takes half as much.
fn integer(value: &Bound<'_, PyAny>) -> PyResult<i128> {
    if let Ok(n) = value.extract() {
        return Ok(n);
    }
    Ok(if value.lt(0)? { i128::MIN } else { i128::MAX })
}

/// The cost that a call brings, as a float. What is no number is none either: a bad cost.
///
/// # Errors
/// What its own methods raise that is no `Exception`.
#[inline]
pub(crate) fn cost(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    if let Ok(float) = value.cast::<PyFloat>() {
        return Ok(float.value());
    }
    if !value.is_instance_of::<PyInt>() {
        return odd_cost(value);
    }
    match value.extract::<i32>() {
        Ok(n) => Ok(f64::from(n)),
        Err(_) => value.extract().or_else(|_| odd_cost(value)),
    }
}

#[cold]
fn odd_cost(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    match python::number(value).and_then(|number| number.extract()) {
        Ok(cost) => Ok(cost),
        Err(error) if error.is_instance_of::<PyException>(value.py()) => Ok(f64::NAN),
        Err(error) => Err(error),
    }
}
