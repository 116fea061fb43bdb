//! The documents in `examples/` are valid for their contract, and the commented one shows everything that there is.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use labkit_ratelimit_documents::{Documents, Source};
use labkit_ratelimit_engine::{Code, MatcherSpec};
use std::path::PathBuf;

/// The fields of a rule.
const FIELDS: [&str; 13] = [
    "name",
    "description",
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
];

fn example(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

fn source(name: &str) -> Source {
    Source::read_file(example(name)).expect(name)
}

/// The warnings of the contract with these files behind it, each with its path.
fn warnings(files: &[&str]) -> Vec<(Code, String)> {
    let contract = Documents::new().available_limiters(source("available_limiters.yaml"));
    let documents = files.iter().fold(contract, |documents, file| documents.rate_limits(source(file)));
    let catalog = documents.read().unwrap_or_else(|findings| panic!("{files:?}\n{findings}"));
    catalog.warnings().iter().map(|warning| (warning.code, warning.path.clone())).collect()
}

fn shadows(path: &str) -> (Code, String) {
    (Code::DefaultShadowed, path.to_owned())
}

#[test]
fn the_examples_are_valid_and_warn_only_of_what_is_meant() {
    assert_eq!(warnings(&[]), []);
    assert_eq!(warnings(&["rack.rate_limits.yaml"]), []);
    assert_eq!(warnings(&["rack.stricter.rate_limits.yaml"]), []);
    let operators = ["rate_limits.sign_in[0].name", "rate_limits.pipelines_create[1].name"];
    assert_eq!(warnings(&["rate_limits.yaml"]), operators.map(shadows));
    assert_eq!(warnings(&["rate_limits.example.yaml"]), [shadows("rate_limits.sign_in[2].name")]);
}

#[test]
fn the_commented_example_shows_every_field_and_marker() {
    let text = std::fs::read_to_string(example("rate_limits.example.yaml")).expect("the commented example");
    // What stands in a comment is not shown, only spoken of.
    let shown: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split('#').next())
        .flat_map(|line| line.split([' ', '{', '[']))
        .filter_map(|word| word.strip_suffix(':'))
        .collect();
    let missing: Vec<&str> =
        FIELDS.into_iter().chain(MatcherSpec::MARKERS).filter(|key| !shown.contains(key)).collect();
    assert_eq!(missing, Vec::<&str>::new(), "not shown in rate_limits.example.yaml");
}
