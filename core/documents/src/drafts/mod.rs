//! Documents as they are written, before anyone knows whether they are right.

mod limiters;
mod rate_limits;
mod stored;

pub(crate) use limiters::{ContractDraft, LimiterDraft};
pub(crate) use rate_limits::{NamedList, PublishDraft, RateLimitsDraft};
pub(crate) use stored::TiersDraft;

use crate::found::Found;
use crate::message::{Rule, RuleList};
use crate::pattern;
use crate::rule::{Dialect, NoHostValues, RuleDraft, read_rule_node};
use crate::tree::{Entry, Node, Quoted, Tree};
use labkit_ratelimit_engine::{Code, Finding, names};
use std::collections::HashMap;

/// The parts of one kind of document.
pub(crate) trait Drafts: Default {
    /// The message that it becomes.
    type Message;
    /// The key around a file's content, which may be left out.
    const OUTER: Option<&'static str>;

    /// Reads what is within the outer key.
    fn read(node: &Node, findings: &mut Found) -> Self;
    /// The parts of a message.
    fn of(message: &Self::Message, findings: &mut Found) -> Self;
    /// The message, if one can say it.
    fn message(&self) -> Option<Self::Message>;
    /// Every rule in it.
    fn rules(&self) -> impl Iterator<Item = &RuleDraft>;
    /// Finds what breaks the schema's rules, and adds what was found in rules when they were read.
    fn judge(&self, findings: &mut Found);
}

pub(crate) const RATE_LIMITS: &str = "rate_limits";
pub(crate) const AVAILABLE_LIMITERS: &str = "available_limiters";

fn wrong(path: &str, what: &str, value: &Node) -> Finding {
    Finding::new(Code::WrongType, path, format!("{what}, not {value}"))
}

/// A map of named things, each under `outer.name`.
fn named<'n>(outer: &str, node: &'n Node, what: &str, findings: &mut Found) -> &'n [Entry] {
    match &node.tree {
        Tree::Map(entries) => entries,
        // A file in which all is commented out.
        Tree::Null => &[],
        _ => {
            findings.push(wrong(outer, &format!("{outer} maps a limiter to {what}"), node));
            &[]
        }
    }
}

fn check_limiter_name(outer: &str, name: &str, findings: &mut Found) {
    if !names::is_rule_name(name) {
        let message = format!("{} is no name of a limiter", Quoted(name));
        findings.push(Finding::new(Code::NameInvalid, format!("{outer}.{name}"), message));
    }
}

/// A list of rules, bare or as `{rules: [...]}`.
fn read_rules(path: &str, node: &Node, findings: &mut Found) -> Vec<RuleDraft> {
    let list = match node.as_map() {
        // As protobuf has it, a list of rules without its field is empty.
        Some([]) => return Vec::new(),
        Some([entry]) if entry.key == "rules" => &entry.value,
        Some(entries) if entries.iter().any(|entry| entry.key == "rules") => {
            let unknown = |key: &str| {
                let message = format!("there is no field {}; a limiter holds `rules` alone", Quoted(key));
                Finding::new(Code::UnknownField, format!("{path}.{key}"), message)
            };
            findings.extend(entries.iter().filter(|entry| entry.key != "rules").map(|entry| unknown(&entry.key)));
            entries.iter().find(|entry| entry.key == "rules").map_or(node, |entry| &entry.value)
        }
        _ => node,
    };
    let Some(list) = list.as_list() else {
        findings.push(wrong(path, "a limiter holds a list of rules", list));
        return Vec::new();
    };
    read_list(list, findings)
}

/// The most rules that room is made for before they are read: few of them may be any.
const MOST_RESERVED: usize = 64;

/// The rules of a list, up to where the document has too many mistakes.
fn read_list(list: &[Node], findings: &mut Found) -> Vec<RuleDraft> {
    let mut rules = Vec::new();
    if !findings.awaits(0) {
        return rules;
    }
    rules.reserve_exact(list.len().min(MOST_RESERVED));
    for rule in list {
        let draft = read_rule_node(rule, Dialect::Document, &mut NoHostValues);
        let room = findings.awaits(draft.findings.len());
        rules.push(draft);
        if !room {
            break;
        }
    }
    rules
}

/// Builds rules, and adds everything that is wrong with them.
fn judge_rules(path: &str, rules: &[RuleDraft], findings: &mut Found) {
    let mut first: HashMap<&str, usize> = HashMap::new();
    for (i, draft) in rules.iter().enumerate() {
        if findings.is_full() {
            return;
        }
        let at = format!("{path}[{i}]");
        if !pattern::within_bounds(&at, &draft.spec, findings) {
            return;
        }
        if let Err(found) = draft.build() {
            findings.extend_below(&at, found);
        }
        findings.extend_below(&at, draft.ignored());
        let name = draft.spec.name.as_str();
        match first.get(name) {
            Some(first) if !name.is_empty() => {
                let message = format!("{} is {path}[{first}] already", Quoted(name));
                findings.push(Finding::new(Code::DuplicateRuleName, format!("{at}.name"), message));
            }
            _ => drop(first.insert(name, i)),
        }
    }
}

fn messages(rules: &[RuleDraft]) -> Option<Vec<Rule>> {
    rules.iter().map(RuleDraft::message).collect()
}

fn rules_of(list: &RuleList) -> Vec<RuleDraft> {
    list.rules.iter().map(RuleDraft::from).collect()
}
