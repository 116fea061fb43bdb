//! Documents as they are written, before anyone knows whether they are right.

use crate::message::{
    AvailableLimiters, Evaluation as EvaluationMessage, LimiterRules, LimiterSpec, PublishRulesRequest, RateLimits,
    Rule, RuleList,
};
use crate::reading::MAX_FINDINGS;
use crate::rule::{self, Dialect, NoHostValues, RuleDraft, read_rule_node};
use crate::tree::{Entry, Node, Quoted, Tree};
use labkit_ratelimit_engine::{Code, Evaluation, Finding, Findings, names};
use std::collections::{BTreeMap, HashMap};

/// The parts of one kind of document.
pub(crate) trait Drafts: Default {
    /// The message that it becomes.
    type Message;
    /// The key around a file's content, which may be left out.
    const OUTER: Option<&'static str>;

    /// Reads what is within the outer key.
    fn read(node: &Node, findings: &mut Findings) -> Self;
    /// The parts of a message.
    fn of(message: &Self::Message, findings: &mut Findings) -> Self;
    /// The message, if one can say it.
    fn message(&self) -> Option<Self::Message>;
    /// Finds what breaks the schema's rules, and adds what was found in rules when they were read.
    fn judge(&self, findings: &mut Findings);
}

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

/// A limiter of `available_limiters`.
#[derive(Debug, Default)]
pub(crate) struct LimiterDraft {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) properties: Vec<String>,
    pub(crate) allowed_skip_rules: Vec<String>,
    pub(crate) evaluation: Option<Evaluation>,
    pub(crate) rules: Vec<RuleDraft>,
}

/// `available_limiters`.
#[derive(Debug, Default)]
pub(crate) struct ContractDraft(pub(crate) Vec<LimiterDraft>);

/// The tiers of a limiter, as they are stored.
#[derive(Debug, Default)]
pub(crate) struct TiersDraft([Option<Vec<RuleDraft>>; TIERS.len()]);

const TIERS: [&str; 3] = ["file_rules", "published_rules", "default_rules"];
const LIMITER_FIELDS: [&str; 5] =
    ["description", "available_properties", "default_rules", "allowed_skip_rules", "evaluation"];
pub(crate) const RATE_LIMITS: &str = "rate_limits";
pub(crate) const AVAILABLE_LIMITERS: &str = "available_limiters";

fn wrong(path: &str, what: &str, value: &Node) -> Finding {
    Finding::new(Code::WrongType, path, format!("{what}, not {value}"))
}

/// A map of named things, each under `outer.name`.
fn named<'n>(outer: &str, node: &'n Node, what: &str, findings: &mut Findings) -> &'n [Entry] {
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

fn check_limiter_name(outer: &str, name: &str, findings: &mut Findings) {
    if !names::is_rule_name(name) {
        let message = format!("{} is no name of a limiter", Quoted(name));
        findings.push(Finding::new(Code::NameInvalid, format!("{outer}.{name}"), message));
    }
}

/// A list of rules, bare or as `{rules: [...]}`.
fn read_rules(path: &str, node: &Node, findings: &mut Findings) -> Vec<RuleDraft> {
    let list = match node.as_map() {
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
    list.iter().map(|rule| read_rule_node(rule, Dialect::Document, &mut NoHostValues)).collect()
}

/// Builds rules, and adds everything that is wrong with them.
fn judge_rules(path: &str, rules: &[RuleDraft], findings: &mut Findings) {
    let mut first: HashMap<&str, usize> = HashMap::new();
    for (i, draft) in rules.iter().enumerate() {
        if findings.len() > MAX_FINDINGS {
            return;
        }
        let at = format!("{path}[{i}]");
        if let Err(found) = draft.build() {
            findings.extend_below(&at, found);
        }
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

    fn read(node: &Node, findings: &mut Findings) -> Self {
        let entries = named(RATE_LIMITS, node, "its rules", findings);
        let list = |entry: &Entry| NamedList {
            limiter: entry.key.clone(),
            rules: read_rules(&format!("{RATE_LIMITS}.{}", entry.key), &entry.value, findings),
        };
        Self(entries.iter().map(list).collect())
    }

    fn of(message: &RateLimits, _: &mut Findings) -> Self {
        Self::of_lists(&message.rate_limits)
    }

    fn message(&self) -> Option<RateLimits> {
        Some(RateLimits { rate_limits: self.lists()? })
    }

    fn judge(&self, findings: &mut Findings) {
        for NamedList { limiter, rules } in &self.0 {
            check_limiter_name(RATE_LIMITS, limiter, findings);
            judge_rules(&format!("{RATE_LIMITS}.{limiter}"), rules, findings);
        }
    }
}

impl Drafts for PublishDraft {
    type Message = PublishRulesRequest;
    const OUTER: Option<&'static str> = Some(RATE_LIMITS);

    fn read(node: &Node, findings: &mut Findings) -> Self {
        Self(RateLimitsDraft::read(node, findings))
    }

    fn of(message: &PublishRulesRequest, _: &mut Findings) -> Self {
        Self(RateLimitsDraft::of_lists(&message.rate_limits))
    }

    fn message(&self) -> Option<PublishRulesRequest> {
        Some(PublishRulesRequest { rate_limits: self.0.lists()? })
    }

    fn judge(&self, findings: &mut Findings) {
        self.0.judge(findings);
    }
}

impl LimiterDraft {
    fn read(path: &str, node: &Node, findings: &mut Findings) -> Self {
        let mut draft = Self::default();
        let Some(entries) = node.as_map() else {
            findings.push(wrong(path, "a limiter is a map of its fields", node));
            // It lacks everything: one finding says so.
            draft.description = Some("?".into());
            return draft;
        };
        let mut found = Vec::new();
        let fields = rule::fields(entries, &LIMITER_FIELDS, |code, key, message| {
            found.push(Finding::new(code, format!("{path}.{key}"), message));
        });
        for (field, value) in fields {
            let at = format!("{path}.{field}");
            match field {
                "description" => {
                    let text = value.as_text();
                    if text.is_none() {
                        found.push(wrong(&at, "description takes a string", value));
                    }
                    // One that is no string is not missing too.
                    draft.description = Some(text.unwrap_or("?").to_owned());
                }
                "available_properties" => draft.properties = texts(&at, field, value, &mut found),
                "allowed_skip_rules" => draft.allowed_skip_rules = texts(&at, field, value, &mut found),
                "default_rules" => match value.as_list() {
                    Some(rules) => {
                        let read = |rule| read_rule_node(rule, Dialect::Document, &mut NoHostValues);
                        draft.rules = rules.iter().map(read).collect();
                    }
                    None => found.push(wrong(&at, "default_rules takes a list", value)),
                },
                _ => draft.evaluation = evaluation(&at, value, &mut found),
            }
        }
        findings.extend(found);
        draft
    }

    fn of(name: &str, spec: &LimiterSpec, findings: &mut Findings) -> Self {
        let evaluation = match EvaluationMessage::try_from(spec.evaluation) {
            Ok(EvaluationMessage::FirstBlock) => Some(Evaluation::FirstBlock),
            Ok(EvaluationMessage::All) => Some(Evaluation::All),
            Ok(EvaluationMessage::Unspecified) => None,
            Err(_) => {
                let path = format!("{AVAILABLE_LIMITERS}.{name}.evaluation");
                let message = format!("{} is no evaluation", spec.evaluation);
                findings.push(Finding::new(Code::OptionInvalid, path, message));
                None
            }
        };
        Self {
            name: name.to_owned(),
            description: Some(spec.description.clone()),
            properties: spec.available_properties.clone(),
            allowed_skip_rules: spec.allowed_skip_rules.clone(),
            evaluation,
            rules: spec.default_rules.iter().map(|rule| RuleDraft::from(&Rule::from(rule.clone()))).collect(),
        }
    }

    fn message(&self) -> Option<LimiterSpec> {
        let evaluation = match self.evaluation {
            None => EvaluationMessage::Unspecified,
            Some(Evaluation::FirstBlock) => EvaluationMessage::FirstBlock,
            Some(Evaluation::All) => EvaluationMessage::All,
        };
        Some(LimiterSpec {
            description: self.description.clone().unwrap_or_default(),
            available_properties: self.properties.clone(),
            default_rules: messages(&self.rules)?.into_iter().map(Into::into).collect(),
            allowed_skip_rules: self.allowed_skip_rules.clone(),
            evaluation: evaluation.into(),
        })
    }

    fn judge(&self, findings: &mut Findings) {
        let path = format!("{AVAILABLE_LIMITERS}.{}", self.name);
        check_limiter_name(AVAILABLE_LIMITERS, &self.name, findings);
        if self.description.as_deref().unwrap_or_default().is_empty() {
            let message = "the limiter has no description";
            findings.push(Finding::new(Code::DescriptionMissing, format!("{path}.description"), message));
        }
        let lists = [
            ("available_properties", &self.properties, Code::PropertyInvalid, "property"),
            ("allowed_skip_rules", &self.allowed_skip_rules, Code::NameInvalid, "rule"),
        ];
        for (field, entries, code, what) in lists {
            let is_name = if what == "rule" { names::is_rule_name } else { names::is_property_name };
            for (i, name) in entries.iter().enumerate().filter(|(_, name)| !is_name(name)) {
                let at = format!("{path}.{field}[{i}]");
                // What is no text was reported when it was read.
                if !findings.iter().any(|finding| finding.path == at) {
                    findings.push(Finding::new(code, at, format!("{} is no name of a {what}", Quoted(name))));
                }
            }
        }
        judge_rules(&format!("{path}.default_rules"), &self.rules, findings);
    }
}

fn texts(path: &str, field: &str, value: &Node, found: &mut Vec<Finding>) -> Vec<String> {
    let Some(entries) = value.as_list() else {
        found.push(wrong(path, &format!("{field} takes a list"), value));
        return Vec::new();
    };
    let text = |(i, entry): (usize, &Node)| {
        // An empty text holds the place of what is none.
        entry.as_text().map_or_else(
            || {
                found.push(wrong(&format!("{path}[{i}]"), &format!("{field} holds strings"), entry));
                String::new()
            },
            str::to_owned,
        )
    };
    entries.iter().enumerate().map(text).collect()
}

fn evaluation(path: &str, value: &Node, found: &mut Vec<Finding>) -> Option<Evaluation> {
    let Some(text) = value.as_text() else {
        found.push(wrong(path, "evaluation takes a string", value));
        return None;
    };
    let plain = rule::plain(text, "EVALUATION_");
    let evaluation = Evaluation::parse(&plain);
    if evaluation.is_none() && plain != rule::UNSPECIFIED {
        let hint = rule::did_you_mean(&plain, Evaluation::ALL.map(Evaluation::as_str));
        let message = format!("{} is no evaluation: there are first_block and all{hint}", Quoted(text));
        found.push(Finding::new(Code::OptionInvalid, path, message));
    }
    evaluation
}

impl Drafts for ContractDraft {
    type Message = AvailableLimiters;
    const OUTER: Option<&'static str> = Some(AVAILABLE_LIMITERS);

    fn read(node: &Node, findings: &mut Findings) -> Self {
        let before = findings.len();
        let entries = named(AVAILABLE_LIMITERS, node, "what it is", findings);
        let mut limiters = Vec::with_capacity(entries.len());
        for Entry { key, value, .. } in entries {
            let draft = LimiterDraft::read(&format!("{AVAILABLE_LIMITERS}.{key}"), value, findings);
            limiters.push(LimiterDraft { name: key.clone(), ..draft });
        }
        if limiters.is_empty() && findings.len() == before {
            findings.push(none_available());
        }
        Self(limiters)
    }

    fn of(message: &AvailableLimiters, findings: &mut Findings) -> Self {
        if message.available_limiters.is_empty() {
            findings.push(none_available());
        }
        let limiters = message.available_limiters.iter();
        Self(limiters.map(|(name, spec)| LimiterDraft::of(name, spec, findings)).collect())
    }

    fn message(&self) -> Option<AvailableLimiters> {
        let limiter = |limiter: &LimiterDraft| Some((limiter.name.clone(), limiter.message()?));
        Some(AvailableLimiters { available_limiters: self.0.iter().map(limiter).collect::<Option<_>>()? })
    }

    fn judge(&self, findings: &mut Findings) {
        self.0.iter().for_each(|limiter| limiter.judge(findings));
    }
}

fn none_available() -> Finding {
    Finding::new(Code::WrongType, AVAILABLE_LIMITERS, "available_limiters holds no limiter: name at least one")
}

impl Drafts for TiersDraft {
    type Message = LimiterRules;
    const OUTER: Option<&'static str> = None;

    fn read(node: &Node, findings: &mut Findings) -> Self {
        let mut draft = Self::default();
        let Some(entries) = node.as_map() else {
            findings.push(wrong("", "a stored document maps a tier to its rules", node));
            return draft;
        };
        let mut found = Vec::new();
        let fields = rule::fields(entries, &TIERS, |code, key, message| found.push(Finding::new(code, key, message)));
        findings.extend(found);
        for (field, value) in fields {
            let rules = read_rules(field, value, findings);
            for (tier, name) in draft.0.iter_mut().zip(TIERS) {
                if name == field {
                    *tier = Some(rules.clone());
                }
            }
        }
        draft
    }

    fn of(message: &LimiterRules, _: &mut Findings) -> Self {
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

    fn judge(&self, findings: &mut Findings) {
        for (tier, name) in self.0.iter().zip(TIERS) {
            judge_rules(name, tier.as_deref().unwrap_or_default(), findings);
        }
    }
}
