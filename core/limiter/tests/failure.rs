//! What happens when there is no verdict: failing stores, hosts that panic, replies that make no sense.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod host;

use host::{USER, begin, call, done, limiter, planned, rules};
use labkit_ratelimit::{
    Call, CallOptions, Callbacks, Clock as _, Connection, Evaluation, FailureKind, Fault, Limiter, LogEvent,
    LogRecorder, Logger, ManualClock, MatcherSpec, Mode, OnError, Planned, RedisOptions, RuleSpec, Store, Topology,
    Value,
};
use std::sync::Arc;
use std::time::Duration;

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
    assert_eq!(decision.evaluations().get(0).map(|first| first.info().count), Some(9.0));
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
fn a_call_that_another_limiter_planned_is_a_failure() {
    let (two, other) = (limiter(Topology::Single), Limiter::builder("other").build().expect("legal"));
    assert!(done(other.settle(begin(&two), Ok("1 60000 0"))).is_error());
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
fn clear_deletes_what_it_can() {
    let log = Arc::new(LogRecorder::default());
    let limiter = planned(Topology::Single, OnError::Allow, &log);
    let mut clearing = limiter.plan_clear(&USER);
    limiter.settle_clear(&mut clearing, Ok("3 ! NOPERM this user has no permissions to access one of the keys"));
    assert_eq!(clearing.deleted(), 3);
    let [event] = log.take().try_into().expect("one line");
    assert_eq!((event.message, event.rule), ("rate_limit_error", None));
    assert!(clearing.failure().expect("it says so").message.starts_with("NOPERM"));
}

#[test]
fn a_clear_tells_what_failed() {
    let log = Arc::new(LogRecorder::default());
    let limiter = planned(Topology::Single, OnError::Allow, &log);
    assert!(limiter.plan_clear(&USER).failure().is_none());
    for _ in 0..5 {
        let mut clearing = limiter.plan_clear(&USER);
        limiter.settle_clear(&mut clearing, Ok("garbage"));
        assert_eq!(clearing.failure().map(|failure| failure.kind), Some(FailureKind::Store));
    }
    let lines = log.take().len();
    let clearing = limiter.plan_clear(&USER);
    assert_eq!(clearing.failure().map(|failure| failure.kind), Some(FailureKind::CircuitOpen));
    assert!(clearing.call().is_none() && log.take().is_empty(), "after {lines} lines");
    let clearing = limiter.plan_clear(&[("user", Value::Bad("a list"))]);
    assert_eq!(clearing.failure().map(|failure| failure.kind), Some(FailureKind::BadIdentifier));
}

#[test]
fn a_call_that_its_caller_gives_up_answers_as_on_error_says() {
    for (on_error, mode) in [(OnError::Allow, Mode::Check), (OnError::Block, Mode::Check), (OnError::Block, Mode::Peek)]
    {
        let log = Arc::new(LogRecorder::default());
        let limiter = planned(Topology::Single, on_error, &log);
        let decision = limiter.give_up(&USER, mode, "panic", "it went wrong");
        assert!(decision.is_error() && !decision.is_matched());
        assert_eq!(decision.is_blocked(), on_error == OnError::Block);
        let [event] = log.take().try_into().expect("one line");
        assert_eq!((event.message, event.class_name.as_deref()), ("rate_limit_error", Some("panic")));
        assert_eq!((event.error_message.as_deref(), event.rule), (Some("it went wrong"), None));
        assert_eq!(event.identifier_keys, ["user"]);
    }
}
