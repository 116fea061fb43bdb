//! The rules that `proto/` holds, as protovalidate's own engine evaluates them, and what the library says of the same
//! messages: they must agree, by way of `proto/findings.json`, on everything that the schema can express.
//!
//! `LABKIT_SCHEMA_MESSAGES` (10,000) random messages are compared, `LABKIT_SCHEMA_SEED` (of the day) starts them.
//! Go is needed; a missing one is a failure.

#![expect(clippy::expect_used, reason = "a test falls over what must be there")]

mod comparison;
mod draw;
mod message;
mod oracle;
mod table;

use comparison::Comparison;
use draw::Draw;
use labkit_ratelimit_documents::Source;
use labkit_ratelimit_documents::message::{AvailableLimiters, Document, RateLimits, Rule, RuleList};
use message::Message;
use oracle::{Violation, judge};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};
use std::{env, fs};

/// From so many random messages on, every row of the table must have been met.
const ENOUGH: u64 = 10_000;

fn setting(name: &str, default: u64) -> u64 {
    env::var(name).ok().map_or(default, |text| text.parse().expect("a whole number"))
}

/// The first seed, and how many there are.
fn seeds() -> (u64, u64) {
    let day = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs() / 86_400;
    (setting("LABKIT_SCHEMA_SEED", day * 1_000_000), setting("LABKIT_SCHEMA_MESSAGES", ENOUGH))
}

#[test]
fn the_engine_and_the_library_agree_on_random_messages() {
    let (first, count) = seeds();
    let messages: Vec<Message> = (first..first + count).map(Message::drawn).collect();
    let answers = judge("random", &messages);
    let mut comparison = Comparison::new();
    for ((seed, message), violations) in (first..).zip(&messages).zip(&answers) {
        comparison.compare(&format!("LABKIT_SCHEMA_SEED={seed} LABKIT_SCHEMA_MESSAGES=1"), message, violations);
    }
    let valid = answers.iter().filter(|violations| violations.is_empty()).count();
    let rows = comparison.done();
    println!("{count} messages compared from seed {first}, {valid} of them valid, {} rows, 0 differences", rows.len());
    let unmet: Vec<&String> = rows.iter().filter(|(_, times)| *times == 0).map(|(row, _)| row).collect();
    let seldom = rows.iter().map(|(_, times)| *times).min();
    println!("the row met least was met {} times", seldom.unwrap_or_default());
    assert!(count < ENOUGH || unmet.is_empty(), "nothing met these rows of the table: {unmet:#?}");
}

/// Texts that are nearly networks deserve more than their share of random messages.
#[test]
fn the_engine_and_the_library_agree_on_networks() {
    let (seed, count) = seeds();
    let mut draw = Draw::new(seed);
    let messages: Vec<Message> = (0..count / 10).map(|_| Message::Rates(draw.networks(20))).collect();
    let mut comparison = Comparison::new();
    for (message, violations) in messages.iter().zip(judge("networks", &messages)) {
        comparison.compare(&format!("LABKIT_SCHEMA_SEED={seed}"), message, &violations);
    }
    comparison.done();
}

/// Every document of `corpus/` that is a message at all, right or wrong.
#[test]
fn the_engine_and_the_library_agree_on_the_corpus() {
    let mut named: Vec<(String, Message)> = Vec::new();
    let mut files = 0;
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    for topic in folders(&corpus) {
        for case in folders(&topic) {
            for entry in fs::read_dir(&case).expect("a case") {
                let path = entry.expect("an entry").path();
                let kind = path.file_name().and_then(|name| name.to_str()).expect("a name");
                let source = Source::read_file(&path).expect("a file of a case");
                let message = match kind.split('.').next() {
                    Some("available_limiters") => AvailableLimiters::parse(&source).ok().map(Message::Contract),
                    Some("rate_limits") => RateLimits::parse(&source).ok().map(Message::Rates),
                    _ => continue,
                };
                files += 1;
                named.extend(message.map(|message| (path.display().to_string(), message)));
            }
        }
    }
    let messages: Vec<Message> = named.iter().map(|(_, message)| message.clone()).collect();
    let answers = judge("corpus", &messages);
    let mut comparison = Comparison::new();
    for ((name, message), violations) in named.iter().zip(&answers) {
        comparison.compare(name, message, violations);
    }
    comparison.done();
    let wrong = answers.iter().filter(|violations| !violations.is_empty()).count();
    println!("{files} documents, {} of them messages, {wrong} with violations, 0 differences", named.len());
    assert!(named.len() >= 100 && wrong >= 40, "the corpus has become small");
}

fn folders(of: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(of).expect("the corpus").map(|entry| entry.expect("an entry").path());
    entries.filter(|path| path.is_dir()).collect()
}

/// The comparison sees what only one of the two says.
#[test]
fn a_difference_is_noticed() {
    let message = |limit| {
        let numbers = Rule { limit: Some(limit), period_s: Some(60), ..Rule::default() };
        let rules = vec![Rule { name: "per_ip".into(), action: 1, ..numbers }];
        Message::Rates(RateLimits { rate_limits: [("sign_in".to_owned(), RuleList { rules })].into() })
    };
    let (good, bad) = (message(1), message(0));
    let answers = judge("difference", &[good.clone(), bad.clone()]);
    let differs = |message: &Message, violations: &[Violation]| {
        let mut comparison = Comparison::new();
        comparison.compare("", message, violations);
        !comparison.differences.is_empty()
    };
    assert!(!differs(&good, &answers[0]) && !differs(&bad, &answers[1]));
    assert!(differs(&good, &answers[1]) && differs(&bad, &answers[0]));
}
