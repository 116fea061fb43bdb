//! Rules that are replaced while the limiter is in use.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod host;

use host::{USER, begin, call, done};
use labkit_ratelimit::{
    CallOptions, Callbacks, Code, Decision, Evaluation, Fault, HeaderFormat, HostNumber, Limiter, LogRecorder,
    ManualClock, Mode, Outcome, Planned, RedisOptions, Rule, RuleSpec, Sample, SampleKind, Store, Topology, Value,
};
use std::collections::HashMap;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

const FIRST: Evaluation = Evaluation::FirstBlock;

fn limiter(rules: &[RuleSpec]) -> Limiter {
    Limiter::builder("lim")
        .rules(rules.iter().cloned())
        .store(Store::memory(10_000))
        .clock(ManualClock::at_unix_seconds(1_700_000_000))
        .logger(Arc::new(LogRecorder::default()))
        .build()
        .expect("good rules")
}

fn per_user(limit: u64) -> RuleSpec {
    RuleSpec::limit("per_user", limit, 60).characteristics(["user"])
}

fn count(decision: &Decision) -> Option<f64> {
    decision.info().map(|info| info.count)
}

/// Counters by series.
fn counters(limiter: &Limiter) -> HashMap<String, u64> {
    let counters = limiter.metrics().into_iter().filter(|sample| sample.kind == SampleKind::Counter);
    counters.map(|sample| (sample.series(), sample.value)).collect()
}

fn total(limiter: &Limiter, metric: &str) -> u64 {
    let own = |sample: &Sample| sample.name.ends_with(metric);
    limiter.metrics().iter().filter(|sample| own(sample)).map(|sample| sample.value).sum()
}

#[test]
fn the_new_rules_decide_from_then_on() {
    let limiter = limiter(&[per_user(1)]);
    assert!(limiter.check(&USER).is_allowed());
    let before = limiter.rules();
    let refused = limiter.check(&USER);
    let skip = RuleSpec::skip("internal");
    limiter.replace_rules(&[skip, per_user(1)], Evaluation::All).expect("good rules");
    let skipped = limiter.check(&USER);
    assert!(skipped.is_allowed() && skipped.is_skipped());
    assert_eq!(limiter.rules().evaluation(), Evaluation::All);

    // What was asked for before says what it said.
    assert_eq!((before.len(), limiter.rules().len()), (1, 2));
    assert_eq!(refused.rule().map(Rule::name), Some("per_user"));
    let fields = refused.headers(HeaderFormat::IetfDraft11);
    assert_eq!(fields[0].1, "\"per_user\";q=1;w=60");
    drop(limiter);
    assert_eq!(refused.evaluations().get(0).map(|first| first.rule().name()), Some("per_user"));
}

#[test]
fn a_decision_may_go_to_another_thread() {
    fn owned<T: Send + Sync + 'static>(_: &T) {}
    let limiter = limiter(&[per_user(1)]);
    let decision = limiter.check(&USER);
    owned(&decision);
    owned(&limiter.rules());
    let name = thread::spawn(move || decision.rule().map(|rule| rule.name().to_owned())).join().expect("no panic");
    assert_eq!(name.as_deref(), Some("per_user"));
}

#[test]
fn rules_with_mistakes_leave_everything_as_it_was() {
    let limiter = limiter(&[per_user(5)]);
    limiter.check(&USER);
    let bad = [per_user(0), per_user(3), RuleSpec::limit("", 1, 0)];
    let findings = limiter.replace_rules(&bad, FIRST).expect_err("mistakes");
    let found: Vec<_> = findings.iter().map(|finding| (finding.code, finding.path.as_str())).collect();
    for mistake in [
        (Code::LimitBelowOne, "rules[0].limit"),
        (Code::DuplicateRuleName, "rules[1].name"),
        (Code::NameMissing, "rules[2].name"),
        (Code::PeriodBelowOne, "rules[2].period_s"),
    ] {
        assert!(found.contains(&mistake), "{found:?}");
    }
    let decision = limiter.check(&USER);
    assert_eq!((count(&decision), decision.info().map(|info| info.limit)), (Some(2.0), Some(5)));
}

#[test]
fn a_rule_keeps_its_count_by_its_name() {
    let limiter = limiter(&[per_user(10).ban_for_s(600)]);
    for _ in 0..3 {
        limiter.check(&USER);
    }
    // Another limit, another place in the chain, another action.
    let log = RuleSpec::limit("other", 1, 60).characteristics(["ip"]);
    limiter.replace_rules(&[log, per_user(3).ban_for_s(600)], FIRST).expect("good rules");
    let decision = limiter.check(&USER);
    assert!(decision.is_blocked());
    assert_eq!(count(&decision), Some(4.0));

    // A ban in force stays in force, also where the limit is raised.
    limiter.replace_rules(&[per_user(1000).ban_for_s(600)], FIRST).expect("good rules");
    assert_eq!(limiter.check(&USER).evaluations().get(0).map(|first| first.outcome()), Some(Outcome::Banned));
    // A name is an identity: another one counts from zero, and the first finds its count again.
    limiter.replace_rules(&[RuleSpec::limit("new", 10, 60).characteristics(["user"])], FIRST).expect("good rules");
    assert_eq!(count(&limiter.check(&USER)), Some(1.0));
    limiter.replace_rules(&[per_user(1000)], FIRST).expect("good rules");
    assert_eq!(count(&limiter.check(&USER)), Some(5.0));
}

#[test]
fn one_name_may_change_its_way_of_counting() {
    let window = || per_user(5);
    let distinct = || RuleSpec::limit("per_user", 5, 60).characteristics(["user"]).count_distinct("path");
    let gcra = || RuleSpec::gcra("per_user", 5, 60).characteristics(["user"]);
    let limiter = limiter(&[window()]);
    let request = [("user", Value::from("u1")), ("path", Value::from("/a"))];
    // Each way has a count of its own, which it finds again. A set holds `/a` once.
    for (rule, counts) in [
        (window(), [1.0, 2.0]),
        (distinct(), [1.0, 1.0]),
        (gcra(), [1.0, 2.0]),
        (distinct(), [1.0, 1.0]),
        (window(), [3.0, 4.0]),
        (gcra(), [3.0, 4.0]),
    ] {
        limiter.replace_rules(slice::from_ref(&rule), FIRST).expect("good rules");
        for expected in counts {
            let decision = limiter.check(&request);
            assert!(decision.is_allowed() && !decision.is_error(), "{decision:?}");
            assert_eq!(count(&decision), Some(expected), "{rule:?}");
        }
    }
    assert!(limiter.clear(&request) > 0);
    assert_eq!(count(&limiter.check(&request)), Some(1.0));
}

#[test]
fn callables_stay_valid() {
    let mut callbacks = Callbacks::default();
    let number = callbacks.number(|| Ok(HostNumber::Int(7)));
    let limiter = Limiter::builder("lim").callbacks(callbacks).store(Store::memory(10)).build().expect("legal");
    limiter.replace_rules(&[RuleSpec::limit("called", number, 60)], FIRST).expect("good rules");
    assert_eq!(limiter.check(&USER).info().map(|info| info.limit), Some(7));
}

#[test]
fn a_pending_call_is_settled_by_the_rules_that_planned_it() {
    let limiter = host::limiter(Topology::Cluster);
    let first = begin(&limiter);
    assert_eq!(first.call().keys, ["labkit:rl:{lim:per_user:user:u1}"]);
    limiter.replace_rules(&[RuleSpec::skip("all")], FIRST).expect("good rules");
    let second = call(limiter.settle(first, Ok("1 60000 0")));
    assert_eq!(second.call().keys[0], "labkit:rl:{lim:banning:user:u1}");
    limiter.replace_rules(&[], FIRST).expect("none at all is legal");
    let third = call(limiter.settle(second, Ok("1 60000 0 0")));
    let decision = done(limiter.settle(third, Ok("1700000010000000 0 1700000000000000 1700000000000000 0")));
    let named: Vec<_> = decision.evaluations().iter().map(|each| each.rule().name().to_owned()).collect();
    assert_eq!(named, ["per_user", "banning", "paced"]);
    let counted = counters(&limiter);
    for rule in ["per_user", "banning", "paced"] {
        let own = |series: &&String| series.contains(&format!("rule=\"{rule}\""));
        assert_eq!(counted.keys().filter(own).count(), 1, "{counted:?}");
    }
    // The failure of one names its rule too.
    limiter.replace_rules(&[per_user(9)], FIRST).expect("good rules");
    let pending = begin(&limiter);
    limiter.replace_rules(&[], FIRST).expect("none at all is legal");
    assert!(done(limiter.settle(pending, Err::<&str, _>(Fault::unreachable("gone")))).is_error());
    assert!(done(limiter.plan(&USER, CallOptions::default(), Mode::Check)).rule().is_none());
}

#[test]
fn a_host_may_plan_by_the_rules_whose_places_it_knows() {
    let limiter = limiter(&[per_user(5)]);
    let known = limiter.rules();
    limiter.replace_rules(&[RuleSpec::skip("all")], FIRST).expect("good rules");
    let decision = done(limiter.plan_by(known.clone(), &USER, CallOptions::default(), Mode::Check));
    assert_eq!(decision.rule().map(Rule::name), Some("per_user"));
    assert_eq!(limiter.plan_clear_by(known, &USER).deleted(), 1);

    let other = Limiter::builder("lim").rule(per_user(5)).store(Store::memory(10)).build().expect("good rules");
    assert!(done(limiter.plan_by(other.rules(), &USER, CallOptions::default(), Mode::Check)).is_error());
    assert_eq!(limiter.plan_clear_by(other.rules(), &USER).deleted(), 0);
    assert_eq!(total(&other, "checks_total"), 0, "it was not asked");
    assert_eq!(total(&limiter, "checks_total"), 2);
}

#[test]
fn gauges_are_of_rules_in_force() {
    let limiter = limiter(&[per_user(5), RuleSpec::limit("gone", 7, 30)]);
    limiter.check(&USER);
    limiter
        .replace_rules(&[RuleSpec::skip("other").matching("user", "nobody"), per_user(8)], FIRST)
        .expect("good rules");
    let gauges = |limiter: &Limiter| -> Vec<(String, u64)> {
        let gauges = limiter.metrics().into_iter().filter(|sample| sample.kind == SampleKind::Gauge);
        gauges.map(|sample| (sample.series(), sample.value)).collect()
    };
    let series = |metric, value| {
        (format!("gitlab_labkit_rate_limiter_{metric}{{rate_limiter=\"lim\",rule=\"per_user\"}}"), value)
    };
    // As it was last evaluated.
    assert_eq!(gauges(&limiter), [series("limit", 5), series("period_seconds", 60)]);
    limiter.check(&USER);
    assert_eq!(gauges(&limiter), [series("limit", 8), series("period_seconds", 60)]);
    let evaluated = counters(&limiter);
    assert!(evaluated.keys().any(|series| series.contains("rule=\"gone\"")), "counters are never lost: {evaluated:?}");
}

/// Two rules whose limits are of one version; a version's number is in the second rule's name.
fn version(n: u64) -> Vec<RuleSpec> {
    let limit = 1_000_000_000 + n;
    let mut rules = vec![per_user(limit), RuleSpec::limit(format!("version_{}", n % 7), limit, 60)];
    if n % 2 == 1 {
        rules.reverse();
    }
    rules
}

#[test]
fn every_decision_under_load_is_of_one_version_and_is_counted_once() {
    const SWAPS: u64 = 2_000;
    let limiter = limiter(&version(0));
    let (done, checks) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        for at in 0..3_u32 {
            let (limiter, done, checks) = (&limiter, &done, &checks);
            scope.spawn(move || {
                let user = [("user", Value::from(at))];
                let mut kept = Vec::new();
                let (mut newest, mut counted) = (0, 0);
                while !done.load(Relaxed) || counted == 0 {
                    let decision = limiter.check(&user);
                    let limits: Vec<u64> = decision.evaluations().iter().map(|each| each.limit()).collect();
                    assert!(limits.len() == 2 && limits[0] == limits[1], "{limits:?}");
                    let version = limits[0] - 1_000_000_000;
                    let named: Vec<_> = decision.evaluations().iter().map(|each| each.rule().name()).collect();
                    assert!(named.contains(&format!("version_{}", version % 7).as_str()), "{version}: {named:?}");
                    assert!(version >= newest, "from {newest} back to {version}");
                    newest = version;
                    counted += 1;
                    assert_eq!(count(&limiter.peek(&user)).map(|count| count >= 1.0), Some(true));
                    // Some are held over many swaps, and dropped elsewhere in time.
                    if counted % 5 == 0 {
                        kept.push(decision);
                    }
                    if kept.len() > 20 {
                        kept.clear();
                    }
                }
                checks.fetch_add(counted, Relaxed);
            });
        }
        let mut before = counters(&limiter);
        for n in 1..=SWAPS {
            limiter.replace_rules(&version(n), FIRST).expect("good rules");
            let now = counters(&limiter);
            for (series, value) in &before {
                assert!(now.get(series) >= Some(value), "{series} fell from {value} to {:?}", now.get(series));
            }
            before = now;
            if n % 64 == 0 {
                thread::yield_now();
            }
        }
        done.store(true, Relaxed);
    });
    let checks = checks.load(Relaxed);
    assert_eq!(total(&limiter, "checks_total"), checks);
    assert_eq!(total(&limiter, "rule_evaluations_total"), 2 * checks);
    assert_eq!(total(&limiter, "peeks_total"), checks);
    let per_user = |(series, _): &(&String, &u64)| series.contains("rule=\"per_user\"");
    assert_eq!(counters(&limiter).iter().filter(per_user).map(|(_, value)| value).sum::<u64>(), checks);
    // The store counted each of them too, by name.
    let stored: f64 = (0..3_u32)
        .filter_map(|at| {
            limiter
                .peek(&[("user", Value::from(at))])
                .evaluations()
                .iter()
                .find(|each| each.rule().name() == "per_user")
                .map(|each| each.info().count)
        })
        .sum();
    assert_eq!(format!("{stored:.0}"), checks.to_string());
}

#[test]
fn what_is_in_flight_while_rules_are_replaced_is_counted() {
    let limiter = Limiter::builder("lim")
        .rule(per_user(5))
        .store(Store::Planned(RedisOptions::default()))
        .build()
        .expect("good rules");
    let mut pending = Vec::new();
    for n in 0..50 {
        for _ in 0..3 {
            pending.push(begin(&limiter));
        }
        limiter.replace_rules(&[per_user(5 + n)], FIRST).expect("good rules");
    }
    assert_eq!(total(&limiter, "checks_total"), 0);
    for (settled, pending) in (1..).zip(pending) {
        assert!(matches!(limiter.settle(pending, Ok("1 60000 0")), Planned::Done(_)));
        assert_eq!(total(&limiter, "checks_total"), settled);
    }
    limiter.replace_rules(&[], FIRST).expect("none at all is legal");
    assert_eq!((total(&limiter, "checks_total"), total(&limiter, "rule_evaluations_total")), (150, 150));
}

#[test]
fn time_goes_on_for_counts_that_were_taken_over() {
    let clock = Arc::new(ManualClock::at_unix_seconds(1_700_000_000));
    let limiter = Limiter::builder("lim")
        .rule(per_user(2))
        .store(Store::memory(100))
        .clock(Arc::clone(&clock))
        .build()
        .expect("good rules");
    limiter.check(&USER);
    clock.advance(Duration::from_secs(59));
    limiter.replace_rules(&[per_user(3)], FIRST).expect("good rules");
    let decision = limiter.check(&USER);
    assert_eq!(decision.info().map(|info| (info.count, info.reset_after())), Some((2.0, Duration::from_secs(1))));
    clock.advance(Duration::from_secs(1));
    assert_eq!(count(&limiter.check(&USER)), Some(1.0));
}

#[test]
fn every_limiter_of_many_decides_by_its_own_rules() {
    // Threads keep what they decided with in a few places: more limiters than those meet there.
    let limiters: Vec<Limiter> = (0..100)
        .map(|i| {
            let rule = RuleSpec::limit(format!("rule_{i}"), 1_000, 60);
            Limiter::builder(format!("limiter_{i}")).rule(rule).build().expect("good rules")
        })
        .collect();
    let nobody: [(&str, Value<'_>); 0] = [];
    for round in 1..=3 {
        for (i, limiter) in limiters.iter().enumerate() {
            let decision = limiter.check(&nobody);
            assert_eq!(decision.rule().map(|rule| rule.name().to_owned()), Some(format!("rule_{i}")));
            assert_eq!(total(limiter, "checks_total"), round);
        }
    }
}

#[test]
fn the_rules_in_force_are_shown_as_they_were_written() {
    let limiter = Limiter::builder("lim").rule(per_user(5)).store(Store::memory(10)).build().expect("good rules");
    let first = limiter.rules();
    assert_eq!(first.specs(), [per_user(5)]);
    assert!(first.is_same(&limiter.rules()));
    limiter.replace_rules(&[per_user(6), RuleSpec::skip("all")], FIRST).expect("good rules");
    assert_eq!(limiter.rules().specs(), [per_user(6), RuleSpec::skip("all")]);
    assert!(!first.is_same(&limiter.rules()));
    assert_eq!(first.specs(), [per_user(5)], "what is held stays");
}
