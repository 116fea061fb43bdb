//! Selection: which rules a request matches, and what it asks of the store for each.

use crate::algorithm::Algorithm;
use crate::failure::{Failure, FailureKind};
use crate::gcra::Rate;
use crate::host::{Host, HostError, NoHost};
use crate::matcher::Matcher;
use crate::numbers;
use crate::resolver::Resolver;
use crate::rule::{Amount, Override, Rule};
use crate::rule_spec::{Action, PERIOD_MAX_S};
use crate::rules::{Evaluation, Placed, Rules};
use crate::step::{CountStep, Counting, End, Mode, Selection, Step, Stop};
use crate::value::Value;

impl Rules {
    /// What the request asks of the store: every rule that matches, up to the first skip or failure,
    /// its numbers resolved.
    pub fn select(&self, facts: &[Value<'_>], mode: Mode, host: &dyn Host) -> Selection {
        let mut selection = Selection::default();
        self.select_into(facts, mode, host, &mut selection);
        self.own(&mut selection);
        selection
    }

    /// Makes every [`Step::Fixed`] the selection's own.
    fn own(&self, selection: &mut Selection) {
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

    pub(crate) fn step(
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
        let other = other.map(|(_, other)| other);
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
    pub(crate) fn fixed_step(&self, at: u32) -> Option<CountStep> {
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
        match (rule.action, rule.is_final, self.evaluation()) {
            (Action::Limit, false, Evaluation::FirstBlock) => Stop::WhenOver,
            (Action::Limit, true, Evaluation::All) => Stop::WhenPassed,
            (_, true, _) => Stop::Always,
            (_, false, _) => Stop::Never,
        }
    }
}

/// Whether every matcher holds: the cheap ones first, the host only where all of those do.
pub(crate) fn all_hold(
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

/// The override in force, and its place.
pub(crate) fn overriding<'a>(
    placed: &'a Placed,
    facts: &[Value<'_>],
    host: &dyn Host,
) -> Result<Option<(usize, &'a Override)>, HostError> {
    for (at, (other, slots)) in placed.rule.overrides.iter().zip(&placed.overridden).enumerate() {
        if all_hold(&other.matchers, slots, facts, host)? {
            return Ok(Some((at, other)));
        }
    }
    Ok(None)
}
