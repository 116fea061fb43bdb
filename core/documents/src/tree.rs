//! What YAML and JSON are once their syntax is read: a tree whose every node knows its place.

use crate::source::Place;
use serde_json::{Map, Value as Json};
use std::fmt;

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) tree: Tree,
    pub(crate) place: Place,
}

/// A value. Integers are exact, whatever their size.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Null,
    Bool(bool),
    Int(i128),
    /// An integer beyond 128 bits, in decimal.
    Huge(String),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A key of a map with its value. Keys are unique.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) at: Place,
    pub(crate) value: Node,
}

impl Node {
    pub(crate) const fn new(tree: Tree, place: Place) -> Self {
        Self { tree, place }
    }

    pub(crate) fn as_map(&self) -> Option<&[Entry]> {
        if let Tree::Map(entries) = &self.tree { Some(entries) } else { None }
    }

    pub(crate) fn as_list(&self) -> Option<&[Self]> {
        if let Tree::List(entries) = &self.tree { Some(entries) } else { None }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        if let Tree::Text(text) = &self.tree { Some(text) } else { None }
    }

    /// As JSON has it. An integer beyond 64 bits is its text.
    pub(crate) fn to_json(&self) -> Json {
        match &self.tree {
            Tree::Null => Json::Null,
            Tree::Bool(flag) => Json::Bool(*flag),
            Tree::Int(n) => i64::try_from(*n)
                .map(Json::from)
                .or_else(|_| u64::try_from(*n).map(Json::from))
                .unwrap_or_else(|_| Json::String(n.to_string())),
            Tree::Huge(digits) => Json::String(digits.clone()),
            Tree::Float(f) => Json::from(*f),
            Tree::Text(text) => Json::String(text.clone()),
            Tree::List(entries) => entries.iter().map(Self::to_json).collect(),
            Tree::Map(entries) => Json::Object(
                entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json())).collect::<Map<_, _>>(),
            ),
        }
    }
}

/// Without places: everything stands at the start.
impl From<&Json> for Node {
    fn from(json: &Json) -> Self {
        let tree = match json {
            Json::Null => Tree::Null,
            Json::Bool(flag) => Tree::Bool(*flag),
            Json::Number(n) => match (n.as_i64(), n.as_u64()) {
                (Some(n), _) => Tree::Int(n.into()),
                (None, Some(n)) => Tree::Int(n.into()),
                (None, None) => Tree::Float(n.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Tree::Text(text.clone()),
            Json::Array(entries) => Tree::List(entries.iter().map(Self::from).collect()),
            Json::Object(pairs) => {
                let entry = |(key, value): (&String, &Json)| Entry {
                    key: key.clone(),
                    at: Place::START,
                    value: Self::from(value),
                };
                Tree::Map(pairs.iter().map(entry).collect())
            }
        };
        Self::new(tree, Place::START)
    }
}

/// The value in the words of a message.
impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tree {
            Tree::Null => f.write_str("null"),
            Tree::Bool(flag) => write!(f, "{flag}"),
            Tree::Int(n) => write!(f, "{n}"),
            Tree::Huge(digits) if digits.len() <= LONG => f.write_str(digits),
            Tree::Huge(digits) => write!(f, "a number of {} digits", digits.len()),
            Tree::Float(n) => write!(f, "{n:?}"),
            Tree::Text(text) => write!(f, "the string {}", Quoted(text)),
            Tree::List(_) => f.write_str("a list"),
            Tree::Map(_) => f.write_str("a map"),
        }
    }
}

/// The longest text that a message repeats whole, in characters.
const LONG: usize = 80;

/// A text as far as a message repeats it.
pub(crate) fn cut(text: &str) -> &str {
    text.char_indices().nth(LONG).map_or(text, |(at, _)| &text[..at])
}

/// A text in quotes, cut where it is long.
pub(crate) struct Quoted<'t>(pub(crate) &'t str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(LONG) {
            None => write!(f, "{:?}", self.0),
            Some((at, _)) => write!(f, "{:?}…", &self.0[..at]),
        }
    }
}
