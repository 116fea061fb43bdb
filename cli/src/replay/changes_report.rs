//! What other rules change, as `--format json` prints it and the human report and the page show it.

use super::changes::{Both, Changes, Times, Turned, TurnedBy, Who};
use super::identities::Key;
use super::report::{instant, text, texts};
use super::requests::Requests;
use super::values::ValueId;
use labkit_ratelimit::RuleSpec;
use serde::Serialize;
use serde_json::{Map, Value as Json};

/// Everything that differs, with the identities as far as they were asked for.
#[derive(Debug, Serialize)]
pub(crate) struct ChangesReport {
    /// Requests that are allowed under one and refused under the other.
    pub(crate) action_changed: u64,
    pub(crate) newly_refused: TurnedReport,
    pub(crate) newly_allowed: TurnedReport,
    /// Refused under both, by rules of different names.
    pub(crate) refused_by_another_rule: u64,
    pub(crate) newly_warned: u64,
    pub(crate) no_longer_warned: u64,
    pub(crate) newly_logged: u64,
    pub(crate) no_longer_logged: u64,
    /// How many identities have a request whose action changed.
    pub(crate) identities: usize,
    pub(crate) most_changed: Vec<IdentityChange>,
}

/// Requests whose action turned one way.
#[derive(Debug, Serialize)]
pub(crate) struct TurnedReport {
    pub(crate) requests: u64,
    pub(crate) first: Option<String>,
    pub(crate) last: Option<String>,
    /// How many identities there are under each rule, in all.
    pub(crate) identities: usize,
    /// Those that decided any of them, in rule order.
    pub(crate) rules: Vec<RuleChange>,
}

/// Those of them that one rule decided.
#[derive(Debug, Serialize)]
pub(crate) struct RuleChange {
    pub(crate) rule: String,
    pub(crate) characteristics: Vec<String>,
    pub(crate) requests: u64,
    pub(crate) first: Option<String>,
    pub(crate) last: Option<String>,
    pub(crate) identities: usize,
    pub(crate) busiest: Vec<IdentityTurned>,
}

/// An identity under that rule.
#[derive(Debug, Serialize)]
pub(crate) struct IdentityTurned {
    pub(crate) characteristics: Map<String, Json>,
    pub(crate) requests: u64,
    pub(crate) first: Option<String>,
    pub(crate) last: Option<String>,
}

/// An identity under whichever rule.
#[derive(Debug, Serialize)]
pub(crate) struct IdentityChange {
    pub(crate) characteristics: Map<String, Json>,
    pub(crate) newly_refused: u64,
    pub(crate) newly_allowed: u64,
    pub(crate) first: Option<String>,
    pub(crate) last: Option<String>,
}

impl ChangesReport {
    /// `a` and `b` are the rules of either.
    pub(super) fn new(changes: &Changes, a: &[RuleSpec], b: &[RuleSpec], requests: &Requests, top: usize) -> Self {
        let pair = |(slot, id): &(usize, ValueId)| (requests.properties()[*slot].clone(), text(*id, requests));
        let change = |(key, both): (&Who, &Both)| IdentityChange {
            characteristics: key.iter().map(pair).collect(),
            newly_refused: both.newly_refused,
            newly_allowed: both.newly_allowed,
            first: both.span.first().map(instant),
            last: both.span.last().map(instant),
        };
        Self {
            action_changed: changes.newly_refused.requests + changes.newly_allowed.requests,
            newly_refused: TurnedReport::new(&changes.newly_refused, b, requests, top),
            newly_allowed: TurnedReport::new(&changes.newly_allowed, a, requests, top),
            refused_by_another_rule: changes.refused_by_another_rule,
            newly_warned: changes.warned.newly,
            no_longer_warned: changes.warned.no_longer,
            newly_logged: changes.logged.newly,
            no_longer_logged: changes.logged.no_longer,
            identities: changes.identities(),
            most_changed: changes.most_changed(top).into_iter().map(change).collect(),
        }
    }
}

impl TurnedReport {
    fn new(turned: &Turned, specs: &[RuleSpec], requests: &Requests, top: usize) -> Self {
        let rules = specs.iter().zip(&turned.rules).filter(|(_, by)| by.requests > 0);
        Self {
            requests: turned.requests,
            first: turned.span.first().map(instant),
            last: turned.span.last().map(instant),
            identities: turned.identities(),
            rules: rules.map(|(spec, by)| RuleChange::new(spec, by, requests, top)).collect(),
        }
    }
}

impl RuleChange {
    fn new(spec: &RuleSpec, by: &TurnedBy, requests: &Requests, top: usize) -> Self {
        let identity = |(key, times): (&Key, &Times)| IdentityTurned {
            characteristics: spec.characteristics.iter().cloned().zip(texts(key, requests)).collect(),
            requests: times.requests,
            first: times.span.first().map(instant),
            last: times.span.last().map(instant),
        };
        Self {
            rule: spec.name.clone(),
            characteristics: spec.characteristics.clone(),
            requests: by.requests,
            first: by.span.first().map(instant),
            last: by.span.last().map(instant),
            identities: by.identities.len(),
            busiest: by.most(top).into_iter().map(identity).collect(),
        }
    }
}
