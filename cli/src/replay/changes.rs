//! What other rules change: request by request, the decision under A beside the one under B.

use super::identities::{Key, Span};
use super::requests::{Request, Requests};
use super::values::ValueId;
use indexmap::IndexMap;
use labkit_ratelimit::{Action, Decision, RuleEvaluation, Rules};
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::hash::Hash;

/// Whom a rule tells apart: the places of its characteristics among the properties that are held, each with its
/// value, in the order of the places. So rules of A and B that tell the same apart know the same identities.
pub(crate) type Who = SmallVec<[(usize, ValueId); 4]>;

/// Everything that differs.
#[derive(Debug)]
pub(crate) struct Changes {
    /// Refused under B alone, under the rule of B that refuses.
    pub(crate) newly_refused: Turned,
    /// Refused under A alone, under the rule of A that refused.
    pub(crate) newly_allowed: Turned,
    /// Refused under both, by rules of different names.
    pub(crate) refused_by_another_rule: u64,
    /// Some `warn` rule was over.
    pub(crate) warned: Flips,
    /// Some `log` rule was over.
    pub(crate) logged: Flips,
    identities: IndexMap<Who, Both>,
}

/// Requests whose action turned one way.
#[derive(Debug)]
pub(crate) struct Turned {
    pub(crate) requests: u64,
    pub(crate) span: Span,
    /// In rule order.
    pub(crate) rules: Vec<TurnedBy>,
}

/// Those of them that one rule decided.
#[derive(Debug)]
pub(crate) struct TurnedBy {
    /// The places of its characteristics among the properties that are held.
    slots: Vec<usize>,
    pub(crate) requests: u64,
    pub(crate) span: Span,
    pub(crate) identities: IndexMap<Key, Times>,
}

/// How often, and when.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub(crate) requests: u64,
    pub(crate) span: Span,
}

/// What turned for one identity, either way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Both {
    pub(crate) newly_refused: u64,
    pub(crate) newly_allowed: u64,
    pub(crate) span: Span,
}

/// Something that holds under one of the two alone.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flips {
    /// Under B.
    pub(crate) newly: u64,
    /// Under A.
    pub(crate) no_longer: u64,
}

impl Changes {
    pub(super) fn new(a: &Rules, b: &Rules, requests: &Requests) -> Self {
        Self {
            newly_refused: Turned::new(b, requests),
            newly_allowed: Turned::new(a, requests),
            refused_by_another_rule: 0,
            warned: Flips::default(),
            logged: Flips::default(),
            identities: IndexMap::new(),
        }
    }

    /// Takes the decisions on a request; they come in order of time.
    pub(super) fn add(&mut self, requests: &Requests, request: &Request<'_>, a: &Decision, b: &Decision) {
        self.warned.take(is_over(a, Action::Warn), is_over(b, Action::Warn));
        self.logged.take(is_over(a, Action::Log), is_over(b, Action::Log));
        // A check that fails is allowed here: whatever is refused has a rule that refuses it.
        match (refusal(a), refusal(b)) {
            (None, Some(by)) => {
                let both = self.identities.entry(self.newly_refused.add(requests, request, &by)).or_default();
                both.newly_refused += 1;
                both.span.take(request.at_us);
            }
            (Some(by), None) => {
                let both = self.identities.entry(self.newly_allowed.add(requests, request, &by)).or_default();
                both.newly_allowed += 1;
                both.span.take(request.at_us);
            }
            (Some(a), Some(b)) => self.refused_by_another_rule += u64::from(a.rule().name() != b.rule().name()),
            (None, None) => {}
        }
    }

    /// For how many identities something turned.
    pub(crate) fn identities(&self) -> usize {
        self.identities.len()
    }

    /// Those for whom most turned; of equals the one met first.
    pub(crate) fn most_changed(&self, top: usize) -> Vec<(&Who, &Both)> {
        most(&self.identities, top, |both| both.newly_refused + both.newly_allowed)
    }
}

impl Turned {
    fn new(rules: &Rules, requests: &Requests) -> Self {
        let rule = |rule: &labkit_ratelimit::Rule| TurnedBy {
            slots: rule.characteristics().filter_map(|name| requests.slot(name)).collect(),
            requests: 0,
            span: Span::default(),
            identities: IndexMap::new(),
        };
        Self { requests: 0, span: Span::default(), rules: rules.iter().map(rule).collect() }
    }

    /// Adds a request that this rule refused; gives whom it was refused to.
    fn add(&mut self, requests: &Requests, request: &Request<'_>, by: &RuleEvaluation<'_>) -> Who {
        self.requests += 1;
        self.span.take(request.at_us);
        let rule = &mut self.rules[by.place()];
        rule.requests += 1;
        rule.span.take(request.at_us);
        let key: Key = rule.slots.iter().map(|slot| requests.values().counted_as(request.id(*slot))).collect();
        let mut who: Who = rule.slots.iter().copied().zip(key.iter().copied()).collect();
        who.sort_unstable_by_key(|(slot, _)| *slot);
        let times = rule.identities.entry(key).or_default();
        times.requests += 1;
        times.span.take(request.at_us);
        who
    }

    /// How many identities there are under each rule, in all.
    pub(crate) fn identities(&self) -> usize {
        self.rules.iter().map(|rule| rule.identities.len()).sum()
    }
}

impl TurnedBy {
    /// The identities with most requests; of equals the one met first.
    pub(crate) fn most(&self, top: usize) -> Vec<(&Key, &Times)> {
        most(&self.identities, top, |times| times.requests)
    }
}

impl Flips {
    const fn take(&mut self, a: bool, b: bool) {
        if b && !a {
            self.newly += 1;
        }
        if a && !b {
            self.no_longer += 1;
        }
    }
}

fn refusal(decision: &Decision) -> Option<RuleEvaluation<'_>> {
    decision.evaluations().iter().find(|evaluation| evaluation.blocks())
}

fn is_over(decision: &Decision, action: Action) -> bool {
    decision.evaluations().iter().any(|e| e.is_exceeded() && e.rule().action() == action)
}

fn most<K: Hash + Eq, V>(all: &IndexMap<K, V>, top: usize, count: impl Fn(&V) -> u64) -> Vec<(&K, &V)> {
    let mut all: Vec<_> = all.iter().collect();
    all.sort_by_key(|(_, value)| Reverse(count(value)));
    all.truncate(top);
    all
}
