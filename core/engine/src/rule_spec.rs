//! Rules as they are written in code, in any language, and everything that can be wrong with them.

use crate::algorithm::Algorithm;
use crate::finding::{Code, Findings};
use crate::gcra;
use crate::matcher_spec::MatcherSpec;
use crate::names;
use crate::number_spec::{NumberCheck, NumberSpec};
use crate::rule::{Amount, Override, Rule};
use std::collections::HashSet;

/// The longest window: 366 days, in seconds.
pub const PERIOD_MAX_S: u32 = 31_622_400;

/// What a rule does to a request that it matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Action {
    /// Refuses once over.
    #[default]
    Limit,
    /// Allows, and marks the result once over.
    Warn,
    /// Allows, and only counts.
    Log,
    /// Ends the chain: allowed, nothing counted.
    Skip,
}

impl Action {
    /// Every action.
    pub const ALL: [Self; 4] = [Self::Limit, Self::Warn, Self::Log, Self::Skip];

    /// As rules, metrics and logs spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Limit => "limit",
            Self::Warn => "warn",
            Self::Log => "log",
            Self::Skip => "skip",
        }
    }

    /// From its spelling.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == text)
    }
}

/// An override as it was written: the first whose matchers hold replaces the rule's numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OverrideSpec {
    /// Property → matcher; all must hold.
    pub matchers: Vec<(String, MatcherSpec)>,
    /// Replaces the limit.
    pub limit: NumberSpec,
    /// Replaces the period, in seconds.
    pub period_s: NumberSpec,
    /// Replaces the burst.
    pub burst: NumberSpec,
    /// Replaces the ban, in seconds.
    pub ban_for_s: NumberSpec,
}

/// A rule as it was written. [`RuleSpec::build`] checks it and reports every mistake at once.
///
/// ```
/// use labkit_ratelimit_engine::{MatcherSpec, RuleSpec};
/// let rule = RuleSpec::limit("per_user", 100, 60)
///     .characteristics(["user"])
///     .matching("method", MatcherSpec::one_of(["POST", "PUT"]));
/// assert!(rule.build().is_ok());
/// let findings = RuleSpec::limit("Per User", 0, 60).build().unwrap_err();
/// assert_eq!(findings.iter().count(), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleSpec {
    /// The rule's identity: a segment of its key, a metric label.
    pub name: String,
    /// What it does.
    pub action: Action,
    /// Property → matcher; all must hold; empty matches everything.
    pub matchers: Vec<(String, MatcherSpec)>,
    /// The properties that its counter is keyed by, in order.
    pub characteristics: Vec<String>,
    /// The threshold.
    pub limit: NumberSpec,
    /// The window, in seconds.
    pub period_s: NumberSpec,
    /// Keep refusing this long once the limit is crossed, in seconds.
    pub ban_for_s: NumberSpec,
    /// Count distinct values of this property instead of calls.
    pub count_distinct: Option<String>,
    /// How it counts.
    pub algorithm: Algorithm,
    /// GCRA's bucket size; the limit in force where it is not given.
    pub burst: NumberSpec,
    /// When it matched and did not block, later rules do not run.
    pub is_final: bool,
    /// Other numbers for some requests.
    pub overrides: Vec<OverrideSpec>,
    /// Prose.
    pub description: Option<String>,
}

impl RuleSpec {
    /// A rule that refuses beyond `limit` per `period_s` seconds.
    pub fn limit(name: impl Into<String>, limit: impl Into<NumberSpec>, period_s: impl Into<NumberSpec>) -> Self {
        Self { name: name.into(), limit: limit.into(), period_s: period_s.into(), ..Self::default() }
    }

    /// As [`RuleSpec::limit`], counted by GCRA.
    pub fn gcra(name: impl Into<String>, limit: impl Into<NumberSpec>, period_s: impl Into<NumberSpec>) -> Self {
        Self { algorithm: Algorithm::Gcra, ..Self::limit(name, limit, period_s) }
    }

    /// A rule that ends the chain.
    pub fn skip(name: impl Into<String>) -> Self {
        Self { name: name.into(), action: Action::Skip, ..Self::default() }
    }

    /// Sets the action.
    #[must_use]
    pub fn action(mut self, action: Action) -> Self {
        self.action = action;
        self
    }

    /// Adds a matcher for `property`.
    #[must_use]
    pub fn matching(mut self, property: impl Into<String>, matcher: impl Into<MatcherSpec>) -> Self {
        self.matchers.push((property.into(), matcher.into()));
        self
    }

    /// Sets the characteristics.
    #[must_use]
    pub fn characteristics<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.characteristics = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the ban, in seconds.
    #[must_use]
    pub fn ban_for_s(mut self, seconds: impl Into<NumberSpec>) -> Self {
        self.ban_for_s = seconds.into();
        self
    }

    /// Counts distinct values of `property`.
    #[must_use]
    pub fn count_distinct(mut self, property: impl Into<String>) -> Self {
        self.count_distinct = Some(property.into());
        self
    }

    /// Sets GCRA's bucket size.
    #[must_use]
    pub fn burst(mut self, burst: impl Into<NumberSpec>) -> Self {
        self.burst = burst.into();
        self
    }

    /// Ends the chain when it matched and did not block.
    #[must_use]
    pub fn last(mut self) -> Self {
        self.is_final = true;
        self
    }

    /// Adds an override.
    #[must_use]
    pub fn overridden(mut self, other: OverrideSpec) -> Self {
        self.overrides.push(other);
        self
    }

    /// Checks and compiles the rule.
    ///
    /// # Errors
    /// Every mistake, each with its code, its path below the rule, and how to mend it.
    pub fn build(&self) -> Result<Rule, Findings> {
        let mut findings = Findings::default();
        if self.name.is_empty() {
            findings.add(Code::NameMissing, "name", "the rule has no name");
        } else if !names::is_rule_name(&self.name) {
            findings.add(Code::NameInvalid, "name", format!("`{}` is no name of a rule", self.name));
        }
        let matchers = compile_matchers(&self.matchers, "match", &mut findings);
        let rule = if self.action == Action::Skip {
            if self.ban_for_s.is_given() {
                findings.add(Code::BanRequiresThreshold, "ban_for_s", "a skip rule has no limit that could be crossed");
            }
            Rule { matchers, ..Rule::skip(&self.name, self.description.as_deref()) }
        } else {
            self.build_counting(matchers, &mut findings)
        };
        findings.or(rule)
    }

    fn build_counting(&self, matchers: Box<[(Box<str>, crate::matcher::Matcher)]>, findings: &mut Findings) -> Rule {
        let mut check = NumberCheck {
            findings,
            prefix: "",
            gcra: self.algorithm == Algorithm::Gcra,
            distinct: self.count_distinct.is_some(),
        };
        let [limit, period_s, burst, ban_for_s] = check.all([self.limit, self.period_s, self.burst, self.ban_for_s]);
        for (given, field) in [(self.limit, "limit"), (self.period_s, "period_s")] {
            if !given.is_given() {
                findings.add(Code::LimitRequiresThreshold, field, format!("{field} is missing"));
            }
        }
        if self.ban_for_s.is_given() && !(self.limit.is_given() && self.period_s.is_given()) {
            findings.add(Code::BanRequiresThreshold, "ban_for_s", "there is no limit to cross");
        }
        self.check_properties(findings);
        if let (Algorithm::Gcra, Some(Amount::Fixed(limit)), Some(Amount::Fixed(period))) =
            (self.algorithm, limit, period_s)
        {
            let size = match burst {
                Some(Amount::Fixed(burst)) => burst,
                _ => limit,
            };
            if gcra::Rate::new(limit, period, size).is_err() {
                let field = if self.burst.is_given() { "burst" } else { "limit" };
                findings.add(
                    Code::GcraOutOfRange,
                    field,
                    format!("{limit} per {period} s with a burst of {size} is beyond exact arithmetic"),
                );
            }
        }
        let overrides =
            self.overrides.iter().enumerate().map(|(i, other)| self.build_override(i, other, findings)).collect();
        Rule {
            name: self.name.as_str().into(),
            action: self.action,
            matchers,
            characteristics: self.characteristics.iter().map(|name| name.as_str().into()).collect(),
            limit: limit.unwrap_or(Amount::Fixed(0)),
            period_s: period_s.unwrap_or(Amount::Fixed(0)),
            ban_for_s,
            count_distinct: self.count_distinct.as_deref().map(Into::into),
            algorithm: self.algorithm,
            burst: match burst {
                Some(Amount::Fixed(n)) => Some(n),
                _ => None,
            },
            is_final: self.is_final,
            overrides,
            description: self.description.as_deref().map(Into::into),
        }
    }

    fn check_properties(&self, findings: &mut Findings) {
        let mut seen = HashSet::new();
        for (i, name) in self.characteristics.iter().enumerate() {
            let path = format!("characteristics[{i}]");
            if !names::is_property_name(name) {
                findings.add(Code::PropertyInvalid, path, format!("`{name}` is no name of a property"));
            } else if !seen.insert(name) {
                findings.add(Code::DuplicateCharacteristic, path, format!("`{name}` stands there twice"));
            }
        }
        let Some(counted) = &self.count_distinct else { return };
        if !names::is_property_name(counted) {
            findings.add(Code::PropertyInvalid, "count_distinct", format!("`{counted}` is no name of a property"));
        }
        if self.characteristics.contains(counted) {
            findings.add(
                Code::DistinctInCharacteristics,
                "count_distinct",
                format!("`{counted}` is a characteristic too"),
            );
        }
        if self.algorithm == Algorithm::Gcra {
            findings.add(Code::GcraExcludesCountDistinct, "count_distinct", "GCRA counts calls, not distinct values");
        }
    }

    fn build_override(&self, i: usize, other: &OverrideSpec, findings: &mut Findings) -> Override {
        let prefix = format!("overrides[{i}].");
        let matchers = compile_matchers(&other.matchers, &format!("{prefix}match"), findings);
        let mut check = NumberCheck {
            findings,
            prefix: &prefix,
            gcra: self.algorithm == Algorithm::Gcra,
            distinct: self.count_distinct.is_some(),
        };
        let [limit, period_s, burst, ban_for_s] =
            check.all([other.limit, other.period_s, other.burst, other.ban_for_s]);
        for (given, field) in [
            (other.limit, "limit"),
            (other.period_s, "period_s"),
            (other.burst, "burst"),
            (other.ban_for_s, "ban_for_s"),
        ] {
            if matches!(given, NumberSpec::Callable(_)) {
                findings.add(
                    Code::WrongType,
                    format!("{prefix}{field}"),
                    "an override holds numbers only, no callables",
                );
            }
        }
        let fixed = |amount| match amount {
            Some(Amount::Fixed(n)) => Some(n),
            _ => None,
        };
        Override {
            matchers,
            limit: fixed(limit),
            period_s: fixed(period_s),
            burst: fixed(burst),
            ban_for_s: fixed(ban_for_s),
        }
    }
}

fn compile_matchers(
    written: &[(String, MatcherSpec)],
    path: &str,
    findings: &mut Findings,
) -> Box<[(Box<str>, crate::matcher::Matcher)]> {
    let mut compiled: Vec<(Box<str>, crate::matcher::Matcher)> = Vec::with_capacity(written.len());
    for (property, spec) in written {
        let at = format!("{path}.{property}");
        if !names::is_property_name(property) {
            findings.add(Code::PropertyInvalid, at.as_str(), format!("`{property}` is no name of a property"));
        }
        match spec.compile(&at) {
            Ok(matcher) => compiled.push((property.as_str().into(), matcher)),
            Err(found) => found.into_iter().for_each(|finding| findings.push(finding)),
        }
    }
    compiled.into()
}
