//! What the rules of a limiter may speak of, and its default rules.

use crate::drafts::LimiterDraft;
use labkit_ratelimit_engine::{Action, Evaluation, RuleSpec};

/// A limiter's contract with whoever writes rules for it: of `available_limiters.yaml`, or of a program that brings
/// its rules in code.
///
/// ```
/// use labkit_ratelimit_documents::Contract;
/// use labkit_ratelimit_engine::RuleSpec;
/// let contract = Contract::of_rules([RuleSpec::limit("per_ip", 10, 60).characteristics(["ip"])])
///     .with_properties(["user"])
///     .with_allowed_skip_rules(["office"]);
/// assert_eq!(contract.properties(), ["ip", "user"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contract {
    description: String,
    properties: Vec<String>,
    allowed_skip_rules: Vec<String>,
    evaluation: Option<Evaluation>,
    default_rules: Vec<RuleSpec>,
}

impl Contract {
    /// The contract of rules in code: they are the defaults, and the properties are those that they mention.
    pub fn of_rules(rules: impl IntoIterator<Item = RuleSpec>) -> Self {
        let default_rules: Vec<RuleSpec> = rules.into_iter().collect();
        let mut contract = Self::default();
        for rule in &default_rules {
            contract.offer(rule.matchers.iter().map(|(property, _)| property));
            if rule.action != Action::Skip {
                contract.offer(&rule.characteristics);
                contract.offer(&rule.count_distinct);
                contract.offer(rule.overrides.iter().flat_map(|other| &other.matchers).map(|(property, _)| property));
            }
        }
        Self { default_rules, ..contract }
    }

    /// Offers further properties.
    #[must_use]
    pub fn with_properties<T: AsRef<str>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.offer(names);
        self
    }

    /// Allows skip rules of these names in files, publishes and from the external service.
    #[must_use]
    pub fn with_allowed_skip_rules<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.allowed_skip_rules.extend(names.into_iter().map(Into::into));
        self
    }

    fn offer<T: AsRef<str>>(&mut self, names: impl IntoIterator<Item = T>) {
        for name in names {
            if !self.properties.iter().any(|known| known == name.as_ref()) {
                self.properties.push(name.as_ref().to_owned());
            }
        }
    }

    pub(crate) fn of_draft(draft: &LimiterDraft) -> Self {
        Self {
            description: draft.description.clone().unwrap_or_default(),
            properties: draft.properties.clone(),
            allowed_skip_rules: draft.allowed_skip_rules.clone(),
            evaluation: draft.evaluation,
            default_rules: draft.rules.iter().map(|rule| rule.spec.clone()).collect(),
        }
    }

    /// What either offers and allows; the default rules are those of `other`, where it has any.
    #[must_use]
    pub fn beside(mut self, other: &Self) -> Self {
        self.offer(&other.properties);
        self.allowed_skip_rules.extend_from_slice(&other.allowed_skip_rules);
        if !other.default_rules.is_empty() {
            self.default_rules.clone_from(&other.default_rules);
        }
        self
    }

    /// Takes the default rules of `other`, where it has none of its own.
    pub(crate) fn or_rules_of(mut self, other: Option<&Self>) -> Self {
        if let (true, Some(other)) = (self.default_rules.is_empty(), other) {
            self.default_rules.clone_from(&other.default_rules);
        }
        self
    }

    /// What the limiter guards, in prose. Empty for rules in code.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The properties that its identifiers carry.
    pub fn properties(&self) -> &[String] {
        &self.properties
    }

    /// The names that skip rules of higher tiers may have.
    pub fn allowed_skip_rules(&self) -> &[String] {
        &self.allowed_skip_rules
    }

    /// Which results stop the chain, if the contract says so.
    pub const fn evaluation(&self) -> Option<Evaluation> {
        self.evaluation
    }

    /// The lowest tier.
    pub fn default_rules(&self) -> &[RuleSpec] {
        &self.default_rules
    }
}
