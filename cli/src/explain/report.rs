//! What is said of a request: what `--format json` prints, and what people read.

use super::matcher_words;
use crate::chosen_limiter::ChosenLimiter;
use crate::identity::{self, Identity};
use labkit_ratelimit::{Action, Algorithm, RuleSpec, Rules, Value};
use labkit_ratelimit_engine::{Condition, CountStep, Counting, Explained, Explanation, Stop};
use labkit_ratelimit_store::StoreKeys;
use serde::Serialize;
use serde_json::{Map, Value as Json};

/// How one request meets a limiter.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) limiter: String,
    pub(super) evaluation: &'static str,
    pub(super) identifier: Map<String, Json>,
    pub(super) rules: Vec<RuleReport>,
    /// The rule behind which no other runs, whatever the counters say.
    pub(super) ends_at: Option<String>,
    /// Given, and no rule looks at them.
    pub(super) unused_properties: Vec<String>,
    /// Absent, and rules look at them.
    pub(super) absent_properties: Vec<String>,
}

/// How it meets one rule.
#[derive(Debug, Serialize)]
pub(super) struct RuleReport {
    pub(super) name: String,
    pub(super) action: &'static str,
    /// `file` or `default`.
    pub(super) tier: &'static str,
    pub(super) file: Option<String>,
    /// It stands in the place of the default rule of its name.
    pub(super) shadows_default: bool,
    /// The chain comes to it, unless an earlier rule that is over ends it.
    pub(super) reached: bool,
    /// Earlier rules that end the chain unless they are over: it comes here only where all of them are.
    pub(super) reached_only_when_over: Vec<String>,
    pub(super) matches: bool,
    pub(super) conditions: Vec<ConditionReport>,
    /// Where it matches and is not passed over: `always`, `when_over`, `when_not_over` or `never`.
    pub(super) ends_chain: Option<&'static str>,
    /// It matches, and counts different values of this property, which the request lacks: it is passed over.
    pub(super) passed_over_without: Option<String>,
    pub(super) counts: Option<CountReport>,
}

/// A condition of a rule's `match`.
#[derive(Debug, Serialize)]
pub(super) struct ConditionReport {
    pub(super) property: String,
    /// In words that stand behind "must".
    pub(super) matcher: String,
    /// Null where it is absent.
    pub(super) value: Json,
    pub(super) holds: bool,
    #[serde(skip)]
    pub(super) shown: String,
}

/// How a rule counts the request.
#[derive(Debug, Serialize)]
pub(super) struct CountReport {
    pub(super) algorithm: &'static str,
    pub(super) characteristics: Vec<String>,
    /// Characteristics that it lacks: it is counted with all others that lack them.
    pub(super) missing_characteristics: Vec<String>,
    pub(super) count_distinct: Option<String>,
    pub(super) limit: u64,
    pub(super) period_s: u32,
    pub(super) burst: Option<u64>,
    pub(super) ban_for_s: Option<u32>,
    /// The place of the override that gives them.
    #[serde(rename = "override")]
    pub(super) overridden_by: Option<usize>,
    pub(super) keys: KeyReport,
}

/// Names in Redis.
#[derive(Debug, Serialize)]
pub(super) struct KeyReport {
    pub(super) counter: String,
    /// Null where the rule has no ban.
    pub(super) ban: Option<String>,
}

impl Report {
    pub(super) fn new(
        chosen: &ChosenLimiter,
        rules: &Rules,
        identity: &Identity,
        facts: &[Value<'_>],
        explanation: &Explanation<'_>,
    ) -> Self {
        let met = chosen.chain.rules.iter().zip(&explanation.rules);
        Self {
            limiter: chosen.chain.name.clone(),
            evaluation: chosen.chain.evaluation.as_str(),
            identifier: identity.json(),
            rules: met.map(|(spec, met)| RuleReport::new(chosen, rules, facts, spec, met)).collect(),
            ends_at: explanation.ends_at.map(|place| rules.rule(place).name().to_owned()),
            unused_properties: identity.unused(rules),
            absent_properties: identity.lacking(rules),
        }
    }
}

impl RuleReport {
    fn new(chosen: &ChosenLimiter, rules: &Rules, facts: &[Value<'_>], spec: &RuleSpec, met: &Explained<'_>) -> Self {
        let document = &chosen.document;
        let file = document.file_of(&spec.name);
        let matches = met.matches == Some(true);
        let skips = spec.action == Action::Skip;
        // What is passed over neither counts nor ends the chain.
        let counted = met.step.filter(|_| !met.lacks_distinct);
        // As they are written, not as they are asked.
        let condition = |(property, matcher): &(String, _)| {
            let asked = met.conditions.iter().find(|asked| asked.property == property)?;
            Some(ConditionReport::new(asked, matcher_words::words(matcher)))
        };
        Self {
            name: spec.name.clone(),
            action: spec.action.as_str(),
            tier: if file.is_some() { "file" } else { "default" },
            file: file.or(chosen.contract_file.as_deref()).map(str::to_owned),
            shadows_default: file.is_some() && document.default_rules().iter().any(|rule| rule.name == spec.name),
            reached: met.reached,
            reached_only_when_over: met
                .only_when_over
                .iter()
                .map(|place| rules.rule(*place).name().to_owned())
                .collect(),
            matches,
            conditions: spec.matchers.iter().filter_map(condition).collect(),
            ends_chain: counted.map(|step| stop(step.stop)).or((matches && skips).then_some("always")),
            passed_over_without: spec.count_distinct.clone().filter(|_| met.lacks_distinct),
            counts: counted.and_then(|step| CountReport::new(rules, facts, spec, met, &step)),
        }
    }
}

impl ConditionReport {
    fn new(asked: &Condition<'_>, matcher: String) -> Self {
        Self {
            property: asked.property.to_owned(),
            matcher,
            value: identity::json(&asked.value),
            holds: asked.holds == Some(true),
            shown: identity::shown(&asked.value),
        }
    }
}

impl CountReport {
    fn new(rules: &Rules, facts: &[Value<'_>], spec: &RuleSpec, met: &Explained<'_>, step: &CountStep) -> Option<Self> {
        let keys = StoreKeys::build(rules, met.place, facts)?;
        let missing = rules.keyed(met.place, facts).filter(|(_, value)| value.is_missing());
        Some(Self {
            algorithm: spec.algorithm.as_str(),
            characteristics: spec.characteristics.clone(),
            missing_characteristics: missing.map(|(name, _)| name.to_owned()).collect(),
            count_distinct: spec.count_distinct.clone(),
            limit: step.limit,
            period_s: step.period_s,
            burst: match &step.counting {
                Counting::Gcra(rate) => Some(rate.bucket.burst),
                Counting::Window | Counting::Distinct { .. } => None,
            },
            ban_for_s: step.ban_for_s,
            overridden_by: met.overridden_by,
            keys: KeyReport { ban: step.ban_for_s.map(|_| keys.ban()), counter: keys.counter },
        })
    }

    pub(super) fn is_gcra(&self) -> bool {
        self.algorithm == Algorithm::Gcra.as_str()
    }
}

const fn stop(stop: Stop) -> &'static str {
    match stop {
        Stop::Never => "never",
        Stop::WhenOver => "when_over",
        Stop::WhenPassed => "when_not_over",
        Stop::Always => "always",
    }
}
