//! The report of a replay: what `--format json` prints, and what the human report is made of.

use super::changes_report::ChangesReport;
use super::failures::Failure;
use super::identities::{Identity, Key};
use super::minutes::Minute;
use super::requests::Requests;
use super::simulation::Aftermath;
use super::tally::{RuleTally, Tally, Totals};
use super::values::ValueId;
use crate::access_log::{Format, Notes, Noticed, Property};
use crate::chosen_limiter::Chain;
use jiff::Timestamp;
use labkit_ratelimit::{Action, Algorithm, NumberSpec, RuleSpec};
use serde::Serialize;
use serde_json::{Map, Value as Json};

/// Everything, with the busiest identities and minutes as far as they were asked for.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) limiter: String,
    #[serde(flatten)]
    pub(crate) documents: DocumentsReport,
    pub(crate) log: LogReport,
    /// The time of the first request.
    pub(crate) from: Option<String>,
    /// The time of the last one.
    pub(crate) to: Option<String>,
    #[serde(flatten)]
    pub(crate) outcome: Outcome,
    /// The other rules, and what came of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) against: Option<Against>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) changes: Option<ChangesReport>,
}

/// The rules of `--against`.
#[derive(Debug, Serialize)]
pub(crate) struct Against {
    #[serde(flatten)]
    pub(crate) documents: DocumentsReport,
    #[serde(flatten)]
    pub(crate) outcome: Outcome,
}

/// Which documents one side runs.
#[derive(Debug, Serialize)]
pub(crate) struct DocumentsReport {
    /// The files of rules in one text; the contract where there are none.
    pub(crate) rules_file: String,
    pub(crate) rules_files: Vec<String>,
    /// Null where no contract is given: then no default runs.
    pub(crate) available_file: Option<String>,
}

/// What came of the requests under one document.
#[derive(Debug, Serialize)]
pub(crate) struct Outcome {
    pub(crate) totals: Totals,
    pub(crate) rules: Vec<RuleReport>,
    pub(crate) minutes_with_refusals: usize,
    pub(crate) busiest_minutes: Vec<MinuteReport>,
    pub(crate) failures: Vec<Failure>,
    pub(crate) evicted: u64,
}

/// What was noticed about the log.
#[derive(Debug, Serialize)]
pub(crate) struct LogReport {
    pub(crate) file: String,
    pub(crate) format: &'static str,
    pub(crate) lines: u64,
    pub(crate) unreadable: Noticed,
    pub(crate) odd: Noticed,
    pub(crate) out_of_order: OutOfOrder,
}

/// Lines behind one of a later time.
#[derive(Debug, Serialize)]
pub(crate) struct OutOfOrder {
    pub(crate) count: u64,
    pub(crate) furthest_s: f64,
}

/// A rule, and what came of it.
#[derive(Debug, Serialize)]
pub(crate) struct RuleReport {
    pub(crate) name: String,
    pub(crate) action: &'static str,
    /// None of a skip rule, which counts nothing.
    pub(crate) algorithm: Option<&'static str>,
    pub(crate) characteristics: Vec<String>,
    pub(crate) count_distinct: Option<String>,
    pub(crate) limit: Option<u64>,
    pub(crate) period_s: Option<u64>,
    pub(crate) burst: Option<u64>,
    pub(crate) ban_for_s: Option<u64>,
    /// How many overrides it has: for some requests the numbers are others.
    pub(crate) overrides: usize,
    pub(crate) matched: u64,
    pub(crate) allowed: u64,
    pub(crate) refused: u64,
    pub(crate) warned: u64,
    pub(crate) logged: u64,
    pub(crate) skipped: u64,
    pub(crate) bans: u64,
    pub(crate) first_over: Option<String>,
    pub(crate) last_over: Option<String>,
    /// How many identities it met.
    pub(crate) identities: usize,
    /// For how many of them it was ever over.
    pub(crate) identities_over: usize,
    pub(crate) busiest: Vec<IdentityReport>,
}

/// An identity under a rule.
#[derive(Debug, Serialize)]
pub(crate) struct IdentityReport {
    /// The text of each value; null where the request lacks it.
    pub(crate) characteristics: Map<String, Json>,
    pub(crate) requests: u64,
    pub(crate) over: u64,
    pub(crate) bans: u64,
    pub(crate) first_over: Option<String>,
    pub(crate) last_over: Option<String>,
}

/// A minute with refusals.
#[derive(Debug, Serialize)]
pub(crate) struct MinuteReport {
    pub(crate) from: String,
    pub(crate) requests: u64,
    pub(crate) refused: u64,
}

impl DocumentsReport {
    pub(super) fn new(rules_files: &[String], available_file: Option<&String>) -> Self {
        let rules_file = if rules_files.is_empty() { available_file.cloned() } else { Some(rules_files.join(", ")) };
        Self {
            rules_file: rules_file.unwrap_or_default(),
            rules_files: rules_files.to_vec(),
            available_file: available_file.cloned(),
        }
    }

    /// For people: `owner.yaml, global.yaml`, or where there are none `defaults of available_limiters.yaml`.
    pub(crate) fn rules_in_words(&self, named: impl Fn(&str) -> String) -> String {
        if self.rules_files.is_empty() {
            return self.words(named);
        }
        self.rules_files.iter().map(|file| named(file)).collect::<Vec<_>>().join(", ")
    }

    /// For people: `owner.yaml, global.yaml, defaults of available_limiters.yaml`.
    pub(crate) fn words(&self, named: impl Fn(&str) -> String) -> String {
        let rules = self.rules_files.iter().map(|file| named(file));
        let defaults = self.available_file.iter().map(|file| format!("defaults of {}", named(file)));
        rules.chain(defaults).collect::<Vec<_>>().join(", ")
    }
}

impl LogReport {
    pub(super) fn new(file: String, format: Format, notes: Notes, requests: &Requests) -> Self {
        let furthest_s = std::time::Duration::from_micros(requests.furthest_us()).as_secs_f64();
        let out_of_order = OutOfOrder { count: requests.late(), furthest_s };
        let Notes { lines, unreadable, odd } = notes;
        Self { file, format: format.as_str(), lines, unreadable, odd, out_of_order }
    }
}

impl Outcome {
    pub(super) fn new(chain: &Chain, requests: &Requests, tally: &Tally, aftermath: Aftermath, top: usize) -> Self {
        let rules = chain.rules.iter().zip(&tally.rules);
        Self {
            totals: tally.totals,
            rules: rules.map(|(spec, tally)| RuleReport::new(spec, tally, requests, top)).collect(),
            minutes_with_refusals: tally.minutes.with_refusals(),
            busiest_minutes: tally.minutes.worst(top).iter().map(MinuteReport::new).collect(),
            failures: aftermath.failures,
            evicted: aftermath.evicted,
        }
    }
}

impl RuleReport {
    fn new(spec: &RuleSpec, tally: &RuleTally, requests: &Requests, top: usize) -> Self {
        let of = |action| if spec.action == action { tally.over } else { 0 };
        let skips = spec.action == Action::Skip;
        let identity = |(key, identity): (&Key, &Identity)| IdentityReport {
            characteristics: spec.characteristics.iter().cloned().zip(texts(key, requests)).collect(),
            requests: identity.requests,
            over: identity.over,
            bans: identity.bans,
            first_over: identity.span.first().map(instant),
            last_over: identity.span.last().map(instant),
        };
        Self {
            name: spec.name.clone(),
            action: spec.action.as_str(),
            algorithm: Some(spec.algorithm.as_str()).filter(|_| !skips),
            characteristics: spec.characteristics.clone(),
            count_distinct: spec.count_distinct.clone(),
            limit: number(spec.limit),
            period_s: number(spec.period_s),
            burst: number(spec.burst).or_else(|| number(spec.limit)).filter(|_| spec.algorithm == Algorithm::Gcra),
            ban_for_s: number(spec.ban_for_s),
            overrides: spec.overrides.len(),
            matched: tally.matched,
            allowed: tally.matched - of(Action::Limit),
            refused: of(Action::Limit),
            warned: of(Action::Warn),
            logged: of(Action::Log),
            skipped: if skips { tally.matched } else { 0 },
            bans: tally.bans,
            first_over: tally.span.first().map(instant),
            last_over: tally.span.last().map(instant),
            identities: tally.identities.len(),
            identities_over: tally.identities.over(),
            busiest: tally.identities.busiest(top).into_iter().map(identity).collect(),
        }
    }

    /// How many requests it was over for.
    pub(crate) const fn over(&self) -> u64 {
        self.refused + self.warned + self.logged
    }
}

impl MinuteReport {
    fn new(minute: &Minute) -> Self {
        Self { from: instant(minute.from_us), requests: minute.requests, refused: minute.refused }
    }
}

/// The values of a rule's characteristics.
pub(super) fn texts(key: &Key, requests: &Requests) -> impl Iterator<Item = Json> {
    key.iter().map(|id| text(*id, requests))
}

/// The text of a value; null where it is absent.
pub(super) fn text(id: ValueId, requests: &Requests) -> Json {
    match requests.values().get(id) {
        Property::Absent => Json::Null,
        value => Json::String(value.to_string()),
    }
}

/// A number of a document: there is no callable in one.
fn number(spec: NumberSpec) -> Option<u64> {
    if let NumberSpec::Int(n) = spec { u64::try_from(n).ok() } else { None }
}

/// RFC 3339, in UTC.
pub(super) fn instant(at_us: u64) -> String {
    let at = i64::try_from(at_us).ok().and_then(|us| Timestamp::from_microsecond(us).ok());
    at.unwrap_or(Timestamp::MAX).to_string()
}
