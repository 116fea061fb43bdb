//! One server: one call a check, scripts by digest, and everything that a URL may say.

mod support;

use labkit_ratelimit::{CallOptions, Limiter, RedisOptions, RuleSpec, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use support::limiters::{PATIENCE, PerIp, key, native};
use support::server::RedisServer;

const IP: &str = "198.18.0.1";

#[test]
fn a_check_with_three_rules_is_one_evalsha() {
    let server = RedisServer::start();
    let redis = native(&server.url());
    let limiter = Limiter::builder("native")
        .rule(RuleSpec::limit("per_ip", 5, 60).characteristics(["ip"]))
        .rule(RuleSpec::limit("per_user", 5, 60).characteristics(["user"]).ban_for_s(60))
        .rule(RuleSpec::limit("global", 5, 60))
        .redis(redis.clone(), RedisOptions { deadline: PATIENCE, ..redis.options() })
        .build()
        .unwrap();
    let identifier = [("ip", Value::from(IP)), ("user", Value::from(7))];
    assert_eq!(limiter.check(&identifier).evaluations().len(), 3);
    assert_eq!((server.calls("evalsha"), server.calls("eval")), (1, 1), "the server learns the text, once");

    server.run::<()>("CONFIG RESETSTAT");
    for _ in 0..4 {
        assert_eq!(limiter.check(&identifier).evaluations().len(), 3);
    }
    assert_eq!((server.calls("evalsha"), server.calls("eval")), (4, 0));
    assert!(limiter.check(&identifier).is_blocked());
    assert_eq!(limiter.peek(&identifier).evaluations().len(), 1);
    assert_eq!((server.calls("evalsha"), server.calls("eval")), (6, 0));
    assert_eq!(server.calls("script|load"), 0);
}

#[test]
fn a_lost_script_cache_costs_no_count() {
    let server = RedisServer::start();
    let per_ip = PerIp::on(&server.url(), 10);
    for remaining in [9.0, 8.0, 7.0] {
        assert_eq!(per_ip.remaining(IP), Some(remaining));
    }
    server.run::<()>("SCRIPT FLUSH");
    server.run::<()>("CONFIG RESETSTAT");
    assert_eq!(per_ip.remaining(IP), Some(6.0));
    assert_eq!((server.calls("evalsha"), server.calls("eval")), (1, 1));
    assert_eq!(per_ip.remaining(IP), Some(5.0));
    assert_eq!((server.calls("evalsha"), server.calls("eval")), (2, 1));
    assert_eq!(server.run::<String>(&format!("GET {}", key(IP))), "5");
    assert!(per_ip.logged().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_64_concurrent_checks_exactly_the_limit_passes() {
    let server = RedisServer::start();
    let per_ip = Arc::new(PerIp::on(&server.url(), 20));
    let allowed = Arc::new(AtomicUsize::new(0));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..64 {
        let (per_ip, allowed) = (Arc::clone(&per_ip), Arc::clone(&allowed));
        tasks.spawn(async move {
            let identifier = [("ip", Value::from(IP))];
            let decision = per_ip.redis.check(&per_ip.limiter, &identifier, CallOptions::default()).await;
            assert!(!decision.is_error());
            allowed.fetch_add(usize::from(decision.is_allowed()), SeqCst);
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    assert_eq!(allowed.load(SeqCst), 20);
    assert_eq!(server.run::<u64>(&format!("GET {}", key(IP))), 64);
    assert_eq!(clients(&server), 1, "all of them shared one connection");
}

/// The connections that are ours.
fn clients(server: &RedisServer) -> usize {
    let list: String = server.run("CLIENT LIST");
    list.lines().filter(|line| line.contains("cmd=eval")).count()
}

#[tokio::test]
async fn async_peek_and_clear_answer_as_the_limiter_s_own() {
    let server = RedisServer::start();
    let per_ip = PerIp::on(&server.url(), 3);
    let identifier = [("ip", Value::from(IP))];
    let cost_2 = CallOptions::default().cost(2.0);
    let decision = per_ip.redis.check(&per_ip.limiter, &identifier, cost_2).await;
    assert_eq!(decision.info().map(|info| info.remaining), Some(1.0));
    let decision = per_ip.redis.peek(&per_ip.limiter, &identifier, CallOptions::default()).await;
    assert_eq!(decision.info().map(|info| info.remaining), Some(1.0));
    assert_eq!(per_ip.redis.clear(&per_ip.limiter, &identifier).await, 1);
    assert!(server.keys().is_empty());
    assert_eq!(per_ip.redis.clear(&per_ip.limiter, &identifier).await, 0);
    assert!(per_ip.logged().is_empty());
}

#[tokio::test]
async fn blocking_inside_a_runtime_does_not_panic() {
    let server = RedisServer::start();
    let per_ip = PerIp::on(&server.url(), 3);
    assert_eq!(per_ip.remaining(IP), Some(2.0));
    // Its runtime is dropped here too.
    drop(per_ip);
}

#[test]
fn a_runtime_of_the_host_s_is_used_where_one_is_given() {
    let server = RedisServer::start();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let native = labkit_ratelimit_native::NativeRedis::builder(server.url().parse().unwrap())
        .handle(runtime.handle().clone())
        .build()
        .unwrap();
    let per_ip = PerIp::new(Arc::new(native), 5, PATIENCE);
    assert_eq!(per_ip.remaining(IP), Some(4.0));
    let identifier = [("ip", Value::from(IP))];
    let decision = runtime.block_on(per_ip.redis.check(&per_ip.limiter, &identifier, CallOptions::default()));
    assert_eq!(decision.info().map(|info| info.remaining), Some(3.0));
    runtime.shutdown_background();
    assert_eq!(per_ip.remaining(IP), None, "without its runtime it fails, and says so");
    assert!(per_ip.logged()[0].contains("RuntimeError"));
}

#[test]
fn futures_need_no_tokio_around_them() {
    let server = RedisServer::start();
    let per_ip = PerIp::on(&server.url(), 5);
    let identifier = [("ip", Value::from(IP))];
    let check = per_ip.redis.check(&per_ip.limiter, &identifier, CallOptions::default());
    // An executor that knows nothing but polling.
    let mut check = std::pin::pin!(check);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        if let std::task::Poll::Ready(decision) = check.as_mut().poll(&mut context) {
            assert_eq!(decision.info().map(|info| info.remaining), Some(4.0));
            return;
        }
        std::thread::yield_now();
    }
}

#[test]
fn password_database_and_unix_socket_are_used() {
    let server = RedisServer::with(&["--requirepass", "s3cret", "--unixsocket", "redis.sock"]);
    server.run::<()>("ACL SETUSER limiter on >pass ~labkit:* +@all");
    let socket = server.file("redis.sock");
    let port = server.port;
    let mut remaining = 10.0;
    for url in [
        format!("redis://:s3cret@127.0.0.1:{port}/3"),
        format!("redis://limiter:pass@127.0.0.1:{port}/3"),
        format!("unix://{socket}?db=3&password=s3cret"),
    ] {
        let per_ip = PerIp::on(&url, 10);
        remaining -= 1.0;
        assert_eq!(per_ip.remaining(IP), Some(remaining), "{:?}", per_ip.logged());
    }
    assert!(server.keys().is_empty(), "database 0 holds nothing");

    let wrong = PerIp::on(&format!("redis://:wr0ng@127.0.0.1:{port}"), 10);
    assert_eq!(wrong.remaining(IP), None);
    let logged = wrong.logged().join("\n");
    assert!(logged.contains("AuthenticationError") && !logged.contains("wr0ng"), "{logged}");
    let none = PerIp::on(&format!("redis://127.0.0.1:{port}"), 10);
    assert_eq!(none.remaining(IP), None);
    let logged = none.logged().join("\n");
    assert!(logged.contains("AuthenticationError") && logged.contains("asks for a password"), "{logged}");
}
