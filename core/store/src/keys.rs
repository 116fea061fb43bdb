//! Keys: the one place where a rule and an identifier become the name of a counter (semantics section 9).

use labkit_ratelimit_engine::{Algorithm, Rules, Scratch, Value};
use sha2::{Digest, Sha256};

/// Stands for an absent, null or empty characteristic.
const MISSING: &str = "_unknown_";
/// The longest value that stands as it is, in Unicode scalar values.
const LONGEST: usize = 200;

/// A value as it stands in a key.
pub(crate) enum Segment<'a> {
    /// Absent, null or `""`.
    Missing,
    /// As it is.
    Plain(&'a str),
    /// The SHA-256 of its bytes, in lower-case hex.
    Digest(arrayvec::ArrayString<64>),
}

impl Segment<'_> {
    /// The text of a value that is there.
    pub(crate) fn present(&self) -> Option<&str> {
        if matches!(self, Self::Missing) { None } else { Some(self.as_str()) }
    }

    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Missing => MISSING,
            Self::Plain(text) => text,
            Self::Digest(hex) => hex,
        }
    }
}

/// The segment of `value`, behind which the characteristics `later` stand in the key. `None` for a bad
/// value, which has no key.
pub(crate) fn segment<'a, 'n>(
    value: &'a Value<'_>,
    scratch: &'a mut Scratch,
    later: impl Iterator<Item = &'n str>,
) -> Option<Segment<'a>> {
    if value.is_missing() {
        return Some(Segment::Missing);
    }
    let (bytes, text) = match value {
        Value::Text(text) => (text.as_bytes(), short(text)),
        other => {
            let bytes = other.text(scratch)?;
            (bytes, plain(bytes))
        }
    };
    Some(match text {
        Some(text) if !is_ambiguous(text, later) => Segment::Plain(text),
        _ => Segment::Digest(digest(bytes)),
    })
}

/// The text, where it is UTF-8 and not longer than a value may be.
fn plain(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().and_then(short)
}

fn short(text: &str) -> Option<&str> {
    (text.len() <= LONGEST || text.chars().nth(LONGEST).is_none()).then_some(text)
}

/// Whether the value could be taken for the key's own punctuation.
fn is_ambiguous<'n>(text: &str, mut later: impl Iterator<Item = &'n str>) -> bool {
    memchr::memchr2(b'{', b'}', text.as_bytes()).is_some()
        || text == MISSING
        || later.any(|name| names_itself(text, name))
}

/// Holds `:<name>:`, or ends with `:<name>`.
fn names_itself(text: &str, name: &str) -> bool {
    // No name holds a colon, so each of them is looked behind on its own.
    memchr::memchr_iter(b':', text.as_bytes()).any(|at| {
        let behind = text[at + 1..].strip_prefix(name);
        behind.is_some_and(|behind| behind.is_empty() || behind.starts_with(':'))
    })
}

fn digest(bytes: &[u8]) -> arrayvec::ArrayString<64> {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut hex = arrayvec::ArrayString::new();
    for byte in Sha256::digest(bytes) {
        hex.push(char::from(HEX[usize::from(byte >> 4)]));
        hex.push(char::from(HEX[usize::from(byte & 15)]));
    }
    hex
}

/// A member of a distinct set: the text form; hashed where it is longer than 200 characters or no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member(String);

impl Member {
    /// The member that `value` is; `None` where it is missing.
    pub fn of(value: &Value<'_>) -> Option<Self> {
        if value.is_missing() {
            return None;
        }
        let mut scratch = Scratch::default();
        let bytes = value.text(&mut scratch)?;
        Some(Self(plain(bytes).map_or_else(|| digest(bytes).to_string(), str::to_owned)))
    }

    /// As it stands in the set.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Most keys fit, so that they are written without moving.
const USUAL: usize = 96;

/// The names of one rule's counter and ban for one identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreKeys {
    /// The counter: a number, a set, or under its own suffix another algorithm's state.
    pub counter: String,
}

impl StoreKeys {
    /// The keys of the rule at `rule`; `None` where a characteristic is a bad value.
    pub fn build(rules: &Rules, rule: u32, facts: &[Value<'_>]) -> Option<Self> {
        let mut counter = String::with_capacity(USUAL);
        counter.extend(["labkit:rl:{", rules.limiter(), ":", rules.rule(rule).name()]);
        let keyed = rules.keyed(rule, facts);
        for (i, (name, value)) in keyed.clone().enumerate() {
            let mut scratch = Scratch::default();
            let segment = segment(value, &mut scratch, keyed.clone().skip(i + 1).map(|(name, _)| name))?;
            counter.extend([":", name, ":", segment.as_str()]);
        }
        counter.push('}');
        match rules.rule(rule).algorithm() {
            Algorithm::FixedWindow => {}
            Algorithm::Gcra => counter.extend([":", Algorithm::Gcra.as_str()]),
        }
        Some(Self { counter })
    }

    /// The ban, whether the rule has one or not. No suffix holds a brace.
    pub fn ban(&self) -> String {
        let (base, _) = self.counter.rsplit_once('}').unwrap_or((&self.counter, ""));
        [base, "}:ban"].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use labkit_ratelimit_engine::{Evaluation, RuleSpec};

    fn key(characteristics: &[&str], values: &[Value<'_>]) -> String {
        let rules = Rules::build(
            "lim",
            &[RuleSpec::limit("r", 1, 60).characteristics(characteristics.iter().copied())],
            Evaluation::FirstBlock,
        )
        .expect("good rules");
        StoreKeys::build(&rules, 0, values).expect("good values").counter
    }

    #[test]
    fn keys_are_the_wire_s() {
        assert_eq!(key(&[], &[]), "labkit:rl:{lim:r}");
        assert_eq!(key(&["user"], &["user:1".into()]), "labkit:rl:{lim:r:user:user:1}");
        assert_eq!(key(&["user"], &[Value::Null]), "labkit:rl:{lim:r:user:_unknown_}");
        assert_eq!(key(&["a", "b"], &[1.into(), 1.5.into()]), "labkit:rl:{lim:r:a:1:b:1.5}");
    }

    #[test]
    fn long_values_are_hashed_by_characters_not_bytes() {
        let fits = "é".repeat(200);
        assert_eq!(key(&["u"], &[fits.as_str().into()]), format!("labkit:rl:{{lim:r:u:{fits}}}"));
        let long = "a".repeat(201);
        assert!(key(&["u"], &[long.as_str().into()]).len() == "labkit:rl:{lim:r:u:}".len() + 64);
    }

    #[test]
    fn crafted_values_never_share_a_counter() {
        let plain = key(&["a", "b"], &["x".into(), "y".into()]);
        for (a, b) in [("x:b:y", ""), ("x:b", "y"), ("x}", "y"), ("{x", "y"), ("x:b:", ":y")] {
            let crafted = key(&["a", "b"], &[a.into(), b.into()]);
            assert_ne!(crafted, plain);
            assert!(!crafted.contains(&format!("a:{a}:")), "{crafted}");
        }
        assert_ne!(key(&["a"], &["_unknown_".into()]), key(&["a"], &[Value::Null]));
        // No ambiguity in the last value, nor with a name that is only part of a word.
        assert!(key(&["a", "b"], &["x:bee".into(), "y:b:z".into()]).ends_with("a:x:bee:b:y:b:z}"));
    }
}
