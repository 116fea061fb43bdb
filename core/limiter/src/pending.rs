//! Plan and settle: a check on Redis as calls that a host runs on its own connection.

use crate::circuit::Change;
use crate::generation::{Decision, undecided};
use crate::held::Held;
use crate::limiter::{Limiter, OnError};
use crate::store::{RedisOptions, Terms};
use crate::walk::{Walk, conclude, counting_step};
use labkit_ratelimit_engine::{Cost, CountStep, Facts, Failure, FailureKind, Mode, Selection};
use labkit_ratelimit_store::redis::{Call, ChainStep, Fault, StepReply, chain_calls, read_chain};
use labkit_ratelimit_store::{Member, StoreKeys};
use std::time::Duration;

/// A check or peek whose call waits for its reply.
///
/// Run [`Pending::call`] within [`Pending::deadline`] and hand the reply, or the fault, to
/// [`Limiter::settle`]: exactly once. Dropped unsettled, the check has no result and no metric.
#[derive(Debug)]
#[must_use = "a pending call that is not settled has no result"]
pub struct Pending {
    // The selection speaks of its rules by place.
    held: Held,
    pub(crate) selection: Selection,
    // What distinct steps count, by the places of steps; empty where there is none.
    members: Vec<Option<Member>>,
    pub(crate) cost: Cost,
    pub(crate) mode: Mode,
    terms: Terms,
    names: Vec<String>,
    calls: Vec<Call>,
    at: usize,
    replies: Vec<StepReply>,
}

/// What a plan, or a settle, comes to.
#[derive(Debug)]
#[must_use = "a pending call must be run and settled"]
pub enum Planned {
    /// The decision.
    Done(Decision),
    /// A call to run, and to settle with.
    Call(Pending),
}

impl Pending {
    pub(crate) fn new(
        held: Held,
        selection: Selection,
        facts: &Facts<'_>,
        cost: Cost,
        mode: Mode,
        terms: Terms,
        names: Vec<String>,
    ) -> Self {
        let mut pending = Self {
            held,
            selection,
            members: Vec::new(),
            cost,
            mode,
            terms,
            names,
            calls: Vec::new(),
            at: 0,
            replies: Vec::new(),
        };
        if pending.steps().any(|step| step.counted().is_some()) {
            let member = |step: &CountStep| step.counted().and_then(|slot| Member::of(&facts[slot]));
            pending.members = pending.steps().map(member).collect();
        }
        // Facts of a check hold no bad value, so that every key can be built.
        let chain = pending.steps().enumerate().filter_map(|(n, step)| {
            let keys = StoreKeys::build(&pending.held.rules, step.rule, facts)?;
            Some(ChainStep { step, keys, member: pending.members.get(n).and_then(Option::as_ref) })
        });
        pending.calls = chain_calls(chain, cost, mode, terms.topology);
        pending
    }

    fn steps(&self) -> impl Iterator<Item = &CountStep> {
        self.selection.steps.iter().filter_map(|step| counting_step(&self.held.rules, step))
    }

    /// The call to run.
    pub fn call(&self) -> &Call {
        &self.calls[self.at]
    }

    /// How long the call may be waited for, connecting and waiting for a pool included. A reply that is there is
    /// used, however late.
    pub const fn deadline(&self) -> Duration {
        self.terms.deadline
    }

    /// Frees the words of the call, for a host that has them: thousands of calls may be under way, and what lies about for
    /// long is slow to free. [`Pending::call`] has none then; of a limiter that may come to count itself
    /// ([`OnError::Local`]), by the same keys, they are kept.
    pub fn let_go(&mut self) {
        if !self.terms.has_fallback {
            let call = &mut self.calls[self.at];
            (call.keys, call.args) = (Vec::new(), Vec::new());
        }
    }

    /// Takes the reply of the call at hand; gives whether another one follows.
    fn take(&mut self, reply: &[u8]) -> Result<bool, Fault> {
        let range = self.call().steps.clone();
        let asked = self.steps().skip(range.start).take(range.len());
        let replies = read_chain(reply, asked)?;
        let goes_on = match (replies.last(), self.steps().nth(range.end - 1)) {
            (Some(StepReply::Ran(reading)), Some(step)) => {
                replies.len() == range.len() && !step.stop.at(reading.is_over())
            }
            _ => false,
        };
        self.replies.extend(replies);
        Ok(goes_on && self.at + 1 < self.calls.len())
    }

    /// The failure that ended the chain at the step in hand, if any.
    fn failure(&self) -> Option<Failure> {
        let Some(StepReply::Failed(fault)) = self.replies.last() else { return None };
        let rule = self.steps().nth(self.replies.len() - 1).map(|step| step.rule);
        Some(fault.clone().into_failure(rule))
    }
}

/// The store kept failing, and is left alone.
pub(crate) fn circuit_open() -> Failure {
    Failure::new(FailureKind::CircuitOpen, "CircuitOpen", "the store keeps failing: it is not asked for now")
}

impl Limiter {
    pub(crate) fn start(&self, pending: Pending, redis: &RedisOptions) -> Planned {
        if pending.calls.is_empty() {
            return Planned::Done(self.decide_from(pending, None));
        }
        if redis.circuit.admits(self.clock.now_us()) {
            return Planned::Call(pending);
        }
        Planned::Done(self.decide_from(pending, Some(circuit_open())))
    }

    /// Takes the reply of a pending call, or the fault that came in its place. On a cluster another
    /// call may follow.
    ///
    /// A call that another limiter planned is a failure here, and counts nowhere.
    pub fn settle(&self, mut pending: Pending, reply: Result<impl AsRef<[u8]>, Fault>) -> Planned {
        if pending.held.limiter != self.id {
            let failure = Failure::new(FailureKind::Internal, "WrongLimiter", "another limiter planned this call");
            return Planned::Done(self.decide_failed(failure, pending.mode, &|| pending.names.clone()));
        }
        let taken = reply.and_then(|reply| pending.take(reply.as_ref()));
        let failure = match taken {
            Ok(true) => {
                // Whether the store works is known at the end of the chain: another node may be dead.
                pending.at += 1;
                return Planned::Call(pending);
            }
            Ok(false) => pending.failure(),
            Err(fault) => {
                let rule = pending.steps().nth(pending.call().steps.start).map(|step| step.rule);
                Some(fault.into_failure(rule))
            }
        };
        match failure {
            Some(failure) if failure.is_of_store() => {
                // A try of an open circuit is not logged: its opening was.
                let is_open = self.redis().is_some_and(|redis| redis.circuit.is_open());
                let kind = if is_open { FailureKind::CircuitOpen } else { failure.kind };
                let decision = self.decide_from(pending, Some(Failure { kind, ..failure }));
                self.store_failed();
                Planned::Done(decision)
            }
            failure => {
                self.store_answered();
                Planned::Done(self.decide_from(pending, failure))
            }
        }
    }

    /// The decision of a check whose caller went before its call was answered: as `on_error` says, with one line in the
    /// log. It says nothing of the store; what comes of the call all the same goes to [`Limiter::settle_abandoned`].
    pub fn abandon(&self, pending: Pending, class_name: impl Into<String>, message: impl Into<String>) -> Decision {
        self.decide_from(pending, Some(Failure::new(FailureKind::Abandoned, class_name, message)))
    }

    /// Takes what came of a call after its check was abandoned. It decides nothing, but shows whether the store works.
    pub fn settle_abandoned(&self, reply: Result<impl AsRef<[u8]>, Fault>) {
        match reply.map_err(|fault| fault.into_failure(None)) {
            Err(failure) if failure.is_of_store() => self.store_failed(),
            _ => self.store_answered(),
        }
    }

    /// The decision of what was replied, and of the failure that ended it.
    fn decide_from(&self, pending: Pending, failure: Option<Failure>) -> Decision {
        let Pending { held, selection, members, cost, mode, names, calls, replies, .. } = pending;
        let names = || names.clone();
        let now_us = self.clock.now_us();
        let mut walk = Walk { selection: &selection, cost, mode, names: &names, now_us, locally: false };
        let mut decision = undecided();
        match failure {
            Some(failure) if failure.is_of_store() && self.on_error == OnError::Local => {
                let rule = failure.rule.map(|rule| held.rules.rule(rule));
                self.warn_failure(&failure, rule, &names);
                let memory = self.fallback.store();
                walk.locally = true;
                // Of each step a counter, and behind it a ban.
                let mut keys = calls.iter().flat_map(|call| &call.keys);
                // What the store said before it failed stands; the rest is counted here.
                self.walk(&held.rules, &walk, &mut decision, |n, step| {
                    let counter = keys.next().map_or("", String::as_str);
                    let _ban = step.ban_for_s.and_then(|_| keys.next());
                    if let Some(StepReply::Ran(reading)) = replies.get(n) {
                        return Ok(*reading);
                    }
                    let member = members.get(n).and_then(Option::as_ref);
                    Ok(memory.run(memory.key_of(counter.as_bytes()), step, member, cost, mode, now_us))
                });
                if decision.failure().is_none() {
                    decision.set_failure(failure);
                }
            }
            failure => self.walk(&held.rules, &walk, &mut decision, |n, _| match (replies.get(n), &failure) {
                (Some(StepReply::Ran(reading)), _) => Ok(*reading),
                (_, Some(failure)) => Err(failure.clone()),
                (_, None) => {
                    Err(Failure::new(FailureKind::Internal, "UnexpectedReply", "the script stopped where it must not"))
                }
            }),
        }
        conclude(held, &walk, &mut decision);
        decision
    }

    /// The decision of a check that nobody can run: a mistake of the host's, which says nothing of the store.
    pub(crate) fn decide_unrun(&self, pending: Pending, message: &str) -> Decision {
        self.decide_from(pending, Some(Failure::new(FailureKind::Internal, "NoConnection", message)))
    }

    pub(crate) fn store_answered(&self) {
        self.fallback.forget();
        if self.redis().is_some_and(|redis| redis.circuit.succeeded() == Change::Closed) {
            self.warn_circuit("rate_limit_circuit_closed");
        }
    }

    pub(crate) fn store_failed(&self) {
        let now_us = self.clock.now_us();
        if self.redis().is_some_and(|redis| redis.circuit.failed(now_us) == Change::Opened) {
            self.warn_circuit("rate_limit_circuit_open");
        }
    }
}
