//! Plan and settle, as a host that owns its connection meets them: no server here.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use labkit_ratelimit::{
    Algorithm, Call, CallOptions, Callbacks, Clock as _, Connection, Decision, Evaluation, Fault, Limiter, LogEvent,
    LogRecorder, Logger, ManualClock, MatcherSpec, MemoryStore, Mode, OnError, Pending, Planned, RedisOptions,
    RuleSpec, Script, Store, Topology, Value,
};
use std::sync::Arc;
use std::time::Duration;

const USER: [(&str, Value<'static>); 1] = [("user", Value::Text("u1"))];

fn rules() -> [RuleSpec; 3] {
    [
        RuleSpec::limit("per_user", 2, 60).characteristics(["user"]),
        RuleSpec::limit("banning", 5, 60).characteristics(["user"]).ban_for_s(600),
        RuleSpec::gcra("paced", 1, 10).characteristics(["user"]),
    ]
}

fn planned(topology: Topology, on_error: OnError, log: &Arc<LogRecorder>) -> Limiter {
    Limiter::builder("lim")
        .rules(rules())
        .store(Store::Planned(RedisOptions { topology, ..RedisOptions::default() }))
        .on_error(on_error)
        .logger(Arc::clone(log))
        .clock(ManualClock::at_unix_seconds(1_700_000_000))
        .build()
        .expect("good rules")
}

fn limiter(topology: Topology) -> Limiter {
    planned(topology, OnError::Allow, &Arc::default())
}

fn call(planned: Planned<'_>) -> Pending {
    match planned {
        Planned::Call(pending) => pending,
        Planned::Done(decision) => panic!("decided without a call: {decision:?}"),
    }
}

fn done(planned: Planned<'_>) -> Decision<'_> {
    match planned {
        Planned::Done(decision) => decision,
        Planned::Call(pending) => panic!("another call: {:?}", pending.call()),
    }
}

fn begin(limiter: &Limiter) -> Pending {
    call(limiter.plan(&USER, CallOptions::default(), Mode::Check))
}

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
    assert_eq!(
        call.args,
        ["1", "wo-", "60000", "2", "wob", "600000", "60000", "5", "go-", "1", "10000000", "0", "10000000", "0"]
    );
    assert_eq!(limiter.redis().map(|redis| redis.deadline), Some(Duration::from_millis(100)));
    let decision = done(
        limiter.settle(pending, Ok("1 60000 0 1 60000 0 0 1700000010000000 0 1700000000000000 1700000000000000 0")),
    );
    assert!(decision.is_allowed() && decision.evaluations().len() == 3 && !decision.is_error());
    assert_eq!(decision.rule().map(labkit_ratelimit::Rule::name), Some("paced"));
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
fn a_cluster_that_fails_half_way_fails_the_check_and_a_block_before_it_stands() {
    let log = Arc::new(LogRecorder::default());
    let limiter = planned(Topology::Cluster, OnError::Allow, &log);
    let second = call(limiter.settle(begin(&limiter), Ok("1 60000 0")));
    let decision = done(limiter.settle(second, Err::<&str, _>(Fault::deadline(Duration::from_millis(100)))));
    assert!(decision.is_error() && decision.is_allowed() && decision.evaluations().is_empty());
    let [event] = log.take().try_into().expect("one line");
    assert_eq!((event.rule.as_deref(), event.class_name.as_deref()), (Some("banning"), Some("DeadlineExceeded")));
    assert_eq!(event.identifier_keys, ["user"]);

    let all = Limiter::builder("lim")
        .rules(rules())
        .evaluation(Evaluation::All)
        .store(Store::Planned(RedisOptions { topology: Topology::Cluster, ..RedisOptions::default() }))
        .build()
        .expect("good rules");
    let second = call(all.settle(begin(&all), Ok("3 60000 1")));
    let decision = done(all.settle(second, Err::<&str, _>(Fault::unreachable("gone"))));
    assert!(decision.is_blocked() && !decision.is_error() && decision.is_degraded());
}

#[test]
fn no_reply_whatever_it_is_breaks_the_host() {
    let mut random = fastrand::Rng::with_seed(7);
    let words = [
        "1",
        "-1",
        "!",
        "x",
        "",
        "18446744073709551616",
        "18446744073709551615",
        "9223372036854775807",
        "1e9",
        "0",
        "60000",
        "9007199254740993",
        "nan",
        "-",
        "💥",
    ];
    for round in 0..20_000 {
        let limiter = limiter(if round % 2 == 0 { Topology::Single } else { Topology::Cluster });
        let mut pending = begin(&limiter);
        loop {
            let reply: Vec<u8> = if random.u8(..10) == 0 {
                (0..random.usize(..40)).map(|_| random.u8(..)).collect()
            } else {
                let picked: Vec<&str> = (0..random.usize(..16)).map(|_| words[random.usize(..words.len())]).collect();
                picked.join(" ").into_bytes()
            };
            match limiter.settle(pending, Ok(reply)) {
                Planned::Done(decision) => {
                    // Asking it anything is safe too.
                    drop((
                        decision.headers(labkit_ratelimit::HeaderFormat::Gitlab),
                        decision.info(),
                        format!("{decision:?}"),
                    ));
                    break;
                }
                Planned::Call(next) => pending = next,
            }
        }
    }
}

#[test]
fn a_cluster_with_one_dead_node_opens_the_circuit_and_is_counted_locally() {
    let fail_second = |limiter: &Limiter| match limiter.plan(&USER, CallOptions::default(), Mode::Check) {
        Planned::Done(decision) => decision.is_blocked(),
        Planned::Call(first) => {
            let second = call(limiter.settle(first, Ok("1 60000 0")));
            done(limiter.settle(second, Err::<&str, _>(Fault::deadline(Duration::from_millis(100))))).is_blocked()
        }
    };
    let log = Arc::new(LogRecorder::default());
    let limiter = planned(Topology::Cluster, OnError::Allow, &log);
    for _ in 0..10 {
        fail_second(&limiter);
    }
    let messages: Vec<_> = log.take().iter().map(|line| line.message).collect();
    assert_eq!(messages.len(), 6, "{messages:?}");
    assert_eq!(messages[5], "rate_limit_circuit_open");

    let limiter = planned(Topology::Cluster, OnError::Local, &Arc::default());
    let blocked: Vec<bool> = (0..7).map(|_| fail_second(&limiter)).collect();
    // The paced rule, 1 in 10 s, is behind the dead slot.
    assert_eq!(blocked, [false, true, true, true, true, true, true]);
}

#[test]
fn local_keeps_what_the_store_decided() {
    let limiter = Limiter::builder("lim")
        .rules(rules())
        .evaluation(Evaluation::All)
        .on_error(OnError::Local)
        .logger(Arc::new(LogRecorder::default()))
        .store(Store::Planned(RedisOptions { topology: Topology::Cluster, ..RedisOptions::default() }))
        .build()
        .expect("good rules");
    let second = call(limiter.settle(begin(&limiter), Ok("9 60000 1")));
    let decision = done(limiter.settle(second, Err::<&str, _>(Fault::unreachable("gone"))));
    assert!(decision.is_blocked() && decision.is_degraded() && !decision.is_error());
    assert_eq!(decision.evaluations().len(), 3);
    assert_eq!(decision.evaluations()[0].info().count, 9.0);
}

#[derive(Debug)]
struct Defective;

impl Connection for Defective {
    fn run(&self, _: &Call, _: Duration) -> Result<Vec<u8>, Fault> {
        panic!("a defect of the host's client")
    }
}

#[test]
fn a_host_that_panics_is_a_failure_not_an_end() {
    let limiter = Limiter::builder("lim")
        .rules(rules())
        .logger(Arc::new(LogRecorder::default()))
        .redis(Arc::new(Defective), RedisOptions::default())
        .build()
        .expect("good rules");
    assert!(limiter.check(&USER).is_error());
    assert_eq!(limiter.clear(&USER), 0);

    let log = Arc::new(LogRecorder::default());
    let mut callbacks = Callbacks::default();
    let number = callbacks.number(|| panic!("a defect of the host's callable"));
    let pattern = callbacks.pattern(|_| panic!("a defect of the host's pattern"));
    let limiter = Limiter::builder("lim")
        .rule(RuleSpec::limit("matched", 1, 1).matching("user", MatcherSpec::Pattern(pattern)))
        .rule(RuleSpec::limit("called", number, 1))
        .callbacks(callbacks)
        .store(Store::memory(10))
        .logger(Arc::clone(&log))
        .build()
        .expect("good rules");
    assert!(limiter.check(&USER).is_error());
    assert!(limiter.check(&[("user", Value::Null)]).is_error());
    let lines = log.take();
    assert!(lines.iter().all(|line| line.rule.as_deref() == Some("matched")), "{lines:?}");
    assert_eq!(lines[0].error_message.as_deref(), Some("a defect of the host's pattern"));
}

#[test]
fn check_without_a_connection_says_so_and_leaves_the_circuit_alone() {
    let log = Arc::new(LogRecorder::default());
    let limiter = planned(Topology::Single, OnError::Allow, &log);
    for _ in 0..10 {
        assert!(limiter.check(&USER).is_error());
        limiter.clear(&USER);
    }
    assert!(log.take().iter().all(|line| line.class_name.as_deref() == Some("NoConnection")));
    assert!(matches!(limiter.plan(&USER, CallOptions::default(), Mode::Check), Planned::Call(_)));
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
fn on_error_says_what_a_failed_store_means() {
    for (on_error, allowed, error, degraded) in
        [(OnError::Allow, true, true, false), (OnError::Block, false, true, false), (OnError::Local, true, false, true)]
    {
        let limiter = planned(Topology::Single, on_error, &Arc::default());
        let decision = done(limiter.settle(begin(&limiter), Err::<&str, _>(Fault::unreachable("gone"))));
        assert_eq!(
            (decision.is_allowed(), decision.is_error(), decision.is_degraded()),
            (allowed, error, degraded),
            "{on_error:?}"
        );
    }
}

#[test]
fn a_value_of_the_wrong_type_is_no_failure_of_the_store() {
    let log = Arc::new(LogRecorder::default());
    let limiter = planned(Topology::Single, OnError::Local, &log);
    for _ in 0..10 {
        let reply = "1 60000 0 ! WRONGTYPE Operation against a key holding the wrong kind of value";
        let decision = done(limiter.settle(begin(&limiter), Ok(reply)));
        assert!(decision.is_error() && !decision.is_degraded());
    }
    let lines = log.take();
    assert_eq!(lines.len(), 10, "the circuit stays closed");
    assert!(lines.iter().all(|line| line.rule.as_deref() == Some("banning")), "{lines:?}");
}

#[test]
fn loading_and_readonly_are_failures_of_the_store() {
    for text in
        ["LOADING Redis is loading the dataset in memory", "READONLY You can't write against a read only replica."]
    {
        let log = Arc::new(LogRecorder::default());
        let limiter = planned(Topology::Single, OnError::Allow, &log);
        for _ in 0..5 {
            assert!(done(limiter.settle(begin(&limiter), Ok(format!("! {text}")))).is_error());
        }
        let messages: Vec<_> = log.take().iter().map(|line| line.message).collect();
        assert_eq!(messages[5..], ["rate_limit_circuit_open"], "{text}");
        assert!(done(limiter.plan(&USER, CallOptions::default(), Mode::Check)).is_error(), "it fails at once");
        assert!(log.take().is_empty(), "and logs nothing");
    }
}

#[test]
fn an_open_circuit_tries_again_and_closes() {
    let log = Arc::new(LogRecorder::default());
    let clock = Arc::new(ManualClock::at_unix_seconds(1_700_000_000));
    let limiter = Limiter::builder("lim")
        .rules(rules())
        .store(Store::Planned(RedisOptions::default()))
        .logger(Arc::clone(&log))
        .clock(Arc::clone(&clock))
        .build()
        .expect("good rules");
    for _ in 0..5 {
        drop(limiter.settle(begin(&limiter), Err::<&str, _>(Fault::unreachable("gone"))));
    }
    log.take();
    clock.advance(Duration::from_secs(1));
    drop(limiter.settle(begin(&limiter), Err::<&str, _>(Fault::unreachable("gone"))));
    assert!(log.take().is_empty(), "a try that fails says nothing");
    clock.advance(Duration::from_secs(20));
    assert!(!done(limiter.settle(begin(&limiter), Ok("3 1000 1"))).is_error());
    assert_eq!(log.take().iter().map(|line| line.message).collect::<Vec<_>>(), ["rate_limit_circuit_closed"]);
    assert!(clock.now_us() > 0);
}

#[test]
fn the_circuit_may_be_shared() {
    let options = RedisOptions::default();
    let build = |name: &str| {
        let store = Store::Planned(options.clone());
        Limiter::builder(name)
            .rules(rules())
            .store(store)
            .logger(Arc::new(LogRecorder::default()))
            .build()
            .expect("good rules")
    };
    let (a, b) = (build("a"), build("b"));
    for _ in 0..5 {
        drop(a.settle(begin(&a), Err::<&str, _>(Fault::unreachable("gone"))));
    }
    assert!(done(b.plan(&USER, CallOptions::default(), Mode::Check)).is_error());
    b.close_circuit();
    drop(begin(&a));
}

#[derive(Debug)]
struct Panicking;

impl Logger for Panicking {
    fn warn(&self, _: &LogEvent) {
        panic!("a defect of the host's logger");
    }
}

#[test]
fn a_logger_that_panics_changes_nothing() {
    let limiter = Limiter::builder("lim")
        .rule(RuleSpec::limit("r", 1, 1).characteristics(["u"]))
        .logger(Panicking)
        .build()
        .expect("good rules");
    let decision = limiter.check(&[("u", Value::Bad("a list"))]);
    assert!(decision.is_error() && decision.is_allowed());
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
fn clear_deletes_what_it_can() {
    let log = Arc::new(LogRecorder::default());
    let limiter = planned(Topology::Single, OnError::Allow, &log);
    let mut clearing = limiter.plan_clear(&USER);
    limiter.settle_clear(&mut clearing, Ok("3 ! NOPERM this user has no permissions to access one of the keys"));
    assert_eq!(clearing.deleted(), 3);
    let [event] = log.take().try_into().expect("one line");
    assert_eq!((event.message, event.rule), ("rate_limit_error", None));
}

#[test]
fn a_peek_reads_only_and_answers_for_a_cost_of_one() {
    let limiter = limiter(Topology::Single);
    let pending = call(limiter.plan(&USER, CallOptions::default().cost(9.0), Mode::Peek));
    assert_eq!(
        pending.call().args,
        ["1", "ro-", "60000", "2", "rof", "600000", "60000", "5", "po-", "1", "10000000", "0", "10000000", "0"]
    );
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
