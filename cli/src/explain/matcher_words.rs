//! Matchers in words, to stand behind "must".

use crate::printable::excerpt;
use labkit_ratelimit::{MatcherSpec, Scalar};
use serde_json::Value as Json;

/// The most members of a list that are named.
const NAMED: usize = 6;

/// `be "GET"`, `begin with "/api/"`, `be an address in 10.0.0.0/8`, `not (be none of 1, 2)`.
pub(super) fn words(matcher: &MatcherSpec) -> String {
    match matcher {
        MatcherSpec::Scalar(value) => format!("be {}", scalar(value)),
        MatcherSpec::BadScalar(what) => format!("be {what}"),
        MatcherSpec::Pattern(_) => "match a pattern of the host".into(),
        MatcherSpec::Map(pairs) => pairs.iter().map(|(marker, operand)| marked(marker, operand)).collect(),
        MatcherSpec::List(entries) => match entries.as_slice() {
            [only] => words(only),
            several => several.iter().map(part).collect::<Vec<_>>().join(" and "),
        },
    }
}

/// One of several: in brackets where it is several itself.
fn part(matcher: &MatcherSpec) -> String {
    match matcher {
        MatcherSpec::List(entries) if entries.len() > 1 => bracketed(matcher),
        _ => words(matcher),
    }
}

fn bracketed(matcher: &MatcherSpec) -> String {
    format!("({})", words(matcher))
}

fn marked(marker: &str, operand: &MatcherSpec) -> String {
    match marker {
        "eq" => words(operand),
        "ne" => format!("not {}", words(operand)),
        "regex" | "re" => format!("match {}", pattern(operand)),
        "nre" => format!("not match {}", pattern(operand)),
        "one_of" | "oneOf" => format!("be one of {}", list(operand)),
        "none_of" | "noneOf" => format!("be none of {}", list(operand)),
        // What it turns round ends with its bracket.
        "not" => format!("not {}", bracketed(operand)),
        "prefix" => format!("begin with {}", list(operand)),
        "cidr" => format!("be an address in {}", networks(operand)),
        other => format!("{other} {}", list(operand)),
    }
}

/// A value as rules write it: `"GET"`, `7`, `absent`.
fn scalar(value: &Scalar) -> String {
    match value {
        Scalar::Null => "absent".into(),
        Scalar::Bool(flag) => flag.to_string(),
        Scalar::Int(n) => n.to_string(),
        Scalar::Float(n) => Json::from(*n).to_string(),
        Scalar::Text(text) => format!("\"{}\"", excerpt(text.as_bytes())),
        Scalar::Bytes(bytes) => format!("\"{}\"", excerpt(bytes)),
    }
}

fn pattern(operand: &MatcherSpec) -> String {
    match operand {
        MatcherSpec::Scalar(Scalar::Text(text)) => format!("/{}/", excerpt(text.as_bytes())),
        _ => "a pattern of the host".into(),
    }
}

fn list(operand: &MatcherSpec) -> String {
    joined(operand, scalar)
}

fn networks(operand: &MatcherSpec) -> String {
    joined(operand, |value| match value {
        Scalar::Text(text) => excerpt(text.as_bytes()),
        other => scalar(other),
    })
}

fn joined(operand: &MatcherSpec, shown: impl Fn(&Scalar) -> String) -> String {
    let entries = match operand {
        MatcherSpec::List(entries) => entries.as_slice(),
        single => std::slice::from_ref(single),
    };
    let name = |entry: &MatcherSpec| match entry {
        MatcherSpec::Scalar(value) => shown(value),
        other => words(other),
    };
    let mut named: Vec<String> = entries.iter().take(NAMED).map(name).collect();
    match entries.len() {
        0 => named.push("nothing".into()),
        n if n > NAMED => named.push(format!("{} more", n - NAMED)),
        _ => {}
    }
    named.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use labkit_ratelimit_documents::{Documents, Source};

    /// The words for a matcher that a document has.
    fn of(matcher: &str) -> String {
        let text = format!("web: [{{name: a, action: log, match: {{p: {matcher}}}, limit: 1, period_s: 1}}]");
        let catalog = Documents::new().rate_limits(Source::new("a.yaml", text)).read().expect(matcher);
        let rules = catalog.limiter("web").expect("a limiter").rules();
        words(&rules[0].matchers[0].1)
    }

    #[test]
    fn every_marker_has_words() {
        for (matcher, expected) in [
            ("GET", "be \"GET\""),
            ("7", "be 7"),
            ("null", "be absent"),
            ("{eq: 1.5}", "be 1.5"),
            ("{ne: true}", "not be true"),
            ("{regex: '^/a'}", "match /^/a/"),
            ("{nre: b}", "not match /b/"),
            ("{one_of: [GET, null]}", "be one of \"GET\", absent"),
            ("{one_of: []}", "be one of nothing"),
            ("{none_of: [1, 2]}", "be none of 1, 2"),
            ("{one_of: [1, 2, 3, 4, 5, 6, 7, 8]}", "be one of 1, 2, 3, 4, 5, 6, 2 more"),
            ("{not: {prefix: /a}}", "not (begin with \"/a\")"),
            ("{not: [{prefix: /a}, {ne: /ab}]}", "not (begin with \"/a\" and not be \"/ab\")"),
            ("{not: {not: {ne: a}}}", "not (not (not be \"a\"))"),
            ("{not: {none_of: [a, b]}}", "not (be none of \"a\", \"b\")"),
            ("[{not: [{ne: a}, {prefix: b}]}, {nre: c}]", "not (not be \"a\" and begin with \"b\") and not match /c/"),
            ("{not: [{prefix: a}]}", "not (begin with \"a\")"),
            ("{cidr: 10.0.0.0/8}", "be an address in 10.0.0.0/8"),
            ("{cidr: [10.0.0.0/8, '::1']}", "be an address in 10.0.0.0/8, ::1"),
            ("[{regex: '.'}, {ne: GET}]", "match /./ and not be \"GET\""),
        ] {
            assert_eq!(of(matcher), expected, "{matcher}");
        }
    }
}
