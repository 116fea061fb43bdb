//! A set of documents that are read and checked together.

use crate::catalog::{Catalog, LimiterDocument};
use crate::contract::Contract;
use crate::cross::{self, Tier};
use crate::drafts::{AVAILABLE_LIMITERS, ContractDraft, Drafts, LimiterDraft, NamedList, RATE_LIMITS, RateLimitsDraft};
use crate::found::{Found, MAX_FINDINGS};
use crate::reading::{self, Read};
use crate::rule::RuleDraft;
use crate::source::Source;
use crate::tiers;
use crate::warnings::{self, Written};
use labkit_ratelimit_engine::{Findings, RuleSpec, names};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// The documents of a service: its contract, and the operators' rules in their order.
///
/// Without `available_limiters` the contracts come from code ([`Documents::contract`]), or there are none: then rules
/// are checked by themselves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Documents {
    available: Option<Source>,
    rate_limits: Vec<Source>,
    contracts: BTreeMap<String, Contract>,
}

impl Documents {
    /// No document yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The contract that ships with the application.
    #[must_use]
    pub fn available_limiters(mut self, source: Source) -> Self {
        self.available = Some(source);
        self
    }

    /// A file of operators, behind those before it: its rules run later, and on equal names an earlier file's stand.
    #[must_use]
    pub fn rate_limits(mut self, source: Source) -> Self {
        self.rate_limits.push(source);
        self
    }

    /// The contract of a limiter whose rules are code. Beside `available_limiters` only its rules count, as the
    /// defaults where that document gives none.
    #[must_use]
    pub fn contract(mut self, limiter: impl Into<String>, contract: Contract) -> Self {
        self.contracts.insert(limiter.into(), contract);
        self
    }

    /// The contract that was given for a limiter whose rules are code.
    pub fn contract_of(&self, limiter: &str) -> Option<&Contract> {
        self.contracts.get(limiter)
    }

    /// Whether there is an `available_limiters` document.
    pub const fn has_available_limiters(&self) -> bool {
        self.available.is_some()
    }

    /// The same contracts without the files of operators.
    #[must_use]
    pub fn without_rate_limits(&self) -> Self {
        Self { rate_limits: Vec::new(), ..self.clone() }
    }

    /// Reads and checks all of them.
    ///
    /// # Errors
    /// Every mistake in every document, and the warnings beside them, in the order of files, lines and columns.
    pub fn read(&self) -> Result<Catalog, Findings> {
        let mut available = self.available.as_ref().map(Opened::<ContractDraft>::new);
        let mut files: Vec<_> = self.rate_limits.iter().map(Opened::<RateLimitsDraft>::new).collect();
        // None: there is a contract, and it cannot be read.
        let contracts = match &available {
            None => Some(self.contracts.clone()),
            // One that names no limiter says nothing of those that there are.
            Some(opened) => opened
                .read
                .as_ref()
                .filter(|read| !read.drafts.0.is_empty())
                .map(|read| self.contracts_of(&read.drafts)),
        };
        let drafts = available.iter().filter_map(|opened| opened.read.as_ref()).flat_map(|read| &read.drafts.0);
        let unclear: HashSet<String> = drafts.filter(|draft| !draft.is_clear).map(|draft| draft.name.clone()).collect();
        if let (Some(opened), Some(contracts)) = (&mut available, &contracts) {
            opened.check_defaults(contracts);
        }
        for opened in &mut files {
            opened.check(contracts.as_ref(), &unclear, self.available.is_some());
        }
        warn(&mut files, contracts.as_ref());
        let limiters = limiters(&files, contracts);
        let mut findings = Findings::default();
        if let Some(opened) = available {
            findings.extend(opened.located());
        }
        for opened in files {
            findings.extend(opened.located());
        }
        if findings.has_errors() { Err(findings) } else { Ok(Catalog { limiters, warnings: findings }) }
    }

    fn contracts_of(&self, drafts: &ContractDraft) -> BTreeMap<String, Contract> {
        let contract = |draft: &LimiterDraft| Contract::of_draft(draft).or_rules_of(self.contracts.get(&draft.name));
        drafts.0.iter().map(|draft| (draft.name.clone(), contract(draft))).collect()
    }
}

/// A document in the course of being read.
struct Opened<'s, D> {
    source: &'s Source,
    read: Option<Read<D>>,
    findings: Found,
}

impl<'s, D: Drafts> Opened<'s, D> {
    fn new(source: &'s Source) -> Self {
        match reading::drafts::<D>(source) {
            Ok(mut read) => {
                let mut findings = std::mem::take(&mut read.findings);
                read.drafts.judge(&mut findings);
                Self { source, read: Some(read), findings }
            }
            Err(finding) => {
                let mut findings = Found::default();
                findings.push(finding);
                Self { source, read: None, findings }
            }
        }
    }

    /// The findings, each at its place.
    fn located(self) -> Findings {
        match self.read {
            Some(read) => reading::located::<D>(self.source, &read.root, self.findings),
            None => self.findings.into_parts().0.collect(),
        }
    }
}

impl Opened<'_, ContractDraft> {
    /// Checks the default rules against their own contract.
    fn check_defaults(&mut self, contracts: &BTreeMap<String, Contract>) {
        let Some(read) = &self.read else { return };
        for draft in &read.drafts.0 {
            let path = format!("{AVAILABLE_LIMITERS}.{}.default_rules", draft.name);
            // Of a contract with mistakes nobody knows what it would offer without them.
            let Some(contract) = contracts.get(&draft.name).filter(|_| draft.is_clear) else { continue };
            cross::check(&path, &draft.rules, contract, Tier::Default, &mut self.findings);
            let written = written(&path, 0, &draft.rules);
            if self.findings.is_full_of_warnings() {
                continue;
            }
            let unreachable = warnings::unreachable(&written, draft.evaluation.unwrap_or_default());
            self.findings.extend(unreachable.into_iter().map(|(_, finding)| finding));
        }
    }
}

impl Opened<'_, RateLimitsDraft> {
    /// Checks the rules against the contracts. Where these are `all`, there is no other limiter.
    fn check(&mut self, contracts: Option<&BTreeMap<String, Contract>>, unclear: &HashSet<String>, all: bool) {
        let (Some(read), Some(contracts)) = (&self.read, contracts) else { return };
        for NamedList { limiter, rules } in &read.drafts.0 {
            let path = format!("{RATE_LIMITS}.{limiter}");
            match contracts.get(limiter) {
                Some(_) if unclear.contains(limiter) => {}
                Some(contract) => cross::check(&path, rules, contract, Tier::Higher, &mut self.findings),
                None if all && names::is_rule_name(limiter) => {
                    let known = contracts.keys().map(String::as_str);
                    cross::unknown_limiter(path, limiter, known, &mut self.findings);
                }
                None => {}
            }
        }
    }
}

/// The rules of a list that were read as they are written.
fn written<'r>(list: &str, file: usize, rules: &'r [RuleDraft]) -> Vec<Written<'r>> {
    let list: Arc<str> = list.into();
    let whole = rules.iter().enumerate().filter(|(_, draft)| draft.findings.is_empty());
    whole.map(|(index, draft)| Written { list: list.clone(), file, index, spec: &draft.spec }).collect()
}

/// Adds the warnings about rules of all files, limiter by limiter.
fn warn(files: &mut [Opened<'_, RateLimitsDraft>], contracts: Option<&BTreeMap<String, Contract>>) {
    let mut chains: BTreeMap<&str, Vec<Written<'_>>> = BTreeMap::new();
    for (file, opened) in files.iter().enumerate() {
        for NamedList { limiter, rules } in opened.read.iter().flat_map(|read| &read.drafts.0) {
            let path = format!("{RATE_LIMITS}.{limiter}");
            chains.entry(limiter).or_default().extend(written(&path, file, rules));
        }
    }
    let mut found = Vec::new();
    let enough = MAX_FINDINGS * files.len();
    for (limiter, chain) in chains {
        if found.len() > enough {
            break;
        }
        let contract = contracts.and_then(|contracts| contracts.get(limiter));
        let evaluation = contract.and_then(Contract::evaluation).unwrap_or_default();
        found.extend(warnings::unreachable(&chain, evaluation));
        let defaults = contract.map(Contract::default_rules).unwrap_or_default();
        found.extend(warnings::cut_off(&chain, defaults, evaluation));
        let by_name: HashMap<&str, &RuleSpec> = defaults.iter().map(|rule| (rule.name.as_str(), rule)).collect();
        for rule in &chain {
            if let Some(default) = by_name.get(rule.spec.name.as_str()) {
                found.extend(warnings::shadowing(rule, default));
            }
        }
    }
    for (file, finding) in found {
        files[file].findings.push(finding);
    }
}

/// Every limiter that is named somewhere, its files' rules merged.
fn limiters(
    files: &[Opened<'_, RateLimitsDraft>],
    contracts: Option<BTreeMap<String, Contract>>,
) -> BTreeMap<String, LimiterDocument> {
    let mut lists: BTreeMap<String, Vec<Vec<RuleSpec>>> = BTreeMap::new();
    let mut sources: BTreeMap<String, BTreeMap<String, Arc<str>>> = BTreeMap::new();
    for opened in files {
        let file: Arc<str> = opened.source.name().into();
        for NamedList { limiter, rules } in opened.read.iter().flat_map(|read| &read.drafts.0) {
            let specs: Vec<RuleSpec> = rules.iter().map(|draft| draft.spec.clone()).collect();
            let names = sources.entry(limiter.clone()).or_default();
            for rule in &specs {
                names.entry(rule.name.clone()).or_insert_with(|| file.clone());
            }
            lists.entry(limiter.clone()).or_default().push(specs);
        }
    }
    let mut limiters = BTreeMap::new();
    for (name, contract) in contracts.unwrap_or_default() {
        let document = LimiterDocument { name: name.clone(), contract: Some(contract), ..LimiterDocument::default() };
        limiters.insert(name, document);
    }
    for (name, lists) in lists {
        let document =
            limiters.entry(name.clone()).or_insert_with(|| LimiterDocument { name, ..LimiterDocument::default() });
        document.file_rules = tiers::merged(lists.iter().map(Vec::as_slice));
        document.files = sources.remove(&document.name).unwrap_or_default();
    }
    limiters
}
