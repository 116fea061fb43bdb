//! `proto/findings.json`: from violations to findings.

use crate::oracle::{Step, Violation};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(rename = "about")]
    _about: Vec<String>,
    words: BTreeMap<String, Vec<(String, String)>>,
    rows: Vec<WrittenRow>,
    hides: Vec<Exception>,
    beyond_the_schema: Vec<Exception>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRow {
    violation: String,
    at: String,
    code: String,
    place: Option<String>,
    #[serde(default)]
    beyond: Vec<String>,
    value: Option<String>,
    #[serde(default)]
    counting: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    code: String,
    #[serde(rename = "why")]
    _why: String,
}

/// A row with its words filled in.
pub(crate) struct Row {
    /// Which of the written rows it is.
    pub(crate) number: usize,
    violation: String,
    at: String,
    pub(crate) code: String,
    place: String,
    value: Option<String>,
    /// Not for skip rules.
    pub(crate) counting: bool,
}

/// The table.
pub(crate) struct Table {
    rows: Vec<Row>,
    /// The rows as they are written, for people.
    pub(crate) written: Vec<String>,
    /// Code to what its findings' paths have beyond the violations'.
    beyond: BTreeMap<String, Vec<String>>,
    hides: Vec<String>,
    beyond_the_schema: Vec<String>,
}

impl Table {
    pub(crate) fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto/findings.json");
        let text = fs::read_to_string(path).expect("proto/findings.json");
        let written: Written = serde_json::from_str(&text).expect("a table");
        let mut beyond = BTreeMap::new();
        for row in written.rows.iter().filter(|row| !row.beyond.is_empty()) {
            beyond.entry(row.code.clone()).or_insert_with(|| row.beyond.clone());
        }
        let codes = |exceptions: Vec<Exception>| exceptions.into_iter().map(|exception| exception.code).collect();
        Self {
            rows: written
                .rows
                .iter()
                .enumerate()
                .flat_map(|(number, row)| filled(number, row, &written.words))
                .collect(),
            written: written.rows.iter().map(|row| format!("{} at {}", row.violation, row.at)).collect(),
            beyond,
            hides: codes(written.hides),
            beyond_the_schema: codes(written.beyond_the_schema),
        }
    }

    /// The row of a violation, and the place of the finding.
    pub(crate) fn find(&self, violation: &Violation) -> Option<(&Row, String)> {
        self.rows.iter().find_map(|row| {
            let value = row.value.as_ref().is_none_or(|value| *value == violation.value);
            if row.violation != violation.rule_id || !value {
                return None;
            }
            let captured = fit(&tokens(&row.at), &violation.path)?;
            Some((row, place(&row.place, &captured)))
        })
    }

    /// The schema can say it.
    pub(crate) fn expressible(&self, code: &str) -> bool {
        !self.beyond_the_schema.iter().any(|other| other == code)
    }

    /// Nothing is said of matchers below (or at) the place of a finding of this code.
    pub(crate) fn hides(&self, code: &str) -> bool {
        self.hides.iter().any(|other| other == code)
    }

    /// The path of a finding, as far as a violation says it.
    pub(crate) fn coarse(&self, code: &str, path: &str) -> String {
        let mut beyond = self.beyond.get(code).into_iter().flatten();
        beyond.find_map(|tail| without(path, tail)).unwrap_or(path).to_owned()
    }
}

/// The row for each meaning of its words.
fn filled(number: usize, row: &WrittenRow, words: &BTreeMap<String, Vec<(String, String)>>) -> Vec<Row> {
    let place = row.place.clone().unwrap_or_else(|| row.at.clone());
    let mut done = Vec::new();
    let mut open = vec![(row.at.clone(), place)];
    while let Some((at, place)) = open.pop() {
        let Some((_, rest)) = at.split_once('<') else {
            let WrittenRow { violation, code, value, counting, .. } = row.clone();
            done.push(Row { number, violation, at, code, place, value, counting });
            continue;
        };
        let (word, _) = rest.split_once('>').expect("`<word>`");
        let token = format!("<{word}>");
        for (message, file) in words.get(word).unwrap_or_else(|| panic!("the word {word}")) {
            open.push((at.replace(&token, message), place.replace(&token, file)));
        }
    }
    done
}

/// `a.*.b[*]` as `a`, `*`, `b`, `[*]`.
fn tokens(pattern: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    for part in pattern.split('.') {
        match part.strip_suffix("[*]") {
            Some(field) => tokens.extend([field, "[*]"]),
            None => tokens.push(part),
        }
    }
    tokens
}

/// What the wildcards of a pattern stand for on a path, written as in a file.
fn fit(pattern: &[&str], path: &[Step]) -> Option<Vec<String>> {
    let captured = |text: String, rest: Option<Vec<String>>| {
        rest.map(|rest| std::iter::once(text).chain(rest).collect::<Vec<_>>())
    };
    match (pattern, path) {
        ([], []) => Some(Vec::new()),
        (["**", after @ ..], _) => (0..=path.len()).find_map(|taken| {
            let inner = inside(&path[..taken])?;
            captured(inner, fit(after, &path[taken..]))
        }),
        (["*", after @ ..], [Step::Key { key }, rest @ ..]) => captured(key.clone(), fit(after, rest)),
        (["[*]", after @ ..], [Step::Index(at), rest @ ..]) => captured(at.to_string(), fit(after, rest)),
        ([name, after @ ..], [Step::Field(field), rest @ ..]) if name == field => fit(after, rest),
        _ => None,
    }
}

/// The way from a matcher to one inside it, as a file writes it: lists of matchers have no name there.
fn inside(path: &[Step]) -> Option<String> {
    let field = |step: &Step, name: &str| matches!(step, Step::Field(field) if field == name);
    match path {
        [] => Some(String::new()),
        [not, rest @ ..] if field(not, "not") => Some(format!(".not{}", inside(rest)?)),
        [all, values, Step::Index(at), rest @ ..] if field(all, "all") && field(values, "values") => {
            Some(format!("[{at}]{}", inside(rest)?))
        }
        _ => None,
    }
}

/// A field path from its pattern and what the wildcards stand for.
fn place(pattern: &str, captured: &[String]) -> String {
    let mut captured = captured.iter();
    let (mut place, mut listed) = (String::new(), false);
    for token in tokens(pattern) {
        match token {
            "**" => {
                let way = captured.next().expect("a way");
                listed = way.ends_with(']');
                place += way;
            }
            "[*]" => place.extend(["[", captured.next().expect("a place"), "]"]),
            // A plain value is written as it is, but in a list.
            "eq" if !listed => {}
            name => {
                let name = if name == "*" { captured.next().expect("a key") } else { name };
                if !place.is_empty() {
                    place.push('.');
                }
                place += name;
            }
        }
    }
    place
}

/// `path` without what `tail` fits at its end.
fn without<'a>(path: &'a str, tail: &str) -> Option<&'a str> {
    let mut rest = path;
    for (i, part) in tail.rsplit("[*]").enumerate() {
        if i > 0 {
            rest = rest.strip_suffix(']')?.trim_end_matches(|c: char| c.is_ascii_digit()).strip_suffix('[')?;
        }
        rest = rest.strip_suffix(part)?;
    }
    Some(rest)
}
