//! One rule, from the tree that YAML and JSON are.

use crate::found::MAX_FINDINGS;
use crate::matcher::matcher;
use crate::path;
use crate::tree::{Entry, Node, Quoted, Tree};
use labkit_ratelimit_engine::{
    Action, Algorithm, Code, Finding, Findings, MatcherSpec, NumberSpec, OverrideSpec, Rule, RuleSpec, names,
};
use serde_json::Value as Json;
use std::collections::HashSet;

/// Who wrote the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// A program: the action defaults to `limit`, numbers on a skip rule are ignored.
    Code,
    /// A file: the action is written, a skip rule takes no numbers.
    Document,
}

/// Values that only a host has, where code writes rules: callables and pattern objects.
pub trait HostValues {
    /// Whether there is a host that is asked at all. It is asked about maps.
    const EXISTS: bool = true;

    /// The number that `value` stands for, if it is the host's.
    fn number(&mut self, value: &Json) -> Option<NumberSpec>;

    /// The matcher that `value` stands for, if it is the host's.
    fn matcher(&mut self, value: &Json) -> Option<MatcherSpec>;
}

/// No host: files hold neither callables nor pattern objects.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHostValues;

impl HostValues for NoHostValues {
    const EXISTS: bool = false;

    fn number(&mut self, _: &Json) -> Option<NumberSpec> {
        None
    }

    fn matcher(&mut self, _: &Json) -> Option<MatcherSpec> {
        None
    }
}

/// A rule that was read, and what is wrong with how it is written.
#[derive(Clone, Debug, Default)]
pub struct RuleDraft {
    /// The rule, as far as it could be read.
    pub spec: RuleSpec,
    /// What was written of its enums. In `spec` a default stands for what was not.
    pub(crate) action: Option<Action>,
    pub(crate) algorithm: Option<Algorithm>,
    /// Mistakes of writing: unknown fields, wrong types. Those of meaning are found when it is built.
    pub findings: Findings,
}

impl RuleDraft {
    /// Builds the rule.
    ///
    /// # Errors
    /// The mistakes of writing and of meaning, together.
    pub fn build(&self) -> Result<Rule, Findings> {
        let mut findings = self.findings.clone();
        if findings.iter().any(|finding| finding.path.is_empty()) {
            // It is no rule at all: there is nothing more to say of it.
            return Err(findings);
        }
        match self.spec.build() {
            Ok(rule) => findings.or(rule),
            Err(others) => {
                // A name, an action that was reported as mistyped is not missing too.
                let reported: HashSet<String> = findings.iter().map(|finding| finding.path.clone()).collect();
                findings.extend(others.into_iter().filter(|other| !reported.contains(&other.path)));
                Err(findings)
            }
        }
    }

    /// What is malformed among the fields that a skip rule ignores. In documents the schema wants them well-formed.
    pub(crate) fn ignored(&self) -> Findings {
        let RuleSpec { action, characteristics, count_distinct, overrides, .. } = &self.spec;
        if *action != Action::Skip || (characteristics.is_empty() && count_distinct.is_none() && overrides.is_empty()) {
            return Findings::default();
        }
        let counting = RuleSpec {
            characteristics: characteristics.clone(),
            count_distinct: count_distinct.clone(),
            overrides: overrides.clone(),
            ..RuleSpec::limit("counting", 1_u32, 1_u32)
        };
        let reported: HashSet<&str> = self.findings.iter().map(|finding| finding.path.as_str()).collect();
        let found = counting.build().err().unwrap_or_default();
        // What goes with what is asked of rules that count.
        let is_of_form = |finding: &Finding| match finding.code {
            Code::BurstRequiresGcra | Code::BanExcludesCountDistinct | Code::DistinctInCharacteristics => false,
            _ => !reported.contains(finding.path.as_str()),
        };
        found.into_iter().filter(is_of_form).collect()
    }
}

const FIELDS: [&str; 13] = [
    "name",
    "action",
    "match",
    "characteristics",
    "limit",
    "period_s",
    "ban_for_s",
    "count_distinct",
    "algorithm",
    "burst",
    "final",
    "overrides",
    "description",
];
const OVERRIDE_FIELDS: [&str; 5] = ["match", "limit", "period_s", "burst", "ban_for_s"];

/// Reads one rule. Every mistake of writing is a finding, at a path below the rule.
pub fn read_rule<H: HostValues>(value: &Json, dialect: Dialect, host: &mut H) -> RuleDraft {
    read_rule_node(&Node::from(value), dialect, host)
}

pub(crate) fn read_rule_node<H: HostValues>(value: &Node, dialect: Dialect, host: &mut H) -> RuleDraft {
    let mut reader = Reader { host, findings: Findings::default(), prefix: String::new() };
    let mut draft = RuleDraft::default();
    reader.rule(value, dialect, &mut draft);
    draft.findings = reader.findings;
    draft
}

/// The entries of a map under their fields' names. A field may also be written as protobuf's JSON has it
/// (`periodS`); both at once are one key too many, and what is no field is unknown.
pub(crate) fn fields<'n>(
    entries: &'n [Entry],
    known: &[&'static str],
    mut find: impl FnMut(Code, &str, String),
) -> Vec<(&'static str, &'n Node)> {
    let mut fields: Vec<(&'static str, &'n Node)> = Vec::with_capacity(entries.len().min(known.len()));
    let mut mistakes = 0;
    for Entry { key, value, .. } in entries {
        if mistakes > MAX_FINDINGS {
            break;
        }
        mistakes += 1;
        let written = known.iter().find(|field| *field == key);
        let Some(field) = written.or_else(|| known.iter().find(|field| is_camel_of(key, field))) else {
            let near = names::nearest(&path::snake(key), known.iter().copied());
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            find(Code::UnknownField, key, format!("there is no field {}{hint}", Quoted(key)));
            continue;
        };
        if fields.iter().any(|(other, _)| other == field) {
            find(Code::DuplicateKey, key, format!("`{field}` stands here in two spellings; the first one counts"));
        } else {
            fields.push((field, value));
            mistakes -= 1;
        }
    }
    fields
}

/// Whether `key` is `field` as protobuf's JSON spells it.
pub(crate) fn is_camel_of(key: &str, field: &str) -> bool {
    field.contains('_') && !key.contains('_') && path::snake(key) == field
}

pub(crate) struct Reader<'h, H> {
    pub(crate) host: &'h mut H,
    findings: Findings,
    prefix: String,
}

impl<H: HostValues> Reader<'_, H> {
    pub(crate) fn find(&mut self, code: Code, field: &str, message: impl Into<String>) {
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(Finding::new(code, format!("{}{field}", self.prefix), message));
        }
    }

    fn fields<'n>(&mut self, entries: &'n [Entry], known: &[&'static str]) -> Vec<(&'static str, &'n Node)> {
        fields(entries, known, |code, key, message| self.find(code, key, message))
    }

    fn rule(&mut self, value: &Node, dialect: Dialect, draft: &mut RuleDraft) {
        let Some(entries) = self.map("", value, "a rule is a map of its fields") else { return };
        let spec = &mut draft.spec;
        let fields = self.fields(entries, &FIELDS);
        for (field, value) in &fields {
            match *field {
                "name" => spec.name = self.text(field, value).unwrap_or_default(),
                "action" => draft.action = self.action(value),
                "match" => spec.matchers = self.matchers(value),
                "characteristics" => spec.characteristics = self.texts(field, value),
                "limit" => spec.limit = self.number(field, value),
                "period_s" => spec.period_s = self.number(field, value),
                "ban_for_s" => spec.ban_for_s = self.number(field, value),
                "burst" => spec.burst = self.number(field, value),
                // As protobuf has it, an empty text is none.
                "count_distinct" => {
                    spec.count_distinct =
                        self.text(field, value).filter(|name| !name.is_empty() || dialect == Dialect::Code);
                }
                "algorithm" => draft.algorithm = self.algorithm(value),
                "final" => spec.is_final = self.flag(field, value),
                "overrides" => spec.overrides = self.overrides(value),
                _ => spec.description = self.text(field, value),
            }
        }
        spec.action = draft.action.unwrap_or_default();
        spec.algorithm = draft.algorithm.unwrap_or_default();
        if dialect == Dialect::Document {
            self.document_only(&fields, spec);
        }
    }

    fn document_only(&mut self, fields: &[(&str, &Node)], spec: &RuleSpec) {
        let given = |name: &str| fields.iter().any(|(field, _)| *field == name);
        if !given("action") {
            let message = if spec.limit.is_given() {
                "the rule has a limit and says nothing of its action: write `action: limit` to refuse what is over it"
            } else {
                "the rule says nothing of its action"
            };
            self.find(Code::ActionMissing, "action", message);
        }
        if spec.action == Action::Skip {
            for field in SKIP_TAKES_NO {
                if given(field) {
                    self.find(Code::SkipTakesNoNumbers, field, format!("a skip rule has a {field}"));
                }
            }
        }
    }

    fn overrides(&mut self, value: &Node) -> Vec<OverrideSpec> {
        let Some(entries) = self.list("overrides", value) else { return Vec::new() };
        let outer = self.prefix.clone();
        let mut read = Vec::with_capacity(entries.len());
        for (i, entry) in entries.iter().enumerate() {
            self.prefix = format!("{outer}overrides[{i}].");
            let mut other = OverrideSpec::default();
            if let Some(entries) = self.map("", entry, "an override is a map of its fields") {
                for (field, value) in self.fields(entries, &OVERRIDE_FIELDS) {
                    match field {
                        "match" => other.matchers = self.matchers(value),
                        "limit" => other.limit = self.number(field, value),
                        "period_s" => other.period_s = self.number(field, value),
                        "burst" => other.burst = self.number(field, value),
                        _ => other.ban_for_s = self.number(field, value),
                    }
                }
            }
            read.push(other);
        }
        self.prefix = outer;
        read
    }

    fn matchers(&mut self, value: &Node) -> Vec<(String, MatcherSpec)> {
        let Some(pairs) = self.map("match", value, "match is a map from property to matcher") else {
            return Vec::new();
        };
        pairs.iter().map(|entry| (entry.key.clone(), matcher(self.host, &entry.value))).collect()
    }

    fn action(&mut self, value: &Node) -> Option<Action> {
        let text = self.text("action", value)?;
        let plain = plain(&text, "ACTION_");
        if plain == UNSPECIFIED && text != plain {
            self.find(Code::ActionMissing, "action", "the action is unspecified");
            return None;
        }
        let action = Action::parse(&plain);
        if action.is_none() {
            let hint = did_you_mean(&plain, Action::ALL.map(Action::as_str));
            self.find(Code::ActionUnknown, "action", format!("{} is no action{hint}", Quoted(&text)));
        }
        action
    }

    fn algorithm(&mut self, value: &Node) -> Option<Algorithm> {
        let text = self.text("algorithm", value)?;
        let plain = plain(&text, "ALGORITHM_");
        let algorithm = Algorithm::parse(&plain);
        if algorithm.is_none() && (plain != UNSPECIFIED || text == plain) {
            let hint = did_you_mean(&plain, Algorithm::ALL.map(Algorithm::as_str));
            self.find(Code::AlgorithmUnknown, "algorithm", format!("{} is no algorithm{hint}", Quoted(&text)));
        }
        algorithm
    }

    fn map<'n>(&mut self, field: &str, value: &'n Node, wanted: &str) -> Option<&'n [Entry]> {
        let map = value.as_map();
        if map.is_none() {
            let at = if field.is_empty() {
                self.prefix.trim_end_matches('.').to_owned()
            } else {
                format!("{}{field}", self.prefix)
            };
            if self.findings.len() < MAX_FINDINGS {
                self.findings.push(Finding::new(Code::WrongType, at, format!("{wanted}, not {value}")));
            }
        }
        map
    }

    fn list<'n>(&mut self, field: &str, value: &'n Node) -> Option<&'n [Node]> {
        let list = value.as_list();
        if list.is_none() {
            self.find(Code::WrongType, field, format!("{field} takes a list, not {value}"));
        }
        list
    }

    fn text(&mut self, field: &str, value: &Node) -> Option<String> {
        let text = value.as_text();
        if text.is_none() {
            self.find(Code::WrongType, field, format!("{field} takes a string, not {value}"));
        }
        text.map(str::to_owned)
    }

    fn texts(&mut self, field: &str, value: &Node) -> Vec<String> {
        let entries = self.list(field, value).unwrap_or_default();
        // An empty text holds the place of what is none.
        let text = |(i, entry)| self.text(&format!("{field}[{i}]"), entry).unwrap_or_default();
        entries.iter().enumerate().map(text).collect()
    }

    fn flag(&mut self, field: &str, value: &Node) -> bool {
        if let Tree::Bool(flag) = value.tree {
            return flag;
        }
        self.find(Code::WrongType, field, format!("{field} takes true or false, not {value}"));
        false
    }
}

/// The numbers that a skip rule of a document must not have.
pub(crate) const SKIP_TAKES_NO: [&str; 4] = ["limit", "period_s", "burst", "ban_for_s"];

/// The first value of every enum.
pub(crate) const UNSPECIFIED: &str = "unspecified";

/// A value of an enum as files spell it, from either spelling.
pub(crate) fn plain(text: &str, prefix: &str) -> String {
    match text.strip_prefix(prefix) {
        Some(name) if !name.bytes().any(|b| b.is_ascii_lowercase()) => name.to_ascii_lowercase(),
        _ => text.to_owned(),
    }
}

pub(crate) fn did_you_mean<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    names::nearest(typed, known).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}
