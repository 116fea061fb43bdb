//! Paths: how findings name a place of a document, and the node that stands there.

use crate::source::Place;
use crate::tree::{Entry, Node, Tree};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;

/// A step down a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    Key(String),
    Index(usize),
}

/// `a.b[0].c`.
pub(crate) fn written(segments: &[Segment]) -> String {
    let mut path = String::new();
    for segment in segments {
        match segment {
            Segment::Key(key) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(key);
            }
            Segment::Index(i) => drop(write!(path, "[{i}]")),
        }
    }
    path
}

/// What stands at a path, or as far along it as anything does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found<'n> {
    /// The node.
    pub(crate) node: &'n Node,
    /// Its key, where the whole path leads to a value of a map.
    pub(crate) key: Option<Place>,
}

/// The keys of maps that were walked through, in both spellings.
#[derive(Default)]
pub(crate) struct Index<'n>(HashMap<*const Entry, HashMap<Cow<'n, str>, &'n Entry>>);

impl<'n> Index<'n> {
    fn of(&mut self, entries: &'n [Entry]) -> &HashMap<Cow<'n, str>, &'n Entry> {
        self.0.entry(entries.as_ptr()).or_insert_with(|| {
            let mut keys = HashMap::with_capacity(entries.len());
            for entry in entries.iter().filter(|entry| entry.key.bytes().any(|b| b.is_ascii_uppercase())) {
                // A field in protobuf's spelling.
                keys.entry(Cow::Owned(snake(&entry.key))).or_insert(entry);
            }
            keys.extend(entries.iter().map(|entry| (Cow::Borrowed(entry.key.as_str()), entry)));
            keys
        })
    }
}

/// Follows `path`. A map in the place of a list is looked through where it holds nothing but `rules`.
pub(crate) fn follow<'n>(root: &'n Node, path: &str, index: &mut Index<'n>) -> Found<'n> {
    let mut found = Found { node: root, key: None };
    let mut rest = path;
    while !rest.is_empty() {
        let step = match &found.node.tree {
            Tree::List(entries) => element(entries, rest).map(|(node, rest)| (node, None, rest)),
            Tree::Map(entries) if rest.starts_with('[') => {
                let inner = entries.iter().find(|entry| entry.key == "rules");
                inner.map(|entry| (&entry.value, None, rest))
            }
            Tree::Map(entries) => {
                let step = entry(index.of(entries), rest);
                step.map(|(entry, rest)| (&entry.value, Some(entry.at), rest))
            }
            _ => None,
        };
        let Some((node, key, left)) = step else { return Found { key: None, ..found } };
        found = Found { node, key };
        rest = left;
    }
    found
}

fn element<'n, 'p>(entries: &'n [Node], path: &'p str) -> Option<(&'n Node, &'p str)> {
    let (number, rest) = path.strip_prefix('[')?.split_once(']')?;
    Some((entries.get(number.parse::<usize>().ok()?)?, rest))
}

/// The entry whose key the path begins with: the longest, for a key may hold dots.
fn entry<'n, 'p>(keys: &HashMap<Cow<'n, str>, &'n Entry>, path: &'p str) -> Option<(&'n Entry, &'p str)> {
    let path = path.strip_prefix('.').unwrap_or(path);
    let mut end = path.len();
    loop {
        if let Some(entry) = keys.get(&path[..end]) {
            return Some((entry, &path[end..]));
        }
        end = path[..end].rfind(['.', '['])?;
    }
}

/// `periodS` as `period_s`.
pub(crate) fn snake(key: &str) -> String {
    let mut snake = String::with_capacity(key.len() + 2);
    for c in key.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;
    use crate::yaml::parse;

    #[test]
    fn paths_lead_to_places() {
        let text = "a:\n  - b: {c.d: [1, 2]}\n    periodS: 5\nx: {rules: [{y: 1}]}\n";
        let Ok(parsed) = parse(&Source::new("f", text)) else { panic!("good YAML") };
        let mut index = Index::default();
        let mut at = |path: &str| {
            let found = follow(&parsed.root, path, &mut index);
            let place = |place: Place| (place.line, place.column);
            (place(found.node.place), found.key.map(place))
        };
        assert_eq!(at("a"), ((2, 3), Some((1, 1))));
        assert_eq!(at("a[0].b"), ((2, 8), Some((2, 5))));
        assert_eq!(at("a[0].b.c.d[1]"), ((2, 18), None));
        assert_eq!(at("a[0].period_s"), ((3, 14), Some((3, 5))));
        assert_eq!(at("a[0].limit"), ((2, 5), None), "what is missing stands where it is missed");
        assert_eq!(at("x[0].y"), ((4, 17), Some((4, 14))));
        assert_eq!(at("z.z"), ((1, 1), None));
    }
}
