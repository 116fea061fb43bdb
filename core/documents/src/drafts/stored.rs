//! The stored document of a limiter: all its tiers.

use super::{Drafts, judge_rules, messages, read_rules, rules_of, wrong};
use crate::found::Found;
use crate::message::{LimiterRules, RuleList};
use crate::rule::{self, RuleDraft};
use crate::tree::Node;
use labkit_ratelimit_engine::Finding;

const TIERS: [&str; 3] = ["file_rules", "published_rules", "default_rules"];

/// The tiers of a limiter, as they are stored.
#[derive(Debug, Default)]
pub(crate) struct TiersDraft([Option<Vec<RuleDraft>>; TIERS.len()]);

impl Drafts for TiersDraft {
    type Message = LimiterRules;
    const OUTER: Option<&'static str> = None;

    fn read(node: &Node, findings: &mut Found) -> Self {
        let mut draft = Self::default();
        let Some(entries) = node.as_map() else {
            findings.push(wrong("", "a stored document maps a tier to its rules", node));
            return draft;
        };
        let find = |code, key: &str, message| findings.push(Finding::new(code, key, message));
        let fields = rule::fields(entries, &TIERS, find);
        for (field, value) in fields {
            let rules = read_rules(field, value, findings);
            for (tier, name) in draft.0.iter_mut().zip(TIERS) {
                if name == field {
                    *tier = Some(rules);
                    break;
                }
            }
        }
        draft
    }

    fn of(message: &LimiterRules, _: &mut Found) -> Self {
        let tiers = [&message.file_rules, &message.published_rules, &message.default_rules];
        Self(tiers.map(|tier| tier.as_ref().map(rules_of)))
    }

    fn message(&self) -> Option<LimiterRules> {
        let [file_rules, published_rules, default_rules] = &self.0;
        let list = |tier: &Option<Vec<RuleDraft>>| match tier {
            Some(rules) => messages(rules).map(|rules| Some(RuleList { rules })),
            None => Some(None),
        };
        Some(LimiterRules {
            file_rules: list(file_rules)?,
            published_rules: list(published_rules)?,
            default_rules: list(default_rules)?,
        })
    }

    fn rules(&self) -> impl Iterator<Item = &RuleDraft> {
        self.0.iter().flatten().flatten()
    }

    fn judge(&self, findings: &mut Found) {
        for (tier, name) in self.0.iter().zip(TIERS) {
            judge_rules(name, tier.as_deref().unwrap_or_default(), findings);
        }
    }
}
