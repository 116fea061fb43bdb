//! Plan and settle, as a host that owns its connection meets them.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod host;

use host::{USER, begin, call, done, limiter, planned};
use labkit_ratelimit::{
    Algorithm, CallOptions, Limiter, ManualClock, MemoryStore, Mode, OnError, RuleSpec, Script, Store, Topology, Value,
};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn the_whole_chain_is_one_call_on_a_single_redis() {
    let limiter = limiter(Topology::Single);
    let pending = begin(&limiter);
    let call = pending.call();
    assert_eq!(call.script, Script::chain());
    assert_eq!(call.script.digest().len(), 40);
    assert_eq!(
        call.keys,
        [
            "labkit:rl:{lim:per_user:user:u1}",
            "labkit:rl:{lim:banning:user:u1}",
            "labkit:rl:{lim:banning:user:u1}:ban",
            "labkit:rl:{lim:paced:user:u1}:gcra"
        ]
    );
    assert_eq!(call.args, ["1 wo- 60000 2 wob 600000 60000 5 go- 1 10000000 0 10000000 0 "]);
    assert_eq!(pending.deadline(), Duration::from_millis(100));
    let decision = done(
        limiter.settle(pending, Ok("1 60000 0 1 60000 0 0 1700000010000000 0 1700000000000000 1700000000000000 0")),
    );
    assert!(decision.is_allowed() && decision.evaluations().len() == 3 && !decision.is_error());
    assert_eq!(decision.rule().map(labkit_ratelimit::Rule::name), Some("paced"));
}

#[test]
fn a_host_may_keep_the_words_of_a_call_itself() {
    for (on_error, kept) in [(OnError::Allow, 0), (OnError::Block, 0), (OnError::Local, 4)] {
        let limiter = planned(Topology::Single, on_error, &Arc::default());
        let mut pending = begin(&limiter);
        pending.let_go();
        assert_eq!(pending.call().keys.len(), kept, "{on_error:?}");
        let decision = done(limiter.settle(pending, Ok("1 60000 0 7 60000 1 600000 ")));
        assert!(decision.is_blocked() && decision.evaluations().len() == 2 && !decision.is_error(), "{decision:?}");
    }
}

#[test]
fn a_chain_that_stopped_is_reported_as_far_as_it_went() {
    let limiter = limiter(Topology::Single);
    let decision = done(limiter.settle(begin(&limiter), Ok("3 41500 1")));
    assert!(decision.is_blocked());
    assert_eq!(decision.evaluations().len(), 1);
    let info = decision.info().expect("a rule matched");
    assert_eq!(info.retry_after(), Some(Duration::from_millis(41_500)));
}

#[test]
fn a_cluster_is_asked_once_for_each_change_of_slot_in_order() {
    let limiter = limiter(Topology::Cluster);
    let first = begin(&limiter);
    assert_eq!(first.call().keys, ["labkit:rl:{lim:per_user:user:u1}"]);
    let second = call(limiter.settle(first, Ok("1 60000 0")));
    assert_eq!(second.call().keys, ["labkit:rl:{lim:banning:user:u1}", "labkit:rl:{lim:banning:user:u1}:ban"]);
    let third = call(limiter.settle(second, Ok("1 60000 0 0")));
    assert_eq!(third.call().keys, ["labkit:rl:{lim:paced:user:u1}:gcra"]);
    let decision = done(limiter.settle(third, Ok("1700000010000000 0 1700000000000000 1700000000000000 0")));
    assert_eq!(decision.evaluations().len(), 3);

    // A block stops it: the other slots are never asked.
    assert!(done(limiter.settle(begin(&limiter), Ok("3 1000 1"))).is_blocked());
}

#[test]
fn rules_keyed_by_other_properties_never_share_a_counter() {
    let store = Arc::new(MemoryStore::default());
    let limiter = |characteristics: &[&str]| {
        let rule = RuleSpec::limit("r", 1, 60).characteristics(characteristics.iter().copied());
        Limiter::builder("lim").rule(rule).memory(Arc::clone(&store)).build().expect("good rules")
    };
    let x = [("user", Value::from("x")), ("ip", Value::from("x"))];
    for characteristics in [&["user"][..], &["ip"], &["user", "ip"], &["ip", "user"], &[]] {
        assert!(limiter(characteristics).check(&x).is_allowed(), "{characteristics:?}");
        assert!(limiter(characteristics).check(&x).is_blocked(), "{characteristics:?}");
    }
}

#[test]
fn identifiers_come_in_the_shapes_that_rust_has() {
    let limiter = Limiter::builder("lim")
        .rule(RuleSpec::limit("r", 9, 60).characteristics(["user"]))
        .store(Store::memory(10))
        .build()
        .expect("good rules");
    let pairs = vec![("user", Value::from(7_usize))];
    limiter.check(&pairs);
    limiter.check(&pairs.iter().copied().collect::<std::collections::HashMap<_, _>>());
    let last = limiter.check(&pairs.into_iter().collect::<std::collections::BTreeMap<_, _>>());
    assert_eq!(last.info().map(|info| info.count), Some(3.0));
}

#[test]
fn clear_is_one_call_and_one_for_each_rule_on_a_cluster() {
    for (topology, calls) in [(Topology::Single, 1), (Topology::Cluster, 3)] {
        let limiter = limiter(topology);
        let mut clearing = limiter.plan_clear(&USER);
        let mut made = 0;
        while let Some(call) = clearing.call() {
            assert_eq!(call.script, Script::clear());
            made += 1;
            limiter.settle_clear(&mut clearing, Ok("2"));
        }
        assert_eq!((made, clearing.deleted()), (calls, calls * 2));
    }
}

#[test]
fn a_cluster_that_is_found_late_gets_plans_of_its_own() {
    let limiter = limiter(Topology::Single);
    let keys = |limiter: &Limiter| call(limiter.plan(&USER, CallOptions::default(), Mode::Check)).call().keys.len();
    let cleared = |limiter: &Limiter| limiter.plan_clear(&USER).call().map(|call| call.keys.len());
    assert_eq!((keys(&limiter), cleared(&limiter)), (4, Some(6)));
    limiter.found_cluster();
    assert_eq!((keys(&limiter), cleared(&limiter)), (1, Some(2)));
}

#[test]
fn a_peek_reads_only_and_answers_for_a_cost_of_one() {
    let limiter = limiter(Topology::Single);
    let pending = call(limiter.plan(&USER, CallOptions::default().cost(9.0), Mode::Peek));
    assert_eq!(pending.call().args, ["1 ro- 60000 2 rof 600000 60000 5 po- 1 10000000 0 10000000 0 "]);
    assert_eq!(limiter.rules().rule(2).algorithm(), Algorithm::Gcra);
}

#[test]
fn blocked_is_an_error_that_tells_the_wait() {
    let limiter = Limiter::builder("lim")
        .rule(RuleSpec::limit("per_user", 1, 60).characteristics(["user"]))
        .store(Store::memory(10))
        .clock(ManualClock::at_unix_seconds(1_700_000_000))
        .build()
        .expect("good rules");
    assert!(limiter.enforce(&USER, CallOptions::default()).is_ok());
    let error = limiter.enforce(&USER, CallOptions::default()).expect_err("the second is refused");
    assert_eq!(error.to_string(), "rate limit lim exceeded by rule per_user; it passes again in 60.000 s");
    assert!(error.decision().is_blocked());
}

#[test]
fn a_limiter_without_rules_never_matches() {
    let limiter = Limiter::builder("empty").build().expect("legal");
    let decision = limiter.check(&USER);
    assert!(decision.is_allowed() && !decision.is_matched() && decision.info().is_none());
}
