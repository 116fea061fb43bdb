//! Documents that are to cost much: deep, long, many, repeated.

use std::fmt::Write;

const MIB: usize = 1 << 20;
/// The largest document, less what stands around a bomb.
const FULL: usize = 10 * MIB - 100;

/// The documents of a case.
#[derive(Default)]
pub(crate) struct Papers {
    pub(crate) contract: Option<String>,
    pub(crate) files: Vec<String>,
}

/// A bomb that can be made in several sizes.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Its whole size, in whatever unit.
    pub(crate) size: usize,
    /// How what comes of it begins: a code, or `ok`.
    pub(crate) outcome: &'static str,
    pub(crate) make: Box<dyn Fn(usize) -> Papers + Sync>,
}

fn case(
    name: &'static str,
    size: usize,
    outcome: &'static str,
    make: impl Fn(usize) -> Papers + Sync + 'static,
) -> Case {
    Case { name, size, outcome, make: Box::new(make) }
}

fn file(text: impl Into<String>) -> Papers {
    Papers { contract: None, files: vec![text.into()] }
}

/// Repeated until it is so many bytes.
fn filled(head: &str, unit: &str, tail: &str, bytes: usize) -> Papers {
    file(format!("{head}{}{tail}", unit.repeat(bytes.saturating_sub(head.len() + tail.len()) / unit.len())))
}

/// One line for each number.
fn numbered(head: &str, count: usize, line: impl Fn(usize, &mut String)) -> String {
    let mut text = head.to_owned();
    (0..count).for_each(|i| line(i, &mut text));
    text
}

macro_rules! lines {
    ($head:expr, $count:expr, $($format:tt)*) => {
        numbered($head, $count, |i, text| {
            let _ = i;
            writeln!(text, $($format)*, i = i).expect("a text takes it");
        })
    };
}

fn contract_and(contract: String, rules: String) -> Papers {
    Papers { contract: Some(contract), files: vec![rules] }
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = syntax();
    cases.extend(aliases());
    cases.extend(many());
    cases.extend(against_contracts());
    cases.extend(patterns());
    cases
}

fn syntax() -> Vec<Case> {
    let mut cases = vec![
        case("10 MiB of [", FULL, "yaml_syntax", |n| filled("", "[", "", n)),
        case("10 MiB of {", FULL, "yaml_syntax", |n| filled("", "{", "", n)),
        case("10 MiB of [{a:", FULL, "yaml_syntax", |n| filled("", "[{a: ", "", n)),
        case("20,000 levels in brackets", 20_000, "yaml_syntax", |n| {
            file(format!("{}{}", "[".repeat(n), "]".repeat(n)))
        }),
        case("20,000 levels in braces", 20_000, "yaml_syntax", |n| {
            file(format!("{}1{}", "{a: ".repeat(n), "}".repeat(n)))
        }),
        case("20,000 levels of dashes", 20_000, "yaml_syntax", |n| file("- ".repeat(n))),
        case("20,000 levels of ?", 20_000, "yaml_syntax", |n| file("? ".repeat(n))),
        case("20,000 levels, mixed", 20_000, "yaml_syntax", |n| file(format!("- {}", "- a: [{b: ".repeat(n / 4)))),
        case("4,000 levels by indentation", 4_000, "yaml_syntax", |n| {
            file(numbered("", n, |i, text| writeln!(text, "{}a:", " ".repeat(i)).expect("a text takes it")))
        }),
        case("10 MiB of one plain text", FULL, "wrong_type", |n| filled("", "a", "", n)),
        case("10 MiB of one plain text in many lines", FULL, "wrong_type", |n| filled("", "a\n", "", n)),
        case("10 MiB of one text in double quotes", FULL, "wrong_type", |n| filled("\"", "a", "\"", n)),
        case("10 MiB of escapes", FULL, "wrong_type", |n| filled("\"", "\\x41", "\"", n)),
        case("10 MiB of folded lines in quotes", FULL, "wrong_type", |n| filled("\"", "\n", "\"", n)),
        case("10 MiB of one text in single quotes", FULL, "wrong_type", |n| filled("'", "''", "'", n)),
        case("10 MiB of a quote that never ends", FULL, "yaml_syntax", |n| filled("'", "''", "", n)),
        case("10 MiB of a block of lines", FULL, "wrong_type", |n| filled("|\n", " a\n", "", n)),
        case("10 MiB of a folded block", FULL, "wrong_type", |n| filled(">\n", " a\n\n", "", n)),
        case("10 MiB of spaces", FULL, "ok", |n| filled("", " ", "", n)),
        case("10 MiB of spaces before a dash", FULL, "wrong_type", |n| filled("", " ", "- a", n)),
        case("10 MiB of line ends", FULL, "ok", |n| filled("", "\n", "", n)),
        case("10 MiB of comments", FULL, "ok", |n| filled("", "#\n", "", n)),
        case("10 MiB of one comment", FULL, "ok", |n| filled("", "#", "", n)),
        case("10 MiB of a key", FULL, "yaml_syntax", |n| filled("{\"", "k", "\": 1}", n)),
        case("10 MiB of digits", FULL, "wrong_type", |n| {
            filled("a: [{name: a, action: limit, period_s: 1, limit: ", "9", "}]", n)
        }),
        case("10 MiB of a tag", FULL, "yaml_syntax", |n| filled("!", "a", " b", n)),
        case("10 MiB of an anchor", FULL, "wrong_type", |n| filled("&", "a", " b", n)),
        case("10 MiB of commas", FULL, "yaml_syntax", |n| filled("[", ",", "]", n)),
        case("10 MiB of colons", FULL, "", |n| filled("{", ":", "}", n)),
        case("10 MiB of question marks", FULL, "", |n| filled("{", "? ", "}", n)),
        case("10 MiB of pairs in a list", FULL, "", |n| filled("[", "a: b, ", "]", n)),
        case("10 MiB of documents", FULL, "yaml_syntax", |n| filled("", "--- a\n", "", n)),
        case("10 MiB of directives", FULL, "yaml_syntax", |n| filled("", "%X a\n", "a\n", n)),
        case("10 MiB of dashes", FULL, "", |n| filled("", "-", "", n)),
        case("10 MiB of tabs", FULL, "", |n| filled("", "\t", "", n)),
        case("10 MiB of emoji", FULL, "wrong_type", |n| filled("", "👩", "", n)),
        case("10 MiB of bytes that are refused", FULL, "yaml_syntax", |n| filled("a: ", "x", "\u{7f}", n)),
        case("more than 10 MiB", 11 * MIB, "document_too_large", |n| filled("", " ", "", n.max(10 * MIB + 1))),
    ];
    cases.push(case("10 MiB and 64 levels, again and again", FULL, "", |n| {
        let unit = format!("{}{},", "[".repeat(60), "]".repeat(60));
        filled("[", &unit, "]", n)
    }));
    cases
}

fn aliases() -> Vec<Case> {
    vec![
        case("nine lists of nine aliases each", 9, "yaml_syntax", |n| {
            let mut text = "a0: &a0 [x]\n".to_owned();
            for i in 1..=n.max(8) {
                let aliases = vec![format!("*a{}", i - 1); 9].join(", ");
                writeln!(text, "a{i}: &a{i} [{aliases}]").expect("a text takes it");
            }
            file(text)
        }),
        case("anchors within anchors", FULL, "", |n| {
            let opened = numbered("", 60, |i, text| write!(text, "&a{i} [").expect("a text takes it"));
            filled("[", &format!("{opened}x{},\n", "]".repeat(60)), "]", n)
        }),
        case("a text of 1 KiB repeated a million times", 1_000_000, "yaml_syntax", |n| {
            file(format!("- &a {}\n{}", "x".repeat(1024), "- *a\n".repeat(n)))
        }),
        case("a short text repeated 300,000 times", 300_000, "wrong_type", |n| {
            file(format!("- &a x\n{}", "- *a\n".repeat(n)))
        }),
        case("a rule repeated 60,000 times", 60_000, "duplicate_rule_name", |n| {
            let rule = "- &a {name: a, action: limit, limit: 1, period_s: 1, characteristics: [ip]}\n";
            file(format!("x:\n{rule}{}", "- *a\n".repeat(n)))
        }),
        case("300,000 anchors", 300_000, "wrong_type", |n| file(lines!("", n, "- &a{i} x"))),
    ]
}

fn many() -> Vec<Case> {
    let good = "{name: a{i}, action: limit, limit: 1, period_s: 1}";
    assert!(good.len() < 64, "a rule is short");
    vec![
        case("a million keys alike", 450_000, "duplicate_key", |n| file("a: 1\n".repeat(n))),
        case("keys alike under long keys", 100_000, "duplicate_key", |n| {
            let nested = format!("{{\"{}\": ", "k".repeat(250)).repeat(60);
            file(format!("{nested}{{{}}}{}", "a: 1, ".repeat(n), "}".repeat(60)))
        }),
        case("450,000 merge keys", 450_000, "merge_key", |n| file("<<: 1\n".repeat(n))),
        case("300,000 limiters", 300_000, "ok", |n| file(lines!("", n, "l{i}: []"))),
        case("300,000 limiters that are none", 300_000, "wrong_type", |n| file(lines!("", n, "l{i}: 1"))),
        case("300,000 names that are none", 300_000, "name_invalid", |n| file(lines!("", n, "L-{i}: []"))),
        case("100,000 limiters with a bad rule each", 100_000, "action_missing", |n| {
            file(lines!("", n, "l{i}: [{{nane: a}}]"))
        }),
        case("900,000 rules that are none", 900_000, "wrong_type", |n| file(format!("x: [{}]", "1,".repeat(n)))),
        case("300,000 rules without a thing in them", 300_000, "action_missing", |n| {
            file(format!("x: [{}]", "{},".repeat(n)))
        }),
        case("100,000 rules, each with several findings", 100_000, "limit_requires_threshold", |n| {
            file(lines!("x:\n", n, "- {{name: A{i}, action: lmit, limt: 0}}"))
        }),
        case("80,000 good rules", 80_000, "ok", |n| {
            file(lines!("x:\n", n, "- {{name: a{i}, action: limit, limit: 1, period_s: 1}}"))
        }),
        case("75,000 good rules with a matcher each", 75_000, "ok", |n| {
            file(lines!("x:\n", n, "- {{name: a{i}, action: limit, limit: 1, period_s: 1, match: {{a: {i}}}}}"))
        }),
        case("100,000 rules that end the chain", 100_000, "ok", |n| {
            file(lines!("x:\n", n, "- {{name: a{i}, action: skip, match: {{a: {i}}}}}"))
        }),
        case("100,000 rules behind one that ends the chain", 100_000, "ok:10000", |n| {
            file(lines!("x:\n- {name: all, action: skip}\n", n, "- {{name: a{i}, action: skip}}"))
        }),
        case("rules that end the chain, with long lists alike", 1_500, "ok", |n| {
            let list = "a,".repeat(500);
            file(lines!(
                "x:\n",
                n,
                "- {{name: a{i}, action: skip, match: {{a: {{one_of: [{list}{i}]}}}}}}",
                list = list
            ))
        }),
        case("100,000 rules of one name", 100_000, "duplicate_rule_name", |n| {
            file(lines!("x:\n", n, "- {{name: a, action: skip, match: {{a: {i}}}}}"))
        }),
        case("rules behind one with a name of 4 MiB", 80_000, "name_invalid", |n| {
            let first = format!("x:\n- {{name: \"{}\", action: skip}}\n", "A".repeat(n * 50));
            file(lines!(&first, n, "- {{name: a{i}, action: skip}}"))
        }),
        case("a rule of a million unknown fields", 480_000, "unknown_field", |n| {
            file(lines!("x:\n- {\n", n, "x{i}: 1,") + "}")
        }),
        case("characteristics, 900,000 alike", 900_000, "duplicate_characteristic", |n| {
            file(format!(
                "x: [{{name: a, action: limit, limit: 1, period_s: 1, characteristics: [{}]}}]",
                "ip,".repeat(n)
            ))
        }),
        case("characteristics, 900,000 that are none", 900_000, "wrong_type", |n| {
            file(format!(
                "x: [{{name: a, action: limit, limit: 1, period_s: 1, characteristics: [{}]}}]",
                "1,".repeat(n)
            ))
        }),
        case("one_of with 400,000 maps", 400_000, "matcher_bad_value", |n| {
            file(format!("x: [{{name: a, action: skip, match: {{a: {{one_of: [{}]}}}}}}]", "{},".repeat(n)))
        }),
        case("900,000 networks that are none", 900_000, "matcher_bad_cidr", |n| {
            file(format!("x: [{{name: a, action: skip, match: {{a: {{cidr: [{}]}}}}}}]", "x,".repeat(n)))
        }),
        case("one_of with 900,000 members", 900_000, "ok", |n| {
            file(format!("x: [{{name: a, action: skip, match: {{a: {{one_of: [{}]}}}}}}]", "x,".repeat(n)))
        }),
        case("150,000 bad overrides", 150_000, "limit_below_one", |n| {
            let overrides = "{limit: 0, burst: 1},".repeat(n);
            file(format!("x: [{{name: a, action: limit, limit: 1, period_s: 1, overrides: [{overrides}]}}]"))
        }),
        case("a match of 200,000 properties", 200_000, "ok", |n| {
            file(lines!("x:\n- name: a\n  action: skip\n  match:\n", n, "    p{i}: 1"))
        }),
        case("two files with the same 40,000 rules", 40_000, "ok", |n| {
            let text = lines!("x:\n", n, "- {{name: a{i}, action: skip, match: {{a: {i}}}}}");
            Papers { contract: None, files: vec![text.clone(), text] }
        }),
    ]
}

fn against_contracts() -> Vec<Case> {
    let limiter = |properties: &str, skips: &str, rules: &str| {
        format!(
            "x:\n  description: x\n  available_properties: [{properties}]\n  allowed_skip_rules: [{skips}]\n  default_rules:\n{rules}"
        )
    };
    vec![
        case("100,000 limiters of a contract", 100_000, "ok", |n| {
            contract_and(lines!("", n, "l{i}: {{description: x}}"), lines!("", n, "l{i}: []"))
        }),
        case("100,000 limiters of a contract, 100,000 others", 100_000, "unknown_limiter", |n| {
            contract_and(lines!("", n, "l{i}: {{description: x}}"), lines!("", n, "m{i}: []"))
        }),
        case("100,000 limiters without a description", 100_000, "description_missing", |n| {
            contract_and(lines!("", n, "l{i}: {{}}"), String::new())
        }),
        case("80,000 properties, 80,000 others", 80_000, "unknown_property", move |n| {
            let properties = lines!("", n, "p{i},");
            contract_and(
                limiter(&properties, "", "    []\n"),
                lines!("x:\n", n, "- {{name: a{i}, action: log, limit: 1, period_s: 1, characteristics: [q{i}]}}"),
            )
        }),
        case("80,000 properties, all of them asked for", 80_000, "ok", move |n| {
            let properties = lines!("", n, "p{i},");
            contract_and(
                limiter(&properties, "", "    []\n"),
                lines!("x:\n", n, "- {{name: a{i}, action: log, limit: 1, period_s: 1, characteristics: [p{i}]}}"),
            )
        }),
        case("100,000 skip rules that are allowed", 100_000, "ok", move |n| {
            let names = lines!("", n, "a{i},");
            contract_and(
                limiter("p", &names, "    []\n"),
                lines!("x:\n", n, "- {{name: a{i}, action: skip, match: {{p: {i}}}}}"),
            )
        }),
        case("100,000 skip rules that are not", 100_000, "skip_not_allowed", move |n| {
            contract_and(
                limiter("p", "b", "    []\n"),
                lines!("x:\n", n, "- {{name: a{i}, action: skip, match: {{p: {i}}}}}"),
            )
        }),
        case("800,000 properties that are none", 800_000, "property_invalid", move |n| {
            contract_and(limiter(&"9,".repeat(n).replace('9', "'9'"), "", "    []\n"), String::new())
        }),
        case("60,000 defaults and as many in their place", 60_000, "ok:10000", move |n| {
            let defaults = lines!("", n, "    - {{name: a{i}, action: limit, limit: 100, period_s: 1}}");
            contract_and(
                limiter("p", "", &defaults),
                lines!("x:\n", n, "- {{name: a{i}, action: limit, limit: 1, period_s: 1}}"),
            )
        }),
    ]
}

fn patterns() -> Vec<Case> {
    let rules = |n: usize, pattern: &'static str| {
        file(lines!(
            "x:\n",
            n,
            "- {{name: a{i}, action: skip, match: {{p: {{regex: '{pattern}'}}}}}}",
            pattern = pattern
        ))
    };
    vec![
        case(r"20,000 times (a{1000}){1000}", 20_000, "matcher_bad_regex", move |n| rules(n, "(a{1000}){1000}")),
        case(r"20,000 times \pL{5000}", 20_000, "matcher_bad_regex", move |n| rules(n, r"\pL{5000}")),
        case(r"20,000 times \pL{100}", 20_000, "matcher_bad_regex", move |n| rules(n, r"\pL{100}")),
        case(r"20,000 times \w{1,64}", 20_000, "matcher_bad_regex", move |n| rules(n, r"^\w{1,64}$")),
        case(r"20,000 times (?i)[\pL\d]+", 20_000, "", move |n| rules(n, r"(?i)^[\pL\d]+$")),
        case("15,000 times ^/api/v[0-9]+/", 15_000, "ok", move |n| rules(n, "^/api/v[0-9]+/")),
        case("60,000 times ^/api/v[0-9]+/", 60_000, "", move |n| rules(n, "^/api/v[0-9]+/")),
        case(r"one rule with 24 times \w{200}", 24, "ok", |n| {
            let patterns = vec![r"{regex: '\w{200}'}"; n].join(", ");
            file(format!("x: [{{name: a, action: skip, match: {{p: [{patterns}]}}}}]"))
        }),
        case("10 MiB of classes in one pattern", FULL, "matcher_bad_regex", |n| {
            filled("x: [{name: a, action: skip, match: {p: {regex: '", r"\pL", "'}}}]", n)
        }),
        case("10 MiB of alternatives in one pattern", FULL, "matcher_bad_regex", |n| {
            filled("x: [{name: a, action: skip, match: {p: {regex: '", "a|", "'}}}]", n)
        }),
        case("10 MiB of letters in one pattern", FULL, "matcher_bad_regex", |n| {
            filled("x: [{name: a, action: skip, match: {p: {regex: '", "a", "'}}}]", n)
        }),
        case("10 MiB of parentheses in one pattern", FULL, "matcher_bad_regex", |n| {
            filled("x: [{name: a, action: skip, match: {p: {regex: '", "(", "'}}}]", n)
        }),
        case("2 MiB of ranges in one class", 2 * MIB, "", |n| {
            filled("x: [{name: a, action: skip, match: {p: {regex: '[", "a-bc-d", "]'}}}]", n)
        }),
    ]
}
