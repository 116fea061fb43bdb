//! The syntax of YAML, and of JSON, which is YAML: from text to a tree with places.
//!
//! The events come from `granit-parser`. What is bounded here: levels of nesting, values, and the text that aliases
//! repeat, so that no document costs more than its size lets expect.

use crate::flaw::{Flaw, MAX_LEVELS, place, too_deep};
use crate::found::MAX_FINDINGS;
use crate::path::{self, Segment};
use crate::scalar;
use crate::source::{Place, Source};
use crate::tree::{Entry, Node, Tree};
use granit_parser::{Event, Parser, ScalarStyle, Span, StrInput, StructureStyle, Tag, options};
use labkit_ratelimit_engine::{Code, Finding};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Values, those that aliases repeat included.
const MAX_VALUES: usize = 1_000_000;
/// Characters of a key: paths repeat it.
const MAX_KEY: usize = 256;
/// Bytes of text that aliases repeat.
const MAX_REPEATED: usize = 32 * 1024 * 1024;

/// A document whose syntax was read.
pub(crate) struct Parsed {
    /// The value of the document; null where it is empty.
    pub(crate) root: Node,
    /// Keys that must not stand where they do. They are not in the tree.
    pub(crate) bad_keys: Vec<BadKey>,
}

/// A key that stands twice, or asks for a merge.
pub(crate) struct BadKey {
    pub(crate) code: Code,
    /// Below the document's root.
    pub(crate) path: String,
    pub(crate) at: Place,
    pub(crate) message: String,
}

/// Reads the syntax of a document.
pub(crate) fn parse(source: &Source) -> Result<Parsed, Finding> {
    let text = source.text()?;
    parse_text(text).map_err(|flaw| Finding::new(Code::YamlSyntax, "", flaw.message).at(source.location(flaw.at)))
}

fn parse_text(text: &str) -> Result<Parsed, Flaw> {
    let options = options! { flow_nesting_limit: MAX_LEVELS, block_nesting_limit: MAX_LEVELS };
    let mut reader = Reader {
        text,
        parser: Parser::new_from_str_with_options(text, options),
        anchors: HashMap::new(),
        path: Vec::new(),
        bad_keys: Vec::new(),
        values: 0,
        copied: 0,
        texts: 0,
        repeated: 0,
        bad_paths: 0,
    };
    let mut root = None;
    while let Some(next) = reader.parser.next_event() {
        let (event, span) = next?;
        match event {
            Event::StreamEnd => break,
            Event::DocumentStart(..) if root.is_some() => {
                return Err(Flaw::new(place(span.start), "a second document begins: a file holds one"));
            }
            // What was written by the rules of 1.1 would be read as something else (`yes`, `010`).
            Event::DocumentStart(_, Some(version)) if (version.major, version.minor) != (1, 2) => {
                return Err(Flaw::new(Place::START, "the file says that it is not YAML 1.2: remove its `%YAML` line"));
            }
            Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
            first => root = Some(reader.node(first, span, 0)?),
        }
    }
    let root = root.unwrap_or(Node::new(Tree::Null, Place::START));
    Ok(Parsed { root, bad_keys: reader.bad_keys })
}

/// An anchored value, and what repeating it costs.
struct Anchored {
    node: Node,
    levels: usize,
    values: usize,
    texts: usize,
}

struct Reader<'t> {
    text: &'t str,
    parser: Parser<'t, StrInput<'t>>,
    anchors: HashMap<usize, Rc<Anchored>>,
    path: Vec<Segment>,
    bad_keys: Vec<BadKey>,
    // So far: values, values copied for anchors, bytes of text, bytes of it that were copied.
    values: usize,
    copied: usize,
    texts: usize,
    repeated: usize,
    // Bytes of the paths of bad keys.
    bad_paths: usize,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<(Event<'t>, Span), Flaw> {
        match self.parser.next_event() {
            Some(next) => Ok(next?),
            None => Err(Flaw::new(Place::START, "the document ends in the middle of a value")),
        }
    }

    fn node(&mut self, event: Event<'t>, span: Span, level: usize) -> Result<Node, Flaw> {
        let at = place(span.start);
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(Flaw::new(at, format!("there are more than {MAX_VALUES} values, those of aliases included")));
        }
        let (values, texts) = (self.values, self.texts);
        let tagged = span.tag_start().map_or(at, place);
        let (anchor, node) = match event {
            Event::Alias(id) => return self.repeat(id, at, level),
            Event::Scalar(text, style, anchor, tag) => {
                self.texts += text.len();
                (anchor, Node::new(scalar_of(&text, style, tag.as_deref(), tagged)?, at))
            }
            Event::SequenceStart(style, anchor, tag) => {
                collection_tag(tag.as_deref(), "seq", tagged)?;
                let at = if style == StructureStyle::Block { self.dash(&span).unwrap_or(at) } else { at };
                (anchor, Node::new(self.list(at, level)?, at))
            }
            Event::MappingStart(_, anchor, tag) => {
                collection_tag(tag.as_deref(), "map", tagged)?;
                (anchor, Node::new(self.map(at, level)?, at))
            }
            _ => return Err(Flaw::new(at, "a value was expected")),
        };
        if anchor > 0 {
            let anchored = Anchored {
                levels: levels(&node),
                values: self.values - values + 1,
                texts: self.texts - texts,
                node: node.clone(),
            };
            // Anchors within anchors are copied once a level.
            self.copied += anchored.values;
            self.repeated += anchored.texts;
            self.within_bounds(at)?;
            self.anchors.insert(anchor, Rc::new(anchored));
        }
        Ok(node)
    }

    fn within_bounds(&self, at: Place) -> Result<(), Flaw> {
        if self.values.max(self.copied) <= MAX_VALUES && self.repeated <= MAX_REPEATED {
            return Ok(());
        }
        let most = format!("{MAX_VALUES} values or {MAX_REPEATED} bytes");
        Err(Flaw::new(at, format!("anchors and aliases repeat more than {most} of text: write the values out")))
    }

    /// The place of a block list's first dash: the parser names what follows it.
    fn dash(&self, span: &Span) -> Option<Place> {
        let before = self.text.get(..span.start.byte_offset()?)?;
        let line = &before[before.rfind(['\n', '\r']).map_or(0, |at| at + 1)..];
        if self.text[before.len()..].starts_with('-') {
            return None;
        }
        let dash = line.trim_end_matches(' ').strip_suffix('-')?;
        Some(Place::new(span.start.line(), dash.chars().count() + 1))
    }

    fn repeat(&mut self, anchor: usize, at: Place, level: usize) -> Result<Node, Flaw> {
        let Some(anchored) = self.anchors.get(&anchor).cloned() else {
            return Err(Flaw::new(at, "an alias stands inside the value that it names"));
        };
        self.values += anchored.values;
        self.repeated += anchored.texts;
        self.texts += anchored.texts;
        self.within_bounds(at)?;
        if level + anchored.levels > MAX_LEVELS {
            return Err(Flaw::new(at, too_deep()));
        }
        // It stands here; what is in it stands where the anchor is.
        Ok(Node { place: at, ..anchored.node.clone() })
    }

    fn list(&mut self, at: Place, level: usize) -> Result<Tree, Flaw> {
        deeper(level, at)?;
        let mut entries = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::SequenceEnd {
                return Ok(Tree::List(entries));
            }
            self.path.push(Segment::Index(entries.len()));
            entries.push(self.node(event, span, level + 1)?);
            self.path.pop();
        }
    }

    fn map(&mut self, at: Place, level: usize) -> Result<Tree, Flaw> {
        deeper(level, at)?;
        let mut entries: Vec<Entry> = Vec::new();
        let mut seen = HashSet::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                return Ok(Tree::Map(entries));
            }
            let at = place(span.start);
            let (key, merges) = self.key(event, at)?;
            self.path.push(Segment::Key(key.clone()));
            let (event, span) = self.next()?;
            let value = self.node(event, span, level + 1)?;
            if merges {
                self.bad_key(Code::MergeKey, at, "`<<` merges nothing here: YAML 1.2 has no merge keys".into());
            } else if seen.insert(key.clone()) {
                entries.push(Entry { key, at, value });
            } else {
                self.bad_key(Code::DuplicateKey, at, format!("`{key}` stands here twice; the first one counts"));
            }
            self.path.pop();
        }
    }

    fn bad_key(&mut self, code: Code, at: Place, message: String) {
        if self.bad_keys.len() < MAX_FINDINGS && self.bad_paths < MAX_REPEATED {
            let path = path::written(&self.path);
            self.bad_paths += path.len();
            self.bad_keys.push(BadKey { code, path, at, message });
        }
    }

    /// The text of a key, and whether it asks for a merge.
    fn key(&mut self, event: Event<'t>, at: Place) -> Result<(String, bool), Flaw> {
        let (key, merges) = self.any_key(event, at)?;
        if key.len() > MAX_KEY && key.chars().nth(MAX_KEY).is_some() {
            return Err(Flaw::new(at, format!("a key is longer than {MAX_KEY} characters")));
        }
        Ok((key, merges))
    }

    fn any_key(&mut self, event: Event<'t>, at: Place) -> Result<(String, bool), Flaw> {
        match event {
            Event::Scalar(text, _, anchor, _) => {
                self.values += 1;
                if anchor > 0 {
                    let node = Node::new(Tree::Text(text.to_string()), at);
                    self.anchors.insert(anchor, Rc::new(Anchored { node, levels: 0, values: 1, texts: text.len() }));
                }
                // In quotes too: JSON has no other way to write it, and it names nothing here.
                let merges = text == "<<";
                Ok((text.into_owned(), merges))
            }
            Event::Alias(id) => match self.repeat(id, at, 0)?.tree {
                Tree::Text(text) => Ok((text, false)),
                _ => Err(Flaw::new(at, "a key is a text")),
            },
            _ => Err(Flaw::new(at, "a key is a text, no map and no list")),
        }
    }
}

fn deeper(level: usize, at: Place) -> Result<(), Flaw> {
    if level >= MAX_LEVELS { Err(Flaw::new(at, too_deep())) } else { Ok(()) }
}

fn levels(node: &Node) -> usize {
    match &node.tree {
        Tree::List(entries) => 1 + entries.iter().map(levels).max().unwrap_or(0),
        Tree::Map(entries) => 1 + entries.iter().map(|entry| levels(&entry.value)).max().unwrap_or(0),
        _ => 0,
    }
}

fn scalar_of(text: &str, style: ScalarStyle, tag: Option<&Tag>, at: Place) -> Result<Tree, Flaw> {
    let Some(tag) = tag else {
        return Ok(if style == ScalarStyle::Plain { scalar::plain(text) } else { Tree::Text(text.to_owned()) });
    };
    let tree = match (tag.core_suffix(), tag.suffix()) {
        (Some("str"), _) | (None, "") => return Ok(Tree::Text(text.to_owned())),
        (Some("null" | "bool" | "int" | "float"), _) => scalar::plain(text),
        _ => return Err(unknown_tag(tag, at)),
    };
    match (tag.core_suffix(), &tree) {
        (Some("null"), Tree::Null)
        | (Some("bool"), Tree::Bool(_))
        | (Some("int"), Tree::Int(_) | Tree::Huge(_))
        | (Some("float"), Tree::Float(_)) => Ok(tree),
        (Some("float"), Tree::Int(n)) => n.to_string().parse().map(Tree::Float).map_err(|_| unknown_tag(tag, at)),
        (Some(kind), _) => Err(Flaw::new(at, format!("`!!{kind}` does not fit its value"))),
        (None, _) => Err(unknown_tag(tag, at)),
    }
}

fn collection_tag(tag: Option<&Tag>, kind: &str, at: Place) -> Result<(), Flaw> {
    match tag {
        Some(tag) if tag.core_suffix() != Some(kind) && !tag.suffix().is_empty() => Err(unknown_tag(tag, at)),
        _ => Ok(()),
    }
}

fn unknown_tag(tag: &Tag, at: Place) -> Flaw {
    Flaw::new(at, format!("the tag `{}` means nothing here: write the value without it", tag.original()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::{Index, follow};

    /// Where the value at a path stands.
    fn at(text: &str, path: &str) -> (u32, u32) {
        let Ok(parsed) = parse(&Source::new("f", text)) else { panic!("good YAML: {text:?}") };
        let place = follow(&parsed.root, path, &mut Index::default()).node.place;
        (place.line, place.column)
    }

    #[test]
    fn a_block_list_stands_at_its_first_dash() {
        for (text, path, line, column) in [
            ("- x\n", "", 1, 1),
            ("a:\n- x\n", "a", 2, 1),
            ("a:\n    - x\n", "a", 2, 5),
            ("a:\n  -\n    b: 1\n", "a", 2, 3),
            ("a:\n  -   b: 1\n", "a", 2, 3),
            ("a:\n  - - x\n    - y\n", "a", 2, 3),
            ("a:\n  - - x\n    - y\n", "a[0]", 2, 5),
            ("ф:\n  - x\n", "ф", 2, 3),
            ("\"ф\": [x]\n", "ф", 1, 6),
            ("a:\r\n  - x\r\n", "a", 2, 3),
            ("a:\r  - x\r", "a", 2, 3),
            ("\u{feff}- x\n", "", 1, 1),
            ("a: &n\n  - x\n", "a", 2, 3),
            ("a: !!seq\n  - x\n", "a", 2, 3),
            ("a: # words - of -\n  - x\n", "a", 2, 3),
        ] {
            assert_eq!(at(text, path), (line, column), "{text:?} at `{path}`");
        }
    }

    #[test]
    fn what_is_repeated_stands_where_it_is_repeated() {
        let text = "a: &x {b: 1}\nc: *x\n";
        assert_eq!((at(text, "c"), at(text, "c.b")), ((2, 4), (1, 11)));
    }

    #[test]
    fn keys_that_stand_twice_or_merge_are_not_in_the_tree() {
        let Ok(parsed) = parse(&Source::new("f", "a: {b: 1, b: 2, <<: {c: 3}, \"<<\": 4}\n")) else {
            panic!("good YAML")
        };
        let bad: Vec<_> = parsed.bad_keys.iter().map(|bad| (bad.code, bad.path.as_str(), bad.at.column)).collect();
        let merges = |column| (Code::MergeKey, "a.<<", column);
        assert_eq!(bad, [(Code::DuplicateKey, "a.b", 11), merges(17), merges(29)]);
        let Some([entry]) = parsed.root.as_map() else { panic!("one key") };
        let Some([first]) = entry.value.as_map() else { panic!("one key: {entry:?}") };
        assert_eq!(first.value.tree, Tree::Int(1), "the first one counts");
    }
}
