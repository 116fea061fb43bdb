//! What documents say, once all of them are right: the limiters and their rules.

use crate::contract::Contract;
use crate::tiers;
use labkit_ratelimit_engine::{Evaluation, Findings, RuleSpec};
use std::collections::BTreeMap;

/// The limiters of a set of documents, checked together. Immutable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalog {
    pub(crate) limiters: BTreeMap<String, LimiterDocument>,
    pub(crate) warnings: Findings,
}

impl Catalog {
    /// The limiter called `name`.
    pub fn limiter(&self, name: &str) -> Option<&LimiterDocument> {
        self.limiters.get(name)
    }

    /// Every limiter that some document names, by name.
    pub fn limiters(&self) -> impl ExactSizeIterator<Item = &LimiterDocument> {
        self.limiters.values()
    }

    /// What may not be as it was meant.
    pub const fn warnings(&self) -> &Findings {
        &self.warnings
    }
}

/// A limiter of documents, tier by tier. Every rule of it builds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimiterDocument {
    pub(crate) name: String,
    pub(crate) contract: Option<Contract>,
    pub(crate) file_rules: Vec<RuleSpec>,
}

impl LimiterDocument {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its contract. None where only `rate_limits` name it.
    pub const fn contract(&self) -> Option<&Contract> {
        self.contract.as_ref()
    }

    /// The rules of `rate_limits`, files in their order; on equal names the earlier file's rule.
    pub fn file_rules(&self) -> &[RuleSpec] {
        &self.file_rules
    }

    /// The rules of the contract.
    pub fn default_rules(&self) -> &[RuleSpec] {
        self.contract.as_ref().map(Contract::default_rules).unwrap_or_default()
    }

    /// The chain: file rules, then those defaults whose names they do not have.
    pub fn rules(&self) -> Vec<RuleSpec> {
        tiers::merged([self.file_rules(), self.default_rules()])
    }

    /// As [`LimiterDocument::rules`]; `defaults` are those of a program, for a contract that has none.
    pub fn rules_over(&self, defaults: &[RuleSpec]) -> Vec<RuleSpec> {
        let own = self.default_rules();
        tiers::merged([self.file_rules(), if own.is_empty() { defaults } else { own }])
    }

    /// Which results stop the chain, if the contract says so.
    pub fn evaluation(&self) -> Option<Evaluation> {
        self.contract.as_ref().and_then(Contract::evaluation)
    }
}
