//! Checks across documents: rules against their limiter's contract.

use crate::contract::Contract;
use crate::found::Found;
use crate::rule::{RuleDraft, did_you_mean};
use crate::tree::cut;
use labkit_ratelimit_engine::{Action, Code, Finding, names};
use std::collections::HashSet;

/// Who wrote the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tier {
    /// The application itself: it may skip as it likes.
    Default,
    /// Somebody else: a skip rule needs leave.
    Higher,
}

/// So many properties are named where none of them is near.
const FEW: usize = 12;

/// Checks the rules at `path` against the contract of their limiter.
pub(crate) fn check(path: &str, rules: &[RuleDraft], contract: &Contract, tier: Tier, findings: &mut Found) {
    let properties: HashSet<&str> = contract.properties().iter().map(String::as_str).collect();
    let allowed: HashSet<&str> = contract.allowed_skip_rules().iter().map(String::as_str).collect();
    for (i, RuleDraft { spec, .. }) in rules.iter().enumerate() {
        if findings.is_full() {
            return;
        }
        let at = format!("{path}[{i}]");
        let mut offered = |path: String, property: &str| {
            if names::is_property_name(property) && !properties.contains(property) {
                let known = contract.properties();
                let mut hint = guess(property, known.iter().map(String::as_str), findings);
                if hint.is_empty() && known.len() <= FEW {
                    hint = if known.is_empty() {
                        "; it offers none".into()
                    } else {
                        format!("; it offers {}", known.join(", "))
                    };
                }
                let message = format!("the limiter offers no property `{property}`{hint}");
                findings.push(Finding::new(Code::UnknownProperty, path, message));
            }
        };
        for (property, _) in &spec.matchers {
            offered(format!("{at}.match.{property}"), property);
        }
        if spec.action == Action::Skip {
            let may = tier == Tier::Default || allowed.contains(spec.name.as_str());
            if !may && !spec.name.is_empty() {
                let message = format!("the limiter allows no skip rule `{}` outside its defaults", cut(&spec.name));
                findings.push(Finding::new(Code::SkipNotAllowed, format!("{at}.name"), message));
            }
            continue;
        }
        for (i, property) in spec.characteristics.iter().enumerate() {
            offered(format!("{at}.characteristics[{i}]"), property);
        }
        if let Some(property) = &spec.count_distinct {
            offered(format!("{at}.count_distinct"), property);
        }
        for (i, other) in spec.overrides.iter().enumerate() {
            for (property, _) in &other.matchers {
                offered(format!("{at}.overrides[{i}].match.{property}"), property);
            }
        }
    }
}

/// A limiter that no contract knows.
pub(crate) fn unknown_limiter<'a>(
    path: String,
    name: &str,
    known: impl Iterator<Item = &'a str>,
    findings: &mut Found,
) {
    let message = format!("there is no limiter `{name}`{}", guess(name, known, findings));
    findings.push(Finding::new(Code::UnknownLimiter, path, message));
}

/// The most names that a guess looks at.
const MAX_KNOWN: usize = 1_000;

/// What may have been meant, while there is time to guess.
fn guess<'a>(typed: &str, known: impl Iterator<Item = &'a str>, findings: &mut Found) -> String {
    if findings.may_guess() { did_you_mean(typed, known.take(MAX_KNOWN)) } else { String::new() }
}
