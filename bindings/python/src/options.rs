//! The options of a limiter.

use crate::clock::Clock;
use crate::documents::Given;
use crate::memory::Memory;
use labkit_ratelimit::{Builder, Code, Evaluation, Finding, Findings, OnError, RedisOptions, Store, Topology};
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::Duration;

/// As `labkit_ratelimit.Limiter` hands them over.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    evaluation: String,
    on_error: String,
    /// The host has a Redis, and runs the calls.
    redis: bool,
    cluster: bool,
    /// Seconds.
    deadline: f64,
    store: Option<Py<Memory>>,
    clock: Option<Py<Clock>>,
    documents: Option<Given>,
}

impl Options {
    /// Whether rules come from documents too.
    pub(crate) const fn has_documents(&self) -> bool {
        self.documents.is_some()
    }

    /// Puts them into `builder`; a value that is none goes to `findings`.
    ///
    /// # Errors
    /// A `TypeError` for documents that are no documents.
    pub(crate) fn apply(self, py: Python<'_>, findings: &mut Findings, mut builder: Builder) -> PyResult<Builder> {
        match Evaluation::parse(&self.evaluation) {
            Some(evaluation) => builder = builder.evaluation(evaluation),
            None => findings.push(unknown("evaluation", &Evaluation::ALL.map(Evaluation::as_str), &self.evaluation)),
        }
        match OnError::parse(&self.on_error) {
            Some(on_error) => builder = builder.on_error(on_error),
            None => findings.push(unknown("on_error", &OnError::ALL.map(OnError::as_str), &self.on_error)),
        }
        if self.redis {
            let topology = if self.cluster { Topology::Cluster } else { Topology::Single };
            let mut redis = RedisOptions { topology, ..Default::default() };
            match Duration::try_from_secs_f64(self.deadline) {
                Ok(deadline) if !deadline.is_zero() => redis.deadline = deadline,
                _ => findings.push(Finding::new(Code::OptionInvalid, "deadline", "a deadline is above 0 seconds")),
            }
            builder = builder.store(Store::Planned(redis));
        }
        if let Some(store) = self.store {
            if self.redis {
                let message = "a limiter counts in a Redis or in a memory store, not in both";
                findings.push(Finding::new(Code::OptionInvalid, "store", message));
            } else {
                builder = builder.store(store.get().store());
            }
        }
        if let Some(clock) = self.clock {
            builder = builder.clock(Arc::clone(&clock.bind(py).get().clock));
        }
        match self.documents {
            Some(documents) => documents.apply(builder),
            None => Ok(builder),
        }
    }
}

fn unknown(option: &str, known: &[&str], given: &str) -> Finding {
    Finding::new(Code::OptionInvalid, option, format!("{option} is {}, not `{given}`", known.join(" or ")))
}
