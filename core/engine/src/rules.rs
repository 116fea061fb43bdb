//! The rules of one limiter, and the facts that they look at.

use crate::algorithm::Algorithm;
use crate::cost::Cost;
use crate::failure::{Failure, FailureKind};
use crate::finding::{Code, Findings};
use crate::gcra::Rate;
use crate::identifier::Identifier;
use crate::matcher::Matcher;
use crate::names;
use crate::numbers;
use crate::rule::{Amount, Rule};
use crate::rule_spec::{Action, RuleSpec};
use crate::step::{CountStep, Mode};
use crate::value::Value;
use smallvec::SmallVec;
use std::collections::HashMap;

/// Which results stop the chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Evaluation {
    /// The first block does.
    #[default]
    FirstBlock,
    /// Only `skip` and `final` do; the first block is reported.
    All,
}

impl Evaluation {
    /// Both.
    pub const ALL: [Self; 2] = [Self::FirstBlock, Self::All];

    /// As options and documents spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FirstBlock => "first_block",
            Self::All => "all",
        }
    }

    /// From its spelling.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|evaluation| evaluation.as_str() == text)
    }
}

/// The facts of one request, in the order of [`Rules::properties`].
pub type Facts<'a> = SmallVec<[Value<'a>; 8]>;

/// A rule with the places of the properties that it looks at.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) rule: Rule,
    pub(crate) matched: Box<[u32]>,
    keyed: Box<[u32]>,
    pub(crate) counted: Option<u32>,
    pub(crate) overridden: Box<[Box<[u32]>]>,
    // The rate where every number is fixed and no override changes it.
    pub(crate) rate: Option<Rate>,
    // The whole step, where nothing of it depends on the request.
    pub(crate) fixed: Option<CountStep>,
}

/// The rules of one limiter, checked and compiled. Immutable.
#[derive(Debug)]
pub struct Rules {
    limiter: Box<str>,
    pub(crate) chain: Box<[Placed]>,
    properties: Box<[Box<str>]>,
    evaluation: Evaluation,
    asks_host: bool,
}

impl Rules {
    /// Checks and compiles the rules of the limiter called `limiter`, in chain order. None at all is
    /// legal, and never matches.
    ///
    /// # Errors
    /// Every mistake in all of them, at paths such as `rules[0].limit`.
    pub fn build(limiter: &str, specs: &[RuleSpec], evaluation: Evaluation) -> Result<Self, Findings> {
        let mut findings = Findings::default();
        if !names::is_limiter_name(limiter) {
            findings.add(Code::NameInvalid, "name", format!("`{limiter}` is no name of a limiter"));
        }
        let mut first_at = HashMap::new();
        let mut built = Vec::with_capacity(specs.len());
        for (i, spec) in specs.iter().enumerate() {
            let path = format!("rules[{i}]");
            match spec.build() {
                Ok(rule) => built.push(rule),
                Err(found) => findings.extend_below(&path, found),
            }
            match first_at.get(spec.name.as_str()) {
                Some(first) if !spec.name.is_empty() => {
                    findings.add(
                        Code::DuplicateRuleName,
                        format!("{path}.name"),
                        format!("`{}` is rules[{first}] already", spec.name),
                    );
                }
                _ => drop(first_at.insert(spec.name.as_str(), i)),
            }
        }
        findings.or(()).map(|()| Self::place(limiter, built, evaluation))
    }

    fn place(limiter: &str, rules: Vec<Rule>, evaluation: Evaluation) -> Self {
        let mut properties: Vec<Box<str>> = Vec::new();
        let mut slots: HashMap<Box<str>, u32> = HashMap::new();
        let mut slot = |name: &str| {
            if let Some(slot) = slots.get(name) {
                return *slot;
            }
            let slot = numbers::index(properties.len());
            properties.push(name.into());
            slots.insert(name.into(), slot);
            slot
        };
        let asks_host = rules.iter().any(Rule::asks_host);
        let placed = rules
            .into_iter()
            .map(|mut rule| {
                // What costs least is asked first, the host last.
                rule.matchers.sort_by_key(|(_, matcher)| match matcher {
                    Matcher::Eq(_) | Matcher::OneOf(_) | Matcher::Prefix(_) => 0,
                    other if other.asks_host() => 2,
                    _ => 1,
                });
                Placed {
                    matched: rule.matchers.iter().map(|(name, _)| slot(name)).collect(),
                    keyed: rule.characteristics.iter().map(|name| slot(name)).collect(),
                    counted: rule.count_distinct.as_deref().map(&mut slot),
                    overridden: rule
                        .overrides
                        .iter()
                        .map(|o| o.matchers.iter().map(|(name, _)| slot(name)).collect())
                        .collect(),
                    rate: fixed_rate(&rule),
                    fixed: None,
                    rule,
                }
            })
            .collect();
        let properties = properties.into();
        let mut rules = Self { limiter: limiter.into(), chain: placed, properties, evaluation, asks_host };
        for at in 0..rules.chain.len() {
            rules.chain[at].fixed = rules.fixed_step(numbers::index(at));
        }
        rules
    }

    /// The limiter's name.
    pub fn limiter(&self) -> &str {
        &self.limiter
    }

    /// The properties that some rule mentions; only these are looked at.
    pub fn properties(&self) -> impl ExactSizeIterator<Item = &str> {
        self.properties.iter().map(|name| &**name)
    }

    /// The rules, in chain order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Rule> {
        self.chain.iter().map(|placed| &placed.rule)
    }

    /// How many rules there are.
    pub fn len(&self) -> usize {
        self.chain.len()
    }

    /// There is no rule.
    pub fn is_empty(&self) -> bool {
        self.chain.is_empty()
    }

    /// Which results stop the chain.
    pub const fn evaluation(&self) -> Evaluation {
        self.evaluation
    }

    /// Whether some rule holds a callable or a pattern object.
    pub const fn asks_host(&self) -> bool {
        self.asks_host
    }

    /// The rule at a step's place.
    pub fn rule(&self, at: u32) -> &Rule {
        &self.chain[numbers::offset(at)].rule
    }

    /// The characteristics of a rule and their values.
    pub fn keyed<'a, 'f>(
        &'a self,
        rule: u32,
        facts: &'a [Value<'f>],
    ) -> impl ExactSizeIterator<Item = (&'a str, &'a Value<'f>)> + Clone {
        let placed = &self.chain[numbers::offset(rule)];
        placed
            .rule
            .characteristics
            .iter()
            .zip(&placed.keyed)
            .map(|(name, slot)| (&**name, &facts[numbers::offset(*slot)]))
    }

    /// The facts of a request.
    ///
    /// # Errors
    /// The first mentioned property whose value cannot be one.
    pub fn facts<'i, I: Identifier + ?Sized>(&self, identifier: &'i I) -> Result<Facts<'i>, Failure> {
        let mut facts = Facts::new();
        self.facts_into(identifier, &mut facts)?;
        Ok(facts)
    }

    /// As [`Rules::facts`], into a list that is empty yet.
    ///
    /// # Errors
    /// The first mentioned property whose value cannot be one.
    pub fn facts_into<'i, I: Identifier + ?Sized>(
        &self,
        identifier: &'i I,
        facts: &mut Facts<'i>,
    ) -> Result<(), Failure> {
        for (slot, property) in self.properties.iter().enumerate() {
            match identifier.value(slot, property).normalized() {
                Ok(value) => facts.push(value),
                Err(kind) => {
                    let message =
                        format!("property `{property}` is {kind}: give a string, a finite number, a boolean or null");
                    return Err(Failure::new(FailureKind::BadIdentifier, "BadIdentifier", message));
                }
            }
        }
        Ok(())
    }

    /// The facts of a request for `clear`: a bad value stays bad, and only the keys that need it
    /// cannot be built. The failure, if any, is the first of them.
    pub fn facts_of_all<'i, I: Identifier + ?Sized>(&self, identifier: &'i I) -> (Facts<'i>, Option<Failure>) {
        let mut facts = Facts::new();
        for (slot, property) in self.properties.iter().enumerate() {
            facts.push(identifier.value(slot, property).normalized().unwrap_or(Value::Bad("bad")));
        }
        (facts, self.facts(identifier).err())
    }

    /// The places of the rules that count.
    pub fn counting(&self) -> impl Iterator<Item = u32> {
        self.iter().enumerate().filter(|(_, rule)| rule.action != Action::Skip).map(|(at, _)| numbers::index(at))
    }

    /// The cost that a call is judged by: a peek answers for a cost of 1.
    pub const fn judged_cost(mode: Mode, cost: Cost) -> Cost {
        match mode {
            Mode::Check => cost,
            Mode::Peek => Cost::ONE,
        }
    }
}

fn fixed_rate(rule: &Rule) -> Option<Rate> {
    match (rule.algorithm, rule.limit, rule.period_s) {
        (Algorithm::Gcra, Amount::Fixed(limit), Amount::Fixed(period)) => {
            Rate::new(limit, period, rule.burst.unwrap_or(limit)).ok()
        }
        _ => None,
    }
}
