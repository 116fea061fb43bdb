//! Rules as messages, and back.

use super::{Action as ActionMessage, Algorithm as AlgorithmMessage, DefaultRule, Override, Rule, matching};
use crate::rule::{RuleDraft, SKIP_TAKES_NO};
use labkit_ratelimit_engine::{Action, Algorithm, Code, Finding, NumberSpec, OverrideSpec, RuleSpec};

impl From<DefaultRule> for Rule {
    fn from(rule: DefaultRule) -> Self {
        let DefaultRule { characteristics, limit, period_s, action, ban_for_s, name, r#match, .. } = rule;
        let DefaultRule { description, count_distinct, algorithm, burst, r#final, overrides, .. } = rule;
        Self {
            description,
            action,
            characteristics,
            r#match,
            limit,
            period_s,
            count_distinct,
            ban_for_s,
            name,
            algorithm,
            burst,
            r#final,
            overrides,
        }
    }
}

impl From<Rule> for DefaultRule {
    fn from(rule: Rule) -> Self {
        let Rule { characteristics, limit, period_s, action, ban_for_s, name, r#match, .. } = rule;
        let Rule { description, count_distinct, algorithm, burst, r#final, overrides, .. } = rule;
        Self {
            characteristics,
            limit,
            period_s,
            action,
            ban_for_s,
            name,
            r#match,
            description,
            count_distinct,
            algorithm,
            burst,
            r#final,
            overrides,
        }
    }
}

/// The rule as it would have been written.
impl From<&Rule> for RuleDraft {
    fn from(rule: &Rule) -> Self {
        let mut draft = Self::default();
        let mut find = |code, field: &str, message: String| draft.findings.push(Finding::new(code, field, message));
        let action = match ActionMessage::try_from(rule.action) {
            Ok(ActionMessage::Limit) => Some(Action::Limit),
            Ok(ActionMessage::Log) => Some(Action::Log),
            Ok(ActionMessage::Skip) => Some(Action::Skip),
            Ok(ActionMessage::Warn) => Some(Action::Warn),
            Ok(ActionMessage::Unspecified) => {
                find(Code::ActionMissing, "action", "the action is unspecified".into());
                None
            }
            Err(_) => {
                find(Code::ActionUnknown, "action", format!("{} is no action", rule.action));
                None
            }
        };
        let algorithm = match AlgorithmMessage::try_from(rule.algorithm) {
            Ok(AlgorithmMessage::FixedWindow) => Some(Algorithm::FixedWindow),
            Ok(AlgorithmMessage::Gcra) => Some(Algorithm::Gcra),
            Ok(AlgorithmMessage::Unspecified) => None,
            Err(_) => {
                find(Code::AlgorithmUnknown, "algorithm", format!("{} is no algorithm", rule.algorithm));
                None
            }
        };
        if action == Some(Action::Skip) {
            let given = [rule.limit.is_some(), rule.period_s.is_some(), rule.burst.is_some(), rule.ban_for_s.is_some()];
            for (field, _) in SKIP_TAKES_NO.into_iter().zip(given).filter(|(_, given)| *given) {
                find(Code::SkipTakesNoNumbers, field, format!("a skip rule has a {field}"));
            }
        }
        draft.action = action;
        draft.algorithm = algorithm;
        draft.spec = RuleSpec {
            name: rule.name.clone(),
            action: action.unwrap_or_default(),
            matchers: matching::specs(&rule.r#match),
            characteristics: rule.characteristics.clone(),
            limit: number(rule.limit),
            period_s: number(rule.period_s),
            ban_for_s: number(rule.ban_for_s),
            count_distinct: Some(rule.count_distinct.clone()).filter(|name| !name.is_empty()),
            algorithm: algorithm.unwrap_or_default(),
            burst: number(rule.burst),
            is_final: rule.r#final,
            overrides: rule.overrides.iter().map(override_spec).collect(),
            description: Some(rule.description.clone()).filter(|text| !text.is_empty()),
        };
        draft
    }
}

fn override_spec(other: &Override) -> OverrideSpec {
    OverrideSpec {
        matchers: matching::specs(&other.r#match),
        limit: number(other.limit),
        period_s: number(other.period_s),
        burst: number(other.burst),
        ban_for_s: number(other.ban_for_s),
    }
}

fn number<T: Into<NumberSpec>>(given: Option<T>) -> NumberSpec {
    given.map_or(NumberSpec::Absent, Into::into)
}

impl RuleDraft {
    /// The rule as a message, if one can say it.
    pub(crate) fn message(&self) -> Option<Rule> {
        let RuleDraft { spec, action, algorithm, .. } = self;
        let action = match action {
            None => ActionMessage::Unspecified,
            Some(Action::Limit) => ActionMessage::Limit,
            Some(Action::Log) => ActionMessage::Log,
            Some(Action::Skip) => ActionMessage::Skip,
            Some(Action::Warn) => ActionMessage::Warn,
        };
        let algorithm = match algorithm {
            None => AlgorithmMessage::Unspecified,
            Some(Algorithm::FixedWindow) => AlgorithmMessage::FixedWindow,
            Some(Algorithm::Gcra) => AlgorithmMessage::Gcra,
        };
        Some(Rule {
            description: spec.description.clone().unwrap_or_default(),
            action: action.into(),
            characteristics: spec.characteristics.clone(),
            r#match: matching::messages(&spec.matchers)?,
            limit: unsigned(spec.limit)?,
            period_s: unsigned(spec.period_s)?,
            count_distinct: match &spec.count_distinct {
                // A message cannot tell an empty name from none.
                Some(name) if name.is_empty() => return None,
                given => given.clone().unwrap_or_default(),
            },
            ban_for_s: unsigned(spec.ban_for_s)?,
            name: spec.name.clone(),
            algorithm: algorithm.into(),
            burst: unsigned(spec.burst)?,
            r#final: spec.is_final,
            overrides: spec.overrides.iter().map(override_message).collect::<Option<_>>()?,
        })
    }
}

fn override_message(other: &OverrideSpec) -> Option<Override> {
    Some(Override {
        r#match: matching::messages(&other.matchers)?,
        limit: unsigned(other.limit)?,
        period_s: unsigned(other.period_s)?,
        burst: unsigned(other.burst)?,
        ban_for_s: unsigned(other.ban_for_s)?,
    })
}

/// The number, if it was given; nothing if the field cannot hold it.
#[expect(
    clippy::option_option,
    reason = "the outer one: a message can say it; the inner one: there is something to say"
)]
fn unsigned<T: TryFrom<i128>>(spec: NumberSpec) -> Option<Option<T>> {
    match spec {
        NumberSpec::Absent => Some(None),
        NumberSpec::Int(n) => T::try_from(n).ok().map(Some),
        NumberSpec::Float(_) | NumberSpec::Callable(_) | NumberSpec::Reported => None,
    }
}
