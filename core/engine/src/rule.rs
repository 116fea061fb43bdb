//! A rule that was checked and compiled.

use crate::algorithm::Algorithm;
use crate::host::CallableId;
use crate::matcher::Matcher;
use crate::rule_spec::Action;

/// A number of a rule in force: fixed, or asked of the host in each check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Known when the rule is built.
    Fixed(u64),
    /// Called in each check.
    Callable(CallableId),
}

/// A checked override.
#[derive(Clone, Debug)]
pub(crate) struct Override {
    pub(crate) matchers: Box<[(Box<str>, Matcher)]>,
    pub(crate) limit: Option<u64>,
    pub(crate) period_s: Option<u64>,
    pub(crate) burst: Option<u64>,
    pub(crate) ban_for_s: Option<u64>,
}

/// A checked rule. Built by [`crate::RuleSpec::build`]; immutable.
#[derive(Clone, Debug)]
pub struct Rule {
    pub(crate) name: Box<str>,
    pub(crate) action: Action,
    pub(crate) matchers: Box<[(Box<str>, Matcher)]>,
    pub(crate) characteristics: Box<[Box<str>]>,
    pub(crate) limit: Amount,
    pub(crate) period_s: Amount,
    pub(crate) ban_for_s: Option<Amount>,
    pub(crate) count_distinct: Option<Box<str>>,
    pub(crate) algorithm: Algorithm,
    pub(crate) burst: Option<u64>,
    pub(crate) is_final: bool,
    pub(crate) overrides: Box<[Override]>,
    pub(crate) description: Option<Box<str>>,
}

impl Rule {
    pub(crate) fn skip(name: &str, description: Option<&str>) -> Self {
        Self {
            name: name.into(),
            action: Action::Skip,
            matchers: Box::default(),
            characteristics: Box::default(),
            limit: Amount::Fixed(0),
            period_s: Amount::Fixed(0),
            ban_for_s: None,
            count_distinct: None,
            algorithm: Algorithm::FixedWindow,
            burst: None,
            is_final: false,
            overrides: Box::default(),
            description: description.map(Into::into),
        }
    }

    /// The rule's identity.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it does.
    pub const fn action(&self) -> Action {
        self.action
    }

    /// How it counts.
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The properties that its counter is keyed by, in order.
    pub fn characteristics(&self) -> impl ExactSizeIterator<Item = &str> {
        self.characteristics.iter().map(|name| &**name)
    }

    /// The property whose distinct values it counts.
    pub fn count_distinct(&self) -> Option<&str> {
        self.count_distinct.as_deref()
    }

    /// Prose.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// Whether it holds a callable or a pattern object, which its host is asked for.
    pub(crate) fn asks_host(&self) -> bool {
        let numbers = [Some(self.limit), Some(self.period_s), self.ban_for_s];
        let is_called = |number: &Option<Amount>| matches!(number, Some(Amount::Callable(_)));
        let overridden = self.overrides.iter().flat_map(|other| &other.matchers);
        numbers.iter().any(is_called) || self.matchers.iter().chain(overridden).any(|(_, matcher)| matcher.asks_host())
    }

    /// The properties that it looks at: of a skip rule those of `match`, of others also the
    /// characteristics, the counted one and those of overrides. A name may come twice.
    pub fn properties(&self) -> impl Iterator<Item = &str> {
        let matched = self.matchers.iter().map(|(name, _)| &**name);
        let overridden = self.overrides.iter().flat_map(|o| o.matchers.iter().map(|(name, _)| &**name));
        matched.chain(self.characteristics()).chain(self.count_distinct()).chain(overridden)
    }
}
