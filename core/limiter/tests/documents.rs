//! Limiters of documents: the first load, and every later one.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use labkit_ratelimit::{
    BuildError, CallOptions, Catalog, Code, Contract, Documents, Evaluation, Files, Limiter, LoadError, LogEvent,
    LogRecorder, MemoryStore, RuleSpec, Source, Value,
};
use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

const CONTRACT: &str = "
available_limiters:
  sign_in:
    description: Attempts to sign in
    available_properties: [ip, user]
    allowed_skip_rules: [office]
    default_rules:
      - {name: per_ip, action: limit, characteristics: [ip], limit: 2, period_s: 60}
  search:
    description: Searches
    available_properties: [ip]
    evaluation: all
    default_rules:
      - {name: per_ip, action: limit, characteristics: [ip], limit: 1, period_s: 60}
      - {name: all, action: limit, limit: 1, period_s: 60}
";

const OPERATORS: &str = "
sign_in:
  - {name: office, action: skip, match: {ip: 198.51.100.1}}
  - {name: per_user, action: limit, characteristics: [user], limit: 5, period_s: 60}
";

const BAD: &str = "
sign_in:
  - {name: per_user, action: limit, characteristics: [usr], limit: 0, period_s: 60}
";

fn contract() -> Source {
    Source::new("available_limiters.yaml", CONTRACT)
}

fn operators(text: &str) -> Source {
    Source::new("rate_limits.yaml", text)
}

fn documents(text: &str) -> Documents {
    Documents::new().available_limiters(contract()).rate_limits(operators(text))
}

struct World {
    log: Arc<LogRecorder>,
    store: Arc<MemoryStore>,
}

impl World {
    fn new() -> Self {
        Self { log: Arc::default(), store: Arc::new(MemoryStore::default()) }
    }

    fn builder(&self, name: &str) -> labkit_ratelimit::Builder {
        Limiter::builder(name).memory(Arc::clone(&self.store)).logger(Arc::clone(&self.log))
    }

    /// The one line that was logged.
    fn line(&self) -> LogEvent {
        let mut lines = self.log.take();
        let line = lines.pop().expect("a line");
        assert_eq!(lines, [], "one line, no more");
        assert!(!line.error_message.as_deref().unwrap_or_default().contains('\n'), "{line:?}");
        line
    }
}

fn names(limiter: &Limiter) -> Vec<String> {
    limiter.rules().iter().map(|rule| rule.name().to_owned()).collect()
}

fn codes(error: &BuildError) -> Vec<(Code, &str)> {
    error.findings().iter().map(|finding| (finding.code, finding.path.as_str())).collect()
}

#[test]
fn the_contract_alone_gives_the_defaults() {
    let world = World::new();
    let only = Documents::new().available_limiters(contract());
    let limiter = world.builder("sign_in").documents(only.clone()).build().expect("valid");
    assert_eq!(names(&limiter), ["per_ip"]);
    let search = world.builder("search").documents(only).build().expect("valid");
    assert_eq!(search.rules().evaluation().as_str(), "all", "the contract says how to evaluate");
    let ip = [("ip", Value::from("192.0.2.1"))];
    assert!(search.check(&ip).is_allowed());
    assert_eq!(search.check(&ip).evaluations().len(), 2, "a block ends nothing");
    assert_eq!(world.log.take(), []);
}

#[test]
fn operators_rules_run_first() {
    let world = World::new();
    let limiter = world.builder("sign_in").documents(documents(OPERATORS)).build().expect("valid");
    assert_eq!(names(&limiter), ["office", "per_user", "per_ip"]);
    let search = world.builder("search").documents(documents(OPERATORS)).build().expect("valid");
    assert_eq!(names(&search), ["per_ip", "all"], "a file that does not name a limiter changes nothing of it");
}

#[test]
fn rules_in_code_may_have_files_beside_them() {
    let world = World::new();
    let code = || {
        world.builder("sign_in").rule(RuleSpec::limit("per_ip", 2, 60).characteristics(["ip"])).strict_documents(true)
    };
    let files = Documents::new().rate_limits(operators(OPERATORS));
    let error = code().documents(files.clone()).build().expect_err("nothing was offered");
    assert_eq!(
        codes(&error),
        [
            (Code::SkipNotAllowed, "rate_limits.sign_in[0].name"),
            (Code::UnknownProperty, "rate_limits.sign_in[1].characteristics[0]"),
        ]
    );
    let limiter = code().properties(["user"]).allowed_skip_rules(["office"]).documents(files).build().expect("valid");
    assert_eq!(names(&limiter), ["office", "per_user", "per_ip"]);
}

#[test]
fn code_gives_the_defaults_that_a_contract_lacks() {
    let world = World::new();
    let bare = Source::new("available_limiters.yaml", "sign_in: {description: Sign-ins, available_properties: [ip]}");
    let rule = RuleSpec::limit("from_code", 3, 60);
    let documents = Documents::new().available_limiters(bare).rate_limits(operators("sign_in: []"));
    let limiter = world.builder("sign_in").rule(rule.clone()).documents(documents).build().expect("valid");
    assert_eq!(names(&limiter), ["from_code"]);
    let limiter = world.builder("sign_in").rule(rule).documents(self::documents(OPERATORS)).build().expect("valid");
    assert_eq!(names(&limiter), ["office", "per_user", "per_ip"], "the contract's own defaults stand");
}

#[test]
fn a_bad_file_at_the_start_leaves_the_defaults() {
    let world = World::new();
    let limiter = world.builder("sign_in").documents(documents(BAD)).build().expect("the defaults are good");
    assert_eq!(names(&limiter), ["per_ip"]);
    let line = world.line();
    assert_eq!((line.message, line.name.as_str()), ("rate_limit_invalid_documents", "sign_in"));
    assert_eq!(line.class_name.as_deref(), Some("InvalidDocuments"));
    let text = line.error_message.expect("the findings");
    for told in [
        "rate_limits.yaml:3:55: ",
        "[unknown_property]",
        "did you mean `user`?",
        "rate_limits.yaml:3:68: ",
        "[limit_below_one]",
    ] {
        assert!(text.contains(told), "{told} in {text}");
    }
}

#[test]
fn a_bad_file_at_the_start_is_an_error_where_that_is_asked_for() {
    let world = World::new();
    let error = world.builder("sign_in").documents(documents(BAD)).strict_documents(true).build().expect_err("strict");
    assert_eq!(
        codes(&error),
        [
            (Code::UnknownProperty, "rate_limits.sign_in[0].characteristics[0]"),
            (Code::LimitBelowOne, "rate_limits.sign_in[0].limit"),
        ]
    );
    assert_eq!(world.log.take(), []);
}

#[test]
fn a_bad_contract_at_the_start_leaves_the_rules_in_code() {
    let world = World::new();
    let bad = || Documents::new().available_limiters(Source::new("available_limiters.yaml", "sign_in: {}"));
    let code = || world.builder("sign_in").rule(RuleSpec::limit("from_code", 3, 60));
    let limiter = code().documents(bad()).build().expect("there are rules in code");
    assert_eq!(names(&limiter), ["from_code"]);
    assert!(world.line().error_message.is_some_and(|text| text.contains("[description_missing]")));
    let error = code().documents(bad()).strict_documents(true).build().expect_err("strict");
    assert_eq!(codes(&error), [(Code::DescriptionMissing, "available_limiters.sign_in.description")]);
    limiter.reload(&documents(OPERATORS)).expect("valid");
    assert_eq!(names(&limiter), ["office", "per_user", "per_ip"]);
}

#[test]
fn without_any_defaults_a_bad_contract_is_an_error() {
    let world = World::new();
    let bad = Source::new("available_limiters.yaml", CONTRACT.replace("limit: 2", "limit: 0"));
    let error = world.builder("sign_in").documents(Documents::new().available_limiters(bad)).build().expect_err("bad");
    assert_eq!(codes(&error), [(Code::LimitBelowOne, "available_limiters.sign_in.default_rules[0].limit")]);
    let error = world.builder("sing_in").documents(documents(OPERATORS)).build().expect_err("no such limiter");
    assert_eq!(codes(&error), [(Code::UnknownLimiter, "available_limiters.sing_in")]);
}

#[test]
fn mistakes_in_code_and_in_documents_are_told_together() {
    let world = World::new();
    let builder = world.builder("sign_in").rule(RuleSpec::limit("per_ip", 0, 60)).strict_documents(true);
    let error = builder.documents(documents(BAD)).build().expect_err("bad");
    let paths: Vec<&str> = error.findings().iter().map(|finding| finding.path.as_str()).collect();
    assert_eq!(paths, ["rules[0].limit", "rate_limits.sign_in[0].characteristics[0]", "rate_limits.sign_in[0].limit"]);
}

#[test]
fn options_that_would_do_nothing_are_mistakes() {
    let world = World::new();
    let error = world.builder("sign_in").properties(["pod"]).documents(documents(OPERATORS)).build().expect_err("idle");
    assert_eq!(codes(&error), [(Code::OptionInvalid, "properties")]);
    let catalog = documents(OPERATORS).read().expect("valid");
    let builder = world.builder("sign_in").allowed_skip_rules(["pod"]).catalog(catalog);
    assert_eq!(codes(&builder.build().expect_err("idle")), [(Code::OptionInvalid, "allowed_skip_rules")]);
}

#[test]
fn names_that_are_none_are_mistakes() {
    let world = World::new();
    let builder = world.builder("sign_in").properties(["ip", "", "a b"]).allowed_skip_rules(["office", "Office"]);
    let found = [
        (Code::PropertyInvalid, "properties[1]"),
        (Code::PropertyInvalid, "properties[2]"),
        (Code::NameInvalid, "allowed_skip_rules[1]"),
    ];
    assert_eq!(codes(&builder.build().expect_err("odd")), found);
}

#[test]
fn a_contract_that_came_with_the_documents_counts_beside_the_builder_s() {
    let world = World::new();
    let given = Contract::of_rules([RuleSpec::limit("given", 1, 60)]).with_properties(["user"]);
    let given = Documents::new().contract("sign_in", given.with_allowed_skip_rules(["office"]));
    let documents = given.rate_limits(operators(OPERATORS));
    let builder = || world.builder("sign_in").strict_documents(true).documents(documents.clone());
    let limiter = builder().properties(["ip"]).build().expect("ip and user are offered");
    assert_eq!(names(&limiter), ["office", "per_user", "given"]);
    let rule = RuleSpec::limit("of_builder", 1, 60).characteristics(["ip"]);
    assert_eq!(names(&builder().rule(rule).build().expect("valid")), ["office", "per_user", "of_builder"]);
}

#[test]
fn code_says_how_to_evaluate_where_there_is_no_contract() {
    let world = World::new();
    let builder = world.builder("search").rule(RuleSpec::limit("a", 1, 60)).evaluation(Evaluation::All);
    let files = Documents::new().rate_limits(operators("search: [{name: b, action: log, limit: 1, period_s: 60}]"));
    let limiter = builder.documents(files.clone()).build().expect("valid");
    assert_eq!(limiter.rules().evaluation(), Evaluation::All);
    limiter.reload(&files).expect("valid");
    assert_eq!(limiter.rules().evaluation(), Evaluation::All);
}

#[test]
fn without_a_contract_of_its_own_a_later_load_keeps_the_one_in_force() {
    let world = World::new();
    let limiter = world.builder("sign_in").documents(documents(OPERATORS)).build().expect("valid");
    limiter.reload(&Documents::new()).expect("valid");
    assert_eq!(names(&limiter), ["per_ip"], "the defaults do not vanish");
    limiter.reload(&Documents::new().rate_limits(operators(OPERATORS))).expect("valid");
    assert_eq!(names(&limiter), ["office", "per_user", "per_ip"]);
    limiter.reload(&Documents::new().rate_limits(operators(BAD))).expect_err("it is checked against that contract");
}

#[test]
fn of_two_loads_at_once_the_later_stands() {
    let world = World::new();
    let folder = std::env::temp_dir().join(format!("labkit-ratelimit-loads-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("rate_limits.yaml");
    let rule = |i| format!("  - {{name: old_{i}, action: log, limit: 1, period_s: 60}}");
    let large = (0..3_000).map(rule).collect::<Vec<_>>().join("\n");
    let files = Files::new().rate_limits(&path);
    let limiter = world.builder("sign_in").build().expect("no rules");
    for _ in 0..5 {
        fs::write(&path, format!("sign_in:\n{large}")).expect("written");
        thread::scope(|scope| {
            scope.spawn(|| limiter.reload_files(&files).expect("valid"));
            // It is reading, or has read, or has not begun: the second load is the later one, or reads the same.
            thread::sleep(Duration::from_millis(5));
            fs::write(folder.join("new"), "sign_in: [{name: new, action: log, limit: 1, period_s: 60}]")
                .expect("written");
            fs::rename(folder.join("new"), &path).expect("renamed");
            limiter.reload_files(&files).expect("valid");
        });
        assert_eq!(names(&limiter), ["new"]);
    }
    fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn a_later_load_replaces_the_rules_and_counters_go_on() {
    let world = World::new();
    let limiter = world.builder("sign_in").documents(documents(OPERATORS)).build().expect("valid");
    let who = [("ip", Value::from("192.0.2.1")), ("user", Value::from("ada"))];
    assert!(limiter.check(&who).is_allowed() && limiter.check(&who).is_allowed());
    assert!(limiter.check(&who).is_blocked(), "2 an address");
    let higher = "sign_in: [{name: per_ip, action: limit, characteristics: [ip], limit: 4, period_s: 60}]";
    limiter.reload(&documents(higher)).expect("valid");
    assert_eq!(names(&limiter), ["per_ip"]);
    assert!(limiter.check(&who).is_allowed(), "the fourth");
    assert!(limiter.check(&who).is_blocked(), "the fifth: the count was not begun anew");
    assert_eq!(world.log.take(), []);
}

#[test]
fn a_bad_later_load_changes_nothing_and_is_logged_once() {
    let world = World::new();
    let limiter = world.builder("sign_in").documents(documents(OPERATORS)).build().expect("valid");
    let error = limiter.reload(&documents(BAD)).expect_err("bad");
    let LoadError::Invalid(findings) = error else { panic!("{error}") };
    assert_eq!(findings.iter().count(), 2);
    assert_eq!(world.line().class_name.as_deref(), Some("InvalidDocuments"));
    assert_eq!(names(&limiter), ["office", "per_user", "per_ip"], "the last good ones");

    // A mistake in the rules of another limiter makes the whole file bad.
    let half = format!("{OPERATORS}search:\n  - {{name: \"a\\nb\", action: limit, limit: 1, period_s: 60}}\n");
    limiter.reload(&documents(&half)).expect_err("bad");
    assert!(world.line().error_message.is_some_and(|text| text.contains("[name_invalid]")));
    assert_eq!(names(&limiter), ["office", "per_user", "per_ip"]);
    limiter.check_with(&[("ip", Value::from("192.0.2.1"))], CallOptions::default());
}

#[test]
fn a_log_line_of_many_findings_says_how_many_there_are() {
    let world = World::new();
    let limiter = world.builder("sign_in").documents(documents(OPERATORS)).build().expect("valid");
    let rules: Vec<String> =
        (0..150).map(|i| format!("{{name: r{i}, action: limit, limit: 0, period_s: 60}}")).collect();
    limiter.reload(&documents(&format!("sign_in: [{}]", rules.join(", ")))).expect_err("bad");
    assert!(world.line().error_message.is_some_and(|text| text.ends_with("; and 50 more")));
}

#[test]
fn files_are_read_as_they_are_now() {
    let world = World::new();
    let folder = std::env::temp_dir().join(format!("labkit-ratelimit-documents-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let (available, rates) = (folder.join("available_limiters.yaml"), folder.join("rate_limits.yaml"));
    fs::write(&available, CONTRACT).expect("written");
    let files = Files::new().available_limiters(&available).rate_limits(&rates);

    let limiter = world.builder("sign_in").files(files.clone()).build().expect("the defaults");
    assert_eq!(names(&limiter), ["per_ip"]);
    let line = world.line();
    assert_eq!(line.class_name.as_deref(), Some("UnreadableDocument"));
    assert!(line.error_message.is_some_and(|text| text.contains("rate_limits.yaml")));
    let error = world.builder("sign_in").files(files.clone()).strict_documents(true).build().expect_err("strict");
    assert!(error.unreadable().is_some_and(|what| what.contains("rate_limits.yaml")) && error.findings().is_empty());
    assert!(error.to_string().contains("rate_limits.yaml"));

    fs::write(&rates, OPERATORS).expect("written");
    limiter.reload_files(&files).expect("valid");
    assert_eq!(names(&limiter), ["office", "per_user", "per_ip"]);
    fs::write(&rates, BAD).expect("written");
    assert!(matches!(limiter.reload_files(&files), Err(LoadError::Invalid(_))));
    fs::remove_file(&rates).expect("removed");
    assert!(matches!(limiter.reload_files(&files), Err(LoadError::Unreadable(_))));
    assert_eq!(names(&limiter), ["office", "per_user", "per_ip"]);
    assert_eq!(world.log.take().len(), 2);
    fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn one_catalog_serves_many_limiters() {
    let world = World::new();
    let catalog: Catalog = documents(OPERATORS).read().expect("valid");
    let limiters: Vec<Limiter> =
        ["sign_in", "search"].map(|name| world.builder(name).catalog(catalog.clone()).build().expect("valid")).into();
    assert_eq!(names(&limiters[0]), ["office", "per_user", "per_ip"]);
    let next = documents("search: [{name: all, action: log, limit: 1, period_s: 60}]").read().expect("valid");
    for limiter in &limiters {
        limiter.reload_catalog(&next).expect("it knows them all");
    }
    assert_eq!(names(&limiters[0]), ["per_ip"]);
    assert_eq!(names(&limiters[1]), ["all", "per_ip"]);

    // Of a limiter in code, a catalog knows what it was told.
    let files = Documents::new().rate_limits(operators("export: [{name: all, action: log, limit: 1, period_s: 60}]"));
    let rule = RuleSpec::limit("per_user", 1, 60).characteristics(["user"]);
    let unknown = files.read().expect("valid by itself");
    let error = world.builder("export").rule(rule.clone()).catalog(unknown).build().expect_err("no contract");
    assert_eq!(codes(&error), [(Code::UnknownLimiter, "available_limiters.export")]);
    let known = files.contract("export", Contract::of_rules([rule.clone()])).read().expect("valid");
    let limiter = world.builder("export").rule(rule).catalog(known).build().expect("valid");
    assert_eq!(names(&limiter), ["all", "per_user"]);
}
