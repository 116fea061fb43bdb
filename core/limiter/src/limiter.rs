//! The limiter: rules, a store, and what a call of it answers.

use crate::builder::Builder;
use crate::callbacks::{Callbacks, Context};
use crate::clock::Clock;
use crate::exceeded::Exceeded;
use crate::fallback::Fallback;
use crate::log::Logger;
use crate::metrics::{Metrics, Sample};
use crate::pending::{Pending, Planned};
use crate::store::{RedisOptions, Store};
use labkit_ratelimit_engine::{
    Cost, CountStep, Decision, End, Facts, Failure, FailureKind, Host, Identifier, Mode, Reading, Rules, Selection,
    Step, Tally, Verdict, numbers,
};
use labkit_ratelimit_store::redis::Fault;
use labkit_ratelimit_store::{Member, MemoryStore, RuleKeys};
use std::any::Any;

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

/// Decides for one kind of request. Shared by any number of threads; it locks nothing but a shard of
/// its memory store.
#[derive(Debug)]
pub struct Limiter {
    pub(crate) rules: Rules,
    pub(crate) keys: RuleKeys,
    pub(crate) store: Store,
    callbacks: Callbacks,
    pub(crate) clock: Box<dyn Clock>,
    pub(crate) logger: Box<dyn Logger>,
    pub(crate) on_error: OnError,
    metrics: Metrics,
    pub(crate) fallback: Fallback,
}

/// How a walk along the chain ends up in a decision.
pub(crate) struct Walk<'a> {
    pub(crate) selection: &'a Selection,
    pub(crate) cost: Cost,
    pub(crate) mode: Mode,
    pub(crate) names: &'a dyn Fn() -> Vec<String>,
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
        let keys = match &store {
            Store::Memory(memory) => RuleKeys::new(memory, &rules),
            Store::Connected(..) | Store::Planned(_) => RuleKeys::none(),
        };
        let metrics = Metrics::new(rules.len());
        Self { rules, keys, store, callbacks, clock, logger, on_error, metrics, fallback: Fallback::default() }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.rules.limiter()
    }

    /// Its rules.
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// How it meets its Redis, if it has one.
    pub const fn redis(&self) -> Option<&RedisOptions> {
        self.store.redis()
    }

    /// Charges a cost of 1 and decides.
    pub fn check<I: Identifier + ?Sized>(&self, identifier: &I) -> Decision<'_> {
        self.check_with(identifier, CallOptions::default())
    }

    /// Charges and decides. Never fails: a check without a verdict answers as `on_error` says.
    pub fn check_with<I: Identifier + ?Sized>(&self, identifier: &I, options: CallOptions<'_>) -> Decision<'_> {
        self.wait(self.plan(identifier, options, Mode::Check))
    }

    /// As [`Limiter::check_with`], but a block is an error that carries the decision.
    ///
    /// # Errors
    /// [`Exceeded`] where the decision blocks.
    pub fn enforce<I: Identifier + ?Sized>(
        &self,
        identifier: &I,
        options: CallOptions<'_>,
    ) -> Result<Decision<'_>, Box<Exceeded<'_>>> {
        let decision = self.check_with(identifier, options);
        if decision.is_blocked() { Err(Box::new(Exceeded::new(self.name(), decision))) } else { Ok(decision) }
    }

    /// Decides on the state as it stands, for a call of cost 1, and changes nothing.
    pub fn peek<I: Identifier + ?Sized>(&self, identifier: &I) -> Decision<'_> {
        self.peek_with(identifier, CallOptions::default())
    }

    /// As [`Limiter::peek`], with a context for callables.
    pub fn peek_with<I: Identifier + ?Sized>(&self, identifier: &I, options: CallOptions<'_>) -> Decision<'_> {
        self.wait(self.plan(identifier, options, Mode::Peek))
    }

    /// Counters and gauges, as they stand.
    pub fn metrics(&self) -> Vec<Sample> {
        self.metrics.samples(&self.rules)
    }

    /// Closes the circuit of its Redis, as an operator may after mending it.
    pub fn close_circuit(&self) {
        if let Some(options) = self.store.redis() {
            options.circuit.close();
        }
    }

    fn wait<'l>(&'l self, mut planned: Planned<'l>) -> Decision<'l> {
        loop {
            match planned {
                Planned::Done(decision) => return decision,
                Planned::Call(pending) => {
                    let reply = match &self.store {
                        Store::Connected(connection, options) => connection.run(pending.call(), options.deadline),
                        Store::Planned(_) | Store::Memory(_) => Err(Fault::new(
                            "NoConnection",
                            "this limiter's host runs its calls: use plan and settle, or build it with a connection",
                        )),
                    };
                    planned = self.settle(pending, reply);
                }
            }
        }
    }

    /// Plans a check or a peek. On the memory store it is decided at once; on a Redis the host runs the
    /// pending call on its own connection and hands the reply to [`Limiter::settle`].
    pub fn plan<I: Identifier + ?Sized>(&self, identifier: &I, options: CallOptions<'_>, mode: Mode) -> Planned<'_> {
        let names = || names_of(identifier);
        let facts = match self.rules.facts(identifier) {
            Ok(facts) => facts,
            Err(failure) => return Planned::Done(self.fail_before(failure, mode, &names)),
        };
        let cost = match (mode, options.cost) {
            (Mode::Peek, _) | (_, None) => Cost::ONE,
            (Mode::Check, Some(cost)) => match Cost::new(cost) {
                Ok(cost) => cost,
                Err(bad) => {
                    let failure = Failure::new(FailureKind::BadCost, "BadCost", bad.to_string());
                    return Planned::Done(self.fail_before(failure, mode, &names));
                }
            },
        };
        let selection = match options.host {
            Some(host) => self.rules.select(&facts, mode, host),
            None => self.rules.select(&facts, mode, &self.callbacks.host(options.context)),
        };
        match &self.store {
            Store::Memory(memory) => Planned::Done(self.decide(
                memory,
                &Walk { selection: &selection, cost, mode, names: &names, locally: false },
                &facts,
            )),
            Store::Connected(_, redis) | Store::Planned(redis) => {
                self.start(Pending::new(&self.rules, selection, &facts, cost, mode, redis.topology, names()), redis)
            }
        }
    }

    fn decide(&self, memory: &MemoryStore, walk: &Walk<'_>, facts: &Facts<'_>) -> Decision<'_> {
        let now_us = self.clock.now_us();
        self.walk(walk, now_us, |_, step| {
            let key = self.keys.key(&self.rules, step.rule, facts);
            let member = step.counted().and_then(|slot| Member::of(&facts[slot]));
            Ok(memory.run(key, step, member.as_ref(), walk.cost, walk.mode, now_us))
        })
    }

    /// Walks along the chain. `read` gives the reading of a counting step, the n-th of them, or the
    /// failure that ends the chain there.
    pub(crate) fn walk<'l>(
        &'l self,
        walk: &Walk<'_>,
        now_us: u64,
        mut read: impl FnMut(usize, &CountStep) -> Result<Reading, Failure>,
    ) -> Decision<'l> {
        let mut tally = Tally::new(&self.rules, Rules::judged_cost(walk.mode, walk.cost), now_us);
        let mut counted = 0;
        for step in &walk.selection.steps {
            match step {
                Step::MissingDistinct { rule } => {
                    tally.missing_distinct();
                    self.warn_missing_distinct(*rule, walk.names);
                }
                Step::Count(step) => {
                    match read(counted, step) {
                        Ok(reading) if tally.count(step, &reading) => return self.report(tally.stopped(), walk, None),
                        Ok(_) => {}
                        Err(failure) => return self.fail(tally, &failure, walk),
                    }
                    counted += 1;
                }
            }
        }
        match &walk.selection.end {
            End::Open => self.report(tally.stopped(), walk, None),
            End::Skip(rule) => self.report(tally.skipped(*rule), walk, Some(*rule)),
            End::Failed(failure) => self.fail(tally, failure, walk),
        }
    }

    fn fail<'l>(&self, tally: Tally<'l>, failure: &Failure, walk: &Walk<'_>) -> Decision<'l> {
        self.warn_failure(failure, walk.names);
        self.report(tally.failed(self.on_error.verdict()), walk, None)
    }

    /// No rule was looked at.
    fn fail_before(&self, failure: Failure, mode: Mode, names: &dyn Fn() -> Vec<String>) -> Decision<'_> {
        let selection = Selection { steps: [].into_iter().collect(), end: End::Failed(failure) };
        let walk = Walk { selection: &selection, cost: Cost::ONE, mode, names, locally: false };
        self.walk(&walk, self.clock.now_us(), |_, _| Err(Failure::new(FailureKind::Internal, "Internal", "no step")))
    }

    /// Counts the decision and hands it on.
    fn report<'l>(&self, decision: Decision<'l>, walk: &Walk<'_>, skip: Option<u32>) -> Decision<'l> {
        let decision = if walk.locally && !decision.is_error() { decision.degraded() } else { decision };
        match walk.mode {
            Mode::Check => self.metrics.checked(&decision, skip.map(numbers::offset)),
            Mode::Peek => self.metrics.peeked(&decision),
        }
        decision
    }
}

pub(crate) fn names_of<I: Identifier + ?Sized>(identifier: &I) -> Vec<String> {
    let mut names = Vec::new();
    identifier.each_name(&mut |name| names.push(name.to_owned()));
    names
}
