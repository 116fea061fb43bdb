//! The limiter: rules, a store, and what a call of it answers.

use crate::builder::Builder;
use crate::callbacks::{Callbacks, Context};
use crate::clock::Clock;
use crate::decision::Decision;
use crate::exceeded::Exceeded;
use crate::fallback::Fallback;
use crate::generation::{Generation, Generations, RulesRef};
use crate::log::Logger;
use crate::panics::panic_message;
use crate::pending::{Pending, Planned};
use crate::sample::Sample;
use crate::store::{Connection, RedisOptions, Store};
use labkit_ratelimit_engine::{
    Cost, CountStep, End, Evaluation, Facts, Failure, FailureKind, Findings, Host, Identifier, Mode, Reading, RuleSpec,
    Rules, Selection, Step, Tally, Verdict,
};
use labkit_ratelimit_store::redis::{Call, Fault};
use labkit_ratelimit_store::{Member, MemoryStore};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
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

    const fn verdict(self) -> Verdict {
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
    pub(crate) generations: Generations,
    pub(crate) store: Store,
    callbacks: Callbacks,
    pub(crate) clock: Box<dyn Clock>,
    pub(crate) logger: Box<dyn Logger>,
    pub(crate) on_error: OnError,
    pub(crate) fallback: Fallback,
}

/// A request in the making: its facts, its cost, and what it asks of the store.
#[derive(Default)]
struct Prepared<'i> {
    facts: Facts<'i>,
    cost: Cost,
    selection: Selection,
}

/// A walk along a chain.
pub(crate) struct Walk<'a> {
    pub(crate) selection: &'a Selection,
    pub(crate) cost: Cost,
    pub(crate) mode: Mode,
    pub(crate) names: &'a dyn Fn() -> Vec<String>,
    pub(crate) now_us: u64,
    /// Counted in the store's place.
    pub(crate) locally: bool,
}

impl Limiter {
    /// Starts building a limiter called `name`.
    pub fn builder(name: impl Into<String>) -> Builder {
        Builder::new(name.into())
    }

    pub(crate) fn new(
        rules: Rules,
        store: Store,
        callbacks: Callbacks,
        clock: Box<dyn Clock>,
        logger: Box<dyn Logger>,
        on_error: OnError,
    ) -> Self {
        let id = LIMITERS.fetch_add(1, Relaxed);
        let name = rules.limiter().into();
        let generations = Generations::new(Generation::new(id, rules, &store));
        Self { id, name, generations, store, callbacks, clock, logger, on_error, fallback: Fallback::default() }
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
        self.generations.replace(Generation::new(self.id, rules, &self.store));
        Ok(())
    }

    /// How it meets its Redis, if it has one.
    pub const fn redis(&self) -> Option<&RedisOptions> {
        self.store.redis()
    }

    /// Charges a cost of 1 and decides.
    pub fn check<I: Identifier + ?Sized>(&self, identifier: &I) -> Decision {
        self.check_with(identifier, CallOptions::default())
    }

    /// Charges and decides. Never fails: a check without a verdict answers as `on_error` says.
    pub fn check_with<I: Identifier + ?Sized>(&self, identifier: &I, options: CallOptions<'_>) -> Decision {
        self.decide(identifier, options, Mode::Check)
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
        self.decide(identifier, options, Mode::Peek)
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

    fn decide<I: Identifier + ?Sized>(&self, identifier: &I, options: CallOptions<'_>, mode: Mode) -> Decision {
        match &self.store {
            Store::Memory(memory) => self.decide_in_memory(memory, identifier, options, mode),
            Store::Connected(..) | Store::Planned(_) => self.wait(self.plan(identifier, options, mode)),
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
        let Some(redis) = self.redis() else { return Planned::Done(self.decide(identifier, options, mode)) };
        let held = self.generations.load();
        let mut prepared = Prepared::default();
        if let Err(failure) = self.prepare(&held.rules, identifier, options, mode, &mut prepared) {
            let mut decision = Decision::undecided();
            self.fail_before(&held, failure, mode, &|| names_of(identifier), &mut decision);
            decision.held = held;
            return Planned::Done(decision);
        }
        let Prepared { facts, cost, mut selection } = prepared;
        held.rules.own(&mut selection);
        self.start(Pending::new(self.id, held, selection, &facts, cost, mode, redis, names_of(identifier)), redis)
    }

    fn prepare<'i, I: Identifier + ?Sized>(
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
        identifier: &I,
        options: CallOptions<'_>,
        mode: Mode,
    ) -> Decision {
        let names = || names_of(identifier);
        // Both are filled in where they stand: they are large, and moving them about is not free.
        let mut prepared = Prepared::default();
        let mut decision = Decision::undecided();
        let held = self.generations.load();
        if let Err(failure) = self.prepare(&held.rules, identifier, options, mode, &mut prepared) {
            self.fail_before(&held, failure, mode, &names, &mut decision);
        } else {
            let Prepared { facts, cost, selection } = &prepared;
            let now_us = self.clock.now_us();
            let walk = Walk { selection, cost: *cost, mode, names: &names, now_us, locally: false };
            self.walk(&held, &walk, &mut decision, |_, step| {
                let key = held.keys.key(&held.rules, step.rule, facts);
                let member = step.counted().and_then(|slot| Member::of(&facts[slot]));
                Ok(memory.run(key, step, member.as_ref(), *cost, mode, now_us))
            });
        }
        decision.held = held;
        decision
    }

    /// Walks along the chain. `read` gives the reading of a counting step, the n-th of them, or the
    /// failure that ends the chain there.
    pub(crate) fn walk(
        &self,
        generation: &Generation,
        walk: &Walk<'_>,
        decision: &mut Decision,
        mut read: impl FnMut(usize, &CountStep) -> Result<Reading, Failure>,
    ) {
        let rules = &generation.rules;
        let mut tally = Tally::new(Rules::judged_cost(walk.mode, walk.cost), walk.now_us, &mut decision.decided);
        let mut counted = 0;
        for step in &walk.selection.steps {
            match step {
                Step::MissingDistinct { rule } => {
                    tally.missing_distinct();
                    self.warn_missing_distinct(rules.rule(*rule), walk.names);
                }
                Step::Count(_) | Step::Fixed { .. } => {
                    let Some(step) = counting_step(rules, step) else { continue };
                    match read(counted, step) {
                        Ok(reading) if tally.count(step, &reading) => return Self::report(generation, walk, decision),
                        Ok(_) => {}
                        Err(failure) => {
                            self.fail(rules, tally, &failure, walk);
                            return Self::report(generation, walk, decision);
                        }
                    }
                    counted += 1;
                }
            }
        }
        match &walk.selection.end {
            End::Open => {}
            End::Skip(rule) => tally.skipped(*rule),
            End::Failed(failure) => self.fail(rules, tally, failure, walk),
        }
        Self::report(generation, walk, decision);
    }

    fn fail(&self, rules: &Rules, tally: Tally<'_>, failure: &Failure, walk: &Walk<'_>) {
        self.warn_failure(failure, failure.rule.map(|rule| rules.rule(rule)), walk.names);
        tally.failed(self.on_error.verdict());
    }

    /// No rule was looked at.
    pub(crate) fn fail_before(
        &self,
        generation: &Generation,
        failure: Failure,
        mode: Mode,
        names: &dyn Fn() -> Vec<String>,
        decision: &mut Decision,
    ) {
        let selection = Selection { end: End::Failed(failure), ..Selection::default() };
        let now_us = self.clock.now_us();
        let walk = Walk { selection: &selection, cost: Cost::ONE, mode, names, now_us, locally: false };
        self.walk(generation, &walk, decision, |_, _| Err(Failure::new(FailureKind::Internal, "Internal", "no step")));
    }

    /// Counts the decision.
    fn report(generation: &Generation, walk: &Walk<'_>, Decision { decided, .. }: &mut Decision) {
        if walk.locally && !decided.is_error() {
            decided.degrade();
        }
        match walk.mode {
            Mode::Check => generation.metrics.checked(decided),
            Mode::Peek => generation.metrics.peeked(decided),
        }
    }
}

fn counting_step<'s>(rules: &'s Rules, step: &'s Step) -> Option<&'s CountStep> {
    match step {
        Step::Count(step) => Some(step),
        Step::Fixed { rule } => rules.fixed(*rule),
        Step::MissingDistinct { .. } => None,
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
