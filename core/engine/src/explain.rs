//! Explanations: how one request meets every rule, matching or not, for people who ask why.

use crate::failure::Failure;
use crate::host::{Host, HostError};
use crate::numbers;
use crate::rule::Rule;
use crate::rules::{Placed, Rules};
use crate::select::{all_hold, overriding};
use crate::step::{CountStep, End, Mode, Step, Stop};
use crate::value::Value;

/// What a rule asks of one property, and whether it holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition<'e> {
    /// The property.
    pub property: &'e str,
    /// The value that the request has.
    pub value: Value<'e>,
    /// Whether the matcher holds for it; none where the host could not say.
    pub holds: Option<bool>,
}

/// How one request meets one rule.
#[derive(Clone, Debug)]
pub struct Explained<'e> {
    /// The rule.
    pub rule: &'e Rule,
    /// The rule's place in [`Rules`].
    pub place: u32,
    /// The chain comes to it, unless an earlier rule that is over ends it before.
    pub reached: bool,
    /// The places of earlier rules that end the chain unless they are over ([`Stop::WhenPassed`]): it comes here only
    /// where all of them are.
    pub only_when_over: Vec<u32>,
    /// What it asks, in the order in which it is asked: what costs least first.
    pub conditions: Vec<Condition<'e>>,
    /// Whether all of them hold; none where the host could not say.
    pub matches: Option<bool>,
    /// The place of the override whose numbers are in force, among the rule's.
    pub overridden_by: Option<usize>,
    /// How it would count the request, where it matches and counts: the numbers in force, and when the chain ends here.
    pub step: Option<CountStep>,
    /// It matches and counts distinct values, and the request lacks the property: it is passed over.
    pub lacks_distinct: bool,
}

/// How one request meets every rule, in chain order.
#[derive(Clone, Debug)]
pub struct Explanation<'e> {
    /// Every rule, reached or not.
    pub rules: Vec<Explained<'e>>,
    /// The place of the rule behind which no other runs, whatever the counters say.
    pub ends_at: Option<u32>,
}

impl Rules {
    /// Says how a check of this request would meet every rule, also those that the chain does not come to. The very code
    /// of [`Rules::select`] decides.
    ///
    /// # Errors
    /// The host failed at a rule that the chain comes to: the check has no verdict.
    pub fn explain<'e>(&'e self, facts: &'e [Value<'e>], host: &dyn Host) -> Result<Explanation<'e>, Failure> {
        let selection = self.select(facts, Mode::Check, host);
        let ends_at = match selection.end {
            End::Failed(failure) => return Err(failure),
            End::Skip(rule) => Some(rule),
            End::Open => selection.steps.last().and_then(|step| match step {
                Step::Count(step) if step.stop == Stop::Always => Some(step.rule),
                _ => None,
            }),
        };
        let explained = |(at, placed): (usize, &'e Placed)| {
            let place = numbers::index(at);
            self.explained(place, placed, ends_at.is_none_or(|end| place <= end), facts, host)
        };
        let mut rules: Vec<_> = self.chain.iter().enumerate().map(explained).collect();
        let mut only_when_over = Vec::new();
        for met in rules.iter_mut().filter(|met| met.reached) {
            met.only_when_over.clone_from(&only_when_over);
            if met.step.is_some_and(|step| step.stop == Stop::WhenPassed) && !met.lacks_distinct {
                only_when_over.push(met.place);
            }
        }
        Ok(Explanation { rules, ends_at })
    }

    fn explained<'e>(
        &'e self,
        place: u32,
        placed: &'e Placed,
        reached: bool,
        facts: &'e [Value<'e>],
        host: &dyn Host,
    ) -> Explained<'e> {
        let rule = &placed.rule;
        let condition = |(matcher, slot): (&'e (Box<str>, _), &u32)| Condition {
            property: &matcher.0,
            value: facts[numbers::offset(*slot)],
            holds: said(all_hold(std::slice::from_ref(matcher), &[*slot], facts, host)),
        };
        let matches = said(all_hold(&rule.matchers, &placed.matched, facts, host));
        let counts = matches == Some(true) && rule.action != crate::Action::Skip;
        let lacks_distinct = counts && placed.counted.is_some_and(|slot| facts[numbers::offset(slot)].is_missing());
        let step = if counts { self.step(place, placed, facts, Mode::Check, host).ok() } else { None };
        let overridden_by = step.and_then(|_| overriding(placed, facts, host).ok().flatten().map(|(at, _)| at));
        let conditions = rule.matchers.iter().zip(&placed.matched).map(condition).collect();
        let only_when_over = Vec::new();
        Explained { rule, place, reached, only_when_over, conditions, matches, overridden_by, step, lacks_distinct }
    }
}

fn said(verdict: Result<bool, HostError>) -> Option<bool> {
    verdict.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{NoHost, PatternId};
    use crate::matcher_spec::MatcherSpec;
    use crate::rule_spec::{Action, OverrideSpec, RuleSpec};
    use crate::rules::{Evaluation, Facts};

    fn rules(specs: &[RuleSpec]) -> Rules {
        Rules::build("web", specs, Evaluation::FirstBlock).expect("good rules")
    }

    fn facts<'i>(rules: &Rules, identifier: &'i [(&str, Value<'_>)]) -> Facts<'i> {
        rules.facts(identifier).expect("good values")
    }

    #[test]
    fn each_condition_speaks_for_itself() {
        let rule = RuleSpec::limit("r", 1, 60)
            .matching("path", MatcherSpec::regex("^/a"))
            .matching("method", "GET")
            .matching("user", MatcherSpec::prefix("x"));
        let rules = rules(&[rule]);
        let identifier = [("path", "/a".into()), ("method", "PUT".into())];
        let facts = facts(&rules, &identifier);
        let explanation = rules.explain(&facts, &NoHost).expect("no host is asked");
        let [only] = explanation.rules.as_slice() else { panic!("{explanation:?}") };
        let held: Vec<_> = only.conditions.iter().map(|c| (c.property, c.value, c.holds)).collect();
        assert_eq!(
            held,
            [
                ("method", "PUT".into(), Some(false)),
                ("user", Value::Null, Some(false)),
                ("path", "/a".into(), Some(true))
            ]
        );
        assert_eq!((only.matches, only.reached, only.step), (Some(false), true, None));
    }

    #[test]
    fn numbers_in_force_and_the_override_that_gives_them() {
        let other = |user: &str, limit: u64| OverrideSpec {
            matchers: vec![("user".into(), user.into())],
            limit: limit.into(),
            ..OverrideSpec::default()
        };
        let mut rule = RuleSpec::limit("r", 1, 60).ban_for_s(5);
        rule.overrides = vec![other("ada", 7), other("bob", 8)];
        let rules = rules(&[rule]);
        for (user, limit, overridden_by) in [("ada", 7, Some(0)), ("bob", 8, Some(1)), ("eve", 1, None)] {
            let identifier = [("user", user.into())];
            let facts = facts(&rules, &identifier);
            let explanation = rules.explain(&facts, &NoHost).expect("no host is asked");
            let met = &explanation.rules[0];
            let step = met.step.expect("it counts");
            assert_eq!((step.limit, step.period_s, step.ban_for_s), (limit, 60, Some(5)), "{user}");
            assert_eq!(met.overridden_by, overridden_by, "{user}");
        }
    }

    #[test]
    fn behind_a_skip_or_a_final_rule_nothing_is_reached() {
        let mut last = RuleSpec::limit("last", 1, 60).action(Action::Log).matching("user", "ada");
        last.is_final = true;
        let specs = [
            RuleSpec::skip("office").matching("ip", "a"),
            RuleSpec::limit("all", 1, 60),
            last,
            RuleSpec::limit("behind", 1, 60),
        ];
        let rules = rules(&specs);
        for (identifier, ends_at, reached) in [
            ([("ip", "a".into()), ("user", "ada".into())], Some(0), 1),
            ([("ip", "b".into()), ("user", "ada".into())], Some(2), 3),
            ([("ip", "b".into()), ("user", "bob".into())], None, 4),
        ] {
            let facts = facts(&rules, &identifier);
            let explanation = rules.explain(&facts, &NoHost).expect("no host is asked");
            assert_eq!(explanation.ends_at, ends_at);
            assert_eq!(explanation.rules.iter().filter(|met| met.reached).count(), reached);
            // Also those behind it say whether they would match.
            assert_eq!(explanation.rules[3].matches, Some(true));
            assert_eq!(explanation.rules[1].step.map(|step| step.stop), Some(Stop::WhenOver));
        }
    }

    #[test]
    fn behind_a_final_limit_that_passes_nothing_is_reached_where_all_rules_run() {
        let last = |name: &str| RuleSpec { is_final: true, ..RuleSpec::limit(name, 1, 60) };
        let distinct = RuleSpec { is_final: true, ..RuleSpec::limit("d", 1, 60).count_distinct("user") };
        let specs = [distinct, last("a"), RuleSpec::limit("b", 1, 60), last("c"), RuleSpec::limit("d2", 1, 60)];
        let only = |evaluation| {
            let rules = Rules::build("web", &specs, evaluation).expect("good rules");
            // Without the user the first is passed over: it ends nothing.
            let explanation = rules.explain(&[Value::Null], &NoHost).expect("no host is asked");
            explanation.rules.into_iter().map(|met| (met.reached, met.only_when_over)).collect::<Vec<_>>()
        };
        let all = [vec![], vec![], vec![1], vec![1], vec![1, 3]].map(|places| (true, places));
        assert_eq!(only(Evaluation::All), all);
        let first_block = [true, true, false, false, false].map(|reached| (reached, vec![]));
        assert_eq!(only(Evaluation::FirstBlock), first_block);
    }

    #[test]
    fn what_is_reached_and_matches_is_what_a_check_asks_for() {
        let values = [Value::Null, "a".into(), "b".into()];
        let mut last = RuleSpec::limit("last", 1, 60).matching("y", "b");
        last.is_final = true;
        let specs = [
            RuleSpec::limit("counts", 1, 60).count_distinct("x"),
            RuleSpec::limit("first", 1, 60).matching("x", MatcherSpec::one_of(["a", "b"])),
            RuleSpec::skip("skip").matching("x", "b").matching("y", MatcherSpec::eq("b").negated()),
            last,
            RuleSpec::limit("all", 1, 60).action(Action::Log),
        ];
        let rules = rules(&specs);
        for (x, y) in values.iter().flat_map(|x| values.iter().map(move |y| (*x, *y))) {
            let identifier = [("x", x), ("y", y)];
            let facts = facts(&rules, &identifier);
            let selection = rules.select(&facts, Mode::Check, &NoHost);
            let asked = selection.steps.iter().map(|step| match step {
                Step::Count(step) => (step.rule, Some(*step)),
                Step::Fixed { rule } => (*rule, rules.fixed(*rule).copied()),
                Step::MissingDistinct { rule } => (*rule, None),
            });
            let explanation = rules.explain(&facts, &NoHost).expect("no host is asked");
            let met = explanation.rules.iter().filter(|met| met.reached && met.matches == Some(true));
            let counting = met.filter(|met| met.rule.action() != Action::Skip);
            let explained: Vec<_> = counting.map(|met| (met.place, met.step.filter(|_| !met.lacks_distinct))).collect();
            assert_eq!(explained, asked.collect::<Vec<_>>(), "{identifier:?}");
            if let End::Skip(rule) = selection.end {
                assert_eq!(explanation.ends_at, Some(rule));
            }
        }
    }

    #[test]
    fn a_distinct_rule_without_its_property_is_passed_over() {
        let rules = rules(&[RuleSpec::limit("r", 1, 60).count_distinct("user")]);
        for (user, lacks) in [(Value::Null, true), ("".into(), true), ("ada".into(), false)] {
            let facts = [user];
            let explanation = rules.explain(&facts, &NoHost).expect("no host is asked");
            assert_eq!(explanation.rules[0].lacks_distinct, lacks, "{user:?}");
        }
    }

    #[test]
    fn a_host_that_cannot_say_is_a_failure_only_where_the_chain_comes_to_it() {
        let pattern = || RuleSpec::limit("r", 1, 60).matching("user", MatcherSpec::Pattern(PatternId(0)));
        let asked = rules(&[pattern()]);
        assert!(asked.explain(&[Value::Null], &NoHost).is_err());
        let behind = rules(&[RuleSpec::skip("all"), pattern()]);
        let facts = [Value::Null];
        let explanation = behind.explain(&facts, &NoHost).expect("the chain ends before");
        assert_eq!(explanation.rules[1].matches, None);
        assert_eq!(explanation.rules[1].conditions[0].holds, None);
    }
}
