//! `docs/operators.md` is true: every document in it is valid, and every field and marker has an example there.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use labkit_ratelimit_documents::{Catalog, Documents, Source};
use labkit_ratelimit_engine::{Code, Finding, Findings, MatcherSpec};
use std::fs;
use std::path::{Path, PathBuf};

/// A fenced block, with its line and what stands behind its fence.
struct Block {
    line: usize,
    info: String,
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> String {
    fs::read_to_string(root().join("docs/operators.md")).expect("the page")
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_open = false;
    for (at, line) in page.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(info) if !is_open => {
                blocks.push(Block { line: at + 1, info: info.to_owned(), text: String::new() });
                is_open = true;
            }
            Some(_) => is_open = false,
            None if is_open => {
                let block = blocks.last_mut().expect("an open block");
                block.text += line;
                block.text.push('\n');
            }
            None => {}
        }
    }
    blocks
}

/// The contract whose limiters the page's rules are for: the page's own, as a reader has it who follows it.
fn contract() -> Source {
    let blocks = blocks(&page());
    let contract = blocks.iter().find(|block| block.info == "yaml available_limiters").expect("the contract");
    Source::new("available_limiters.yaml", &contract.text)
}

/// A `rate_limits` document of what a block shows.
fn document(block: &Block) -> Option<Documents> {
    let name = format!("docs/operators.md:{}", block.line);
    let file =
        |text: &str| Documents::new().available_limiters(contract()).rate_limits(Source::new(name.as_str(), text));
    match block.info.as_str() {
        "yaml available_limiters" | "json available_limiters" => {
            Some(Documents::new().available_limiters(Source::new(name.as_str(), &block.text)))
        }
        "yaml rate_limits" | "json rate_limits" => Some(file(&block.text)),
        "yaml rule" => {
            let indented = block.text.replace('\n', "\n    ");
            Some(file(&format!("rate_limits:\n  rack_request:\n    {indented}")))
        }
        "console" | "text" | "yaml gitlab_ci" | "yaml github_workflow" => None,
        other => panic!("docs/operators.md:{}: nobody knows how to try a block `{other}`", block.line),
    }
}

fn read(block: &Block) -> Option<Result<Catalog, Findings>> {
    document(block).map(|documents| documents.read())
}

#[test]
fn every_document_of_the_page_is_valid() {
    let page = page();
    let tried: Vec<(usize, Findings)> = blocks(&page)
        .iter()
        .filter_map(|block| Some((block.line, read(block)?)))
        .map(|(line, read)| (line, read.map_or_else(|findings| findings, |catalog| catalog.warnings().clone())))
        .collect();
    assert!(tried.len() > 30, "only {} blocks were found", tried.len());
    for (line, findings) in &tried {
        // Where the page speaks of taking a default's place, or of ending the chain before it, it shows it.
        let is_meant = |finding: &&Finding| match finding.code {
            Code::DefaultShadowed => true,
            Code::RuleUnreachable => finding.path.rsplit_once('.').is_some_and(|(_, field)| field == "final"),
            _ => false,
        };
        let strange = findings.iter().find(|finding| !is_meant(finding));
        assert!(strange.is_none(), "docs/operators.md:{line}: {findings}");
    }
}

#[test]
fn the_smallest_rule_is_wrong_where_the_page_says() {
    let page = page();
    let blocks = blocks(&page);
    let smallest = blocks.iter().find(|block| block.text.contains("- name: everyone")).expect("the smallest rule");
    let wrong = smallest.text.replace("limit: 5000", "limit: 0");
    let documents = Documents::new().rate_limits(Source::new("rate_limits.yaml", wrong));
    let findings = documents.read().expect_err("a limit of 0");
    let finding = findings.iter().next().expect("one");
    let location = finding.location.as_ref().expect("a place").to_string();
    for told in [location.as_str(), finding.code.as_str(), finding.path.as_str()] {
        assert!(page.contains(&format!("`{told}`")) || page.contains(&format!("`[{told}]`")), "{told}");
    }
}

#[test]
fn every_field_and_marker_has_an_example() {
    let page = page();
    let rules = [
        "name",
        "description",
        "action",
        "match",
        "characteristics",
        "limit",
        "period_s",
        "ban_for_s",
        "count_distinct",
        "algorithm",
        "burst",
        "final",
        "overrides",
    ];
    let limiters = ["description", "available_properties", "allowed_skip_rules", "evaluation", "default_rules"];
    let shown: String =
        blocks(&page).iter().filter(|block| read(block).is_some()).map(|block| block.text.as_str()).collect();
    for field in rules.iter().chain(&limiters).chain(&MatcherSpec::MARKERS) {
        let is_shown = shown
            .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
            .any(|word| word.strip_suffix(':').is_some_and(|word| word == *field));
        assert!(is_shown, "no example of `{field}`");
    }
    // And each field of a rule has a section of its own.
    for field in rules {
        assert!(page.contains(&format!("\n### {field}\n")), "no section of `{field}`");
    }
}

#[test]
fn codes_are_linked_to_their_sections() {
    let (page, findings) = (page(), fs::read_to_string(root().join("docs/findings.md")).expect("the page of findings"));
    let links: Vec<&str> = page.split("findings.md#").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(links.len() > 5);
    for link in links {
        assert!(findings.contains(&format!("\n## {link}\n")), "{link}");
    }
}
