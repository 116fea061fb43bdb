//! One rule, from the tree that YAML and JSON are.

use crate::matcher::matcher;
use crate::number::kind;
use labkit_ratelimit_engine::{
    Action, Algorithm, Code, Finding, Findings, MatcherSpec, NumberSpec, OverrideSpec, Rule, RuleSpec, names,
};
use serde_json::{Map, Value as Json};

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
    /// The number that `value` stands for, if it is the host's.
    fn number(&mut self, value: &Json) -> Option<NumberSpec>;

    /// The matcher that `value` stands for, if it is the host's.
    fn matcher(&mut self, value: &Json) -> Option<MatcherSpec>;
}

/// No host: files hold neither callables nor pattern objects.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHostValues;

impl HostValues for NoHostValues {
    fn number(&mut self, _: &Json) -> Option<NumberSpec> {
        None
    }

    fn matcher(&mut self, _: &Json) -> Option<MatcherSpec> {
        None
    }
}

/// A rule that was read, and what is wrong with how it is written.
#[derive(Clone, Debug)]
pub struct RuleDraft {
    /// The rule, as far as it could be read.
    pub spec: RuleSpec,
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
                let reported: Vec<String> = findings.iter().map(|finding| finding.path.clone()).collect();
                for other in others.iter().filter(|other| !reported.contains(&other.path)) {
                    findings.push(other.clone());
                }
                Err(findings)
            }
        }
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
    let mut reader = Reader { host, findings: Findings::default(), prefix: String::new() };
    let spec = reader.rule(value, dialect);
    RuleDraft { spec, findings: reader.findings }
}

pub(crate) struct Reader<'h, H> {
    pub(crate) host: &'h mut H,
    findings: Findings,
    prefix: String,
}

impl<H: HostValues> Reader<'_, H> {
    pub(crate) fn find(&mut self, code: Code, field: &str, message: impl Into<String>) {
        self.findings.push(Finding::new(code, format!("{}{field}", self.prefix), message));
    }

    fn rule(&mut self, value: &Json, dialect: Dialect) -> RuleSpec {
        let mut spec = RuleSpec::default();
        let Some(fields) = self.map("", value, "a rule is a map of its fields") else { return spec };
        for (field, value) in fields {
            match field.as_str() {
                "name" => spec.name = self.text(field, value).unwrap_or_default(),
                "action" => spec.action = self.action(value),
                "match" => spec.matchers = self.matchers(value),
                "characteristics" => spec.characteristics = self.texts(field, value),
                "limit" => spec.limit = self.number(field, value),
                "period_s" => spec.period_s = self.number(field, value),
                "ban_for_s" => spec.ban_for_s = self.number(field, value),
                "burst" => spec.burst = self.number(field, value),
                "count_distinct" => spec.count_distinct = self.text(field, value),
                "algorithm" => spec.algorithm = self.algorithm(value),
                "final" => spec.is_final = self.flag(field, value),
                "overrides" => spec.overrides = self.overrides(value),
                "description" => spec.description = self.text(field, value),
                unknown => self.unknown(unknown, &FIELDS),
            }
        }
        if dialect == Dialect::Document {
            self.document_only(fields, &spec);
        }
        spec
    }

    fn document_only(&mut self, fields: &Map<String, Json>, spec: &RuleSpec) {
        if !fields.contains_key("action") {
            self.find(Code::ActionMissing, "action", "the rule says nothing of its action");
        }
        if spec.action == Action::Skip {
            for field in ["limit", "period_s", "burst", "ban_for_s"] {
                if fields.contains_key(field) {
                    self.find(Code::SkipTakesNoNumbers, field, format!("a skip rule has a {field}"));
                }
            }
        }
    }

    fn overrides(&mut self, value: &Json) -> Vec<OverrideSpec> {
        let Some(entries) = self.list("overrides", value) else { return Vec::new() };
        let outer = self.prefix.clone();
        let read = entries.iter().enumerate().map(|(i, entry)| {
            self.prefix = format!("{outer}overrides[{i}].");
            let mut other = OverrideSpec::default();
            if let Some(fields) = self.map("", entry, "an override is a map of its fields") {
                for (field, value) in fields {
                    match field.as_str() {
                        "match" => other.matchers = self.matchers(value),
                        "limit" => other.limit = self.number(field, value),
                        "period_s" => other.period_s = self.number(field, value),
                        "burst" => other.burst = self.number(field, value),
                        "ban_for_s" => other.ban_for_s = self.number(field, value),
                        unknown => self.unknown(unknown, &OVERRIDE_FIELDS),
                    }
                }
            }
            other
        });
        let read = read.collect();
        self.prefix = outer;
        read
    }

    fn unknown(&mut self, field: &str, known: &[&'static str]) {
        let hint = names::nearest(field, known.iter().copied())
            .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        self.find(Code::UnknownField, field, format!("there is no field `{field}`{hint}"));
    }

    fn matchers(&mut self, value: &Json) -> Vec<(String, MatcherSpec)> {
        let Some(pairs) = self.map("match", value, "match is a map from property to matcher") else {
            return Vec::new();
        };
        pairs.iter().map(|(property, spec)| (property.clone(), matcher(self.host, spec))).collect()
    }

    fn action(&mut self, value: &Json) -> Action {
        let Some(text) = self.text("action", value) else { return Action::default() };
        let plain = text.strip_prefix("ACTION_").map_or_else(|| text.clone(), str::to_lowercase);
        if plain == "unspecified" {
            self.find(Code::ActionMissing, "action", "the action is unspecified");
            return Action::default();
        }
        Action::parse(&plain).unwrap_or_else(|| {
            self.find(Code::ActionUnknown, "action", format!("`{text}` is no action"));
            Action::default()
        })
    }

    fn algorithm(&mut self, value: &Json) -> Algorithm {
        let Some(text) = self.text("algorithm", value) else { return Algorithm::default() };
        let plain = text.strip_prefix("ALGORITHM_").map_or_else(|| text.clone(), str::to_lowercase);
        if plain == "unspecified" {
            return Algorithm::default();
        }
        Algorithm::parse(&plain).unwrap_or_else(|| {
            self.find(Code::AlgorithmUnknown, "algorithm", format!("`{text}` is no algorithm"));
            Algorithm::default()
        })
    }

    fn map<'j>(&mut self, field: &str, value: &'j Json, wanted: &str) -> Option<&'j Map<String, Json>> {
        let map = value.as_object();
        if map.is_none() {
            let at = if field.is_empty() {
                self.prefix.trim_end_matches('.').to_owned()
            } else {
                format!("{}{field}", self.prefix)
            };
            self.findings.push(Finding::new(Code::WrongType, at, format!("{wanted}, not {}", kind(value))));
        }
        map
    }

    fn list<'j>(&mut self, field: &str, value: &'j Json) -> Option<&'j [Json]> {
        let list = value.as_array();
        if list.is_none() {
            self.find(Code::WrongType, field, format!("{field} takes a list, not {}", kind(value)));
        }
        list.map(Vec::as_slice)
    }

    fn text(&mut self, field: &str, value: &Json) -> Option<String> {
        if value.as_str().is_none() {
            self.find(Code::WrongType, field, format!("{field} takes a string, not {}", kind(value)));
        }
        value.as_str().map(str::to_owned)
    }

    fn texts(&mut self, field: &str, value: &Json) -> Vec<String> {
        let entries = self.list(field, value).unwrap_or_default();
        entries.iter().enumerate().filter_map(|(i, entry)| self.text(&format!("{field}[{i}]"), entry)).collect()
    }

    fn flag(&mut self, field: &str, value: &Json) -> bool {
        if value.as_bool().is_none() {
            self.find(Code::WrongType, field, format!("{field} takes true or false, not {}", kind(value)));
        }
        value.as_bool().unwrap_or_default()
    }
}
