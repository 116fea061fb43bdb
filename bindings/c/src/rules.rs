//! Rules as a host writes them, in JSON, with what JSON lacks.

use labkit_ratelimit::{
    CallableId, Code, Dialect, Finding, Findings, HostValues, MatcherSpec, NoHostValues, NumberSpec, PatternId,
    RuleSpec, Scalar, read_rule,
};
use serde_json::Value as Json;

/// The rules of a limiter, in chain order; mistakes in how they are written go to `findings`.
pub(crate) fn read(rules: &[Json], findings: &mut Findings) -> Vec<RuleSpec> {
    let mut specs = Vec::with_capacity(rules.len());
    for (at, rule) in rules.iter().enumerate() {
        let draft = match tag(rule) {
            Some(("$json", text)) => match text.as_str().map(serde_json::from_str::<Json>) {
                Some(Ok(rule)) => read_rule(&rule, Dialect::Code, &mut NoHostValues),
                odd => {
                    let why = odd.and_then(Result::err).map_or_else(|| "no text".to_owned(), |error| error.to_string());
                    let message = format!("a rule is a JSON map, and this is none: {why}");
                    findings.push(Finding::new(Code::WrongType, format!("rules[{at}]"), message));
                    specs.push(RuleSpec::default());
                    continue;
                }
            },
            _ => read_rule(rule, Dialect::Code, &mut Tags),
        };
        // What is wrong with a rule is said at once, whoever finds it.
        if !draft.findings.is_empty() {
            findings.extend_below(&format!("rules[{at}]"), draft.build().err().unwrap_or_default());
        }
        specs.push(draft.spec);
    }
    specs
}

/// Maps of one pair whose name starts with `$`: `$call` and `$pattern` (the number of a callable or a pattern of the
/// host), `$float` (`nan`, `inf`, `-inf`), `$bytes` (hex). A whole rule may be `$json`, its text, in which no such map means more
/// than it says.
struct Tags;

fn tag(value: &Json) -> Option<(&str, &Json)> {
    let map = value.as_object().filter(|map| map.len() == 1)?;
    map.iter().next().map(|(name, operand)| (name.as_str(), operand))
}

fn number_of(operand: &Json) -> Option<u32> {
    operand.as_u64().and_then(|n| u32::try_from(n).ok())
}

fn float(operand: &Json) -> Option<f64> {
    match operand.as_str()? {
        "nan" => Some(f64::NAN),
        "inf" => Some(f64::INFINITY),
        "-inf" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// Bytes of a text in hex.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

impl HostValues for Tags {
    fn number(&mut self, value: &Json) -> Option<NumberSpec> {
        match tag(value)? {
            ("$call", operand) => number_of(operand).map(|id| NumberSpec::Callable(CallableId(id))),
            ("$float", operand) => float(operand).map(NumberSpec::Float),
            _ => None,
        }
    }

    fn matcher(&mut self, value: &Json) -> Option<MatcherSpec> {
        match tag(value)? {
            ("$pattern", operand) => number_of(operand).map(|id| MatcherSpec::Pattern(PatternId(id))),
            ("$float", operand) => {
                let f = float(operand)?;
                Some(MatcherSpec::BadScalar(if f.is_nan() { "NaN".into() } else { "an infinite number".into() }))
            }
            ("$bad", operand) => Some(MatcherSpec::BadScalar(operand.as_str()?.to_owned())),
            ("$bytes", operand) => {
                let bytes = unhex(operand.as_str()?)?;
                let scalar = String::from_utf8(bytes).map_or_else(|bad| Scalar::Bytes(bad.into_bytes()), Scalar::Text);
                Some(MatcherSpec::Scalar(scalar))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_json_lacks_is_tagged() {
        let mut findings = Findings::default();
        let rule = json!({"name": "r", "limit": {"$call": 3}, "period_s": 60,
            "match": {"a": {"$pattern": 1}, "b": {"$bytes": "ff"}, "c": {"not": {"$bytes": "61"}}}});
        let rules = read(&[rule], &mut findings);
        assert!(findings.is_empty(), "{findings}");
        assert_eq!(rules[0].limit, NumberSpec::Callable(CallableId(3)));
        assert_eq!(rules[0].matchers[0].1, MatcherSpec::Pattern(PatternId(1)));
        assert_eq!(rules[0].matchers[1].1, MatcherSpec::Scalar(Scalar::Bytes(vec![0xff])));
        assert_eq!(rules[0].matchers[2].1, MatcherSpec::marker("not", "a"));
        let text = |text: &str| json!({"$json": text});
        let rules = read(&[text(r#"{"name": "r", "limit": 1, "period_s": 60}"#)], &mut findings);
        assert!(findings.is_empty() && rules[0].name == "r", "{findings}");
        let tagged = r#"{"name": "r", "limit": 1, "period_s": 60, "match": {"a": {"$pattern": 0}}}"#;
        assert_ne!(read(&[text(tagged)], &mut findings)[0].matchers[0].1, MatcherSpec::Pattern(PatternId(0)));
        for (odd, path) in [
            (text(r#"{"name": "r", "limit": {"$call": 0}, "period_s": 60}"#), "rules[0].limit"),
            (text(r#"{"name": "\ud800"}"#), "rules[0]"),
            (text("1e400"), "rules[0]"),
            (json!({"$json": 1}), "rules[0]"),
        ] {
            let mut findings = Findings::default();
            read(&[odd], &mut findings);
            assert_eq!(findings.iter().next().map(|f| f.path.as_str()), Some(path));
        }
        for odd in [json!({"$call": -1}), json!({"$call": "x"}), json!({"$float": "x"}), json!({"$pattern": 1})] {
            let mut findings = Findings::default();
            read(&[json!({"name": "r", "limit": odd, "period_s": 60})], &mut findings);
            assert_eq!(findings.iter().next().map(|f| f.path.as_str()), Some("rules[0].limit"));
        }
    }
}
