//! Warnings: what can be used, and may not be what was meant.

use crate::found::MAX_FINDINGS;
use crate::tree::cut;
use labkit_ratelimit_engine::{Action, Code, Evaluation, Finding, MatcherSpec, NumberSpec, RuleSpec};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A rule and where it is written.
#[derive(Clone, Debug)]
pub(crate) struct Written<'r> {
    /// The list that it stands in.
    pub(crate) list: Arc<str>,
    /// Which of the files.
    pub(crate) file: usize,
    /// Its place in the list.
    pub(crate) index: usize,
    pub(crate) spec: &'r RuleSpec,
}

impl Written<'_> {
    fn path(&self) -> String {
        format!("{}[{}]", self.list, self.index)
    }

    fn find(&self, code: Code, field: &str, message: String) -> (usize, Finding) {
        (self.file, Finding::new(code, format!("{}{field}", self.path()), message).as_warning())
    }
}

/// The most rules that every later one is compared with.
const MAX_ENDS: usize = 1_000;

/// Matchers by number: equal ones have one.
#[derive(Default)]
struct Numbered<'r>(HashMap<(&'r str, String), usize>);

impl<'r> Numbered<'r> {
    /// The numbers of a rule's matchers, sorted.
    fn of(&mut self, rule: &'r RuleSpec) -> Vec<usize> {
        let number = |(property, matcher): &'r (String, MatcherSpec)| {
            let next = self.0.len();
            *self.0.entry((property.as_str(), format!("{matcher:?}"))).or_insert(next)
        };
        let mut numbers: Vec<usize> = rule.matchers.iter().map(number).collect();
        numbers.sort_unstable();
        numbers
    }
}

/// The rules of one tier that never run, each with its file.
pub(crate) fn unreachable(rules: &[Written<'_>], evaluation: Evaluation) -> Vec<(usize, Finding)> {
    let mut findings = Vec::new();
    let mut names: HashMap<&str, &Written<'_>> = HashMap::new();
    let mut numbered = Numbered::default();
    let mut ends: Vec<(Vec<usize>, &Written<'_>)> = Vec::new();
    for rule in rules {
        if findings.len() > MAX_FINDINGS {
            break;
        }
        let name = cut(&rule.spec.name);
        let earlier = names.get(rule.spec.name.as_str());
        if earlier.is_some_and(|first| first.file != rule.file && !first.spec.name.is_empty()) {
            let message = format!("an earlier file has a rule `{name}`, which stands");
            findings.push(rule.find(Code::RuleUnreachable, ".name", message));
            continue;
        }
        names.insert(&rule.spec.name, rule);
        if let Some((property, _)) = rule.spec.matchers.iter().find(|(_, matcher)| holds_never(matcher)) {
            let message = format!("`{name}` never runs: its matcher of `{property}` holds for no value");
            findings.push(rule.find(Code::RuleUnreachable, "", message));
            continue;
        }
        let ends_the_chain = ends_always(rule.spec, evaluation) && ends.len() < MAX_ENDS;
        if ends.is_empty() && !ends_the_chain {
            continue;
        }
        let own = numbered.of(rule.spec);
        if let Some((_, end)) = ends.iter().find(|(matchers, _)| covers(matchers, &own)) {
            let end = cut(&end.spec.name);
            let message = format!("`{name}` never runs: `{end}` ends the chain for all that it matches");
            findings.push(rule.find(Code::RuleUnreachable, "", message));
        } else if ends_the_chain {
            ends.push((own, rule));
        }
    }
    findings
}

/// Counting rules that end the chain before defaults which they cover. A skip that does is meant to, and needs leave.
pub(crate) fn cut_off(rules: &[Written<'_>], defaults: &[RuleSpec], evaluation: Evaluation) -> Vec<(usize, Finding)> {
    let names: HashSet<&str> = rules.iter().map(|rule| rule.spec.name.as_str()).collect();
    let mut left: Vec<&RuleSpec> = defaults.iter().filter(|default| !names.contains(default.name.as_str())).collect();
    let mut findings = Vec::new();
    for rule in rules.iter().filter(|rule| ends_always(rule.spec, evaluation)).take(MAX_ENDS) {
        let is_cut = |default: &&RuleSpec| rule.spec.matchers.iter().all(|own| default.matchers.contains(own));
        let (cut_off, others): (Vec<_>, Vec<_>) = left.into_iter().partition(is_cut);
        left = others;
        if rule.spec.action != Action::Skip && !cut_off.is_empty() {
            let named: Vec<&str> = cut_off.iter().take(5).map(|default| default.name.as_str()).collect();
            let more = if cut_off.len() > named.len() { " and others" } else { "" };
            let name = cut(&rule.spec.name);
            let message =
                format!("`{name}` ends the chain before the defaults {}{more}, which never run", named.join(", "));
            findings.push(rule.find(Code::RuleUnreachable, ".final", message));
        }
    }
    findings
}

/// An empty list of values, or of networks.
fn holds_never(matcher: &MatcherSpec) -> bool {
    let MatcherSpec::Map(pairs) = matcher else { return false };
    matches!(pairs.as_slice(), [(marker, MatcherSpec::List(entries))]
        if entries.is_empty() && ["one_of", "oneOf", "cidr"].contains(&marker.as_str()))
}

/// Whether the chain ends there whenever the rule matches. A distinct rule may be passed over.
fn ends_always(rule: &RuleSpec, evaluation: Evaluation) -> bool {
    match rule.action {
        Action::Skip => true,
        // A block ends the chain itself, unless all are evaluated.
        Action::Limit if evaluation == Evaluation::All => false,
        _ => rule.is_final && rule.count_distinct.is_none(),
    }
}

/// Whether what has the matchers `earlier` matches all that `later` does: the same matchers, or fewer of them.
fn covers(earlier: &[usize], later: &[usize]) -> bool {
    earlier.len() <= later.len() && earlier.iter().all(|matcher| later.binary_search(matcher).is_ok())
}

/// What a rule changes of the default whose name it has.
pub(crate) fn shadowing(rule: &Written<'_>, default: &RuleSpec) -> Vec<(usize, Finding)> {
    let name = cut(&rule.spec.name);
    let message = format!("`{name}` stands in the place of the default rule of its name");
    let mut findings = vec![rule.find(Code::DefaultShadowed, ".name", message)];
    if let (Some(now), Some(before)) = (rate(rule.spec), rate(default)) {
        // now.limit / now.period < before.limit / before.period / 10
        let (lowered, tenth) = (now.limit * before.period * 10, before.limit * now.period);
        if lowered < tenth {
            let message = format!(
                "`{name}` lets {} through per {} s, under a tenth of the default's {} per {} s",
                now.limit, now.period, before.limit, before.period
            );
            findings.push(rule.find(Code::LimitLoweredTenfold, ".limit", message));
        }
    }
    let counts = |rule: &RuleSpec| rule.action != Action::Skip;
    if counts(rule.spec) && counts(default) && rule.spec.count_distinct.is_some() != default.count_distinct.is_some() {
        let message = if default.count_distinct.is_some() {
            format!("the default `{name}` counts distinct values, and this one calls")
        } else {
            format!("the default `{name}` counts calls, and this one distinct values")
        };
        findings.push(rule.find(Code::DistinctChangeNeedsNewName, ".count_distinct", message));
    }
    findings
}

struct Rate {
    limit: u128,
    period: u128,
}

/// The rate of a rule that counts; none where a callable gives it, or it is out of range.
fn rate(rule: &RuleSpec) -> Option<Rate> {
    let number = |spec: NumberSpec, max: u64| match spec {
        NumberSpec::Int(n) => u64::try_from(n).ok().filter(|n| *n <= max).map(u128::from),
        _ => None,
    };
    let period = number(rule.period_s, labkit_ratelimit_engine::PERIOD_MAX_S.into())?;
    Some(Rate { limit: number(rule.limit, u64::MAX)?, period })
}
