//! The options of a limiter.

use crate::clock::Clock;
use crate::documents::Given;
use crate::memory::Memory;
use crate::number;
use labkit_ratelimit::{Builder, Code, Evaluation, Finding, Findings, OnError, RedisOptions, Store, Topology};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};
use std::sync::Arc;
use std::time::Duration;

/// As `labkit_ratelimit.Limiter` hands them over.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options<'py> {
    evaluation: Word,
    on_error: Word,
    /// The host has a Redis, and runs the calls.
    redis: bool,
    cluster: Bound<'py, PyAny>,
    deadline: Bound<'py, PyAny>,
    store: Bound<'py, PyAny>,
    clock: Bound<'py, PyAny>,
    logger: Bound<'py, PyAny>,
    documents: Bound<'py, PyAny>,
}

/// A string, or what was given in its place as Python shows it.
struct Word(String);

impl FromPyObject<'_, '_> for Word {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        Ok(Self(match given.cast::<PyString>() {
            Ok(text) => text.to_string_lossy().into_owned(),
            Err(_) => given.repr()?.to_string(),
        }))
    }
}

impl Options<'_> {
    /// Whether rules come from documents too.
    pub(crate) fn has_documents(&self) -> bool {
        !self.documents.is_none()
    }

    /// Puts them into `builder`; a value that is none goes to `findings`.
    ///
    /// # Errors
    /// A `TypeError` for documents that are no documents; what a method of a value raised.
    pub(crate) fn apply(self, findings: &mut Findings, mut builder: Builder) -> PyResult<Builder> {
        match Evaluation::parse(&self.evaluation.0) {
            Some(evaluation) => builder = builder.evaluation(evaluation),
            None => findings.push(unknown("evaluation", &Evaluation::ALL.map(Evaluation::as_str), &self.evaluation.0)),
        }
        match OnError::parse(&self.on_error.0) {
            Some(on_error) => builder = builder.on_error(on_error),
            None => findings.push(unknown("on_error", &OnError::ALL.map(OnError::as_str), &self.on_error.0)),
        }
        let redis = self.redis_options(findings)?;
        if self.redis {
            builder = builder.store(Store::Planned(redis));
        }
        if let Some(store) = fitting::<Py<Memory>>("store", "a MemoryStore", &self.store, findings)? {
            if self.redis {
                let message = "a limiter counts in a Redis or in a memory store, not in both";
                findings.push(Finding::new(Code::OptionInvalid, "store", message));
            } else {
                builder = builder.store(store.get().store());
            }
        }
        if let Some(clock) = fitting::<Py<Clock>>("clock", "a ManualClock", &self.clock, findings)? {
            builder = builder.clock(Arc::clone(&clock.get().clock));
        }
        if !self.logger.is_none() && !takes_warnings(&self.logger)? {
            findings.push(unfit("logger", "a logging.Logger, or what has its method `warning`", &self.logger)?);
        }
        match self.documents.cast::<PyDict>() {
            Ok(documents) => documents.extract::<Given>()?.apply(builder),
            Err(_) if self.documents.is_none() => Ok(builder),
            Err(_) => {
                let wanted = "Documents (Limiter.from_files takes paths and sources)";
                findings.push(unfit("documents", wanted, &self.documents)?);
                Ok(builder)
            }
        }
    }

    /// What a Redis is asked by. Mistakes are mistakes without one too.
    fn redis_options(&self, findings: &mut Findings) -> PyResult<RedisOptions> {
        let mut redis = RedisOptions::default();
        match self.cluster.extract() {
            Ok(true) => redis.topology = Topology::Cluster,
            Ok(false) => redis.topology = Topology::Single,
            Err(_) => {
                let message = format!("cluster is True, False or None, not {}", self.cluster.repr()?);
                findings.push(Finding::new(Code::OptionInvalid, "cluster", message));
            }
        }
        match Duration::try_from_secs_f64(number::cost(&self.deadline)?) {
            Ok(deadline) if !deadline.is_zero() => redis.deadline = deadline,
            _ => {
                let message = format!("a deadline is a number of seconds above 0, not {}", self.deadline.repr()?);
                findings.push(Finding::new(Code::OptionInvalid, "deadline", message));
            }
        }
        Ok(redis)
    }
}

fn unknown(option: &str, known: &[&str], given: &str) -> Finding {
    Finding::new(Code::OptionInvalid, option, format!("{option} is {}, not `{given}`", known.join(" or ")))
}

/// An option that is an object of one class, or nothing.
fn fitting<T: for<'a, 'py> FromPyObject<'a, 'py>>(
    option: &str,
    wanted: &str,
    given: &Bound<'_, PyAny>,
    findings: &mut Findings,
) -> PyResult<Option<T>> {
    if given.is_none() {
        return Ok(None);
    }
    let fit = given.extract().ok();
    if fit.is_none() {
        findings.push(unfit(option, wanted, given)?);
    }
    Ok(fit)
}

/// Another object than an option takes. Its own words may hold a password: it is called by its class.
fn unfit(option: &str, wanted: &str, given: &Bound<'_, PyAny>) -> PyResult<Finding> {
    let shown = match given.cast::<PyType>() {
        Ok(class) => format!("the class {}", class.qualname()?),
        Err(_) => format!("a {}", given.get_type().qualname()?),
    };
    Ok(Finding::new(Code::OptionInvalid, option, format!("{option} takes {wanted}, not {shown}")))
}

/// Loggers, their adapters, and those of other libraries; no class of them.
fn takes_warnings(logger: &Bound<'_, PyAny>) -> PyResult<bool> {
    let warning = logger.getattr_opt("warning")?;
    Ok(!logger.is_instance_of::<PyType>() && warning.is_some_and(|warning| warning.is_callable()))
}
