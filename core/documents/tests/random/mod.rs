//! Random messages that are valid, with everything in them that a text can get wrong.
#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]

use fastrand::Rng;
use labkit_ratelimit_documents::message::{
    Action, Algorithm, AvailableLimiters, Evaluation, LimiterRules, LimiterSpec, MatchList, MatchValue, Override,
    PublishRulesRequest, RateLimits, Rule, RuleList, Scalar, ScalarList, StringList, match_value::Kind, scalar,
};
use std::collections::{BTreeMap, HashSet};
use std::env;
use std::time::{SystemTime, UNIX_EPOCH};

/// Names that YAML may take for something else.
const NAMES: [&str; 20] = [
    "null",
    "true",
    "yes",
    "no",
    "on",
    "y",
    "n",
    "010",
    "1e3",
    "0x1f",
    "0o17",
    "123",
    "_",
    "1_000",
    "0",
    "e3",
    "rate_limits",
    "rules",
    "match",
    "12e03",
];
const PROPERTIES: [&str; 16] = [
    "ip", "user", "null", "NULL", "True", "Yes", "No", "y", "N", "_", "e3", "periodS", "match", "one_of", "rules", "eq",
];
/// What texts are made of: YAML's indicators, and what it takes for no text.
const PIECES: [&str; 72] = [
    "-",
    "- ",
    "?",
    "? ",
    ":",
    ": ",
    ",",
    "[",
    "]",
    "{",
    "}",
    "#",
    " #",
    "&",
    "*",
    "!",
    "|",
    ">",
    "'",
    "\"",
    "%",
    "@",
    "`",
    "~",
    "yes",
    "No",
    "on",
    "null",
    "Null",
    "true",
    "FALSE",
    "010",
    "0x1f",
    "0o7",
    "1e3",
    "1_000",
    "5",
    "-5",
    "+5",
    "5.0",
    ".5",
    ".inf",
    "-.INF",
    ".nan",
    "<<",
    "=",
    "---",
    "...",
    "--- ",
    "!!str",
    "&a",
    "*a",
    "2001-01-01",
    "12:30:00",
    " ",
    "  ",
    "\t",
    "\n",
    "\n\n",
    "\r",
    "\r\n",
    "\u{85}",
    "\u{2028}",
    "\u{2029}",
    "\u{feff}",
    "\\",
    "\0",
    "\u{1b}",
    "\u{7f}",
    "é",
    "👩‍👩‍👧",
    "\u{10ffff}",
];
const PATTERNS: [&str; 10] =
    ["", "^/api/", r"\d+", "a|b", r"[[:alpha:]]{2,3}$", "(?i)x", r"\\", r#"'""#, "# no comment", r"^\*: - $"];
const NETWORKS: [&str; 6] = ["10.0.0.0/8", "10.1.2.3", "::1", "2001:db8::/32", "0.0.0.0/0", "::ffff:10.0.0.0/104"];
const PERIOD_MAX_S: u32 = 31_622_400;

/// A number of the environment.
pub fn variable(name: &str) -> Option<u64> {
    env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Where chance starts: as the environment says, or with the day. Printed, so that a failure can be repeated.
#[expect(clippy::print_stderr, reason = "whoever repeats a failure needs it")]
pub fn seed(variable_name: &str) -> u64 {
    let days = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400);
    let seed = variable(variable_name).unwrap_or_else(days);
    eprintln!("{variable_name}={seed}");
    seed
}

pub fn pick<T: Copy>(random: &mut Rng, from: &[T]) -> T {
    from[random.usize(..from.len())]
}

/// A text of any kind.
pub fn text(random: &mut Rng) -> String {
    match random.u8(..12) {
        0 => String::new(),
        1..=3 => pick(random, &PIECES).to_owned(),
        4 => pick(random, &["a", " ", "\n", "👩‍👩‍👧", "- ", "word "]).repeat(200),
        5 => (0..random.usize(1..40)).map(|_| random.char(..)).collect(),
        6 => pick(random, &["18446744073709551616", "-9223372036854775809", "9007199254740993"]).to_owned(),
        7 => format!("{}{}", pick(random, &NAMES), pick(random, &PIECES)),
        _ => (0..random.usize(1..8))
            .map(|_| {
                if random.bool() {
                    pick(random, &PIECES)
                } else {
                    pick(random, &["a", "word", "x y", "long line of words"])
                }
            })
            .collect(),
    }
}

pub fn name(random: &mut Rng) -> String {
    match random.u8(..4) {
        0 => pick(random, &NAMES).to_owned(),
        1 => "a".repeat(64),
        _ => letters(random, b"abcxyz0189_", 64),
    }
}

pub fn property(random: &mut Rng) -> String {
    if random.bool() {
        return pick(random, &PROPERTIES).to_owned();
    }
    format!("{}{}", pick(random, &["a", "Z", "_"]), letters(random, b"aZ09_e", 63))
}

fn letters(random: &mut Rng, of: &[u8], most: usize) -> String {
    (0..random.usize(1..=most)).map(|_| char::from(pick(random, of))).collect()
}

/// Different ones.
fn several(random: &mut Rng, most: usize, one: fn(&mut Rng) -> String) -> Vec<String> {
    let mut seen = HashSet::new();
    (0..random.usize(..=most)).map(|_| one(random)).filter(|text| seen.insert(text.clone())).collect()
}

fn number_of(random: &mut Rng) -> f64 {
    match random.u8(..4) {
        0 => pick(
            random,
            &[
                0.0,
                -0.0,
                5.0,
                1e300,
                -1e300,
                1e-7,
                5e-324,
                f64::MAX,
                f64::MIN_POSITIVE,
                0.1,
                1e16,
                1e15,
                9_007_199_254_740_993.0,
            ],
        ),
        1 => f64::from(random.i32(..)),
        _ => Some(f64::from_bits(random.u64(..))).filter(|f| f.is_finite()).unwrap_or(1.5),
    }
}

pub fn scalar(random: &mut Rng) -> Scalar {
    let kind = match random.u8(..10) {
        0 => scalar::Kind::Null(0),
        1 => scalar::Kind::Boolean(random.bool()),
        2 => scalar::Kind::Integer(pick(random, &[i64::MIN, i64::MAX, 0, -1, 5, 10, 1 << 53, (1 << 53) + 1])),
        3 => scalar::Kind::Integer(random.i64(..)),
        4 | 5 => scalar::Kind::Number(number_of(random)),
        _ => scalar::Kind::Text(text(random)),
    };
    Scalar { kind: Some(kind) }
}

fn scalars(random: &mut Rng, least: usize) -> ScalarList {
    ScalarList { values: (0..random.usize(least..4)).map(|_| scalar(random)).collect() }
}

/// A matcher whose maps and lists nest at most `levels` deep.
pub fn matcher(random: &mut Rng, levels: usize) -> MatchValue {
    let pattern = |random: &mut Rng| pick(random, &PATTERNS).to_owned();
    let kind = match random.u8(..if levels >= 2 { 14 } else { 5 }) {
        _ if levels == 0 => Kind::Eq(scalar(random)),
        0 => Kind::Eq(scalar(random)),
        1 => Kind::Ne(scalar(random)),
        2 => Kind::Regex(pattern(random)),
        3 => Kind::Nre(pattern(random)),
        4 => Kind::Prefix(text(random)),
        5 => Kind::OneOf(scalars(random, 0)),
        6 => Kind::NoneOf(scalars(random, 1)),
        7 => {
            let networks = (0..random.usize(..4)).map(|_| pick(random, &NETWORKS).to_owned());
            Kind::Cidr(StringList { values: networks.collect() })
        }
        8..=10 => Kind::Not(Box::new(matcher(random, levels - 1))),
        _ => Kind::All(MatchList { values: (0..random.usize(1..3)).map(|_| marked(random, levels - 1)).collect() }),
    };
    MatchValue { kind: Some(kind) }
}

/// What a list of matchers may hold: no list, and a plain value takes a level.
fn marked(random: &mut Rng, levels: usize) -> MatchValue {
    let entry = matcher(random, levels);
    match &entry.kind {
        Some(Kind::All(_)) => MatchValue { kind: Some(Kind::Not(Box::new(matcher(random, levels - 1)))) },
        _ => entry,
    }
}

fn matchers(random: &mut Rng) -> BTreeMap<String, MatchValue> {
    let levels = random.usize(..=8);
    several(random, 3, property).into_iter().map(|property| (property, matcher(random, levels))).collect()
}

fn period(random: &mut Rng) -> u32 {
    pick(random, &[1, 60, 3600, PERIOD_MAX_S])
}

fn count(random: &mut Rng) -> u64 {
    pick(random, &[1, 10, 1 << 53, (1 << 53) + 1, u64::MAX])
}

pub fn rule(random: &mut Rng, name: String) -> Rule {
    let action = pick(random, &[Action::Limit, Action::Limit, Action::Log, Action::Warn, Action::Skip]);
    let mut rule = Rule {
        name,
        description: if random.bool() { text(random) } else { String::new() },
        action: action.into(),
        r#match: matchers(random),
        characteristics: several(random, 3, property),
        r#final: random.bool(),
        ..Rule::default()
    };
    if action == Action::Skip {
        return rule;
    }
    let kind = random.u8(..4);
    (rule.limit, rule.period_s) = (Some(count(random)), Some(period(random)));
    if kind == 0 {
        // Within exact arithmetic.
        rule.algorithm = Algorithm::Gcra.into();
        (rule.limit, rule.period_s) = (Some(random.u64(1..1000)), Some(random.u32(1..3600)));
        rule.burst = random.bool().then(|| random.u64(1..1000));
    } else if random.bool() {
        rule.algorithm = Algorithm::FixedWindow.into();
    }
    if kind == 1 {
        rule.count_distinct = property(random);
        rule.characteristics.retain(|name| *name != rule.count_distinct);
    } else if random.bool() {
        rule.ban_for_s = Some(pick(random, &[1, 600, u32::MAX]));
    }
    rule.overrides = (0..random.usize(..3))
        .map(|_| Override {
            r#match: matchers(random),
            limit: random.bool().then(|| if kind == 0 { random.u64(1..1000) } else { count(random) }),
            period_s: random.bool().then(|| if kind == 0 { random.u32(1..3600) } else { period(random) }),
            burst: (kind == 0 && random.bool()).then(|| random.u64(1..1000)),
            ban_for_s: (kind != 1 && random.bool()).then(|| random.u32(1..)),
        })
        .collect();
    rule
}

fn rules(random: &mut Rng) -> Vec<Rule> {
    several(random, 4, name).into_iter().map(|name| rule(random, name)).collect()
}

fn rule_list(random: &mut Rng) -> RuleList {
    RuleList { rules: rules(random) }
}

fn lists(random: &mut Rng) -> BTreeMap<String, RuleList> {
    several(random, 3, name).into_iter().map(|name| (name, rule_list(random))).collect()
}

/// A message of a document's kind.
pub trait Random {
    fn random(random: &mut Rng) -> Self;
}

impl Random for RateLimits {
    fn random(random: &mut Rng) -> Self {
        Self { rate_limits: lists(random) }
    }
}

impl Random for PublishRulesRequest {
    fn random(random: &mut Rng) -> Self {
        Self { rate_limits: lists(random) }
    }
}

impl Random for LimiterRules {
    fn random(random: &mut Rng) -> Self {
        let tier = |random: &mut Rng| random.bool().then(|| rule_list(random));
        Self { file_rules: tier(random), published_rules: tier(random), default_rules: tier(random) }
    }
}

impl Random for AvailableLimiters {
    fn random(random: &mut Rng) -> Self {
        let limiter = |random: &mut Rng| LimiterSpec {
            description: Some(text(random)).filter(|text| !text.is_empty()).unwrap_or_else(|| "x".into()),
            available_properties: several(random, 4, property),
            default_rules: rules(random).into_iter().map(Into::into).collect(),
            allowed_skip_rules: several(random, 3, name),
            evaluation: pick(random, &[Evaluation::Unspecified, Evaluation::FirstBlock, Evaluation::All]).into(),
        };
        let mut limiters: BTreeMap<_, _> =
            several(random, 3, name).into_iter().map(|name| (name, limiter(random))).collect();
        if limiters.is_empty() {
            limiters.insert(name(random), limiter(random));
        }
        Self { available_limiters: limiters }
    }
}
