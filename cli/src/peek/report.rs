//! A decision for machines: the fields of a result as the runners of spec-tests print them.

use labkit_ratelimit::{Decision, Info, RuleEvaluation};
use serde::Serialize;

/// A result.
#[derive(Debug, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "the fields of a result, which every language has")]
pub(super) struct Report {
    pub(super) action: &'static str,
    pub(super) matched: bool,
    pub(super) exceeded: bool,
    pub(super) skipped: bool,
    pub(super) warned: bool,
    pub(super) error: bool,
    pub(super) degraded: bool,
    /// The reported rule.
    pub(super) rule: Option<String>,
    pub(super) info: Option<InfoReport>,
    pub(super) evaluations: Vec<EvaluationReport>,
}

/// What came of one counting rule.
#[derive(Debug, Serialize)]
pub(super) struct EvaluationReport {
    pub(super) rule: String,
    pub(super) result: &'static str,
    pub(super) exceeded: bool,
    pub(super) info: InfoReport,
    #[serde(skip)]
    pub(super) action: &'static str,
    /// The property whose different values it counts.
    #[serde(skip)]
    pub(super) count_distinct: Option<String>,
}

/// Its numbers. Times are seconds.
#[derive(Debug, Serialize)]
pub(super) struct InfoReport {
    pub(super) limit: u64,
    pub(super) period_s: u32,
    pub(super) count: f64,
    pub(super) remaining: f64,
    pub(super) reset_after: f64,
    pub(super) retry_after: Option<f64>,
    pub(super) banned: bool,
}

impl Report {
    pub(super) fn new(decision: &Decision) -> Self {
        let evaluation = |evaluation: RuleEvaluation<'_>| EvaluationReport {
            rule: evaluation.rule().name().to_owned(),
            result: evaluation.outcome().as_str(),
            exceeded: evaluation.is_exceeded(),
            info: InfoReport::from(evaluation.info()),
            action: evaluation.rule().action().as_str(),
            count_distinct: evaluation.rule().count_distinct().map(str::to_owned),
        };
        Self {
            action: decision.verdict().as_str(),
            matched: decision.is_matched(),
            exceeded: decision.is_exceeded(),
            skipped: decision.is_skipped(),
            warned: decision.is_warned(),
            error: decision.is_error(),
            degraded: decision.is_degraded(),
            rule: decision.rule().map(|rule| rule.name().to_owned()),
            info: decision.info().map(InfoReport::from),
            evaluations: decision.evaluations().iter().map(evaluation).collect(),
        }
    }
}

impl From<Info> for InfoReport {
    fn from(info: Info) -> Self {
        Self {
            limit: info.limit,
            period_s: info.period_s,
            count: info.count,
            remaining: info.remaining,
            reset_after: info.reset_after().as_secs_f64(),
            retry_after: info.retry_after().map(|wait| wait.as_secs_f64()),
            banned: info.banned,
        }
    }
}
