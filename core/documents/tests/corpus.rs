//! `corpus/`: documents, most of them bad, each with every finding that it must bring, to the column.
//!
//! How to read a case, and how to add one: `corpus/README.md`.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use labkit_ratelimit_documents::{Documents, Source};
use labkit_ratelimit_engine::{Code, Finding, Severity};
use serde::Deserialize;
use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// The files that a case may hold, in the order in which they are given; findings come in it too.
const CONTRACTS: [&str; 2] = ["available_limiters.yaml", "available_limiters.json"];
const RATE_LIMITS: [&str; 3] = ["rate_limits.yaml", "rate_limits.json", "rate_limits.2.yaml"];
const EXPECTATION: &str = "findings.json";

/// Codes that no case holds, and why.
const ELSEWHERE: [(Code, &str); 1] =
    [(Code::DocumentTooLarge, "a file of 11 MiB is made when a test runs, and not kept here")];

struct Case {
    name: String,
    files: Vec<(String, Vec<u8>)>,
    expected: Expected,
}

/// `findings.json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    why: String,
    findings: Vec<Row>,
}

/// A finding, expected or found.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    file: String,
    line: u32,
    column: u32,
    path: String,
    code: String,
    #[serde(default)]
    severity: Strength,
    message_has: Option<String>,
}

#[derive(Clone, Copy, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Strength {
    #[default]
    Error,
    Warning,
}

impl Row {
    fn found(finding: &Finding) -> Self {
        let (file, line, column) =
            finding.location.as_ref().map_or(("(nowhere)", 0, 0), |at| (&*at.file, at.line, at.column));
        Self {
            file: file.to_owned(),
            line,
            column,
            path: finding.path.clone(),
            code: finding.code.to_string(),
            severity: if finding.severity == Severity::Warning { Strength::Warning } else { Strength::Error },
            message_has: Some(finding.message.clone()),
        }
    }

    /// Where it stands: the order of findings.
    fn place(&self) -> (usize, u32, u32) {
        let file = CONTRACTS.iter().chain(&RATE_LIMITS).position(|name| *name == self.file);
        (file.unwrap_or(usize::MAX), self.line, self.column)
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, path, code, .. } = self;
        let mark = if self.severity == Strength::Warning { " (warning)" } else { "" };
        write!(f, "{file}:{line}:{column}: {code}{mark} at `{path}`")
    }
}

impl Case {
    fn read(folder: &Path, name: String) -> Self {
        let bytes = |file: &str| fs::read(folder.join(file)).expect("a file of a case can be read");
        let present = names_in(folder);
        let files = CONTRACTS.iter().chain(&RATE_LIMITS).filter(|file| present.iter().any(|name| name == *file));
        let files: Vec<_> = files.map(|file| ((*file).to_owned(), bytes(file))).collect();
        assert!(!files.is_empty() && files.len() + 1 == present.len(), "{name}: what are {present:?}?");
        let expected: Expected = serde_json::from_slice(&bytes(EXPECTATION))
            .unwrap_or_else(|error| panic!("{name}/{EXPECTATION} cannot be read: {error}"));
        assert!(!expected.why.is_empty(), "{name} does not say why it is there");
        let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        for row in &expected.findings {
            assert!(codes.contains(&&*row.code), "{name}: there is no code `{}`", row.code);
            assert!(files.iter().any(|(file, _)| *file == row.file), "{name}: there is no file `{}`", row.file);
        }
        assert!(
            expected.findings.is_sorted_by_key(Row::place),
            "{name}: write findings in the order of file, line and column"
        );
        Self { name, files, expected }
    }

    fn is_bad(&self) -> bool {
        self.expected.findings.iter().any(|row| row.severity == Strength::Error)
    }

    /// Reads its documents, and says what is not as expected, if anything is.
    fn judge(&self) -> Option<String> {
        let mut documents = Documents::new();
        for (name, bytes) in &self.files {
            let source = Source::new(name.as_str(), bytes.clone());
            documents = if CONTRACTS.contains(&name.as_str()) {
                documents.available_limiters(source)
            } else {
                documents.rate_limits(source)
            };
        }
        let (taken, found): (bool, Vec<Row>) = match documents.read() {
            Ok(catalog) => (true, catalog.warnings().iter().map(Row::found).collect()),
            Err(findings) => (false, findings.iter().map(Row::found).collect()),
        };
        let mut complaints = difference(&self.expected.findings, &found);
        if taken == self.is_bad() {
            complaints.push(if taken { "  is taken" } else { "  is not taken" }.to_owned());
        }
        if !found.is_sorted_by_key(Row::place) {
            complaints.push("  is not in the order of file, line and column:".to_owned());
            complaints.extend(found.iter().map(|row| format!("    {row}")));
        }
        (!complaints.is_empty()).then(|| format!("{} ({})\n{}", self.name, self.expected.why, complaints.join("\n")))
    }

    /// The same case as an editor of Windows would have saved it, where it has line ends of Unix alone.
    fn with_bom_and_crlf(&self) -> Option<Self> {
        let saved = |(name, bytes): &(String, Vec<u8>)| {
            let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains(['\r', '\u{feff}']))?;
            Some((name.clone(), format!("\u{feff}{}", text.replace('\n', "\r\n")).into_bytes()))
        };
        let files = self.files.iter().map(saved).collect::<Option<Vec<_>>>()?;
        let Expected { why, findings } = &self.expected;
        let expected = Expected { why: why.clone(), findings: findings.clone() };
        Some(Self { name: format!("{} with BOM and CRLF", self.name), files, expected })
    }
}

/// What was expected and is not there, and what is there and was not expected. Findings at one place have no order.
fn difference(expected: &[Row], found: &[Row]) -> Vec<String> {
    let mut left: Vec<&Row> = found.iter().collect();
    let mut complaints = Vec::new();
    for row in expected {
        let Some(at) = left.iter().position(|other| other.to_string() == row.to_string()) else {
            complaints.push(format!("  - {row}"));
            continue;
        };
        let said = left.remove(at).message_has.as_deref().unwrap_or_default();
        if let Some(part) = row.message_has.as_deref().filter(|part| !said.contains(part)) {
            complaints.push(format!("  ~ {row}: says {said:?}, without {part:?}"));
        }
    }
    let surplus = |row: &&Row| format!("  + {row}: {}", row.message_has.as_deref().unwrap_or_default());
    complaints.extend(left.iter().map(surplus));
    complaints
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// What a folder holds, sorted. A name that begins with a dot is none of ours.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let name = |entry: fs::DirEntry| entry.file_name().into_string().expect("names are UTF-8");
    let mut names: Vec<_> = entries.map(|entry| name(entry.expect("a folder can be listed"))).collect();
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    names
}

fn cases() -> Vec<Case> {
    let root = corpus();
    let mut cases = Vec::new();
    for topic in names_in(&root).into_iter().filter(|name| name != "README.md") {
        for name in names_in(&root.join(&topic)) {
            cases.push(Case::read(&root.join(&topic).join(&name), format!("{topic}/{name}")));
        }
    }
    cases
}

fn assert_as_expected(cases: impl IntoIterator<Item = Case>) {
    let (mut run, mut wrong) = (0, Vec::new());
    for case in cases {
        run += 1;
        wrong.extend(case.judge());
    }
    assert!(
        wrong.is_empty(),
        "{} of {run} cases are not as expected (- expected, + found, ~ found with another message):\n\n{}\n",
        wrong.len(),
        wrong.join("\n\n")
    );
}

#[test]
fn every_finding_is_where_the_corpus_says() {
    assert_as_expected(cases());
}

#[test]
fn a_bom_and_crlf_move_nothing() {
    let saved: Vec<Case> = cases().iter().filter_map(Case::with_bom_and_crlf).collect();
    assert!(saved.len() >= 150, "{} cases can be saved so", saved.len());
    assert_as_expected(saved);
}

#[test]
fn the_corpus_is_large_and_meets_every_code() {
    let cases = cases();
    let bad = cases.iter().filter(|case| case.is_bad()).count();
    let good = cases.iter().filter(|case| case.expected.findings.is_empty()).count();
    assert!(bad >= 60 && good >= 15, "{bad} bad cases, {good} good ones");
    let met: HashSet<&str> = cases.iter().flat_map(|case| &case.expected.findings).map(|row| &*row.code).collect();
    for code in Code::ALL {
        let elsewhere = ELSEWHERE.iter().find(|(other, _)| other == code);
        match (met.contains(code.as_str()), elsewhere) {
            (true, None) | (false, Some(_)) => {}
            (false, None) => panic!("no case has a `{code}`"),
            (true, Some((_, why))) => panic!("a case has a `{code}`, and yet: {why}"),
        }
    }
}

#[test]
fn the_bytes_are_as_they_were_written() {
    let bytes = |file: &str| fs::read(corpus().join(file)).expect("a file of the corpus can be read");
    let saved = bytes("encoding/bom_and_crlf/rate_limits.yaml");
    assert!(saved.starts_with(b"\xef\xbb\xbf") && saved.windows(2).any(|pair| pair == b"\r\n"), "BOM and CRLF");
    assert!(bytes("encoding/latin_1/rate_limits.yaml").contains(&0xfc), "Latin-1");
    assert!(bytes("syntax/tab_as_indent/rate_limits.yaml").contains(&b'\t'), "tabs");
    assert!(bytes("encoding/utf_16_with_bom/rate_limits.yaml").starts_with(b"\xff\xfe"), "UTF-16");
}
