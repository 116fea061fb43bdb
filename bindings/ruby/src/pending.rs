//! `Native::Pending` and `Native::PendingClear`: calls that wait for Ruby to run them.

use crate::{allocate, script};
use labkit_ratelimit::{Call, Clearing, Fault, Mode, Pending};
use magnus::{Error, Module as _, RArray, RClass, RModule, RString, Ruby, Value, method, prelude::*};
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::time::{Duration, Instant};

/// A check or a peek whose call waits. Settled once.
#[magnus::wrap(class = "Labkit::RateLimit::Native::Pending", free_immediately, size)]
pub(crate) struct Waiting {
    pending: Mutex<Option<Pending>>,
    pub(crate) mode: Mode,
    pub(crate) version: u64,
    pub(crate) since: Instant,
}

/// A clear whose call waits.
#[magnus::wrap(class = "Labkit::RateLimit::Native::PendingClear", free_immediately, size)]
pub(crate) struct WaitingClear {
    pub(crate) clearing: Mutex<Clearing>,
    pub(crate) since: Instant,
}

fn settled(ruby: &Ruby) -> Error {
    Error::new(ruby.exception_arg_error(), "this call was settled already")
}

impl Waiting {
    pub(crate) fn wrapped(ruby: &Ruby, pending: Pending, mode: Mode, version: u64) -> Result<Value, Error> {
        allocate::object(ruby, Self { pending: Mutex::new(Some(pending)), mode, version, since: Instant::now() })
    }

    /// Takes it out, to be settled.
    pub(crate) fn take(&self, ruby: &Ruby) -> Result<Pending, Error> {
        self.pending.lock().take().ok_or_else(|| settled(ruby))
    }

    /// How long its call may be waited for.
    pub(crate) fn deadline(&self, ruby: &Ruby) -> Result<Duration, Error> {
        self.read(ruby, Pending::deadline)
    }

    fn read<T>(&self, ruby: &Ruby, read: impl FnOnce(&Pending) -> T) -> Result<T, Error> {
        self.pending.lock().as_ref().map(read).ok_or_else(|| settled(ruby))
    }
}

impl WaitingClear {
    pub(crate) fn new(clearing: Clearing) -> Self {
        Self { clearing: Mutex::new(clearing), since: Instant::now() }
    }
}

/// Calls that Ruby runs.
trait Runs {
    /// Reads the call at hand, no Ruby running meanwhile, and its deadline.
    fn at_hand<T>(&self, ruby: &Ruby, read: impl FnOnce(&Call, Duration) -> T) -> Result<T, Error>;
}

impl Runs for Waiting {
    fn at_hand<T>(&self, ruby: &Ruby, read: impl FnOnce(&Call, Duration) -> T) -> Result<T, Error> {
        self.read(ruby, |pending| read(pending.call(), pending.deadline()))
    }
}

impl Runs for WaitingClear {
    fn at_hand<T>(&self, ruby: &Ruby, read: impl FnOnce(&Call, Duration) -> T) -> Result<T, Error> {
        let clearing = self.clearing.lock();
        clearing.call().map(|call| read(call, clearing.deadline())).ok_or_else(|| settled(ruby))
    }
}

fn script_of<R: Runs>(ruby: &Ruby, this: &R) -> Result<Value, Error> {
    let script = this.at_hand(ruby, |call, _| call.script)?;
    script::shown(ruby, script)
}

fn keys_of<R: Runs>(ruby: &Ruby, this: &R) -> Result<RArray, Error> {
    let keys = this.at_hand(ruby, |call, _| call.keys.clone())?;
    Ok(script::binary(ruby, &keys))
}

fn argv_of<R: Runs>(ruby: &Ruby, this: &R) -> Result<RArray, Error> {
    let args = this.at_hand(ruby, |call, _| call.args.clone())?;
    Ok(script::binary(ruby, &args))
}

fn command_of<R: Runs>(ruby: &Ruby, this: &R) -> Result<RArray, Error> {
    let (script, keys, words) = this.at_hand(ruby, |call, _| {
        let words: SmallVec<[String; 8]> = call.keys.iter().chain(&call.args).cloned().collect();
        (call.script, call.keys.len(), words)
    })?;
    script::command(ruby, script, keys, &words)
}

fn deadline_of<R: Runs>(ruby: &Ruby, this: &R) -> Result<f64, Error> {
    this.at_hand(ruby, |_, deadline| deadline.as_secs_f64())
}

/// What came of a call that Ruby ran: the reply, or the fault in its place.
///
/// # Errors
/// A `TypeError` for a fault that is no `[kind, class_name, message]`.
pub(crate) fn outcome(
    ruby: &Ruby,
    reply: Value,
    fault: Value,
    deadline: Duration,
) -> Result<Result<Vec<u8>, Fault>, Error> {
    if !fault.is_nil() {
        let wrong = || Error::new(ruby.exception_type_error(), "a fault is [kind, class_name, message]");
        let fault = RArray::from_value(fault).ok_or_else(wrong)?;
        let (kind, class): (Value, Option<String>) = (fault.entry(0)?, fault.entry(1)?);
        let Some(class) = class else {
            let is_late = crate::names::word(kind).as_deref() == Some("timeout");
            return if is_late { Ok(Err(Fault::deadline(deadline))) } else { Err(wrong()) };
        };
        let message: Option<RString> = fault.entry(2)?;
        // SAFETY: the text is copied at once.
        let message = message.map(|text| unsafe { text.to_string_lossy() }.into_owned()).unwrap_or_default();
        return Ok(Err(Fault::new(class, message)));
    }
    let Some(reply) = RString::from_value(reply) else {
        return Ok(Err(Fault::new("UnexpectedReply", "the script gave no string")));
    };
    // SAFETY: the bytes are copied at once.
    Ok(Ok(unsafe { reply.as_slice() }.to_vec()))
}

pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let pending: RClass = native.define_class("Pending", ruby.class_object())?;
    pending.undef_default_alloc_func();
    pending.define_method("command", method!(command_of::<Waiting>, 0))?;
    pending.define_method("script", method!(script_of::<Waiting>, 0))?;
    pending.define_method("keys", method!(keys_of::<Waiting>, 0))?;
    pending.define_method("argv", method!(argv_of::<Waiting>, 0))?;
    pending.define_method("deadline", method!(deadline_of::<Waiting>, 0))?;
    let clear: RClass = native.define_class("PendingClear", ruby.class_object())?;
    clear.undef_default_alloc_func();
    clear.define_method("command", method!(command_of::<WaitingClear>, 0))?;
    clear.define_method("script", method!(script_of::<WaitingClear>, 0))?;
    clear.define_method("keys", method!(keys_of::<WaitingClear>, 0))?;
    clear.define_method("argv", method!(argv_of::<WaitingClear>, 0))?;
    clear.define_method("deadline", method!(deadline_of::<WaitingClear>, 0))
}
