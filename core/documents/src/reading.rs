//! From a text to a message: syntax, writing, the schema's rules, and the place of every finding.

use crate::drafts::Drafts;
use crate::found::Found;
use crate::path::{self, Index};
use crate::rule;
use crate::source::Source;
use crate::tree::{Entry, Node, Tree};
use crate::yaml;
use labkit_ratelimit_engine::{Code, Finding, Findings};

/// A document that was read as far as it can be.
pub(crate) struct Read<D> {
    pub(crate) root: Node,
    pub(crate) drafts: D,
    /// Mistakes of writing, without places yet, save those of keys that are not in the tree.
    pub(crate) findings: Found,
}

/// Reads what is written. The schema's rules are not looked at.
///
/// # Errors
/// Nothing can be said of the document: its encoding, its size or its syntax is wrong.
pub(crate) fn drafts<D: Drafts>(source: &Source) -> Result<Read<D>, Finding> {
    let parsed = yaml::parse(source)?;
    let mut findings = Found::default();
    let wrapped = is_wrapped::<D>(&parsed.root);
    for bad in parsed.bad_keys {
        let path = match D::OUTER {
            // A document that is a list begins with an index.
            Some(outer) if !wrapped && bad.path.starts_with('[') => format!("{outer}{}", bad.path),
            Some(outer) if !wrapped => format!("{outer}.{}", bad.path),
            Some(outer) => as_everywhere(outer, &parsed.root, bad.path),
            None => bad.path,
        };
        findings.push(Finding::new(bad.code, path, bad.message).at(source.location(bad.at)));
    }
    let drafts = match outer::<D>(&parsed.root, &mut findings) {
        Some(node) => D::read(node, &mut findings),
        None => D::default(),
    };
    Ok(Read { root: parsed.root, drafts, findings })
}

/// The path with the outer key as other findings spell it.
fn as_everywhere(outer: &str, root: &Node, path: String) -> String {
    let rest = outer_entry(root, outer).and_then(|entry| path.strip_prefix(entry.key.as_str()));
    match rest {
        Some(rest) if rest.starts_with('.') || rest.starts_with('[') => format!("{outer}{rest}"),
        _ => path,
    }
}

fn is_wrapped<D: Drafts>(root: &Node) -> bool {
    D::OUTER.is_none_or(|outer| outer_entry(root, outer).is_some())
}

/// The entry under the outer key, in either spelling.
pub(crate) fn outer_entry<'n>(root: &'n Node, outer: &str) -> Option<&'n Entry> {
    root.as_map()?.iter().find(|entry| entry.key == outer || rule::is_camel_of(&entry.key, outer))
}

/// What is within the outer key, written or not.
fn outer<'n, D: Drafts>(root: &'n Node, findings: &mut Found) -> Option<&'n Node> {
    let (Some(outer), Some(entries)) = (D::OUTER, root.as_map()) else { return Some(root) };
    if let Some(wrapped) = outer_entry(root, outer) {
        for entry in entries.iter().filter(|entry| entry.key != wrapped.key) {
            findings.push(unknown_key(&entry.key, outer));
        }
        return Some(&wrapped.value);
    }
    match entries {
        // An outer key that is misspelt, or another document's.
        [only] if holds_limiters(&only.value) && is_nearly_outer(&only.key, outer) => {
            findings.push(unknown_key(&only.key, outer));
            None
        }
        _ => Some(root),
    }
}

/// Whether it may be what stands under an outer key: a map, and not that of a limiter's `rules`.
fn holds_limiters(value: &Node) -> bool {
    value.as_map().is_some_and(|entries| !matches!(entries, [only] if only.key == "rules"))
}

/// The outer keys of all documents.
const OUTER_KEYS: [&str; 2] = ["available_limiters", "rate_limits"];

fn is_nearly_outer(key: &str, outer: &str) -> bool {
    OUTER_KEYS.contains(&key) || labkit_ratelimit_engine::names::nearest(&path::snake(key), [outer]).is_some()
}

fn unknown_key(key: &str, outer: &str) -> Finding {
    let message = if OUTER_KEYS.contains(&key) {
        format!("`{key}` is another document's: here stands `{outer}`")
    } else {
        format!("there is no field `{key}`; the document holds `{outer}` alone")
    };
    Finding::new(Code::UnknownField, key, message)
}

pub(crate) fn read<D: Drafts>(source: &Source) -> Result<D::Message, Findings> {
    let mut read = drafts::<D>(source).map_err(|finding| [finding].into_iter().collect::<Findings>())?;
    read.drafts.judge(&mut read.findings);
    accept(source, read)
}

pub(crate) fn parse<D: Drafts>(source: &Source) -> Result<D::Message, Findings> {
    let read = drafts::<D>(source).map_err(|finding| [finding].into_iter().collect::<Findings>())?;
    // Of what is wrong with how a rule is written, a message can say this.
    let can_say = |code| matches!(code, Code::ActionMissing | Code::SkipTakesNoNumbers);
    let is_said = read.drafts.rules().flat_map(|rule| rule.findings.iter()).all(|finding| can_say(finding.code));
    match read.drafts.message() {
        Some(message) if is_said && read.findings.is_empty() => Ok(message),
        // What no message can say, the rules forbid.
        _ => self::read::<D>(source),
    }
}

fn accept<D: Drafts>(source: &Source, read: Read<D>) -> Result<D::Message, Findings> {
    let Read { root, drafts, findings } = read;
    match drafts.message() {
        Some(message) if findings.is_empty() => Ok(message),
        _ => Err(located::<D>(source, &root, findings)),
    }
}

pub(crate) fn check<D: Drafts>(message: &D::Message) -> Findings {
    let mut findings = Found::default();
    let drafts = D::of(message, &mut findings);
    drafts.judge(&mut findings);
    findings.into_parts().0.collect()
}

/// The findings with their places, in the order of the document.
pub(crate) fn located<D: Drafts>(source: &Source, root: &Node, findings: Found) -> Findings {
    let (kept, more) = findings.into_parts();
    let (wrapped, mut index) = (is_wrapped::<D>(root), Index::default());
    let unwritten = D::OUTER.filter(|_| !wrapped);
    let mut place = |finding| locate(source, root, unwritten, &mut index, finding);
    let mut placed: Vec<Finding> = kept
        .map(|finding| if finding.location.is_some() { finding } else { place(finding) })
        .map(on_one_line)
        .collect();
    placed.sort_by(|a, b| a.location.cmp(&b.location));
    if let (true, Some(last)) = (more, placed.last_mut()) {
        last.message.push_str(" (and there may be more: only so many findings are shown)");
    }
    placed.into_iter().collect()
}

/// The longest message, in characters.
const MAX_MESSAGE: usize = 1_000;

/// The finding without what would break a log's line: names in documents may hold anything.
fn on_one_line(mut finding: Finding) -> Finding {
    if let Some((end, _)) = finding.message.char_indices().nth(MAX_MESSAGE) {
        finding.message.truncate(end);
        finding.message.push('…');
    }
    for text in [&mut finding.message, &mut finding.path] {
        if text.contains(char::is_control) {
            let escape = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
            *text = text.chars().map(escape).collect();
        }
    }
    finding
}

/// The finding at its place. Paths begin with the outer key, also where it is unwritten.
fn locate<'n>(
    source: &Source,
    root: &'n Node,
    unwritten: Option<&str>,
    index: &mut Index<'n>,
    finding: Finding,
) -> Finding {
    let path = finding.path.as_str();
    let inner = unwritten.and_then(|outer| path.strip_prefix(outer)).unwrap_or(path);
    let found = path::follow(root, inner, index);
    let place = match &found.node.tree {
        Tree::Map(entries) if finding.code == Code::MatcherUnknownMarker => {
            entries.first().map_or(found.node.place, |entry| entry.at)
        }
        _ => found.key.filter(|_| is_of_key(finding.code, path)).unwrap_or(found.node.place),
    };
    let location = source.location(place);
    finding.at(location)
}

/// Whether a finding speaks of a key, not of the value under it.
fn is_of_key(code: Code, path: &str) -> bool {
    match code {
        Code::UnknownField | Code::DuplicateKey | Code::MergeKey | Code::UnknownLimiter => true,
        Code::PropertyInvalid | Code::UnknownProperty => path.contains("].match."),
        Code::NameInvalid => !path.ends_with("].name") && !path.contains(".allowed_skip_rules["),
        _ => false,
    }
}
