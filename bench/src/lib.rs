//! What the benchmarks measure: limiters, identifiers and keys, the same in every harness.

use labkit_ratelimit::{Connection, Limiter, MatcherSpec, MemoryStore, RedisOptions, RuleSpec, Store, Value};
use std::sync::Arc;

/// Seconds of every period here: long enough that nothing ends while it is measured.
pub const PERIOD_S: u32 = 3600;
/// Calls a period of a GCRA rule: one every 72 ms, so that a cell in use is ahead of the clock.
pub const GCRA_LIMIT: u32 = 50_000;
/// The bucket: more than all rounds together take.
pub const GCRA_BURST: u32 = 400_000_000;
/// A limit that no round reaches.
const NEVER: u64 = 1_000_000_000;

/// The key of the n-th user.
pub fn user(n: u32) -> String {
    format!("tenant:42:user:{n:08}")
}

/// The keys of the first `count` users, each on the heap as a caller holds it.
pub fn users(count: u32) -> Vec<String> {
    (0..count).map(user).collect()
}

/// `length` places below `below`, in random order (xorshift64*, the same in every run).
pub fn random_order(length: u32, below: u32) -> Vec<u32> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut draw = || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        let high = state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32;
        u32::try_from((high * u64::from(below)) >> 32).unwrap_or(0)
    };
    (0..length).map(|_| draw()).collect()
}

/// The identifier of one user: built anew for each call.
pub fn by_user(key: &str) -> [(&'static str, Value<'_>); 1] {
    [("user", Value::from(key))]
}

fn built(rules: impl IntoIterator<Item = RuleSpec>, store: Store) -> Limiter {
    named("bench", rules, store)
}

fn named(name: &str, rules: impl IntoIterator<Item = RuleSpec>, store: Store) -> Limiter {
    match Limiter::builder(name).rules(rules).store(store).build() {
        Ok(limiter) => limiter,
        Err(error) => panic!("{error}"),
    }
}

/// One GCRA rule by user, which never refuses.
pub fn gcra(store: Arc<MemoryStore>) -> Limiter {
    let rule = RuleSpec::gcra("per_user", GCRA_LIMIT, PERIOD_S).burst(GCRA_BURST).characteristics(["user"]);
    built([rule], Store::Memory(store))
}

/// One GCRA rule by user, whose cells stay for minutes after a call.
pub fn slow_gcra(store: Arc<MemoryStore>) -> Limiter {
    built([RuleSpec::gcra("per_user", 10, PERIOD_S).characteristics(["user"])], Store::Memory(store))
}

/// One window rule by user, which never refuses.
pub fn window(store: Arc<MemoryStore>) -> Limiter {
    built([RuleSpec::limit("per_user", NEVER, PERIOD_S).characteristics(["user"])], Store::Memory(store))
}

/// Four rules that all match and count: two `eq`, one `regex`, one `one_of`.
pub fn four_rules(store: Arc<MemoryStore>) -> Limiter {
    let rule = |name| RuleSpec::limit(name, NEVER, PERIOD_S);
    built(
        [
            rule("writes").matching("method", MatcherSpec::eq("POST")).characteristics(["user"]),
            rule("free_plan").matching("plan", MatcherSpec::eq("free")).characteristics(["ip"]),
            rule("api").matching("path", MatcherSpec::regex("^/api/v[0-9]+/")).characteristics(["user"]),
            rule("changes")
                .matching("method", MatcherSpec::one_of(["POST", "PUT", "PATCH", "DELETE"]))
                .characteristics(["user", "ip"]),
        ],
        Store::Memory(store),
    )
}

/// An identifier of five properties, which every rule of [`four_rules`] matches.
pub fn request(user: &str) -> [(&'static str, Value<'_>); 5] {
    [
        ("user", Value::from(user)),
        ("ip", Value::from("198.18.0.1")),
        ("method", Value::from("POST")),
        ("path", Value::from("/api/v4/projects/278964/issues")),
        ("plan", Value::from("free")),
    ]
}

/// A window rule for each name, by those characteristics, counted on a Redis that the caller talks to.
pub fn planned_by<'a>(limiter: &str, rules: impl IntoIterator<Item = (&'a str, &'a [&'a str])>) -> Limiter {
    let rule = |(name, characteristics): (&str, &[&str])| {
        RuleSpec::limit(name, NEVER, PERIOD_S).characteristics(characteristics.iter().copied())
    };
    named(limiter, rules.into_iter().map(rule), Store::Planned(RedisOptions::default()))
}

/// `count` window rules by user, counted on a Redis that the caller talks to.
pub fn planned(count: u32) -> Limiter {
    windows(count, Store::Planned(RedisOptions::default()))
}

/// The same on a connection of its own.
pub fn connected(count: u32, connection: Arc<dyn Connection>, options: RedisOptions) -> Limiter {
    windows(count, Store::Connected(connection, options))
}

fn windows(count: u32, store: Store) -> Limiter {
    let rule = |n| RuleSpec::limit(format!("rule_{n}"), NEVER, PERIOD_S).characteristics(["user"]);
    built((0..count).map(rule), store)
}

/// As [`planned`], with one GCRA rule.
pub fn planned_gcra() -> Limiter {
    let rule = RuleSpec::gcra("per_user", GCRA_LIMIT, PERIOD_S).burst(GCRA_BURST).characteristics(["user"]);
    built([rule], Store::Planned(RedisOptions::default()))
}
