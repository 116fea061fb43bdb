//! The rules that `proto/` holds, as protovalidate's own engine evaluates them, and what the library says of the same
//! messages: they must agree, by way of `proto/findings.json`, on everything that the schema can express.
//!
//! `LABKIT_SCHEMA_MESSAGES` (10,000) random messages are compared, `LABKIT_SCHEMA_SEED` (of the day) starts them.
//! Go is needed; a missing one is a failure.

#![expect(clippy::expect_used, reason = "a test falls over what must be there")]

mod draw;
mod oracle;
mod table;

use draw::Draw;
use labkit_ratelimit_documents::message::{AvailableLimiters, LimiterRules, RateLimits, Rule, RuleList};
use labkit_ratelimit_engine::Findings;
use oracle::{Oracle, Step, Violation};
use prost::Message as _;
use std::collections::BTreeSet;
use std::env;
use std::time::{SystemTime, UNIX_EPOCH};
use table::Table;

const SKIP: i32 = 3;
/// From so many random messages on, every row of the table must have been met.
const ENOUGH: u64 = 10_000;

/// A message of either file.
#[derive(Clone, Debug)]
enum Message {
    Available(AvailableLimiters),
    Rates(RateLimits),
}

impl Message {
    fn encoded(&self) -> (&'static str, Vec<u8>) {
        match self {
            Self::Available(message) => ("AvailableLimiters", message.encode_to_vec()),
            Self::Rates(message) => ("RateLimits", message.encode_to_vec()),
        }
    }

    fn check(&self) -> Findings {
        match self {
            Self::Available(message) => message.check(),
            Self::Rates(message) => message.check(),
        }
    }

    /// The path leads into a rule that skips.
    fn skips(&self, path: &[Step]) -> bool {
        let [_, Step::Key { key }, Step::Field(_), Step::Index(at), ..] = path else { return false };
        let at = usize::try_from(*at).expect("a place in memory");
        let action = match self {
            Self::Available(message) => message.available_limiters[key].default_rules[at].action,
            Self::Rates(message) => message.rate_limits[key].rules[at].action,
        };
        action == SKIP
    }
}

/// Code and place.
type Mistakes = BTreeSet<(String, String)>;

/// The comparison, and what it has met.
struct Comparison {
    table: Table,
    met: BTreeSet<usize>,
    differences: Vec<String>,
}

impl Comparison {
    fn new() -> Self {
        Self { table: Table::read(), met: BTreeSet::new(), differences: Vec::new() }
    }

    fn compare(&mut self, label: &str, message: &Message, violations: &[Violation]) {
        let findings = message.check();
        let hidden: Mistakes = findings
            .iter()
            .filter(|finding| self.table.hides(finding.code.as_str()))
            .map(|finding| (finding.code.to_string(), self.table.coarse(finding.code.as_str(), &finding.path)))
            .collect();
        let own: Mistakes = findings
            .iter()
            .filter(|finding| self.table.expressible(finding.code.as_str()))
            .map(|finding| (finding.code.to_string(), self.table.coarse(finding.code.as_str(), &finding.path)))
            .collect();
        let theirs: Mistakes =
            violations.iter().filter_map(|violation| self.finding(label, message, violation, &hidden)).collect();
        if own != theirs {
            let only = |a: &Mistakes, b: &Mistakes| a.difference(b).cloned().collect::<Vec<_>>();
            self.differences.push(format!(
                "{label}: only the library says {:?}, only the engine says {:?}\n{message:?}\n{violations:?}",
                only(&own, &theirs),
                only(&theirs, &own),
            ));
        }
    }

    /// What the library has to say, if the engine says `violation`.
    fn finding(
        &mut self,
        label: &str,
        message: &Message,
        violation: &Violation,
        hidden: &Mistakes,
    ) -> Option<(String, String)> {
        let Some((n, place)) = self.table.find(violation) else {
            panic!("{label}: no row of the table fits {violation:?}")
        };
        let row = &self.table.rows[n];
        if row.counting && message.skips(&violation.path) {
            return None;
        }
        if row.code.starts_with("matcher_") && hidden.iter().any(|(code, at)| lies_below(&place, at, code)) {
            return None;
        }
        self.met.insert(n);
        Some((row.code.clone(), place))
    }

    /// Fails if there was a difference. Gives the rows that were not met.
    fn done(self) -> Vec<String> {
        let some: Vec<&str> = self.differences.iter().map(String::as_str).take(5).collect();
        assert!(some.is_empty(), "{} differences, of them\n{}", self.differences.len(), some.join("\n\n"));
        let rows = self.table.rows.iter().enumerate();
        rows.filter(|(n, _)| !self.met.contains(n)).map(|(_, row)| format!("{row:?}")).collect()
    }
}

/// Nothing is said of `place`, for a finding of `code` at `at`: of a matcher that is too deep not even at its own place.
fn lies_below(place: &str, at: &str, code: &str) -> bool {
    place.strip_prefix(at).is_some_and(|rest| match rest.chars().next() {
        None => code == "matcher_too_deep",
        Some(next) => next == '.' || next == '[',
    })
}

fn setting(name: &str, default: u64) -> u64 {
    env::var(name).ok().map_or(default, |text| text.parse().expect("a whole number"))
}

/// The first seed, and how many there are.
fn seeds() -> (u64, u64) {
    let day = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs() / 86_400;
    (setting("LABKIT_SCHEMA_SEED", day * 1_000_000), setting("LABKIT_SCHEMA_MESSAGES", ENOUGH))
}

fn drawn(seed: u64) -> Message {
    let mut draw = Draw::new(seed);
    if seed.is_multiple_of(2) {
        Message::Rates(draw.rate_limits())
    } else {
        Message::Available(draw.available_limiters())
    }
}

#[test]
fn the_engine_and_the_library_agree_on_random_messages() {
    let (first, count) = seeds();
    let messages: Vec<Message> = (first..first + count).map(drawn).collect();
    let answers = Oracle::build("messages").judge(&messages.iter().map(Message::encoded).collect::<Vec<_>>());
    let mut comparison = Comparison::new();
    for ((seed, message), violations) in (first..).zip(&messages).zip(&answers) {
        comparison.compare(&format!("LABKIT_SCHEMA_SEED={seed} LABKIT_SCHEMA_MESSAGES=1"), message, violations);
    }
    let valid = answers.iter().filter(|violations| violations.is_empty()).count();
    let rows = comparison.table.rows.len();
    let unmet = comparison.done();
    println!("{count} messages compared from seed {first}, {valid} of them valid, {rows} rows, 0 differences");
    assert!(count < ENOUGH || unmet.is_empty(), "nothing met these rows of the table: {unmet:#?}");
}

#[test]
fn the_engine_and_the_library_agree_on_networks() {
    let (seed, count) = seeds();
    let mut draw = Draw::new(seed);
    // Some in each message, to spare messages.
    let messages: Vec<Message> = (0..count / 10).map(|_| Message::Rates(draw.networks(20))).collect();
    let answers = Oracle::build("networks").judge(&messages.iter().map(Message::encoded).collect::<Vec<_>>());
    let mut comparison = Comparison::new();
    for (message, violations) in messages.iter().zip(&answers) {
        comparison.compare(&format!("LABKIT_SCHEMA_SEED={seed}"), message, violations);
    }
    comparison.done();
}

/// The other two messages hold the same rules, and are held to the same.
#[test]
fn publishes_and_stored_documents_have_the_rules_of_files() {
    let (first, count) = seeds();
    let oracle = Oracle::build("parts");
    let drawn: Vec<RateLimits> = (first..first + count / 50).map(|seed| Draw::new(seed).rate_limits()).collect();
    let files = oracle.judge(&drawn.iter().map(|m| ("RateLimits", m.encode_to_vec())).collect::<Vec<_>>());
    // The same fields under another name.
    let publishes = oracle.judge(&drawn.iter().map(|m| ("PublishRulesRequest", m.encode_to_vec())).collect::<Vec<_>>());
    assert_eq!(files, publishes);
    assert!(files.iter().any(Vec::is_empty) && !files.iter().all(Vec::is_empty), "both kinds were drawn");

    let lists: Vec<RuleList> = drawn.into_iter().flat_map(|message| message.rate_limits.into_values()).collect();
    let alone = oracle.judge(&lists.iter().map(|list| ("RuleList", list.encode_to_vec())).collect::<Vec<_>>());
    let stored =
        |list: &RuleList| LimiterRules { file_rules: None, published_rules: Some(list.clone()), default_rules: None };
    let stored =
        oracle.judge(&lists.iter().map(|list| ("LimiterRules", stored(list).encode_to_vec())).collect::<Vec<_>>());
    for (mut alone, stored) in alone.into_iter().zip(stored) {
        for violation in &mut alone {
            violation.path.insert(0, Step::Field("published_rules".into()));
        }
        assert_eq!(alone, stored);
    }
}

/// The comparison sees what only one of the two says.
#[test]
fn a_difference_is_noticed() {
    let rule =
        |limit| Rule { name: "per_ip".into(), action: 1, limit: Some(limit), period_s: Some(60), ..Rule::default() };
    let message = |limit| {
        let rules = vec![rule(limit)];
        Message::Rates(RateLimits { rate_limits: [("sign_in".to_owned(), RuleList { rules })].into() })
    };
    let (good, bad) = (message(1), message(0));
    let answers = Oracle::build("difference").judge(&[good.encoded(), bad.encoded()]);
    let differs = |message: &Message, violations: &[Violation]| {
        let mut comparison = Comparison::new();
        comparison.compare("", message, violations);
        !comparison.differences.is_empty()
    };
    assert!(!differs(&good, &answers[0]) && !differs(&bad, &answers[1]));
    assert!(differs(&good, &answers[1]) && differs(&bad, &answers[0]));
}
