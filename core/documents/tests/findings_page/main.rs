//! `docs/findings.md` has a section for every code: cause, example, mend. Its examples are examples: each is read here, must be found wrong
//! as it says, and must be clean once it is mended.
//!
//! After a code was added: write its section in the file beside this one where it belongs, then
//! `LABKIT_REGENERATE=1 cargo test -p labkit-ratelimit-documents --test findings_page`.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod across;
mod files;
mod matchers;
mod names;
mod numbers;
mod rules;
mod section;

use labkit_ratelimit_engine::{Code, Finding, Severity};
use section::{Example, Section};
use std::fmt::Write;
use std::path::Path;

const SECTIONS: [&[Section]; 6] =
    [numbers::SECTIONS, names::SECTIONS, rules::SECTIONS, matchers::SECTIONS, across::SECTIONS, files::SECTIONS];

const HEAD: &str = "# Findings

What can be wrong with rules and documents. The codes are stable, and the same in every language, in code and in documents. A finding names its
code, where it is, the value, and how to mend it.

Below, each code has its cause, an example, and the same example mended. A block that begins with `-` holds the rules of the limiter `sign_in` in a
`rate_limits` file; the others are whole files. An error makes a file bad: nothing of it is taken. A warning does not.
Of a file at most 10,000 findings are told; the message of the last one then says that there may be more.

This page is made from the codes in `core/engine/src/finding.rs` and the sections in `core/documents/tests/findings_page/`. That test reads
each example: it must be found wrong as the page says, and clean once it is mended. The page for [operators](operators.md) says how to write a file.

| code | cause |
|---|---|
";

/// The section of a code.
fn section(code: Code) -> &'static Section {
    let mut found = SECTIONS.into_iter().flatten().filter(|section| section.code == code);
    let section = found.next().unwrap_or_else(|| panic!("`{code}` has no section"));
    assert!(found.next().is_none(), "`{code}` has two sections");
    section
}

/// What is found in an example: errors where it is not taken, else warnings.
fn found(example: &Example) -> Vec<Finding> {
    let findings = match example.documents().read() {
        Ok(catalog) => catalog.warnings().clone(),
        Err(findings) => findings,
    };
    findings.into_iter().collect()
}

/// Is it an error, or a warning? That is what reading its example says.
fn severity(section: &Section) -> Severity {
    let findings = found(&section.wrong);
    let own = findings.iter().find(|finding| finding.code == section.code);
    own.unwrap_or_else(|| panic!("`{}` is not found in its example", section.code)).severity
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    for code in Code::ALL {
        writeln!(page, "| [{code}](#{code}) | {} |", section(*code).cause).expect("text");
    }
    for code in Code::ALL {
        let section = section(*code);
        section.write(severity(section), &mut page);
    }
    page
}

#[test]
fn every_code_has_one_section() {
    for code in Code::ALL {
        section(*code);
    }
}

#[test]
fn examples_are_wrong_as_they_say_and_in_nothing_else() {
    let mut others = Vec::new();
    for section in SECTIONS.into_iter().flatten() {
        let findings = found(&section.wrong);
        let mut found: Vec<_> = findings.iter().map(|finding| (finding.code.as_str(), finding.path.as_str())).collect();
        let mut said = vec![(section.code.as_str(), section.path)];
        said.extend(section.beside.iter().map(|(code, path)| (code.as_str(), *path)));
        found.sort_unstable();
        said.sort_unstable();
        if found != said {
            others.push(format!("`{}`: found {found:?}, not {said:?}", section.code));
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
}

#[test]
fn mended_examples_are_clean() {
    for section in SECTIONS.into_iter().flatten() {
        let findings = found(&section.mended);
        assert!(findings.is_empty(), "`{}` is not mended: {findings:?}", section.code);
    }
}

#[test]
fn the_page_is_up_to_date() {
    let page = page();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/findings.md");
    if std::env::var_os("LABKIT_REGENERATE").is_some() {
        std::fs::write(&file, &page).expect("docs/findings.md can be written");
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        found == page,
        "docs/findings.md is stale: run this test with LABKIT_REGENERATE=1 and commit what it writes"
    );
}
