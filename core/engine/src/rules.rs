//! The rules of one limiter, and the selection of what a request asks of the store.

use crate::algorithm::Algorithm;
use crate::cost::Cost;
use crate::failure::{Failure, FailureKind};
use crate::finding::{Code, Findings};
use crate::gcra::Rate;
use crate::host::{CallableId, Host, HostError, HostNumber, NoHost};
use crate::matcher::Matcher;
use crate::names;
use crate::numbers;
use crate::rule::{Amount, Override, Rule};
use crate::rule_spec::{Action, PERIOD_MAX_S, RuleSpec};
use crate::step::{CountStep, Counting, End, Mode, Selection, Step, Stop};
use crate::value::Value;
use smallvec::SmallVec;
use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};

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

/// A caller's identifier: pairs of name and value in an array, a slice, a `Vec` or a map, or a type of one's own. Of a
/// name that comes twice the first counts.
pub trait Identifier {
    /// The value of `property`, whose place among [`Rules::properties`] is `slot`.
    fn value(&self, slot: usize, property: &str) -> Value<'_>;

    /// Calls `each` with the name of every property, mentioned by a rule or not, for the log.
    fn each_name(&self, each: &mut dyn FnMut(&str));
}

impl<K: AsRef<str>> Identifier for [(K, Value<'_>)] {
    fn value(&self, _: usize, property: &str) -> Value<'_> {
        self.iter().find(|(name, _)| name.as_ref() == property).map_or(Value::Null, |(_, value)| *value)
    }

    fn each_name(&self, each: &mut dyn FnMut(&str)) {
        for (name, _) in self {
            each(name.as_ref());
        }
    }
}

impl<K: AsRef<str>, const N: usize> Identifier for [(K, Value<'_>); N] {
    fn value(&self, slot: usize, property: &str) -> Value<'_> {
        self.as_slice().value(slot, property)
    }

    fn each_name(&self, each: &mut dyn FnMut(&str)) {
        self.as_slice().each_name(each);
    }
}

impl<K: AsRef<str>> Identifier for Vec<(K, Value<'_>)> {
    fn value(&self, slot: usize, property: &str) -> Value<'_> {
        self.as_slice().value(slot, property)
    }

    fn each_name(&self, each: &mut dyn FnMut(&str)) {
        self.as_slice().each_name(each);
    }
}

impl<K: Borrow<str> + Eq + Hash, S: BuildHasher> Identifier for HashMap<K, Value<'_>, S> {
    fn value(&self, _: usize, property: &str) -> Value<'_> {
        self.get(property).copied().unwrap_or(Value::Null)
    }

    fn each_name(&self, each: &mut dyn FnMut(&str)) {
        for name in self.keys() {
            each(name.borrow());
        }
    }
}

impl<K: Borrow<str> + Ord> Identifier for BTreeMap<K, Value<'_>> {
    fn value(&self, _: usize, property: &str) -> Value<'_> {
        self.get(property).copied().unwrap_or(Value::Null)
    }

    fn each_name(&self, each: &mut dyn FnMut(&str)) {
        for name in self.keys() {
            each(name.borrow());
        }
    }
}

/// A rule with the places of the properties that it looks at.
#[derive(Debug)]
struct Placed {
    rule: Rule,
    matched: Box<[u32]>,
    keyed: Box<[u32]>,
    counted: Option<u32>,
    overridden: Box<[Box<[u32]>]>,
    // The rate where every number is fixed and no override changes it.
    rate: Option<Rate>,
    // The whole step, where nothing of it depends on the request.
    fixed: Option<CountStep>,
}

/// The rules of one limiter, checked and compiled. Immutable.
#[derive(Debug)]
pub struct Rules {
    limiter: Box<str>,
    chain: Box<[Placed]>,
    properties: Box<[Box<str>]>,
    evaluation: Evaluation,
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
        let mut slot = |name: &str| {
            let at = properties.iter().position(|known| &**known == name).unwrap_or_else(|| {
                properties.push(name.into());
                properties.len() - 1
            });
            numbers::index(at)
        };
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
        let mut rules = Self { limiter: limiter.into(), chain: placed, properties: properties.into(), evaluation };
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

    /// What the request asks of the store: every rule that matches, up to the first skip or failure,
    /// its numbers resolved.
    pub fn select(&self, facts: &[Value<'_>], mode: Mode, host: &dyn Host) -> Selection {
        let mut selection = Selection::default();
        self.select_into(facts, mode, host, &mut selection);
        self.own(&mut selection);
        selection
    }

    /// Makes every [`Step::Fixed`] the selection's own.
    pub fn own(&self, selection: &mut Selection) {
        for step in &mut selection.steps {
            if let Step::Fixed { rule } = step
                && let Some(fixed) = self.fixed(*rule)
            {
                *step = Step::Count(*fixed);
            }
        }
    }

    /// The step of a rule whose step is always the same.
    pub fn fixed(&self, rule: u32) -> Option<&CountStep> {
        self.chain[numbers::offset(rule)].fixed.as_ref()
    }

    /// As [`Rules::select`], into a selection that is empty yet, and with [`Step::Fixed`] left to be looked
    /// up: steps are large, and moving them about is not free.
    pub fn select_into(&self, facts: &[Value<'_>], mode: Mode, host: &dyn Host, selection: &mut Selection) {
        for (at, placed) in self.chain.iter().enumerate() {
            let at = numbers::index(at);
            match all_hold(&placed.rule.matchers, &placed.matched, facts, host) {
                Ok(false) => continue,
                Ok(true) if placed.rule.action == Action::Skip => {
                    selection.end = End::Skip(at);
                    return;
                }
                Ok(true) => {}
                Err(error) => {
                    selection.end = End::Failed(Failure::of_host(FailureKind::Pattern, at, error));
                    return;
                }
            }
            let missing = placed.counted.is_some_and(|slot| facts[numbers::offset(slot)].is_missing());
            if mode == Mode::Check && missing {
                selection.steps.push(Step::MissingDistinct { rule: at });
                continue;
            }
            if let Some(step) = &placed.fixed {
                selection.steps.push(Step::Fixed { rule: at });
                if step.stop == Stop::Always {
                    return;
                }
                continue;
            }
            match self.step(at, placed, facts, mode, host) {
                Ok(step) => {
                    selection.steps.push(Step::Count(step));
                    if step.stop == Stop::Always {
                        return;
                    }
                }
                Err(failure) => {
                    selection.end = End::Failed(failure);
                    return;
                }
            }
        }
    }

    fn step(
        &self,
        at: u32,
        placed: &Placed,
        facts: &[Value<'_>],
        mode: Mode,
        host: &dyn Host,
    ) -> Result<CountStep, Failure> {
        let rule = &placed.rule;
        let other =
            overriding(placed, facts, host).map_err(|error| Failure::of_host(FailureKind::Pattern, at, error))?;
        let call = Resolver { host, rule: at };
        let limit = call.resolve("limit", other.and_then(|o| o.limit), rule.limit, 0, u64::MAX)?;
        let period_s =
            call.resolve("period_s", other.and_then(|o| o.period_s), rule.period_s, 1, u64::from(PERIOD_MAX_S))?;
        let ban_for_s = match (other.and_then(|o| o.ban_for_s), rule.ban_for_s) {
            (None, None) => None,
            // A peek asks for no ban: one without expiry then reads as a period.
            (None, Some(Amount::Callable(_))) if mode == Mode::Peek => Some(period_s),
            (replaced, own) => {
                Some(call.resolve("ban_for_s", replaced, own.unwrap_or(Amount::Fixed(1)), 1, u64::from(u32::MAX))?)
            }
        };
        let counting = match (rule.algorithm, placed.counted) {
            (Algorithm::FixedWindow, Some(slot)) => Counting::Distinct { slot },
            (Algorithm::FixedWindow, None) => Counting::Window,
            (Algorithm::Gcra, _) => Counting::Gcra(match placed.rate {
                Some(rate) if other.is_none() => rate,
                _ => {
                    let burst = other.and_then(|o| o.burst).or(rule.burst).unwrap_or(limit);
                    Rate::new(limit, period_s, burst).map_err(|_| call.out_of_range(limit, period_s, burst))?
                }
            }),
        };
        Ok(CountStep {
            rule: at,
            action: rule.action,
            limit,
            period_s: u32::try_from(period_s).unwrap_or(PERIOD_MAX_S),
            ban_for_s: ban_for_s.map(|ban| u32::try_from(ban).unwrap_or(u32::MAX)),
            counting,
            stop: self.stop(rule),
        })
    }

    /// The step of a rule whose numbers neither a callable nor an override changes.
    fn fixed_step(&self, at: u32) -> Option<CountStep> {
        let placed = &self.chain[numbers::offset(at)];
        let Rule { limit, period_s, ban_for_s, .. } = placed.rule;
        let called =
            [Some(limit), Some(period_s), ban_for_s].iter().flatten().any(|n| matches!(n, Amount::Callable(_)));
        if called || placed.rule.action == Action::Skip || !placed.rule.overrides.is_empty() {
            return None;
        }
        self.step(at, placed, &[], Mode::Check, &NoHost).ok()
    }

    const fn stop(&self, rule: &Rule) -> Stop {
        match (rule.action, rule.is_final, self.evaluation) {
            (Action::Limit, false, Evaluation::FirstBlock) => Stop::WhenOver,
            (Action::Limit, true, Evaluation::All) => Stop::WhenPassed,
            (_, true, _) => Stop::Always,
            (_, false, _) => Stop::Never,
        }
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

/// Whether every matcher holds: the cheap ones first, the host only where all of those do.
fn all_hold(
    matchers: &[(Box<str>, Matcher)],
    slots: &[u32],
    facts: &[Value<'_>],
    host: &dyn Host,
) -> Result<bool, HostError> {
    if matchers.is_empty() {
        return Ok(true);
    }
    let pairs = || matchers.iter().zip(slots).map(|((_, matcher), slot)| (matcher, &facts[numbers::offset(*slot)]));
    let mut asks = false;
    for (matcher, value) in pairs() {
        match matcher.cheap(value) {
            Some(false) => return Ok(false),
            Some(true) => {}
            None => asks = true,
        }
    }
    if asks {
        for (matcher, value) in pairs().filter(|(matcher, _)| matcher.asks_host()) {
            if !matcher.holds(value, host)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn overriding<'a>(placed: &'a Placed, facts: &[Value<'_>], host: &dyn Host) -> Result<Option<&'a Override>, HostError> {
    for (other, slots) in placed.rule.overrides.iter().zip(&placed.overridden) {
        if all_hold(&other.matchers, slots, facts, host)? {
            return Ok(Some(other));
        }
    }
    Ok(None)
}

/// Resolves the numbers of one rule.
struct Resolver<'a> {
    host: &'a dyn Host,
    rule: u32,
}

impl Resolver<'_> {
    fn resolve(&self, field: &str, replaced: Option<u64>, own: Amount, min: u64, max: u64) -> Result<u64, Failure> {
        match (replaced, own) {
            (Some(n), _) | (None, Amount::Fixed(n)) => Ok(n),
            (None, Amount::Callable(id)) => self.call(field, id, min, max),
        }
    }

    fn call(&self, field: &str, id: CallableId, min: u64, max: u64) -> Result<u64, Failure> {
        let number = self.host.number(id).map_err(|error| Failure::of_host(FailureKind::Callable, self.rule, error))?;
        let whole = match number {
            HostNumber::Int(n) => n,
            HostNumber::Float(f) if f.is_finite() => numbers::cut_to_i128(f),
            HostNumber::Float(f) => return Err(self.failure(format!("{field} must be a finite number, not {f}"))),
        };
        // Only a limit may be 0 or less: it then refuses everything.
        let whole = if min == 0 { whole.max(0) } else { whole };
        u64::try_from(whole)
            .ok()
            .filter(|n| (min..=max).contains(n))
            .ok_or_else(|| self.failure(format!("{field} must be within {min} and {max}, not {whole}")))
    }

    fn out_of_range(&self, limit: u64, period_s: u64, burst: u64) -> Failure {
        self.failure(format!(
            "{limit} per {period_s} s with a burst of {burst} is beyond exact arithmetic ({})",
            Code::GcraOutOfRange
        ))
    }

    fn failure(&self, message: String) -> Failure {
        Failure { rule: Some(self.rule), ..Failure::new(FailureKind::Callable, "OutOfRange", message) }
    }
}
