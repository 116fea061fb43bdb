//! Tiers of rules: the chain runs over their concatenation, and on equal names the higher tier's rule stands.

use labkit_ratelimit_engine::RuleSpec;
use std::collections::HashSet;

/// The chain of several tiers, the highest first.
pub(crate) fn merged<'r>(tiers: impl IntoIterator<Item = &'r [RuleSpec]>) -> Vec<RuleSpec> {
    let mut names = HashSet::new();
    tiers.into_iter().flatten().filter(|rule| names.insert(rule.name.as_str())).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_higher_tier_stands() {
        let rule = |name: &str, limit: u64| RuleSpec::limit(name, limit, 60);
        let tiers =
            [vec![rule("b", 1), rule("a", 2)], vec![rule("c", 3), rule("b", 4)], vec![rule("a", 5), rule("d", 6)]];
        let chain = merged(tiers.iter().map(Vec::as_slice));
        assert_eq!(chain, [rule("b", 1), rule("a", 2), rule("c", 3), rule("d", 6)]);
    }
}
