//! How large a pattern becomes once it is compiled, told from its text alone.
//!
//! A few characters can ask for megabytes: `\pL{5000}`. One such pattern the engine refuses; thousands that are a
//! little smaller it would compile, one after the other.

use crate::found::Found;
use labkit_ratelimit_engine::{Code, Finding, MatcherSpec, RuleSpec, Scalar};
use regex_syntax::ast::{Ast, ClassSet, ClassSetItem, RepetitionKind, RepetitionRange, parse::Parser};

/// The most that the patterns of a document come to, in states of their automata: some 300 MiB, as long as its rules
/// are in force.
pub(crate) const MAX_STATES: usize = 4_000_000;
/// Of a pattern without anything in it.
const EACH: usize = 200;
/// Of one more pattern than anyone compiles: the engine stops there.
const ONE_AT_MOST: usize = 1_000_000;
/// The longest pattern, in bytes: to read one takes some hundred times its length.
const LONGEST: usize = 64 * 1024;
/// Of a class of Unicode such as `\pL` and `\w`.
const UNICODE_CLASS: usize = 800;

/// Adds the patterns of a rule to those of its document. Where they are too much together, says so at the rule.
pub(crate) fn within_bounds(path: &str, spec: &RuleSpec, found: &mut Found) -> bool {
    let others = spec.overrides.iter().flat_map(|other| &other.matchers);
    let all = spec.matchers.iter().chain(others).map(|(_, matcher)| states(matcher));
    let before = found.patterns;
    found.patterns = all.fold(before, usize::saturating_add);
    if found.patterns > MAX_STATES && before <= MAX_STATES {
        let message = "the patterns up to here are too large together: repeat less in them";
        found.push(Finding::new(Code::MatcherBadRegex, path, message));
    }
    found.patterns <= MAX_STATES
}

fn states(matcher: &MatcherSpec) -> usize {
    match matcher {
        MatcherSpec::List(entries) => entries.iter().map(states).fold(0, usize::saturating_add),
        MatcherSpec::Map(pairs) => {
            let of_pair = |(marker, operand): &(String, MatcherSpec)| match (marker.as_str(), operand) {
                ("regex" | "re" | "nre", MatcherSpec::Scalar(Scalar::Text(text))) => of_text(text),
                _ => states(operand),
            };
            pairs.iter().map(of_pair).fold(0, usize::saturating_add)
        }
        _ => 0,
    }
}

fn of_text(text: &str) -> usize {
    if text.len() > LONGEST {
        return MAX_STATES + 1;
    }
    // What is no pattern is found when it is compiled, and costs its length.
    let Ok(ast) = Parser::new().parse(text) else { return EACH + text.len() };
    // Of what is repeated the engine compiles no more than it allows; what is written it reads whole.
    EACH + of_ast(&ast, true).min(ONE_AT_MOST).max(of_ast(&ast, false))
}

/// The parser bounds how deep it nests.
fn of_ast(ast: &Ast, repeated: bool) -> usize {
    let part = |ast: &Ast| of_ast(ast, repeated);
    match ast {
        Ast::Empty(_) | Ast::Flags(_) | Ast::Assertion(_) => 1,
        Ast::Literal(_) => 4,
        Ast::Dot(_) => 10,
        Ast::ClassUnicode(_) | Ast::ClassPerl(_) => UNICODE_CLASS,
        Ast::ClassBracketed(class) => of_set(&class.kind),
        Ast::Group(group) => 2 + part(&group.ast),
        Ast::Concat(parts) => parts.asts.iter().map(part).fold(0, usize::saturating_add),
        Ast::Alternation(parts) => parts.asts.iter().map(part).fold(1, usize::saturating_add),
        Ast::Repetition(repetition) => {
            let times = match &repetition.op.kind {
                RepetitionKind::Range(
                    RepetitionRange::Exactly(n) | RepetitionRange::AtLeast(n) | RepetitionRange::Bounded(_, n),
                ) => *n,
                _ => 1,
            };
            let times = if repeated { times } else { 1 };
            part(&repetition.ast).saturating_mul(usize::try_from(times).unwrap_or(usize::MAX).max(1))
        }
    }
}

fn of_set(set: &ClassSet) -> usize {
    match set {
        ClassSet::Item(item) => of_item(item),
        ClassSet::BinaryOp(op) => of_set(&op.lhs).saturating_add(of_set(&op.rhs)),
    }
}

fn of_item(item: &ClassSetItem) -> usize {
    match item {
        ClassSetItem::Empty(_) => 1,
        ClassSetItem::Literal(_) => 4,
        ClassSetItem::Range(_) | ClassSetItem::Ascii(_) => 10,
        ClassSetItem::Unicode(_) | ClassSetItem::Perl(_) => UNICODE_CLASS,
        ClassSetItem::Bracketed(class) => of_set(&class.kind),
        ClassSetItem::Union(union) => union.items.iter().map(of_item).fold(0, usize::saturating_add),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_repeated_counts_as_often() {
        assert_eq!(of_text("abc"), EACH + 12);
        assert_eq!(of_text("(ab){10}"), EACH + 100);
        assert_eq!(of_text(r"\w{1,64}"), EACH + 64 * UNICODE_CLASS);
        assert_eq!(of_text(r"[\pL\d-]"), EACH + 2 * UNICODE_CLASS + 4);
        assert_eq!(of_text("(((a{1000}){1000}){1000}){1000}"), EACH + ONE_AT_MOST);
        assert_eq!(of_text("(("), EACH + 2);
        let long = r"\pL".repeat(2_000);
        assert_eq!(of_text(&long), EACH + 2_000 * UNICODE_CLASS, "what is written is read whole");
        assert!(of_text(&"(".repeat(LONGEST + 1)) > MAX_STATES, "what is too long is not read at all");
    }

    #[test]
    fn a_file_of_everyday_patterns_fits_and_a_file_of_bombs_does_not() {
        let rule = |pattern: &str| {
            let other = labkit_ratelimit_engine::OverrideSpec {
                matchers: vec![("path".into(), MatcherSpec::all([MatcherSpec::regex(pattern).negated()]))],
                ..Default::default()
            };
            RuleSpec::limit("a", 1, 1).overridden(other)
        };
        let mut found = Found::default();
        let everyday = rule(r"^/api/v[0-9]+/projects/\d+/(merge_requests|issues)(/|$)");
        assert!((0..2_000).all(|_| within_bounds("a[0]", &everyday, &mut found)));
        let bomb = rule(r"\pL{100}");
        assert!(!(0..2_000).all(|_| within_bounds("a[1]", &bomb, &mut found)));
        assert!(!within_bounds("a[2]", &bomb, &mut found));
        assert_eq!(found.len(), 1, "it is said once");
    }
}
