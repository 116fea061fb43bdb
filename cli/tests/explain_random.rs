//! `explain` beside real decisions: of random rules, what it says is what checks do.

#![allow(clippy::expect_used, reason = "a test that cannot run fails")]

mod kit;

use kit::run_in;
use labkit_ratelimit::{Limiter, ManualClock, Value};
use labkit_ratelimit_documents::{Documents, Source};
use serde_json::{Value as Json, json};
use std::collections::HashSet;
use std::sync::Arc;

/// A sequence that is the same in every run.
struct Dice(u64);

impl Dice {
    /// One of `sides`, from nought.
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn one_in(&mut self, sides: u64) -> bool {
        self.roll(sides) == 0
    }
}

fn rule(dice: &mut Dice, at: usize) -> Json {
    let mut rule = json!({"name": format!("r{at}")});
    if dice.one_in(2) {
        let x = ["a", "b"][usize::from(dice.one_in(3))];
        rule["match"] = json!({"x": x});
    }
    if dice.one_in(8) {
        rule["action"] = json!("skip");
        return rule;
    }
    let action = ["limit", "limit", "log", "warn"][usize::try_from(dice.roll(4)).expect("few")];
    rule["action"] = json!(action);
    rule["limit"] = json!(dice.roll(4) + 1);
    rule["period_s"] = json!(60);
    rule["final"] = json!(dice.one_in(3));
    if dice.one_in(5) {
        rule["count_distinct"] = json!("y");
    }
    rule
}

/// The rules that the next check asks, told by the explanation and by which of them turn out to be over.
fn foretold(explanation: &Json, is_over: impl Fn(&str) -> bool) -> Vec<String> {
    let mut asked = Vec::new();
    for rule in explanation["rules"].as_array().expect("rules") {
        let name = rule["name"].as_str().expect("a name");
        let only = rule["reached_only_when_over"].as_array().expect("rules");
        let comes_here = rule["reached"] == true && only.iter().all(|name| is_over(name.as_str().expect("a name")));
        if !comes_here || rule["matches"] == false || rule["counts"].is_null() {
            continue;
        }
        asked.push(name.to_owned());
        if rule["ends_chain"] == "when_over" && is_over(name) {
            break;
        }
    }
    asked
}

#[test]
fn what_is_explained_is_what_checks_do() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let mut dice = Dice(7);
    let (mut ends, mut conditional) = (HashSet::new(), 0);
    for case in 0..250 {
        let rules: Vec<Json> =
            (0..=dice.roll(5)).map(|at| rule(&mut dice, usize::try_from(at).expect("few"))).collect();
        let evaluation = ["all", "first_block"][usize::from(dice.one_in(3))];
        let contract = json!({"available_limiters": {"w": {"description": "d", "available_properties": ["x", "y"],
            "evaluation": evaluation, "default_rules": rules}}})
        .to_string();
        let request = [("x", "a"), ("y", "1")].into_iter().filter(|_| !dice.one_in(4)).collect::<Vec<_>>();
        let pairs: Vec<String> = request.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut arguments = vec!["explain", "--available", "-", "--format", "json"];
        arguments.extend(pairs.iter().map(String::as_str));
        let explanation = run_in(folder.path(), &arguments, contract.as_bytes()).json();

        let catalog = Documents::new().available_limiters(Source::new("c", &contract)).read().expect(&contract);
        let document = catalog.limiter("w").expect("a limiter");
        let limiter = Limiter::builder("w")
            .rules(document.rules())
            .evaluation(document.evaluation().expect("it says so"))
            .clock(Arc::new(ManualClock::default()))
            .build()
            .expect("a limiter");
        let identifier: Vec<(&str, Value<'_>)> = request.iter().map(|(name, value)| (*name, (*value).into())).collect();
        for _ in 0..6 {
            let decision = limiter.check(&identifier);
            let over = |wanted: &str| {
                decision.evaluations().iter().any(|one| one.rule().name() == wanted && one.is_exceeded())
            };
            let asked: Vec<String> = decision.evaluations().iter().map(|one| one.rule().name().to_owned()).collect();
            assert_eq!(foretold(&explanation, over), asked, "{case}: {contract} {request:?}");
            if decision.is_skipped() {
                let ends_at = explanation["rules"].as_array().and_then(|rules| {
                    rules.iter().find(|rule| rule["name"] == explanation["ends_at"]).map(|rule| &rule["action"])
                });
                assert_eq!(ends_at, Some(&json!("skip")), "{contract} {request:?}");
            }
        }
        for rule in explanation["rules"].as_array().expect("rules") {
            ends.insert(rule["ends_chain"].to_string());
            conditional += usize::from(rule["reached_only_when_over"] != json!([]));
        }
    }
    // Every kind of rule was there.
    assert_eq!(ends.len(), 5, "{ends:?}");
    assert!(conditional > 30, "{conditional}");
}
