//! `Native::Core`: a limiter.

use crate::attributes::{Attributes, InForce};
use crate::boundary::{Passage, Stopped, controlled, guarded, probe};
use crate::decision::Decision;
use crate::host::RubyHost;
use crate::journal::Journal;
use crate::pending::{Waiting, WaitingClear, outcome};
use crate::rules::Reader;
use crate::{build_error, documents, host_number, names, options, shown};
use labkit_ratelimit::{CallOptions, Clearing, Evaluation, Limiter, Mode, Planned};
use magnus::{
    Error, Module as _, Object as _, RArray, RHash, RModule, Ruby, Symbol, TryConvert as _, Value, function, method,
    prelude::*,
};
use parking_lot::Mutex;
use std::sync::Arc;

/// A limiter, the rules in force, and what it has to say.
#[magnus::wrap(class = "Labkit::RateLimit::Native::Core", free_immediately, size)]
pub(crate) struct Core {
    limiter: Limiter,
    journal: Arc<Journal>,
    in_force: Mutex<Arc<InForce>>,
}

/// What the library takes for a panic of the binding's.
const PANIC: &str = "panic";
const LEFT: &str = "the caller did not wait for the store's answer";

impl Core {
    fn new(ruby: &Ruby, name: Value, rules: RArray, given: RHash) -> Result<Self, Error> {
        let name = names::word(name).ok_or_else(|| Error::new(ruby.exception_type_error(), "a name is a String"))?;
        controlled(ruby, || {
            probe();
            let mut reader = Reader::new(ruby);
            let rules = reader.rules(rules)?;
            let mut findings = reader.findings;
            let journal = Arc::new(Journal::default());
            let builder = Limiter::builder(name.as_str()).rules(rules).logger(Arc::clone(&journal));
            let builder = options::apply(ruby, given, &mut findings, builder)?;
            match builder.build() {
                Ok(limiter) if findings.is_empty() => {
                    let in_force = Mutex::new(Arc::new(InForce::new(ruby, limiter.rules(), 1)));
                    Ok(Self { limiter, journal, in_force })
                }
                Ok(_) => Err(build_error::of_build(ruby, &name, findings, None)),
                Err(error) => Err(build_error::of_build(ruby, &name, findings, Some(&error))),
            }
        })
    }

    fn in_force(&self) -> Arc<InForce> {
        Arc::clone(&self.in_force.lock())
    }

    fn name(&self) -> &str {
        self.limiter.name()
    }

    fn properties(ruby: &Ruby, this: &Self) -> RArray {
        ruby.ary_from_iter(this.in_force().properties())
    }

    fn rules(ruby: &Ruby, this: &Self) -> Result<RArray, Error> {
        shown::rules(ruby, &this.in_force().rules)
    }

    fn version(&self) -> u64 {
        self.in_force.lock().version
    }

    fn evaluation(&self) -> &'static str {
        Evaluation::as_str(self.in_force.lock().rules.evaluation())
    }

    fn check(ruby: &Ruby, this: &Self, attributes: Value, cost: Value, host: Value) -> Result<Value, Error> {
        this.decide(ruby, Mode::Check, attributes, cost, host)
    }

    fn peek(ruby: &Ruby, this: &Self, attributes: Value, host: Value) -> Result<Value, Error> {
        this.decide(ruby, Mode::Peek, attributes, ruby.qnil().as_value(), host)
    }

    fn plan(
        ruby: &Ruby,
        this: &Self,
        mode: Value,
        attributes: Value,
        cost: Value,
        host: Value,
    ) -> Result<Value, Error> {
        // A Symbol's text is not copied.
        let mode = match Symbol::from_value(mode).as_ref().and_then(|mode| mode.name().ok()).as_deref() {
            Some("check") => Mode::Check,
            Some("peek") => Mode::Peek,
            _ => return Err(Error::new(ruby.exception_arg_error(), "a mode is :check or :peek")),
        };
        this.decide(ruby, mode, attributes, cost, host)
    }

    /// A decision, or a call to run.
    fn decide(&self, ruby: &Ruby, mode: Mode, attributes: Value, cost: Value, host: Value) -> Result<Value, Error> {
        let attributes = RHash::try_convert(attributes)?;
        let in_force = self.in_force();
        let passage = Passage::default();
        let decided = guarded(&passage, || {
            probe();
            let identifier = Attributes::gather(ruby, attributes, &in_force)?;
            let host = RubyHost { ruby, host, passage: &passage };
            let mut options = CallOptions::default().host(&host);
            if let Some(cost) = host_number::cost(ruby, cost)? {
                options = options.cost(cost);
            }
            let planned = self.limiter.plan_by(in_force.rules.clone(), &identifier, options, mode);
            wrapped(ruby, planned, mode, in_force.version)
        });
        match decided {
            Ok(object) => Ok(object),
            Err(Stopped::Raised(error)) => Err(error),
            Err(Stopped::Panicked(said)) => {
                self.give_up(ruby, &Attributes::names_of(attributes), mode, in_force.version, said)
            }
        }
    }

    /// The decision of a check that panicked: as `on_error` says, and one line is logged.
    #[cold]
    fn give_up(
        &self,
        ruby: &Ruby,
        identifier: &Attributes,
        mode: Mode,
        version: u64,
        said: String,
    ) -> Result<Value, Error> {
        let decision = controlled(ruby, || Ok(self.limiter.give_up(identifier, mode, PANIC, said)))?;
        Decision::wrapped(ruby, decision, version)
    }

    fn settle(ruby: &Ruby, this: &Self, pending: Value, reply: Value, fault: Value) -> Result<Value, Error> {
        let waiting = <&Waiting>::try_convert(pending)?;
        let deadline = waiting.deadline(ruby)?;
        let outcome = outcome(ruby, reply, fault, deadline)?;
        let pending = waiting.take(ruby)?;
        let (mode, version) = (waiting.mode, waiting.version);
        let settled = guarded(&Passage::default(), || {
            probe();
            wrapped(ruby, this.limiter.settle(pending, outcome), mode, version)
        });
        match settled {
            Ok(object) => Ok(object),
            Err(Stopped::Raised(error)) => Err(error),
            Err(Stopped::Panicked(said)) => {
                let nameless = Attributes::names_of(ruby.hash_new());
                this.give_up(ruby, &nameless, mode, version, said)
            }
        }
    }

    /// The decision of a check whose caller went and took its call with it, which is not told to it any more.
    fn abandon(ruby: &Ruby, this: &Self, pending: Value, class: String) -> Result<Value, Error> {
        let waiting = <&Waiting>::try_convert(pending)?;
        let (deadline, pending) = (waiting.deadline(ruby)?, waiting.take(ruby)?);
        let decision = controlled(ruby, || {
            let decision = this.limiter.abandon(pending, class, LEFT);
            this.limiter.waited_in_vain(waiting.since.elapsed(), deadline);
            Ok(decision)
        })?;
        Decision::wrapped(ruby, decision, waiting.version)
    }

    fn clear(ruby: &Ruby, this: &Self, attributes: Value) -> Result<u64, Error> {
        Ok(this.clearing(ruby, attributes)?.deleted())
    }

    fn plan_clear(ruby: &Ruby, this: &Self, attributes: Value) -> Result<Value, Error> {
        let clearing = this.clearing(ruby, attributes)?;
        Ok(match clearing.call() {
            Some(_) => ruby.obj_wrap(WaitingClear::new(clearing)).as_value(),
            None => ruby.integer_from_u64(clearing.deleted()).as_value(),
        })
    }

    fn clearing(&self, ruby: &Ruby, attributes: Value) -> Result<Clearing, Error> {
        let attributes = RHash::try_convert(attributes)?;
        let in_force = self.in_force();
        controlled(ruby, || {
            probe();
            let identifier = Attributes::gather(ruby, attributes, &in_force)?;
            Ok(self.limiter.plan_clear_by(in_force.rules.clone(), &identifier))
        })
    }

    fn settle_clear(ruby: &Ruby, this: &Self, pending: Value, reply: Value, fault: Value) -> Result<Value, Error> {
        let waiting = <&WaitingClear>::try_convert(pending)?;
        let deadline = waiting.clearing.lock().deadline();
        let outcome = outcome(ruby, reply, fault, deadline)?;
        let mut clearing = waiting.clearing.lock();
        if clearing.call().is_none() {
            return Err(Error::new(ruby.exception_arg_error(), "this call was settled already"));
        }
        controlled(ruby, || {
            probe();
            this.limiter.settle_clear(&mut clearing, outcome);
            Ok(())
        })?;
        Ok(match clearing.call() {
            Some(_) => pending,
            None => ruby.integer_from_u64(clearing.deleted()).as_value(),
        })
    }

    fn abandon_clear(ruby: &Ruby, this: &Self, pending: Value) -> Result<(), Error> {
        let waiting = <&WaitingClear>::try_convert(pending)?;
        let deadline = waiting.clearing.lock().deadline();
        controlled(ruby, || {
            this.limiter.waited_in_vain(waiting.since.elapsed(), deadline);
            Ok(())
        })
    }

    fn reload(ruby: &Ruby, this: &Self, given: RHash) -> Result<(), Error> {
        let given = documents::read(ruby, given)?;
        controlled(ruby, || {
            probe();
            this.limiter.reload(&given.documents).map_err(|error| build_error::of_load(ruby, &error))?;
            let next = InForce::new(ruby, this.limiter.rules(), this.version() + 1);
            *this.in_force.lock() = Arc::new(next);
            Ok(())
        })
    }

    fn found_cluster(&self) {
        self.limiter.found_cluster();
    }

    /// The version of the rules in force, and the rules.
    fn generation(ruby: &Ruby, this: &Self) -> Result<(u64, RArray), Error> {
        let in_force = this.in_force();
        Ok((in_force.version, shown::rules(ruby, &in_force.rules)?))
    }

    fn close_circuit(&self) {
        self.limiter.close_circuit();
    }

    fn has_logs(&self) -> bool {
        self.journal.has_any()
    }

    fn take_logs(ruby: &Ruby, this: &Self) -> Result<RArray, Error> {
        this.journal.take(ruby)
    }
}

/// What Ruby gets of a plan.
fn wrapped(ruby: &Ruby, planned: Planned, mode: Mode, version: u64) -> Result<Value, Error> {
    match planned {
        Planned::Done(decision) => Decision::wrapped(ruby, decision, version),
        Planned::Call(pending) => Waiting::wrapped(ruby, pending, mode, version),
    }
}

pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("Core", ruby.class_object())?;
    class.define_singleton_method("new", function!(Core::new, 3))?;
    class.define_method("name", method!(Core::name, 0))?;
    class.define_method("properties", method!(Core::properties, 0))?;
    class.define_method("rules", method!(Core::rules, 0))?;
    class.define_method("rules_version", method!(Core::version, 0))?;
    class.define_method("generation", method!(Core::generation, 0))?;
    class.define_method("found_cluster", method!(Core::found_cluster, 0))?;
    class.define_method("evaluation", method!(Core::evaluation, 0))?;
    class.define_method("check", method!(Core::check, 3))?;
    class.define_method("peek", method!(Core::peek, 2))?;
    class.define_method("plan", method!(Core::plan, 4))?;
    class.define_method("settle", method!(Core::settle, 3))?;
    class.define_method("abandon", method!(Core::abandon, 2))?;
    class.define_method("clear", method!(Core::clear, 1))?;
    class.define_method("plan_clear", method!(Core::plan_clear, 1))?;
    class.define_method("settle_clear", method!(Core::settle_clear, 3))?;
    class.define_method("abandon_clear", method!(Core::abandon_clear, 1))?;
    class.define_method("reload", method!(Core::reload, 1))?;
    class.define_method("close_circuit", method!(Core::close_circuit, 0))?;
    class.define_method("logs?", method!(Core::has_logs, 0))?;
    class.define_method("take_logs", method!(Core::take_logs, 0))
}
