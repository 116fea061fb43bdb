//! The limiter: rules, a store, and what a call of it answers.

use crate::builder::Builder;
use crate::callbacks::{Callbacks, Context};
use crate::clock::Clock;
use crate::exceeded::Exceeded;
use crate::fallback::Fallback;
use crate::generation::{Decision, Generation, Generations, RulesRef, undecided};
use crate::held::Held;
use crate::loading::Own;
use crate::log::Logger;
use crate::panics::panic_message;
use crate::pending::{Pending, Planned};
use crate::sample::Sample;
use crate::store::{Connection, RedisOptions, Store, Terms};
use crate::walk::{Walk, conclude};
use labkit_ratelimit_engine::{
    Cost, Evaluation, Facts, Failure, FailureKind, Findings, Host, Identifier, Mode, RuleSpec, Rules, Selection,
    Verdict,
};
use labkit_ratelimit_store::redis::{Call, Fault, Topology};
use labkit_ratelimit_store::{Member, MemoryStore};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// How many limiters this process has built.
static LIMITERS: AtomicU64 = AtomicU64::new(0);

/// What a check without a verdict answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnError {
    /// Allow: the limiter never breaks its host.
    #[default]
    Allow,
    /// Block, for every cause.
    Block,
    /// When the store fails, count in memory from zero until it answers again; allow otherwise.
    Local,
}

impl OnError {
    /// Every policy.
    pub const ALL: [Self; 3] = [Self::Allow, Self::Block, Self::Local];

    /// As options spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Block => "block",
            Self::Local => "local",
        }
    }

    /// From its spelling.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.as_str() == text)
    }

    pub(crate) const fn verdict(self) -> Verdict {
        match self {
            Self::Block => Verdict::Block,
            Self::Allow | Self::Local => Verdict::Allow,
        }
    }
}

/// What a call brings beside its identifier.
#[derive(Clone, Copy, Default)]
pub struct CallOptions<'a> {
    cost: Option<f64>,
    context: Context<'a>,
    host: Option<&'a dyn Host>,
}

impl<'a> CallOptions<'a> {
    /// The cost: a finite number of 0 or more, kept to 6 decimal places; 1 by default. 0 reads the state
    /// and writes nothing. A peek has none.
    #[must_use]
    pub const fn cost(mut self, cost: f64) -> Self {
        self.cost = Some(cost);
        self
    }

    /// Handed to callables that take it.
    #[must_use]
    pub const fn context(mut self, context: &'a (dyn Any + Send + Sync)) -> Self {
        self.context = Some(context);
        self
    }

    /// A host of this call's own, which answers instead of the limiter's [`Callbacks`]; for bindings.
    #[must_use]
    pub const fn host(mut self, host: &'a dyn Host) -> Self {
        self.host = Some(host);
        self
    }
}

/// Decides for one kind of request. Shared by any number of threads; a check locks nothing but a shard of
/// its memory store.
#[derive(Debug)]
pub struct Limiter {
    /// Tells this limiter from every other one of the process.
    pub(crate) id: u64,
    name: Box<str>,
    /// What it brings to documents.
    pub(crate) own: Own,
    pub(crate) generations: Generations,
    pub(crate) store: Store,
    callbacks: Callbacks,
    pub(crate) clock: Box<dyn Clock>,
    pub(crate) logger: Box<dyn Logger>,
    pub(crate) on_error: OnError,
    pub(crate) fallback: Fallback,
    /// Its host found out late that its Redis is a cluster.
    is_cluster_after_all: AtomicBool,
}

/// A request in the making: its facts, its cost, and what it asks of the store.
#[derive(Default)]
pub(crate) struct Prepared<'i> {
    facts: Facts<'i>,
    cost: Cost,
    selection: Selection,
}

impl Limiter {
    /// Starts building a limiter called `name`.
    pub fn builder(name: impl Into<String>) -> Builder {
        Builder::new(name.into())
    }

    #[expect(clippy::too_many_arguments, reason = "the builder's parts, once each")]
    pub(crate) fn new(
        rules: Rules,
        specs: Box<[RuleSpec]>,
        own: Own,
        store: Store,
        callbacks: Callbacks,
        clock: Box<dyn Clock>,
        logger: Box<dyn Logger>,
        on_error: OnError,
    ) -> Self {
        let id = LIMITERS.fetch_add(1, Relaxed);
        let name = rules.limiter().into();
        let generations = Generations::new(Generation::new(id, rules, specs, &store));
        Self {
            id,
            name,
            own,
            generations,
            store,
            callbacks,
            clock,
            logger,
            on_error,
            fallback: Fallback::default(),
            is_cluster_after_all: AtomicBool::new(false),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The rules in force.
    pub fn rules(&self) -> RulesRef {
        self.generations.load().into()
    }

    /// Replaces all rules, in chain order, while other threads may check: each call is decided by the rules before or
    /// by those after, never by some of both. Where there is a mistake, everything stays as it was.
    ///
    /// A rule keeps its counters and bans by its name, characteristics and algorithm, wherever it stands in the chain.
    /// Its callables are the limiter's, as before. Calls that were planned are settled by the rules that planned them.
    ///
    /// # Errors
    /// Every mistake in all of them, at paths such as `rules[0].limit`.
    pub fn replace_rules(&self, specs: &[RuleSpec], evaluation: Evaluation) -> Result<(), Findings> {
        let rules = Rules::build(&self.name, specs, evaluation)?;
        self.generations.replace(Generation::new(self.id, rules, specs.into(), &self.store));
        Ok(())
    }

    /// How it meets its Redis, if it has one.
    pub const fn redis(&self) -> Option<&RedisOptions> {
        self.store.redis()
    }

    /// From here on calls are planned for a cluster. A host that lends connections of a pool may see only then what its
    /// Redis is; what was planned before, and not run, is planned anew.
    pub fn found_cluster(&self) {
        self.is_cluster_after_all.store(true, Relaxed);
    }

    /// What calls are planned by as things stand.
    pub(crate) fn terms(&self, redis: &RedisOptions) -> Terms {
        let topology = if self.is_cluster_after_all.load(Relaxed) { Topology::Cluster } else { redis.topology };
        Terms { topology, deadline: redis.deadline, has_fallback: self.on_error == OnError::Local }
    }

    /// Charges a cost of 1 and decides.
    pub fn check<I: Identifier + ?Sized>(&self, identifier: &I) -> Decision {
        self.check_with(identifier, CallOptions::default())
    }

    /// Charges and decides. Never fails: a check without a verdict answers as `on_error` says.
    pub fn check_with<I: Identifier + ?Sized>(&self, identifier: &I, options: CallOptions<'_>) -> Decision {
        self.decide(self.generations.load(), identifier, options, Mode::Check)
    }

    /// As [`Limiter::check_with`], but a block is an error that carries the decision.
    ///
    /// # Errors
    /// [`Exceeded`] where the decision blocks.
    pub fn enforce<I: Identifier + ?Sized>(
        &self,
        identifier: &I,
        options: CallOptions<'_>,
    ) -> Result<Decision, Box<Exceeded>> {
        let decision = self.check_with(identifier, options);
        if decision.is_blocked() { Err(Box::new(Exceeded::new(decision))) } else { Ok(decision) }
    }

    /// Decides on the state as it stands, for a call of cost 1, and changes nothing.
    pub fn peek<I: Identifier + ?Sized>(&self, identifier: &I) -> Decision {
        self.peek_with(identifier, CallOptions::default())
    }

    /// As [`Limiter::peek`], with a context for callables.
    pub fn peek_with<I: Identifier + ?Sized>(&self, identifier: &I, options: CallOptions<'_>) -> Decision {
        self.decide(self.generations.load(), identifier, options, Mode::Peek)
    }

    /// The decision of a call that its caller could not bring to its end, for bindings: a panic that one stopped at
    /// its boundary. It answers as `on_error` says, counts in the metrics, and logs one line.
    pub fn give_up<I: Identifier + ?Sized>(
        &self,
        identifier: &I,
        mode: Mode,
        class_name: impl Into<String>,
        message: impl Into<String>,
    ) -> Decision {
        let failure = Failure::new(FailureKind::Internal, class_name, message);
        self.decide_failed(failure, mode, &|| names_of(identifier))
    }

    /// Counters and gauges, as they stand.
    pub fn metrics(&self) -> Vec<Sample> {
        self.generations.samples()
    }

    /// Closes the circuit of its Redis, as an operator may after mending it.
    pub fn close_circuit(&self) {
        if let Some(options) = self.store.redis() {
            options.circuit.close();
        }
    }

    fn decide<I: Identifier + ?Sized>(
        &self,
        held: Held,
        identifier: &I,
        options: CallOptions<'_>,
        mode: Mode,
    ) -> Decision {
        match &self.store {
            Store::Memory(memory) => {
                let mut decision = undecided();
                self.decide_in_memory(memory, held, identifier, options, mode, &mut decision);
                decision
            }
            Store::Connected(_, redis) | Store::Planned(redis) => {
                self.wait(self.plan_on(redis, held, identifier, options, mode))
            }
        }
    }

    fn wait(&self, mut planned: Planned) -> Decision {
        loop {
            match planned {
                Planned::Done(decision) => return decision,
                Planned::Call(pending) => {
                    let Store::Connected(connection, _) = &self.store else {
                        return self.decide_unrun(
                            pending,
                            "this limiter's host runs its calls: use plan and settle, or build it with a connection",
                        );
                    };
                    let reply = run(&**connection, pending.call(), pending.deadline());
                    planned = self.settle(pending, reply);
                }
            }
        }
    }

    /// Plans a check or a peek. On the memory store it is decided at once; on a Redis the host runs the
    /// pending call on its own connection and hands the reply to [`Limiter::settle`].
    pub fn plan<I: Identifier + ?Sized>(&self, identifier: &I, options: CallOptions<'_>, mode: Mode) -> Planned {
        self.plan_held(self.generations.load(), identifier, options, mode)
    }

    /// As [`Limiter::plan`], by rules that [`Limiter::rules`] gave, whether they are in force still or not: for hosts
    /// that look up the properties of an identifier beforehand, and go by their places. By another limiter's rules it
    /// fails.
    pub fn plan_by<I: Identifier + ?Sized>(
        &self,
        rules: RulesRef,
        identifier: &I,
        options: CallOptions<'_>,
        mode: Mode,
    ) -> Planned {
        match self.own(rules) {
            Ok(held) => self.plan_held(held, identifier, options, mode),
            Err(failure) => Planned::Done(self.decide_failed(failure, mode, &|| names_of(identifier))),
        }
    }

    /// As [`Limiter::plan_by`], but a decision is only shown, where it stands: it is large, and a binding that copies
    /// what it needs is spared moving it about.
    ///
    /// # Errors
    /// The call to run, where there is no decision yet.
    pub fn show_by<I: Identifier + ?Sized, T>(
        &self,
        rules: RulesRef,
        identifier: &I,
        options: CallOptions<'_>,
        mode: Mode,
        show: impl FnOnce(&Decision) -> T,
    ) -> Result<T, Box<Pending>> {
        if let (Store::Memory(memory), true) = (&self.store, rules.is_of(self.id)) {
            let mut decision = undecided();
            self.decide_in_memory(memory, rules.into(), identifier, options, mode, &mut decision);
            return Ok(show(&decision));
        }
        match self.plan_by(rules, identifier, options, mode) {
            Planned::Done(decision) => Ok(show(&decision)),
            Planned::Call(pending) => Err(Box::new(pending)),
        }
    }

    /// The generation of `rules`, if it is of this limiter.
    pub(crate) fn own(&self, rules: RulesRef) -> Result<Held, Failure> {
        let held = Held::from(rules);
        if held.limiter == self.id {
            return Ok(held);
        }
        Err(Failure::new(FailureKind::Internal, "WrongLimiter", "these are the rules of another limiter"))
    }

    fn plan_held<I: Identifier + ?Sized>(
        &self,
        held: Held,
        identifier: &I,
        options: CallOptions<'_>,
        mode: Mode,
    ) -> Planned {
        match self.redis() {
            None => Planned::Done(self.decide(held, identifier, options, mode)),
            Some(redis) => self.plan_on(redis, held, identifier, options, mode),
        }
    }

    fn plan_on<I: Identifier + ?Sized>(
        &self,
        redis: &RedisOptions,
        held: Held,
        identifier: &I,
        options: CallOptions<'_>,
        mode: Mode,
    ) -> Planned {
        let mut prepared = Prepared::default();
        if let Err(failure) = self.prepare(&held.rules, identifier, options, mode, &mut prepared) {
            let mut decision = undecided();
            self.fail_before(held, failure, mode, &|| names_of(identifier), &mut decision);
            return Planned::Done(decision);
        }
        let Prepared { facts, cost, selection } = prepared;
        let terms = self.terms(redis);
        self.start(Pending::new(held, selection, &facts, cost, mode, terms, names_of(identifier)), redis)
    }

    pub(crate) fn prepare<'i, I: Identifier + ?Sized>(
        &self,
        rules: &Rules,
        identifier: &'i I,
        options: CallOptions<'_>,
        mode: Mode,
        prepared: &mut Prepared<'i>,
    ) -> Result<(), Failure> {
        rules.facts_into(identifier, &mut prepared.facts)?;
        if let (Mode::Check, Some(cost)) = (mode, options.cost) {
            prepared.cost =
                Cost::new(cost).map_err(|bad| Failure::new(FailureKind::BadCost, "BadCost", bad.to_string()))?;
        }
        let own = self.callbacks.host(options.context);
        let host = options.host.unwrap_or(&own);
        rules.select_into(&prepared.facts, mode, host, &mut prepared.selection);
        Ok(())
    }

    fn decide_in_memory<I: Identifier + ?Sized>(
        &self,
        memory: &MemoryStore,
        held: Held,
        identifier: &I,
        options: CallOptions<'_>,
        mode: Mode,
        decision: &mut Decision,
    ) {
        let names = || names_of(identifier);
        // Both are filled in where they stand: they are large, and moving them about is not free.
        let mut prepared = Prepared::default();
        if let Err(failure) = self.prepare(&held.rules, identifier, options, mode, &mut prepared) {
            self.fail_before(held, failure, mode, &names, decision);
        } else {
            let Prepared { facts, cost, selection } = &prepared;
            let now_us = self.clock.now_us();
            let walk = Walk { selection, cost: *cost, mode, names: &names, now_us, locally: false };
            self.walk(&held.rules, &walk, decision, |_, step| {
                let key = held.keys.key(&held.rules, step.rule, facts);
                let member = step.counted().and_then(|slot| Member::of(&facts[slot]));
                Ok(memory.run(key, step, member.as_ref(), *cost, mode, now_us))
            });
            conclude(held, &walk, decision);
        }
    }
}

pub(crate) fn names_of<I: Identifier + ?Sized>(identifier: &I) -> Vec<String> {
    let mut names = Vec::new();
    identifier.each_name(&mut |name| names.push(name.to_owned()));
    names
}

/// Runs a call on the host's connection. One that panics is the host's defect; a check must not end of it.
pub(crate) fn run(connection: &dyn Connection, call: &Call, deadline: Duration) -> Result<Vec<u8>, Fault> {
    catch_unwind(AssertUnwindSafe(|| connection.run(call, deadline)))
        .unwrap_or_else(|panic| Err(Fault::new("panic", panic_message(&*panic))))
}
