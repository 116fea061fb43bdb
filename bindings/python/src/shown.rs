//! Rules as dicts, for Python to show: those of documents above all.

use crate::host::Asked;
use labkit_ratelimit::{MatcherSpec, NumberSpec, OverrideSpec, RuleSpec, Scalar};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

/// A rule as it was written.
pub(crate) fn rule<'py>(py: Python<'py>, asked: &Asked, spec: &RuleSpec) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("name", &spec.name)?;
    fields.set_item("action", spec.action.as_str())?;
    fields.set_item("match", pairs(py, asked, &spec.matchers)?)?;
    fields.set_item("characteristics", &spec.characteristics)?;
    numbers(&fields, asked, [spec.limit, spec.period_s, spec.burst, spec.ban_for_s])?;
    fields.set_item("count_distinct", spec.count_distinct.as_deref())?;
    fields.set_item("algorithm", spec.algorithm.as_str())?;
    fields.set_item("final", spec.is_final)?;
    let overrides: Vec<_> =
        spec.overrides.iter().map(|other| replacement(py, asked, other)).collect::<PyResult<_>>()?;
    fields.set_item("overrides", overrides)?;
    fields.set_item("description", spec.description.as_deref())?;
    Ok(fields)
}

fn replacement<'py>(py: Python<'py>, asked: &Asked, spec: &OverrideSpec) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("match", pairs(py, asked, &spec.matchers)?)?;
    numbers(&fields, asked, [spec.limit, spec.period_s, spec.burst, spec.ban_for_s])?;
    Ok(fields)
}

fn numbers(fields: &Bound<'_, PyDict>, asked: &Asked, numbers: [NumberSpec; 4]) -> PyResult<()> {
    for (field, number) in ["limit", "period_s", "burst", "ban_for_s"].into_iter().zip(numbers) {
        match number {
            NumberSpec::Absent | NumberSpec::Reported => {}
            NumberSpec::Int(n) => fields.set_item(field, n)?,
            NumberSpec::Float(f) => fields.set_item(field, f)?,
            NumberSpec::Callable(id) => fields.set_item(field, asked.callable_of(id))?,
        }
    }
    Ok(())
}

fn pairs<'py>(py: Python<'py>, asked: &Asked, matchers: &[(String, MatcherSpec)]) -> PyResult<Bound<'py, PyDict>> {
    let shown = PyDict::new(py);
    for (key, spec) in matchers {
        shown.set_item(key, matcher(py, asked, spec)?)?;
    }
    Ok(shown)
}

fn matcher<'py>(py: Python<'py>, asked: &Asked, spec: &MatcherSpec) -> PyResult<Bound<'py, PyAny>> {
    Ok(match spec {
        MatcherSpec::Scalar(Scalar::Null) => py.None().into_bound(py),
        MatcherSpec::Scalar(Scalar::Bool(flag)) => flag.into_pyobject(py)?.to_owned().into_any(),
        MatcherSpec::Scalar(Scalar::Int(n)) => n.into_pyobject(py)?.into_any(),
        MatcherSpec::Scalar(Scalar::Float(f)) => f.into_pyobject(py)?.into_any(),
        // No rule that was built holds a bad one.
        MatcherSpec::Scalar(Scalar::Text(word)) | MatcherSpec::BadScalar(word) => word.into_pyobject(py)?.into_any(),
        MatcherSpec::Scalar(Scalar::Bytes(bytes)) => PyBytes::new(py, bytes).into_any(),
        MatcherSpec::Pattern(id) => asked.pattern_of(*id).into_pyobject(py)?.into_any(),
        MatcherSpec::Map(entries) => pairs(py, asked, entries)?.into_any(),
        MatcherSpec::List(entries) => {
            let entries: Vec<_> = entries.iter().map(|entry| matcher(py, asked, entry)).collect::<PyResult<_>>()?;
            PyList::new(py, entries)?.into_any()
        }
    })
}
