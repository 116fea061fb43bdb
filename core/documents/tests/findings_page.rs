//! `docs/findings.md` names every code, and its examples are examples: each is read here and must be found wrong as it says.
//!
//! After a code was added: write its row in `ROWS`, then `LABKIT_REGENERATE=1 cargo test -p labkit-ratelimit-documents --test findings_page`.

use Example::{Document, Later, Rule};
use labkit_ratelimit_documents::{MAX_BYTES, read_rate_limits};
use labkit_ratelimit_engine::Code;
use std::fmt::Write;
use std::path::Path;

/// What is wrong, as it is written.
enum Example {
    /// One rule of a limiter.
    Rule(&'static str),
    /// A whole document.
    Document(&'static str),
    /// In a document, or a place, that nothing reads yet.
    Later(&'static str),
}

const ROWS: &[(Code, &str, Example)] = &[
    (Code::LimitBelowOne, "the limit is 0 or negative", Rule("{name: a, action: limit, limit: 0, period_s: 60}")),
    (Code::PeriodBelowOne, "the period is 0 or negative", Rule("{name: a, action: limit, limit: 1, period_s: 0}")),
    (
        Code::PeriodAboveMax,
        "the period is longer than 366 days",
        Rule("{name: a, action: limit, limit: 1, period_s: 31622401}"),
    ),
    (
        Code::BanBelowOne,
        "the ban is 0 or negative",
        Rule("{name: a, action: limit, limit: 1, period_s: 60, ban_for_s: 0}"),
    ),
    (
        Code::BurstBelowOne,
        "the burst is 0 or negative",
        Rule("{name: a, action: limit, limit: 1, period_s: 60, algorithm: gcra, burst: 0}"),
    ),
    (
        Code::LimitRequiresThreshold,
        "a rule that counts lacks its limit or its period",
        Rule("{name: a, action: limit, limit: 10}"),
    ),
    (
        Code::BanExcludesCountDistinct,
        "a rule that counts distinct values has a ban",
        Rule("{name: a, action: limit, limit: 1, period_s: 60, count_distinct: project, ban_for_s: 60}"),
    ),
    (
        Code::BanRequiresThreshold,
        "there is a ban, and no limit that could be crossed",
        Rule("{name: a, action: limit, ban_for_s: 60}"),
    ),
    (
        Code::BurstRequiresGcra,
        "a window has a burst",
        Rule("{name: a, action: limit, limit: 1, period_s: 60, burst: 5}"),
    ),
    (
        Code::GcraExcludesCountDistinct,
        "GCRA is to count distinct values",
        Rule("{name: a, action: limit, limit: 1, period_s: 60, algorithm: gcra, count_distinct: project}"),
    ),
    (
        Code::GcraOutOfRange,
        "the numbers of a GCRA rule are beyond exact arithmetic",
        Rule("{name: a, action: limit, limit: 1, period_s: 31622400, algorithm: gcra, burst: 2}"),
    ),
    (Code::NameMissing, "the rule has no name", Rule("{action: limit, limit: 1, period_s: 60}")),
    (
        Code::NameInvalid,
        "a limiter's or a rule's name holds other characters, or is too long",
        Rule("{name: Per User, action: limit, limit: 1, period_s: 60}"),
    ),
    (
        Code::DuplicateRuleName,
        "two rules of one limiter have one name",
        Rule("{name: a, action: skip}, {name: a, action: skip}"),
    ),
    (
        Code::PropertyInvalid,
        "the name of a property holds other characters, or is too long",
        Rule("{name: a, action: limit, limit: 1, period_s: 60, characteristics: [user-id]}"),
    ),
    (
        Code::DuplicateCharacteristic,
        "a characteristic is named twice",
        Rule("{name: a, action: limit, limit: 1, period_s: 60, characteristics: [ip, ip]}"),
    ),
    (
        Code::DistinctInCharacteristics,
        "the counted property is a characteristic too",
        Rule("{name: a, action: limit, limit: 1, period_s: 60, characteristics: [ip], count_distinct: ip}"),
    ),
    (Code::ActionMissing, "a rule in a file has no action", Rule("{name: a, limit: 1, period_s: 60}")),
    (Code::ActionUnknown, "there is no such action", Rule("{name: a, action: block, limit: 1, period_s: 60}")),
    (
        Code::AlgorithmUnknown,
        "there is no such algorithm",
        Rule("{name: a, action: limit, limit: 1, period_s: 60, algorithm: sliding}"),
    ),
    (Code::UnknownField, "there is no such field", Rule("{name: a, action: limit, limit: 1, period: 60}")),
    (
        Code::WrongType,
        "a value is of another type than its field takes, or does not fit it",
        Rule("{name: a, action: limit, limit: ten, period_s: 60}"),
    ),
    (
        Code::MatcherBareList,
        "a plain value, or a list, stands in a list of matchers",
        Rule("{name: a, action: skip, match: {method: [GET, HEAD]}}"),
    ),
    (
        Code::MatcherEmptyList,
        "a list of matchers, or `none_of`, is empty",
        Rule("{name: a, action: skip, match: {method: []}}"),
    ),
    (
        Code::MatcherTooDeep,
        "maps and lists nest more than 8 levels deep",
        Rule("{name: a, action: skip, match: {ip: {not: {not: {not: {not: {not: {not: {not: {not: {not: x}}}}}}}}}}}"),
    ),
    (
        Code::MatcherTwoMarkers,
        "one map holds two markers",
        Rule("{name: a, action: skip, match: {path: {prefix: /api, ne: /api/v4}}}"),
    ),
    (
        Code::MatcherUnknownMarker,
        "there is no such marker, or the map is empty",
        Rule("{name: a, action: skip, match: {path: {glob: '/api/*'}}}"),
    ),
    (
        Code::MatcherBadRegex,
        "the pattern does not compile",
        Rule("{name: a, action: skip, match: {path: {regex: '(?=api)'}}}"),
    ),
    (Code::MatcherBadCidr, "the text is no network", Rule("{name: a, action: skip, match: {ip: {cidr: 10.0.0.0/33}}}")),
    (
        Code::MatcherBadValue,
        "the marker's value is of another kind than it takes",
        Rule("{name: a, action: skip, match: {path: {prefix: 5}}}"),
    ),
    (Code::OptionInvalid, "an option has a value that it does not know", Later("evaluation: sometimes")),
    (Code::SkipTakesNoNumbers, "a skip rule in a file has a number", Rule("{name: a, action: skip, limit: 1}")),
    (Code::UnknownLimiter, "a document names a limiter that does not exist", Later("rate_limits: {sing_in: []}")),
    (Code::UnknownProperty, "a rule names a property that the limiter does not offer", Later("characteristics: [usr]")),
    (
        Code::SkipNotAllowed,
        "a skip rule outside the defaults is not among `allowed_skip_rules`",
        Later("{name: bypass, action: skip}"),
    ),
    (Code::DescriptionMissing, "a limiter of `available_limiters` has no description", Later("description: ''")),
    (
        Code::DistinctChangeNeedsNewName,
        "`count_distinct` was added to a rule, or taken away, under the same name",
        Later("{name: a, …, count_distinct: project} in the place of {name: a, …}"),
    ),
    (Code::YamlSyntax, "the document is neither YAML nor JSON", Document("rate_limits: [")),
    (Code::NotUtf8, "the file is in another encoding", Later("a file saved as Latin-1")),
    (Code::MergeKey, "the document holds a merge key", Document("{a: &a {rules: []}, b: {<<: *a}}")),
    (Code::DuplicateKey, "a key stands twice in one map", Document("{sign_in: [], sign_in: []}")),
    (Code::DocumentTooLarge, "the document has more than 10 MiB", Later("a file of 11 MiB")),
];

const HEAD: &str = "# Findings

What can be wrong with rules and documents. The codes are stable, and the same in every language. A finding names its code, the path of the
field and the value; the last column is the hint that it ends with.

This page is made from the codes in `core/engine/src/finding.rs` and the rows in `core/documents/tests/findings_page.rs`; that test
reads each example and fails unless it is found wrong as it says. † marks what nothing reads yet: its example is not run.

| code | cause | example | mend |
|---|---|---|---|
";

#[test]
fn every_code_has_its_row() {
    let rows: Vec<Code> = ROWS.iter().map(|(code, ..)| *code).collect();
    assert_eq!(rows, Code::ALL, "one row for each code, in the order of `Code::ALL`");
}

#[test]
fn examples_are_wrong_as_they_say() {
    for (code, _, example) in ROWS {
        let document = match example {
            Rule(rule) => format!("rate_limits: {{sign_in: [{rule}]}}"),
            Document(text) => (*text).to_owned(),
            Later(_) => continue,
        };
        let findings = read_rate_limits(&document).expect_err(code.as_str());
        assert!(findings.iter().any(|finding| finding.code == *code), "{code}: {document}\n{findings}");
    }
    let large = read_rate_limits(&" ".repeat(MAX_BYTES + 1)).expect_err("a document beyond the maximum");
    assert!(large.iter().any(|finding| finding.code == Code::DocumentTooLarge));
}

#[test]
fn the_page_is_up_to_date() {
    let mut page = HEAD.to_owned();
    for (code, cause, example) in ROWS {
        let (example, mark) = match example {
            Rule(text) | Document(text) => (text, ""),
            Later(text) => (text, " †"),
        };
        let mend = code.mend();
        writeln!(page, "| <a id=\"{code}\"></a>`{code}` | {cause} | `{example}`{mark} | {mend} |").expect("text");
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/findings.md");
    if std::env::var_os("LABKIT_REGENERATE").is_some() {
        std::fs::write(&file, &page).expect("docs/findings.md can be written");
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        found == page,
        "docs/findings.md is stale: run this test with LABKIT_REGENERATE=1 and commit what it writes"
    );
}
