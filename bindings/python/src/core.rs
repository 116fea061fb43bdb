//! `Core`: a limiter.

use crate::boundary::{Stopped, controlled, guarded, probe};
use crate::call::Call;
use crate::documents::Given;
use crate::host::{Asked, Asking};
use crate::identifier::{Current, Facts, Given as Identifier, InForce};
use crate::journal::Journal;
use crate::options::Options;
use crate::result::Outcome;
use crate::rules::Reader;
use crate::{findings, number, shown};
use labkit_ratelimit::{CallOptions, Decision, Limiter, Mode, Planned, RulesRef, SampleKind};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashMap;
use std::sync::Arc;

/// A limiter, the rules in force, and what it has to say.
#[pyclass(frozen, name = "Core", module = "labkit_ratelimit._native")]
pub(crate) struct Core {
    pub(crate) limiter: Limiter,
    asked: Asked,
    journal: Arc<Journal>,
    in_force: Current,
    /// Takes a warning: its text, and its fields.
    tell: Py<PyAny>,
}

/// A metric's name, type, labels and value.
type Sample = (String, &'static str, HashMap<&'static str, String>, u64);

/// The cost of a call.
#[derive(Clone, Copy)]
pub(crate) enum Cost {
    /// Nobody said one.
    One,
    Given(f64),
}

impl FromPyObject<'_, '_> for Cost {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        number::cost(&given).map(Self::Given)
    }
}

/// What the library takes for a panic of the binding's.
const PANIC: &str = "panic";

impl Core {
    /// The rules that facts were gathered for. Most often they are the limiter's, which keeps a reference for each
    /// thread: that one costs nothing.
    fn rules_of(&self, in_force: &InForce) -> RulesRef {
        let kept = self.limiter.rules();
        if kept.is_same(&in_force.rules) { kept } else { in_force.rules.clone() }
    }

    /// Tells what there is to tell.
    pub(crate) fn told<T>(&self, py: Python<'_>, done: T) -> PyResult<T> {
        if self.journal.has_any() {
            self.journal.tell(self.tell.bind(py))?;
        }
        Ok(done)
    }

    /// A decision, or a call to run.
    pub(crate) fn decide<'py>(
        this: &Bound<'py, Self>,
        mode: Mode,
        identifier: &Bound<'py, PyAny>,
        cost: Cost,
        context: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, core) = (this.py(), this.get());
        let identifier = Identifier::of(identifier)?;
        let decided = guarded(|| {
            probe();
            let mut facts = Facts::names_of(identifier.clone());
            let rules = core.in_force.read(|in_force| {
                facts.gather(py, in_force)?;
                PyResult::Ok(core.rules_of(in_force))
            })?;
            let asking = Asking { py, asked: &core.asked, context };
            let mut options = CallOptions::default().host(&asking);
            if let Cost::Given(cost) = cost {
                options = options.cost(cost);
            }
            match core.limiter.plan_by(rules, &facts, options, mode) {
                Planned::Done(decision) => Outcome::object(py, decision),
                Planned::Call(pending) => Call::of_check(this.clone().unbind(), pending, mode).into_object(py),
            }
        });
        match decided {
            Ok(object) => core.told(py, object),
            Err(Stopped::Raised(error)) => Err(error),
            Err(Stopped::Panicked(said)) => {
                let decision = core.give_up(py, &Facts::names_of(identifier), mode, said)?;
                core.told(py, Outcome::object(py, decision)?)
            }
        }
    }

    /// The decision of a check that panicked: as `on_error` says, and one line is logged.
    #[cold]
    pub(crate) fn give_up(
        &self,
        py: Python<'_>,
        identifier: &Facts<'_>,
        mode: Mode,
        said: String,
    ) -> PyResult<Decision> {
        controlled(py, || Ok(self.limiter.give_up(identifier, mode, PANIC, said)))
    }
}

#[pymethods]
impl Core {
    #[new]
    fn new(
        py: Python<'_>,
        name: &str,
        rules: &Bound<'_, PyAny>,
        options: Options<'_>,
        tell: Py<PyAny>,
    ) -> PyResult<Self> {
        let built = controlled(py, || {
            probe();
            let class = if options.has_documents() { findings::DOCUMENTS } else { findings::RULES };
            let mut reader = Reader::default();
            let rules = reader.rules(rules)?;
            let Reader { asked, mut findings } = reader;
            let journal = Arc::new(Journal::default());
            let builder = Limiter::builder(name).rules(rules).logger(Arc::clone(&journal));
            match options.apply(&mut findings, builder)?.build() {
                Ok(limiter) if findings.is_empty() => {
                    let in_force = Current::new(InForce::new(py, limiter.rules()));
                    Ok(Self { limiter, asked, journal, in_force, tell })
                }
                Ok(_) => Err(findings::of_build(py, class, name, findings, None)),
                Err(error) => Err(findings::of_build(py, class, name, findings, Some(&error))),
            }
        })?;
        if built.journal.has_any() {
            built.journal.tell(built.tell.bind(py))?;
        }
        Ok(built)
    }

    /// Counts a call, and decides on it, as `Limiter.check` says. A cost of `None` is no cost, and a bad one; one that
    /// is not given is 1.
    #[pyo3(signature = (identifier, cost = Cost::One, context = None))]
    fn check<'py>(
        this: &Bound<'py, Self>,
        identifier: &Bound<'py, PyAny>,
        cost: Cost,
        context: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::decide(this, Mode::Check, identifier, cost, context)
    }

    #[pyo3(signature = (identifier, context = None))]
    fn peek<'py>(
        this: &Bound<'py, Self>,
        identifier: &Bound<'py, PyAny>,
        context: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::decide(this, Mode::Peek, identifier, Cost::One, context)
    }

    #[pyo3(signature = (identifier, /))]
    fn clear<'py>(this: &Bound<'py, Self>, identifier: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, core) = (this.py(), this.get());
        let identifier = Identifier::of(identifier)?;
        let object = controlled(py, || {
            probe();
            let mut facts = Facts::names_of(identifier);
            let rules = core.in_force.read(|in_force| {
                facts.gather(py, in_force)?;
                PyResult::Ok(core.rules_of(in_force))
            })?;
            let clearing = core.limiter.plan_clear_by(rules, &facts);
            Call::of_clear(this.clone().unbind(), clearing).into_object(py)
        })?;
        core.told(py, object)
    }

    /// The rules in force, as dicts.
    fn rules<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.in_force
            .read(|in_force| in_force.rules.specs().iter().map(|spec| shown::rule(py, &self.asked, spec)).collect())
    }

    fn reload(&self, py: Python<'_>, documents: Given) -> PyResult<()> {
        let loaded = controlled(py, || {
            probe();
            documents.load(&self.limiter)?.map_err(|error| findings::of_load(py, &error))?;
            self.in_force.replace(InForce::new(py, self.limiter.rules()));
            Ok(())
        });
        self.told(py, ())?;
        loaded
    }

    fn close_circuit(&self, py: Python<'_>) -> PyResult<()> {
        controlled(py, || {
            self.limiter.close_circuit();
            Ok(())
        })
    }

    fn metrics(&self, py: Python<'_>) -> PyResult<Vec<Sample>> {
        let samples = controlled(py, || Ok(self.limiter.metrics()))?;
        let shown = samples.into_iter().map(|sample| {
            let kind = match sample.kind {
                SampleKind::Counter => "counter",
                SampleKind::Gauge => "gauge",
            };
            (sample.name, kind, sample.labels.into_iter().collect(), sample.value)
        });
        Ok(shown.collect())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.tell)?;
        self.asked.traverse(&visit)
    }
}
