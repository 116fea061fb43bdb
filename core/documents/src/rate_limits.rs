//! `rate_limits` documents.

use crate::number::kind;
use crate::rule::{Dialect, NoHostValues, read_rule};
use crate::unique::Unique;
use labkit_ratelimit_engine::{Code, Finding, Findings, RuleSpec, names};
use serde_json::{Map, Value as Json};
use serde_saphyr::Options;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};

/// The largest document: 10 MiB.
pub const MAX_BYTES: usize = 10 * 1024 * 1024;

/// The key around the limiters; paths start with it, whether it is written or not.
const OUTER: &str = "rate_limits";

/// A limiter of a document, with its rules in order.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentLimiter {
    /// Its name.
    pub name: String,
    /// Its rules; each of them builds.
    pub rules: Vec<RuleSpec>,
}

/// Reads a `rate_limits` document in YAML or JSON, with or without its outer key. A limiter holds a
/// list of rules, or `{rules: [...]}`.
///
/// # Errors
/// Every mistake, at paths such as `rate_limits.sign_in[0].limit`. Nothing is read of a document with one.
pub fn read_rate_limits(text: &str) -> Result<Vec<DocumentLimiter>, Findings> {
    let document = parse(text)?;
    let limiters = match document.get(OUTER) {
        Some(inner) if document.as_object().is_some_and(|map| map.len() == 1) => inner,
        _ => &document,
    };
    let mut findings = Findings::default();
    let Some(limiters) = limiters.as_object() else {
        findings.push(Finding::new(
            Code::WrongType,
            OUTER,
            format!("{OUTER} maps a limiter to its rules, and is {}", kind(limiters)),
        ));
        return Err(findings);
    };
    let read =
        limiters.iter().map(|(name, rules)| limiter(name, rules, &format!("{OUTER}.{name}"), &mut findings)).collect();
    findings.or(read)
}

fn parse(text: &str) -> Result<Json, Findings> {
    let mut findings = Findings::default();
    if text.len() > MAX_BYTES {
        findings.push(Finding::new(
            Code::DocumentTooLarge,
            "",
            format!("the document has {} bytes, more than {MAX_BYTES}", text.len()),
        ));
        return Err(findings);
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // JSON is YAML, but its own parser is faster and says more.
    let looks_like_json = text.trim_start().starts_with('{');
    let parsed = match serde_json::from_str::<Unique>(text) {
        Ok(Unique(value)) if looks_like_json => Ok(value),
        Err(error) if looks_like_json && error.is_data() => Err(error.to_string()),
        _ => yaml(text),
    };
    match parsed {
        Ok(Json::Null) => Ok(Json::Object(Map::new())),
        Ok(value) => Ok(value),
        Err(message) => {
            let code = match message.as_str() {
                said if said.contains("duplicate") => Code::DuplicateKey,
                said if said.contains("merge") => Code::MergeKey,
                _ => Code::YamlSyntax,
            };
            findings.push(Finding::new(code, "", message));
            Err(findings)
        }
    }
}

/// YAML 1.2, core schema: `yes` and `on` are strings, and so is a number with leading zeros.
fn yaml(text: &str) -> Result<Json, String> {
    let mut options = Options::default();
    options.duplicate_keys = DuplicateKeyPolicy::Error;
    options.merge_keys = MergeKeyPolicy::Error;
    options.strict_booleans = true;
    options.leading_zero_numbers_as_strings = true;
    options.underscored_numbers_as_strings = true;
    options.with_snippet = false;
    serde_saphyr::from_str_with_options(text, options).map_err(|error| error.to_string())
}

fn limiter(name: &str, rules: &Json, path: &str, findings: &mut Findings) -> DocumentLimiter {
    if !names::is_rule_name(name) {
        findings.push(Finding::new(Code::NameInvalid, path, format!("`{name}` is no name of a limiter")));
    }
    let list = rules.get("rules").filter(|_| rules.as_object().is_some_and(|map| map.len() == 1)).unwrap_or(rules);
    let Some(list) = list.as_array() else {
        findings.push(Finding::new(
            Code::WrongType,
            path,
            format!("a limiter holds a list of rules, not {}", kind(list)),
        ));
        return DocumentLimiter { name: name.to_owned(), rules: Vec::new() };
    };
    let mut read: Vec<RuleSpec> = Vec::with_capacity(list.len());
    for (i, rule) in list.iter().enumerate() {
        let at = format!("{path}[{i}]");
        let draft = read_rule(rule, Dialect::Document, &mut NoHostValues);
        if let Err(found) = draft.build() {
            findings.extend_below(&at, found);
        }
        if let Some(first) = read.iter().position(|other| other.name == draft.spec.name && !other.name.is_empty()) {
            let message = format!("`{}` is {path}[{first}] already", draft.spec.name);
            findings.push(Finding::new(Code::DuplicateRuleName, format!("{at}.name"), message));
        }
        read.push(draft.spec);
    }
    DocumentLimiter { name: name.to_owned(), rules: read }
}

#[cfg(test)]
mod tests {
    use super::*;
    use labkit_ratelimit_engine::MatcherSpec;

    fn codes(text: &str) -> Vec<(Code, String)> {
        let findings = read_rate_limits(text).expect_err("a bad document");
        findings.iter().map(|finding| (finding.code, finding.path.clone())).collect()
    }

    #[test]
    fn all_mistakes_at_once() {
        let text = "
rate_limits:
  sign_in:
    - {name: a, limit: 0, period_s: 5.0}
    - {name: a, action: skip, limit: 3, wat: 1}
    - {name: b, action: block, match: {ip: [1]}, limit: 1, period_s: 1}
";
        let expected = [
            (Code::ActionMissing, "rate_limits.sign_in[0].action"),
            (Code::LimitBelowOne, "rate_limits.sign_in[0].limit"),
            (Code::WrongType, "rate_limits.sign_in[0].period_s"),
            (Code::UnknownField, "rate_limits.sign_in[1].wat"),
            (Code::SkipTakesNoNumbers, "rate_limits.sign_in[1].limit"),
            (Code::DuplicateRuleName, "rate_limits.sign_in[1].name"),
            (Code::ActionUnknown, "rate_limits.sign_in[2].action"),
            (Code::MatcherBareList, "rate_limits.sign_in[2].match.ip[0]"),
        ];
        let found = codes(text);
        for (code, path) in expected {
            assert!(found.contains(&(code, path.to_owned())), "{code} at {path} in {found:?}");
        }
        assert_eq!(found.len(), expected.len(), "{found:?}");
    }

    #[test]
    fn integers_beyond_64_bits_are_out_of_range() {
        let rule = |numbers: &str| codes(&format!("a: [{{name: r, action: limit, {numbers}}}]"))[0].0;
        assert_eq!(rule("limit: 1, period_s: 18446744073709551616"), Code::PeriodAboveMax);
        assert_eq!(rule("limit: -99999999999999999999, period_s: 1"), Code::LimitBelowOne);
        assert_eq!(rule("limit: 99999999999999999999, period_s: 1"), Code::WrongType);
    }

    #[test]
    fn yaml_is_1_2_and_keys_are_unique() {
        let text = "sign_in: [{name: a, action: limit, limit: 1, period_s: 1, match: {on: yes}}]";
        let read = read_rate_limits(text).expect("a good document");
        assert_eq!(read[0].rules[0].matchers, vec![("on".to_owned(), MatcherSpec::eq("yes"))]);
        assert_eq!(codes("{a: [], a: []}")[0].0, Code::DuplicateKey);
        let json = r#"{"a": [{"name": "r", "action": "limit", "limit": 1, "limit": 100, "period_s": 60}]}"#;
        assert_eq!(codes(json)[0].0, Code::DuplicateKey);
        assert_eq!(codes(r#"{"a": [], "a": []}"#)[0].0, Code::DuplicateKey);
        assert_eq!(codes("a: [null]"), [(Code::WrongType, "rate_limits.a[0]".to_owned())]);
        assert_eq!(codes("x: &x {a: []}\nb: {<<: *x}")[0].0, Code::MergeKey);
        assert_eq!(codes("a: [")[0].0, Code::YamlSyntax);
        assert_eq!(codes("[1]")[0].0, Code::WrongType);
        assert!(read_rate_limits("").expect("an empty document").is_empty());
    }
}
