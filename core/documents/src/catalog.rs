//! What documents say, once all of them are right: the limiters and their rules.

use crate::contract::Contract;
use crate::tiers;
use labkit_ratelimit_engine::{Evaluation, Findings, RuleSpec};
use std::collections::BTreeMap;
use std::sync::Arc;

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
    /// The file that each of them stands in, by the rule's name.
    pub(crate) files: BTreeMap<String, Arc<str>>,
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

    /// The name of the file that the rule called `rule` stands in; none of a default rule, and of one that is not there.
    pub fn file_of(&self, rule: &str) -> Option<&str> {
        self.files.get(rule).map(|file| &**file)
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

#[cfg(test)]
mod tests {
    use crate::{Documents, Source};

    #[test]
    fn every_rule_of_a_file_knows_it() {
        let rule = |name: &str| format!("{{name: {name}, action: limit, limit: 1, period_s: 60}}");
        let file = |name: &str, rules: &[&str]| {
            let rules: Vec<String> = rules.iter().map(|name| rule(name)).collect();
            Source::new(name, format!("web: [{}]", rules.join(", ")))
        };
        let contract = format!("web: {{description: d, default_rules: [{}, {}]}}", rule("both"), rule("default"));
        let documents = Documents::new()
            .available_limiters(Source::new("available_limiters.yaml", contract))
            .rate_limits(file("owner.yaml", &["first", "both"]))
            .rate_limits(file("global.yaml", &["first", "second"]));
        let catalog = documents.read().expect("good documents");
        let web = catalog.limiter("web").expect("a limiter");
        let files: Vec<_> = web.rules().into_iter().map(|rule| web.file_of(&rule.name).map(str::to_owned)).collect();
        let [owner, global] = ["owner.yaml", "global.yaml"].map(|name| Some(name.to_owned()));
        assert_eq!(files, [owner.clone(), owner, global, None]);
    }

    #[test]
    fn a_finding_stands_on_the_line_that_it_names() {
        for end in ["\n", "\r\n", "\r"] {
            let source =
                Source::new("rate_limits.yaml", format!("\u{feff}# a{end}web:{end}  - &é{end}").replace('é', "x"));
            let findings = Documents::new().rate_limits(source.clone()).read().expect_err("null is no rule");
            let location = findings.iter().find_map(|finding| finding.location.clone()).expect("a place");
            let line = usize::try_from(location.line).expect("a small number");
            assert!(source.lines().nth(line - 1).is_some_and(|line| line.starts_with("  - ")), "{end:?} {location}");
        }
    }
}
