//! `rate_limits`: a file of operators, and a publish, which has its shape.

use super::{Drafts, RATE_LIMITS, check_limiter_name, judge_rules, messages, named, read_rules, rules_of};
use crate::found::Found;
use crate::message::{PublishRulesRequest, RateLimits, RuleList};
use crate::rule::RuleDraft;
use crate::tree::{Entry, Node};
use std::collections::BTreeMap;

/// Rules under the name of their limiter.
#[derive(Debug, Default)]
pub(crate) struct NamedList {
    pub(crate) limiter: String,
    pub(crate) rules: Vec<RuleDraft>,
}

/// `rate_limits`.
#[derive(Debug, Default)]
pub(crate) struct RateLimitsDraft(pub(crate) Vec<NamedList>);

/// A publish has the same shape.
#[derive(Debug, Default)]
pub(crate) struct PublishDraft(RateLimitsDraft);

impl RateLimitsDraft {
    fn of_lists(lists: &BTreeMap<String, RuleList>) -> Self {
        Self(lists.iter().map(|(name, list)| NamedList { limiter: name.clone(), rules: rules_of(list) }).collect())
    }

    fn lists(&self) -> Option<BTreeMap<String, RuleList>> {
        let list = |list: &NamedList| Some((list.limiter.clone(), RuleList { rules: messages(&list.rules)? }));
        self.0.iter().map(list).collect()
    }
}

impl Drafts for RateLimitsDraft {
    type Message = RateLimits;
    const OUTER: Option<&'static str> = Some(RATE_LIMITS);

    fn read(node: &Node, findings: &mut Found) -> Self {
        let entries = named(RATE_LIMITS, node, "its rules", findings);
        let list = |entry: &Entry| NamedList {
            limiter: entry.key.clone(),
            rules: read_rules(&format!("{RATE_LIMITS}.{}", entry.key), &entry.value, findings),
        };
        Self(entries.iter().map(list).collect())
    }

    fn of(message: &RateLimits, _: &mut Found) -> Self {
        Self::of_lists(&message.rate_limits)
    }

    fn message(&self) -> Option<RateLimits> {
        Some(RateLimits { rate_limits: self.lists()? })
    }

    fn rules(&self) -> impl Iterator<Item = &RuleDraft> {
        self.0.iter().flat_map(|list| &list.rules)
    }

    fn judge(&self, findings: &mut Found) {
        for NamedList { limiter, rules } in &self.0 {
            check_limiter_name(RATE_LIMITS, limiter, findings);
            judge_rules(&format!("{RATE_LIMITS}.{limiter}"), rules, findings);
        }
    }
}

impl Drafts for PublishDraft {
    type Message = PublishRulesRequest;
    const OUTER: Option<&'static str> = Some(RATE_LIMITS);

    fn read(node: &Node, findings: &mut Found) -> Self {
        Self(RateLimitsDraft::read(node, findings))
    }

    fn of(message: &PublishRulesRequest, _: &mut Found) -> Self {
        Self(RateLimitsDraft::of_lists(&message.rate_limits))
    }

    fn message(&self) -> Option<PublishRulesRequest> {
        Some(PublishRulesRequest { rate_limits: self.0.lists()? })
    }

    fn rules(&self) -> impl Iterator<Item = &RuleDraft> {
        self.0.rules()
    }

    fn judge(&self, findings: &mut Found) {
        self.0.judge(findings);
    }
}
