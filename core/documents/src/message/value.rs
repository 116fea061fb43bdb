//! Messages as trees of JSON, in the mapping of files.

use super::match_value::Kind;
use super::{
    Action, Algorithm, AvailableLimiters, Evaluation, LimiterRules, LimiterSpec, MatchValue, Override,
    PublishRulesRequest, RateLimits, Rule, RuleList, Scalar, scalar,
};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// A map whose fields are there where they are set.
#[derive(Default)]
struct Fields(Map<String, Json>);

impl Fields {
    fn set(mut self, name: &str, value: Option<impl Into<Json>>) -> Self {
        if let Some(value) = value {
            self.0.insert(name.to_owned(), value.into());
        }
        self
    }

    fn text(self, name: &str, text: &str) -> Self {
        self.set(name, Some(text).filter(|text| !text.is_empty()))
    }

    fn list(self, name: &str, entries: Vec<Json>) -> Self {
        self.set(name, Some(entries).filter(|entries| !entries.is_empty()))
    }

    fn map(self, name: &str, entries: Map<String, Json>) -> Self {
        self.set(name, Some(entries).filter(|entries| !entries.is_empty()))
    }

    fn done(self) -> Json {
        Json::Object(self.0)
    }
}

fn texts(entries: &[String]) -> Vec<Json> {
    entries.iter().map(|text| Json::from(text.as_str())).collect()
}

/// A value of an enum without its prefix; one that is unspecified, or unknown, is left out.
fn plain(name: Option<&str>, prefix: &str) -> Option<String> {
    let plain = name?.strip_prefix(prefix)?.to_lowercase();
    Some(plain).filter(|plain| plain != crate::rule::UNSPECIFIED)
}

pub(crate) fn available_limiters(message: &AvailableLimiters) -> Json {
    let limiters = message.available_limiters.iter().map(|(name, spec)| (name.clone(), limiter_spec(spec)));
    json!({ "available_limiters": limiters.collect::<Map<_, _>>() })
}

fn limiter_spec(spec: &LimiterSpec) -> Json {
    let rules = spec.default_rules.iter().map(|default| rule(&Rule::from(default.clone()))).collect();
    let evaluation = Evaluation::try_from(spec.evaluation).ok().map(|evaluation| evaluation.as_str_name());
    Fields::default()
        .text("description", &spec.description)
        .list("available_properties", texts(&spec.available_properties))
        .list("allowed_skip_rules", texts(&spec.allowed_skip_rules))
        .set("evaluation", plain(evaluation, "EVALUATION_"))
        .list("default_rules", rules)
        .done()
}

pub(crate) fn rate_limits(message: &RateLimits) -> Json {
    json!({ "rate_limits": lists(&message.rate_limits) })
}

pub(crate) fn publish_request(message: &PublishRulesRequest) -> Json {
    json!({ "rate_limits": lists(&message.rate_limits) })
}

pub(crate) fn limiter_rules(message: &LimiterRules) -> Json {
    let tier = |tier: &Option<RuleList>| tier.as_ref().map(list);
    Fields::default()
        .set("file_rules", tier(&message.file_rules))
        .set("published_rules", tier(&message.published_rules))
        .set("default_rules", tier(&message.default_rules))
        .done()
}

fn lists(lists: &BTreeMap<String, RuleList>) -> Map<String, Json> {
    lists.iter().map(|(name, rules)| (name.clone(), list(rules))).collect()
}

fn list(rules: &RuleList) -> Json {
    rules.rules.iter().map(rule).collect()
}

fn rule(rule: &Rule) -> Json {
    let action = Action::try_from(rule.action).ok().map(|action| action.as_str_name());
    let algorithm = Algorithm::try_from(rule.algorithm).ok().map(|algorithm| algorithm.as_str_name());
    Fields::default()
        .text("name", &rule.name)
        .text("description", &rule.description)
        .set("action", plain(action, "ACTION_"))
        .map("match", matchers(&rule.r#match))
        .list("characteristics", texts(&rule.characteristics))
        .text("count_distinct", &rule.count_distinct)
        .set("algorithm", plain(algorithm, "ALGORITHM_"))
        .set("limit", rule.limit)
        .set("period_s", rule.period_s)
        .set("burst", rule.burst)
        .set("ban_for_s", rule.ban_for_s)
        .set("final", Some(true).filter(|_| rule.r#final))
        .list("overrides", rule.overrides.iter().map(override_of).collect())
        .done()
}

fn override_of(other: &Override) -> Json {
    Fields::default()
        .map("match", matchers(&other.r#match))
        .set("limit", other.limit)
        .set("period_s", other.period_s)
        .set("burst", other.burst)
        .set("ban_for_s", other.ban_for_s)
        .done()
}

fn matchers(matchers: &BTreeMap<String, MatchValue>) -> Map<String, Json> {
    matchers.iter().map(|(property, value)| (property.clone(), matcher(value))).collect()
}

fn matcher(value: &MatchValue) -> Json {
    let Some(kind) = &value.kind else { return json!({}) };
    match kind {
        Kind::Eq(scalar) => scalar_of(scalar),
        Kind::Ne(scalar) => json!({ "ne": scalar_of(scalar) }),
        Kind::Regex(pattern) => json!({ "regex": pattern }),
        Kind::Nre(pattern) => json!({ "nre": pattern }),
        Kind::OneOf(list) => json!({ "one_of": list.values.iter().map(scalar_of).collect::<Vec<_>>() }),
        Kind::NoneOf(list) => json!({ "none_of": list.values.iter().map(scalar_of).collect::<Vec<_>>() }),
        Kind::Not(inner) => json!({ "not": matcher(inner) }),
        Kind::Prefix(text) => json!({ "prefix": text }),
        Kind::Cidr(networks) => json!({ "cidr": networks.values }),
        Kind::All(list) => list
            .values
            .iter()
            .map(|entry| match &entry.kind {
                Some(Kind::Eq(scalar)) => json!({ "eq": scalar_of(scalar) }),
                _ => matcher(entry),
            })
            .collect(),
    }
}

fn scalar_of(scalar: &Scalar) -> Json {
    match &scalar.kind {
        None | Some(scalar::Kind::Null(_)) => Json::Null,
        Some(scalar::Kind::Text(text)) => Json::from(text.as_str()),
        Some(scalar::Kind::Integer(n)) => Json::from(*n),
        Some(scalar::Kind::Number(f)) => Json::from(*f),
        Some(scalar::Kind::Boolean(flag)) => Json::from(*flag),
    }
}
