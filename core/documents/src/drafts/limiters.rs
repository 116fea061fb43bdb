//! `available_limiters`: the contract that ships with an application.

use super::{AVAILABLE_LIMITERS, Drafts, check_limiter_name, judge_rules, messages, named, read_list, wrong};
use crate::found::Found;
use crate::message::{AvailableLimiters, Evaluation as EvaluationMessage, LimiterSpec, Rule};
use crate::rule::{self, RuleDraft};
use crate::tree::{Entry, Node, Quoted};
use labkit_ratelimit_engine::{Code, Evaluation, Finding, names};
use std::collections::HashSet;

/// A limiter of `available_limiters`.
#[derive(Debug, Default)]
pub(crate) struct LimiterDraft {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) properties: Vec<String>,
    pub(crate) allowed_skip_rules: Vec<String>,
    pub(crate) evaluation: Option<Evaluation>,
    pub(crate) rules: Vec<RuleDraft>,
    /// Nothing is wrong with how it says what it offers and allows.
    pub(crate) is_clear: bool,
    /// Paths of what is no text where one was asked for.
    mistyped: HashSet<String>,
}

/// `available_limiters`.
#[derive(Debug, Default)]
pub(crate) struct ContractDraft(pub(crate) Vec<LimiterDraft>);

const LIMITER_FIELDS: [&str; 5] =
    ["description", "available_properties", "default_rules", "allowed_skip_rules", "evaluation"];

impl LimiterDraft {
    fn read(path: &str, node: &Node, findings: &mut Found) -> Self {
        let mut draft = Self::default();
        let Some(entries) = node.as_map() else {
            findings.push(wrong(path, "a limiter is a map of its fields", node));
            // It lacks everything: one finding says so.
            draft.description = Some("?".into());
            return draft;
        };
        let mut is_clear = true;
        let fields = rule::fields(entries, &LIMITER_FIELDS, |code, key, message| {
            findings.push(Finding::new(code, format!("{path}.{key}"), message));
            is_clear = false;
        });
        for (field, value) in fields {
            let at = format!("{path}.{field}");
            match field {
                "description" => {
                    let text = value.as_text();
                    if text.is_none() {
                        findings.push(wrong(&at, "description takes a string", value));
                    }
                    // One that is no string is not missing too.
                    draft.description = Some(text.unwrap_or("?").to_owned());
                }
                "available_properties" => draft.properties = draft.texts(&at, field, value, findings),
                "allowed_skip_rules" => draft.allowed_skip_rules = draft.texts(&at, field, value, findings),
                "default_rules" => match value.as_list() {
                    Some(rules) => draft.rules = read_list(rules, findings),
                    None => findings.push(wrong(&at, "default_rules takes a list", value)),
                },
                _ => draft.evaluation = evaluation(&at, value, findings),
            }
            let is_list = ["available_properties", "allowed_skip_rules"].contains(&field);
            is_clear &= !is_list || value.as_list().is_some();
        }
        draft.is_clear = is_clear && draft.mistyped.is_empty();
        draft
    }

    fn texts(&mut self, path: &str, field: &str, value: &Node, findings: &mut Found) -> Vec<String> {
        let Some(entries) = value.as_list() else {
            findings.push(wrong(path, &format!("{field} takes a list"), value));
            return Vec::new();
        };
        let text = |(i, entry): (usize, &Node)| {
            // An empty text holds the place of what is none.
            entry.as_text().map_or_else(
                || {
                    let at = format!("{path}[{i}]");
                    findings.push(wrong(&at, &format!("{field} holds strings"), entry));
                    self.mistyped.insert(at);
                    String::new()
                },
                str::to_owned,
            )
        };
        entries.iter().enumerate().map(text).collect()
    }

    fn of(name: &str, spec: &LimiterSpec, findings: &mut Found) -> Self {
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
            is_clear: true,
            mistyped: HashSet::new(),
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

    fn judge(&self, findings: &mut Found) {
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
                if findings.is_full() {
                    break;
                }
                let at = format!("{path}.{field}[{i}]");
                // What is no text was reported when it was read.
                if !self.mistyped.contains(&at) {
                    findings.push(Finding::new(code, at, format!("{} is no name of a {what}", Quoted(name))));
                }
            }
        }
        judge_rules(&format!("{path}.default_rules"), &self.rules, findings);
    }
}

fn evaluation(path: &str, value: &Node, findings: &mut Found) -> Option<Evaluation> {
    let Some(text) = value.as_text() else {
        findings.push(wrong(path, "evaluation takes a string", value));
        return None;
    };
    let plain = rule::plain(text, "EVALUATION_");
    let evaluation = Evaluation::parse(&plain);
    if evaluation.is_none() && (plain != rule::UNSPECIFIED || text == plain) {
        let hint = rule::did_you_mean(&plain, Evaluation::ALL.map(Evaluation::as_str));
        let message = format!("{} is no evaluation: there are first_block and all{hint}", Quoted(text));
        findings.push(Finding::new(Code::OptionInvalid, path, message));
    }
    evaluation
}

impl Drafts for ContractDraft {
    type Message = AvailableLimiters;
    const OUTER: Option<&'static str> = Some(AVAILABLE_LIMITERS);

    fn read(node: &Node, findings: &mut Found) -> Self {
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

    fn of(message: &AvailableLimiters, findings: &mut Found) -> Self {
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

    fn rules(&self) -> impl Iterator<Item = &RuleDraft> {
        self.0.iter().flat_map(|limiter| &limiter.rules)
    }

    fn judge(&self, findings: &mut Found) {
        self.0.iter().for_each(|limiter| limiter.judge(findings));
    }
}

fn none_available() -> Finding {
    Finding::new(Code::WrongType, AVAILABLE_LIMITERS, "available_limiters holds no limiter: name at least one")
}
