//! Random messages: most of what is in them is right, and every kind of mistake is among them.

use fastrand::Rng;
use labkit_ratelimit_documents::message::{
    AvailableLimiters, LimiterRules, LimiterSpec, MatchList, MatchValue, Override, RateLimits, Rule, RuleList, Scalar,
    ScalarList, StringList, match_value, scalar,
};
use std::collections::BTreeMap;

const SKIP: i32 = 3;
const GCRA: i32 = 2;
const PERIOD_MAX: u32 = 31_622_400;

/// Draws messages.
pub(crate) struct Draw {
    rng: Rng,
}

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self { rng: Rng::with_seed(seed) }
    }

    /// Rules under the names of limiters.
    pub(crate) fn rule_lists(&mut self) -> BTreeMap<String, RuleList> {
        (0..self.rng.usize(..3)).map(|i| (self.key(i), self.rule_list())).collect()
    }

    fn rule_list(&mut self) -> RuleList {
        RuleList { rules: (0..self.rng.usize(..4)).map(|at| self.rule(at)).collect() }
    }

    pub(crate) fn limiter_rules(&mut self) -> LimiterRules {
        LimiterRules {
            file_rules: self.rng.bool().then(|| self.rule_list()),
            published_rules: self.rng.bool().then(|| self.rule_list()),
            default_rules: self.rng.bool().then(|| self.rule_list()),
        }
    }

    pub(crate) fn available_limiters(&mut self) -> AvailableLimiters {
        let count = if self.slips() { 0 } else { self.rng.usize(1..3) };
        AvailableLimiters { available_limiters: (0..count).map(|i| (self.key(i), self.limiter())).collect() }
    }

    /// A skip rule that asks for `count` networks.
    pub(crate) fn networks(&mut self, count: usize) -> RateLimits {
        let values = (0..count).map(|_| self.network()).collect();
        let matcher = MatchValue { kind: Some(match_value::Kind::Cidr(StringList { values })) };
        let r#match = BTreeMap::from([("ip".to_owned(), matcher)]);
        let rule = Rule { name: "office".into(), action: SKIP, r#match, ..Rule::default() };
        RateLimits { rate_limits: BTreeMap::from([("sign_in".to_owned(), RuleList { rules: vec![rule] })]) }
    }

    fn limiter(&mut self) -> LimiterSpec {
        LimiterSpec {
            description: if self.slips() { String::new() } else { "guards the door".into() },
            available_properties: (0..self.rng.usize(..4)).map(|i| self.property(i)).collect(),
            default_rules: (0..self.rng.usize(..4)).map(|at| self.rule(at).into()).collect(),
            allowed_skip_rules: (0..self.rng.usize(..3)).map(|i| self.key(i)).collect(),
            evaluation: if self.slips() { self.pick(&[3, -1, 77]) } else { self.rng.i32(0..3) },
        }
    }

    /// Seldom.
    fn slips(&mut self) -> bool {
        self.rng.u32(..30) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.rng.usize(..from.len())]
    }

    /// A name of a rule or a limiter.
    fn key(&mut self, i: usize) -> String {
        if self.slips() {
            let long = "n".repeat(65);
            return self.pick(&["", "A", "a-b", "é", "a\n", "\na", "a b", "a\"b", "a.b", "a[0]", &long]).to_owned();
        }
        let long = "n".repeat(64);
        format!("{}{i}", self.pick(&["per_ip", "_", "9", "a", &long[1..]]))
    }

    /// The name of a property: another for another `i`.
    fn property(&mut self, i: usize) -> String {
        if self.slips() {
            let long = "P".repeat(65);
            return self.pick(&["", "9a", "a-b", "é", "a\n", "a b", "a\"b", "a.b", "a[0]", "-", &long]).to_owned();
        }
        let long = format!("_{}", "P".repeat(62));
        format!("{}{i}", self.pick(&["user", "ip", "_Aa9", &long]))
    }

    /// Names of properties, some of them twice.
    fn properties(&mut self) -> Vec<String> {
        let mut names: Vec<String> = (0..self.rng.usize(..4)).map(|i| self.property(i)).collect();
        if self.rng.u32(..10) == 0 && !names.is_empty() {
            let twice = names[self.rng.usize(..names.len())].clone();
            let at = self.rng.usize(..=names.len());
            names.insert(at, twice);
        }
        names
    }

    fn rule(&mut self, at: usize) -> Rule {
        let action = if self.slips() { self.pick(&[0, 5, -1, i32::MAX]) } else { self.rng.i32(1..5) };
        let algorithm = if self.slips() { self.pick(&[3, -1, 9]) } else { self.rng.i32(0..3) };
        let counts = action != SKIP;
        let characteristics = self.properties();
        let counted = self.rng.u32(..4) == 0 && (algorithm != GCRA || self.rng.u32(..4) == 0);
        let count_distinct = match characteristics.first() {
            _ if !counted => String::new(),
            Some(first) if self.slips() => first.clone(),
            _ => self.property(7),
        };
        let (limit, period_s, burst) = self.rate(algorithm == GCRA);
        let bans = self.rng.u32(..4) == 0 && (!counted || self.rng.u32(..4) == 0);
        Rule {
            description: if self.rng.bool() { String::new() } else { "prose".into() },
            action,
            characteristics,
            r#match: self.matchers(),
            limit: (counts != self.slips()).then_some(limit),
            period_s: (counts != self.slips()).then_some(period_s),
            count_distinct,
            ban_for_s: (if counts { bans } else { self.slips() }).then(|| self.ban()),
            name: if self.rng.u32(..12) == 0 { self.pick(&["twin", "twin", ""]).to_owned() } else { self.key(at) },
            algorithm,
            burst: (if counts && algorithm == GCRA { self.rng.bool() } else { self.slips() }).then_some(burst),
            r#final: self.rng.bool(),
            overrides: (0..self.rng.usize(..4).saturating_sub(1))
                .map(|_| self.an_override(algorithm == GCRA, counted))
                .collect(),
        }
    }

    fn an_override(&mut self, gcra: bool, counted: bool) -> Override {
        let (limit, period_s, burst) = self.rate(gcra);
        Override {
            r#match: self.matchers(),
            limit: self.rng.bool().then_some(limit),
            period_s: self.rng.bool().then_some(period_s),
            burst: (if gcra { self.rng.bool() } else { self.slips() }).then_some(burst),
            ban_for_s: (if counted { self.slips() } else { self.rng.bool() }).then(|| self.ban()),
        }
    }

    fn ban(&mut self) -> u32 {
        if self.slips() { 0 } else { self.pick(&[1, 60, u32::MAX]) }
    }

    /// Limit, period and burst; of GCRA often near the end of what is exact.
    fn rate(&mut self, gcra: bool) -> (u64, u32, u64) {
        let period = if self.slips() {
            self.pick(&[0, PERIOD_MAX + 1, u32::MAX])
        } else {
            match self.rng.u32(..4) {
                0 => self.pick(&[1, 60, 3600, PERIOD_MAX]),
                1 => self.rng.u32(1..=PERIOD_MAX),
                _ => self.rng.u32(1..1000),
            }
        };
        let near = |rng: &mut Rng, n: u64| n.saturating_sub(2).saturating_add(rng.u64(..5));
        let edge = (1_u64 << 53) / u64::from(period.max(1));
        let limit = match self.rng.u32(..8) {
            _ if self.slips() => 0,
            0 if gcra => near(&mut self.rng, edge),
            1 if gcra => u64::MAX >> self.rng.u32(..64),
            2 => u64::MAX,
            _ => self.rng.u64(1..10_000),
        };
        let fills = u128::from(PERIOD_MAX) * u128::from(limit) / u128::from(period.max(1));
        let burst = match self.rng.u32(..4) {
            _ if self.slips() => 0,
            0 => near(&mut self.rng, u64::try_from(fills).unwrap_or(u64::MAX)),
            1 => u64::MAX >> self.rng.u32(..64),
            _ => self.rng.u64(1..1000),
        };
        (limit, period, burst)
    }

    fn matchers(&mut self) -> BTreeMap<String, MatchValue> {
        (0..self.rng.usize(..3)).map(|i| (self.property(i), self.matcher(10, false))).collect()
    }

    fn matcher(&mut self, levels: u32, listed: bool) -> MatchValue {
        use match_value::Kind;
        let kind = match self.rng.u32(..14) {
            _ if self.slips() => None,
            0 | 1 => Some(Kind::Eq(self.scalar())),
            2 => Some(Kind::Regex(self.regex())),
            3 => Some(Kind::OneOf(self.scalars(0))),
            4 => Some(Kind::Ne(self.scalar())),
            5 => Some(Kind::Nre(self.regex())),
            6 => {
                let least = u32::from(self.rng.u32(..4) > 0);
                Some(Kind::NoneOf(self.scalars(least)))
            }
            7 => Some(Kind::Prefix(self.pick(&["", "/api/", "é"]).to_owned())),
            8 | 9 => Some(Kind::Cidr(StringList { values: (0..self.rng.u32(..4)).map(|_| self.network()).collect() })),
            10 | 11 if levels > 0 => Some(Kind::Not(Box::new(self.matcher(levels - 1, false)))),
            12 | 13 if levels > 0 && (!listed || self.rng.u32(..3) == 0) => {
                Some(Kind::All(self.matcher_list(levels - 1)))
            }
            // Deep enough.
            _ => Some(Kind::Prefix(String::new())),
        };
        MatchValue { kind }
    }

    fn matcher_list(&mut self, levels: u32) -> MatchList {
        let count = if self.slips() { 0 } else { self.rng.u32(1..4) };
        MatchList { values: (0..count).map(|_| self.matcher(levels, true)).collect() }
    }

    fn scalars(&mut self, least: u32) -> ScalarList {
        ScalarList { values: (0..self.rng.u32(least..4)).map(|_| self.scalar()).collect() }
    }

    fn scalar(&mut self) -> Scalar {
        use scalar::Kind;
        let kind = match self.rng.u32(..5) {
            _ if self.slips() => {
                let odd = self.pick(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
                self.rng.bool().then_some(Kind::Number(odd))
            }
            0 => Some(Kind::Null(0)),
            1 => Some(Kind::Text(self.pick(&["", "x", "POST"]).to_owned())),
            2 => Some(Kind::Integer(self.rng.i64(..))),
            3 => Some(Kind::Number(self.pick(&[0.5, -0.0, f64::MAX, f64::MIN_POSITIVE]))),
            _ => Some(Kind::Boolean(self.rng.bool())),
        };
        Scalar { kind }
    }

    fn regex(&mut self) -> String {
        if self.slips() { "(?=x)".into() } else { self.pick(&["", "^/api/", "[a-z]+$"]).to_owned() }
    }

    /// A network or an address; sometimes nearly one, sometimes nonsense.
    fn network(&mut self) -> String {
        let mut text = match self.rng.u32(..6) {
            0 => self.pick(&NETWORKS).to_owned(),
            1 => self.v4(),
            2 => format!("{}/{}", self.v4(), self.rng.u32(..=32)),
            3 => self.v6(),
            _ => format!("{}/{}", self.v6(), self.rng.u32(..=128)),
        };
        for _ in 0..self.rng.u32(..8).saturating_sub(4) {
            self.spoil(&mut text);
        }
        text
    }

    fn v4(&mut self) -> String {
        let bytes: Vec<String> = (0..4).map(|_| self.rng.u8(..).to_string()).collect();
        bytes.join(".")
    }

    /// In any of its spellings.
    fn v6(&mut self) -> String {
        let tail = self.rng.u32(..4) == 0;
        let groups = if tail { 6 } else { 8 };
        let mut parts: Vec<String> = (0..groups)
            .map(|_| {
                let n = self.rng.u16(..) >> self.rng.u32(..16);
                if self.rng.bool() { format!("{n:x}") } else { format!("{n:04X}") }
            })
            .collect();
        if tail {
            parts.push(self.v4());
        }
        if self.rng.bool() {
            let from = self.rng.usize(..groups);
            let to = self.rng.usize(from..=groups);
            parts.splice(from..to, [String::new()]);
            let (before, after) = parts.split_at(from);
            return format!("{}::{}", before.join(":"), after[1..].join(":"));
        }
        parts.join(":")
    }

    /// Changes, takes away or adds a letter.
    fn spoil(&mut self, text: &mut String) {
        let mut letters: Vec<char> = text.chars().collect();
        let letter = self.pick(&['a', '2', '0', '1', '9', 'f', 'g', '.', ':', '/', '%', ' ', '+', '-', 'é']);
        let at = self.rng.usize(..=letters.len());
        match self.rng.u32(..3) {
            0 => letters.insert(at, letter),
            1 if at < letters.len() => letters[at] = letter,
            _ if at < letters.len() => drop(letters.remove(at)),
            _ => {}
        }
        *text = letters.into_iter().collect();
    }
}

/// Networks, and what only looks like one.
const NETWORKS: [&str; 27] = [
    "10.0.0.0/8",
    "10.1.2.3/8",
    "0.0.0.0/0",
    "::/0",
    "::1",
    "::ffff:10.0.0.0/104",
    "2001:db8::1/32",
    "1:2:3:4:5:6:7::",
    "::2:3:4:5:6:7:8",
    "",
    "x",
    "10.0.0/8",
    "10.0.0.0/33",
    "::/129",
    "10.0.0.0/08",
    "10.0.0.0/",
    "/8",
    "010.0.0.1",
    "010.0.0.0/8",
    "::1/064",
    "fe80::1%eth0",
    "fe80::1%eth0/64",
    "1::2:3:4:5:6:7:8",
    "10.0.0.0/255.0.0.0",
    "1:2::3:4:5:6:10.0.0.1",
    "1:2::3:4:5:6:7:10.0.0.1",
    "::1:/20",
];
