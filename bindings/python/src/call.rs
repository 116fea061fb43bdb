//! `Call`: a script call of a check, a peek or a clear, which waits for Python to run it.

use crate::boundary::{Stopped, controlled, guarded, probe};
use crate::core::Core;
use crate::identifier::{Facts, Given};
use crate::result::Outcome;
use labkit_ratelimit::{Clearing, Fault, Mode, Pending, Planned};
use parking_lot::Mutex;
use pyo3::exceptions::PyRuntimeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};
use std::time::Duration;

/// What waits.
enum Waiting {
    Check(Box<Pending>, Mode),
    Clear(Clearing),
    /// Its caller went. What comes of it all the same shows whether the store works.
    Abandoned(Duration),
    /// It was settled.
    Nothing,
}

/// A call for the host to run once, and to settle once.
#[pyclass(frozen, name = "Call", module = "labkit_ratelimit._native")]
pub(crate) struct Call {
    core: Py<Core>,
    waiting: Mutex<Waiting>,
}

/// One of the two ways to send it.
fn command<'py>(
    py: Python<'py>,
    name: &str,
    script: &str,
    call: &labkit_ratelimit::Call,
) -> PyResult<Bound<'py, PyTuple>> {
    let mut words = Vec::with_capacity(3 + call.keys.len() + call.args.len());
    words.push(PyString::intern(py, name).into_any());
    words.push(PyBytes::new(py, script.as_bytes()).into_any());
    words.push(call.keys.len().into_pyobject(py)?.into_any());
    words.extend(call.keys.iter().chain(&call.args).map(|word| PyBytes::new(py, word.as_bytes()).into_any()));
    PyTuple::new(py, words)
}

impl Call {
    pub(crate) fn of_check(core: Py<Core>, pending: Pending, mode: Mode) -> Self {
        Self { core, waiting: Mutex::new(Waiting::Check(Box::new(pending), mode)) }
    }

    pub(crate) fn of_clear(core: Py<Core>, clearing: Clearing) -> Self {
        Self { core, waiting: Mutex::new(Waiting::Clear(clearing)) }
    }

    /// As Python gets it: where nothing is left to run, the answer in its place.
    pub(crate) fn into_object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        if let Waiting::Clear(clearing) = &*self.waiting.lock()
            && clearing.call().is_none()
        {
            return Ok(clearing.deleted().into_pyobject(py)?.into_any());
        }
        Ok(Bound::new(py, self)?.into_any())
    }

    /// Reads the call at hand; no Python runs meanwhile.
    fn at_hand<T>(&self, read: impl FnOnce(&labkit_ratelimit::Call, Duration) -> T) -> PyResult<T> {
        let settled = || PyRuntimeError::new_err("this call was settled already");
        match &*self.waiting.lock() {
            Waiting::Check(pending, _) => Ok(read(pending.call(), pending.deadline())),
            Waiting::Clear(clearing) => clearing.call().map(|call| read(call, clearing.deadline())).ok_or_else(settled),
            Waiting::Abandoned(_) | Waiting::Nothing => Err(settled()),
        }
    }

    fn take(&self) -> Waiting {
        std::mem::replace(&mut *self.waiting.lock(), Waiting::Nothing)
    }

    /// How long it was waited for, if that is over.
    fn waited(&self) -> PyResult<Duration> {
        if let Waiting::Abandoned(deadline) = &*self.waiting.lock() {
            return Ok(*deadline);
        }
        self.at_hand(|_, deadline| deadline)
    }

    fn settle_by<'py>(&self, py: Python<'py>, reply: Result<&[u8], Fault>) -> PyResult<Bound<'py, PyAny>> {
        let core = self.core.get();
        let object = match self.take() {
            Waiting::Nothing => return Err(PyRuntimeError::new_err("this call was settled already")),
            Waiting::Check(pending, mode) => self.settle_check(py, *pending, mode, reply)?,
            Waiting::Clear(mut clearing) => controlled(py, || {
                probe();
                core.limiter.settle_clear(&mut clearing, reply);
                Self::of_clear(self.core.clone_ref(py), clearing).into_object(py)
            })?,
            Waiting::Abandoned(_) => controlled(py, || {
                core.limiter.settle_abandoned(reply);
                Ok(py.None().into_bound(py))
            })?,
        };
        core.told(py, object)
    }

    fn settle_check<'py>(
        &self,
        py: Python<'py>,
        pending: Pending,
        mode: Mode,
        reply: Result<&[u8], Fault>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let core = self.core.get();
        let settled = guarded(|| {
            probe();
            match core.limiter.settle(pending, reply) {
                Planned::Done(decision) => Outcome::object(py, decision),
                Planned::Call(next) => Self::of_check(self.core.clone_ref(py), next, mode).into_object(py),
            }
        });
        match settled {
            Ok(object) => Ok(object),
            Err(Stopped::Raised(error)) => Err(error),
            Err(Stopped::Panicked(said)) => {
                Outcome::object(py, core.give_up(py, &Facts::names_of(Given::nothing(py)), mode, said)?)
            }
        }
    }
}

#[pymethods]
impl Call {
    /// The words of an EVALSHA.
    fn evalsha<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.at_hand(|call, _| command(py, "EVALSHA", call.script.digest(), call))?
    }

    /// The words of an EVAL, for a server that does not know the digest.
    fn eval<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.at_hand(|call, _| command(py, "EVAL", call.script.source(), call))?
    }

    /// Seconds that it may be waited for.
    #[getter]
    fn deadline(&self) -> PyResult<f64> {
        self.at_hand(|_, deadline| deadline.as_secs_f64())
    }

    /// Takes the reply: bytes, or a string where the client decodes.
    #[pyo3(signature = (reply, /))]
    fn settle<'py>(&self, py: Python<'py>, reply: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(bytes) = reply.cast::<PyBytes>() {
            return self.settle_by(py, Ok(bytes.as_bytes()));
        }
        match reply.cast::<PyString>().map(|text| text.to_str()) {
            Ok(Ok(text)) => self.settle_by(py, Ok(text.as_bytes())),
            _ => self.settle_by(py, Err(Fault::new("UnexpectedReply", "the script gave no string"))),
        }
    }

    /// Takes the fault that came in its place.
    #[pyo3(signature = (class_name, message, /))]
    fn fail<'py>(&self, py: Python<'py>, class_name: &str, message: &str) -> PyResult<Bound<'py, PyAny>> {
        self.settle_by(py, Err(Fault::new(class_name, message)))
    }

    /// Says that no reply came within the deadline.
    fn late<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let deadline = self.waited()?;
        self.settle_by(py, Err(Fault::deadline(deadline)))
    }

    /// Says that it was not sent within the deadline, or too late in it, or not at all for this reason: that is no news of the
    /// store. Of a clear it is as `late` and `fail`.
    #[pyo3(signature = (class_name = None, message = "", /))]
    fn unsent<'py>(&self, py: Python<'py>, class_name: Option<&str>, message: &str) -> PyResult<Bound<'py, PyAny>> {
        let core = self.core.get();
        let late = Fault::deadline(self.waited()?);
        let fault = class_name.map_or(late, |class_name| Fault::new(class_name, message));
        match self.take() {
            Waiting::Check(pending, _) => {
                let decision = controlled(py, || Ok(core.limiter.settle_unsent(*pending, fault)))?;
                core.told(py, Outcome::object(py, decision)?)
            }
            other => {
                *self.waiting.lock() = other;
                self.settle_by(py, Err(fault))
            }
        }
    }

    /// Says that its caller went, for this reason: the check is decided without a reply, counted and logged. What comes of
    /// it all the same may be told once more, and is answered with `None`; nothing will come where the caller took it along
    /// after `waited_s` seconds, which together with the waits of others may be a failure of the store.
    #[pyo3(signature = (class_name, message, waited_s = None, /))]
    fn abandon(&self, py: Python<'_>, class_name: &str, message: &str, waited_s: Option<f64>) -> PyResult<()> {
        let core = self.core.get();
        let deadline = self.at_hand(|_, deadline| deadline)?;
        let rest = if waited_s.is_some() { Waiting::Nothing } else { Waiting::Abandoned(deadline) };
        let waiting = std::mem::replace(&mut *self.waiting.lock(), rest);
        controlled(py, || {
            if let Waiting::Check(pending, _) = waiting {
                core.limiter.abandon(*pending, class_name, message);
            }
            if let Some(waited) = waited_s.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
                core.limiter.waited_in_vain(waited, deadline);
            }
            Ok(())
        })?;
        core.told(py, ())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.core)
    }
}
