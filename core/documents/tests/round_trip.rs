//! A message is the same message again from YAML, from JSON and from protobuf's bytes, whatever its texts and numbers
//! are; and so are the texts.
//!
//! `LABKIT_DOCUMENTS_STEPS` (10,000) messages of all four kinds together, `LABKIT_DOCUMENTS_SEED` (of the day) starts
//! them.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod random;

use fastrand::Rng;
use labkit_ratelimit_documents::Source;
use labkit_ratelimit_documents::message::{AvailableLimiters, Document, LimiterRules, PublishRulesRequest, RateLimits};
use random::Random;
use std::fmt::Debug;

fn read<D: Document>(text: &str) -> D {
    let source = Source::new("text", text);
    D::read(&source).unwrap_or_else(|findings| panic!("{findings}\n{}", shown(text)))
}

/// The text, with what cannot be seen made visible.
fn shown(text: &str) -> String {
    text.lines().map(|line| format!("{line:?}")).collect::<Vec<_>>().join("\n")
}

fn survives<D: Document + Random + PartialEq + Debug>(seed: u64) {
    let message = D::random(&mut Rng::with_seed(seed));
    let findings = message.check();
    assert!(findings.is_empty(), "seed {seed}: no valid message was made: {findings}");
    let bytes = message.encode_to_vec();
    let (yaml, json) = (message.to_yaml(), message.to_json());
    // Bytes tell -0.0 from 0.0; messages do not.
    let same = |other: &D, how: &str, text: &str| {
        assert!(
            *other == message && other.encode_to_vec() == bytes,
            "seed {seed}: {how} tells another message:\n{}",
            shown(text)
        );
    };
    let from_yaml: D = read(&yaml);
    same(&from_yaml, "YAML", &yaml);
    let from_json: D = read(&from_yaml.to_json());
    same(&from_json, "JSON", &json);
    same(&D::decode(bytes.as_slice()).expect("the bytes of a message"), "protobuf", "");
    assert_eq!(from_yaml.to_json(), json, "seed {seed}");
    assert_eq!(from_json.to_yaml(), yaml, "seed {seed}");
    assert!(!json.contains('\n'), "seed {seed}: JSON takes one line");
}

#[test]
fn what_is_written_is_what_is_read() {
    let first = random::seed("LABKIT_DOCUMENTS_SEED").wrapping_mul(1 << 32);
    let steps = random::variable("LABKIT_DOCUMENTS_STEPS").unwrap_or(10_000);
    for seed in first..first + steps.div_ceil(4) {
        survives::<RateLimits>(seed);
        survives::<AvailableLimiters>(seed);
        survives::<PublishRulesRequest>(seed);
        survives::<LimiterRules>(seed);
    }
}

/// Levels of maps and lists in a matcher of JSON.
fn levels(matcher: &serde_json::Value) -> usize {
    match matcher {
        serde_json::Value::Array(entries) => 1 + entries.iter().map(levels).max().unwrap_or(0),
        serde_json::Value::Object(pairs) => 1 + pairs.values().map(levels).max().unwrap_or(0),
        _ => 0,
    }
}

#[test]
fn chance_makes_what_is_hard() {
    let mut random = Rng::with_seed(7);
    let texts: Vec<String> = (0..2_000).map(|_| random::text(&mut random)).collect();
    for part in ["\u{feff}", "\u{85}", "\r", "\n", "\u{7f}", "👩‍👩‍👧", "- ", "010", "~"] {
        assert!(texts.iter().any(|text| text.contains(part)), "{part:?} never comes");
    }
    assert!(texts.iter().any(|text| text.chars().count() == 200) && texts.iter().any(|text| text.starts_with(' ')));
    let deepest = |_| {
        let rule = random::rule(&mut random, "a".into());
        let list = labkit_ratelimit_documents::message::RuleList { rules: vec![rule] };
        let document = RateLimits { rate_limits: [("a".to_owned(), list)].into() };
        let json: serde_json::Value = serde_json::from_str(&document.to_json()).expect("JSON");
        let matchers = json["rate_limits"]["a"][0]["match"].as_object().cloned().unwrap_or_default();
        matchers.values().map(levels).max().unwrap_or(0)
    };
    assert_eq!((0..2_000).map(deepest).max(), Some(8), "matchers nest to the deepest level that there is");
}
