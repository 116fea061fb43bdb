//! A server that is slow, gone, or not willing: checks fail in time, and nothing is counted twice.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use labkit_ratelimit::{CallOptions, Value};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};
use support::eventually;
use support::limiters::{PATIENCE, PerIp, native};
use support::pretender::Pretender;
use support::server::RedisServer;

const IP: &str = "198.18.0.1";
const DEADLINE: Duration = Duration::from_millis(150);
/// What a busy machine may add to a deadline.
const SLACK: Duration = Duration::from_millis(400);

/// Checks, and fails at its deadline.
fn fails_in_time(per_ip: &PerIp) {
    let start = Instant::now();
    let decision = per_ip.limiter.check(&[("ip", Value::from(IP))]);
    let took = start.elapsed();
    assert!(decision.is_allowed() && decision.is_error());
    assert!(took + Duration::from_millis(5) >= DEADLINE && took < DEADLINE + SLACK, "{took:?}");
    let logged = per_ip.logged();
    assert!(logged.len() == 1 && logged[0].contains("no reply within 150 ms"), "{logged:?}");
}

#[test]
fn a_server_that_sleeps_costs_the_deadline_and_no_more() {
    let server = RedisServer::start();
    let per_ip = PerIp::new(native(&server.url()), 100, DEADLINE);
    per_ip.remaining(IP).expect("connected");
    let sleeper = std::thread::spawn({
        let mut connection = server.connect();
        move || redis::cmd("DEBUG").arg("SLEEP").arg("0.8").exec(&mut connection)
    });
    sleep(Duration::from_millis(50));
    fails_in_time(&per_ip);
    fails_in_time(&per_ip);
    sleeper.join().unwrap().unwrap();
    eventually("it answers again", || per_ip.remaining(IP).is_some());
    per_ip.logged();
    assert!(per_ip.remaining(IP).is_some());
    assert!(per_ip.logged().is_empty());
}

#[test]
fn a_server_that_pauses_before_the_first_connection_costs_the_deadline_too() {
    let server = RedisServer::start();
    let per_ip = PerIp::new(native(&server.url()), 100, DEADLINE);
    server.run::<()>("CLIENT PAUSE 700 ALL");
    fails_in_time(&per_ip);
    sleep(Duration::from_millis(700));
    eventually("it answers again", || per_ip.remaining(IP).is_some());
}

#[tokio::test]
async fn the_deadline_bounds_async_checks_and_late_replies_of_others_are_used() {
    let server = RedisServer::start();
    let redis = native(&server.url());
    let patient: &PerIp = Box::leak(Box::new(PerIp::new(Arc::clone(&redis), 100, PATIENCE)));
    let hasty: &PerIp = Box::leak(Box::new(PerIp::new(redis, 100, DEADLINE)));
    let identifier = [("ip", Value::from(IP))];
    let start = |per_ip: &'static PerIp| per_ip.redis.check(&per_ip.limiter, &identifier, CallOptions::default());
    assert!(!start(patient).await.is_error());
    server.run::<()>("CLIENT PAUSE 500 ALL");
    let started = Instant::now();
    let slow = start(patient);
    assert!(start(hasty).await.is_error());
    assert!(started.elapsed() < DEADLINE + SLACK);
    assert!(!slow.await.is_error(), "the connection was replaced, but what was asked on it was still answered");
}

#[tokio::test]
async fn callers_with_less_patience_than_the_limiter_hide_no_dead_server() {
    let server = RedisServer::start();
    let per_ip = PerIp::new(native(&server.url()), 100, DEADLINE);
    let identifier = [("ip", Value::from(IP))];
    let start = || per_ip.redis.check(&per_ip.limiter, &identifier, CallOptions::default());
    assert!(!start().await.is_error());
    server.run::<()>("CLIENT PAUSE 3000 ALL");
    let mut went = 0;
    while tokio::time::timeout(DEADLINE / 3, start()).await.is_err() {
        went += 1;
        assert!(went < 20, "nobody notices: {:?}", per_ip.logged());
    }
    assert!(went >= 5, "five deadlines are a dead server, and {went} waits are none");
    let logged = per_ip.logged();
    assert!(logged.len() == 1 && logged[0].starts_with("rate_limit_circuit_open"), "{logged:?}");
}

#[test]
fn a_dead_server_opens_the_circuit_and_a_living_one_closes_it() {
    let mut server = RedisServer::start();
    let per_ip = PerIp::new(native(&server.url()), 2, Duration::from_secs(1));
    assert_eq!(per_ip.remaining(IP), Some(1.0));
    server.kill();
    for _ in 0..5 {
        let decision = per_ip.limiter.check(&[("ip", Value::from(IP))]);
        assert!(decision.is_allowed() && decision.is_error());
    }
    let logged = per_ip.logged();
    assert_eq!(logged.len(), 6, "{logged:#?}");
    assert!(logged[5].starts_with("rate_limit_circuit_open"));
    let start = Instant::now();
    for _ in 0..1000 {
        assert!(per_ip.limiter.check(&[("ip", Value::from(IP))]).is_error());
    }
    assert!(start.elapsed() < Duration::from_millis(500), "an open circuit costs nothing");
    assert_eq!(per_ip.logged(), [""; 0]);

    server.restart(&[]);
    eventually("the circuit closes", || per_ip.remaining(IP).is_some());
    assert_eq!(per_ip.logged().len(), 1, "that it closed");
    assert_eq!(per_ip.remaining(IP), Some(0.0));
    assert!(per_ip.limiter.check(&[("ip", Value::from(IP))]).is_blocked(), "it enforces again");
}

#[test]
fn a_connection_that_was_idle_when_it_broke_costs_no_check() {
    let mut server = RedisServer::start();
    let per_ip = PerIp::on(&server.url(), 100);
    for _ in 0..3 {
        assert!(per_ip.remaining(IP).is_some());
        server.run::<()>("CLIENT KILL TYPE normal SKIPME yes");
        sleep(Duration::from_millis(100));
    }
    server.restart(&[]);
    sleep(Duration::from_millis(100));
    assert_eq!(per_ip.remaining(IP), Some(99.0));
    assert_eq!(per_ip.logged(), [""; 0]);
}

#[test]
fn a_server_that_loads_is_a_failure_and_then_none() {
    let mut server = RedisServer::start();
    server.run::<()>("DEBUG POPULATE 4000");
    server.run::<()>("SAVE");
    server.restart(&["--key-load-delay", "300", "--loading-process-events-interval-bytes", "1024"]);
    let per_ip = PerIp::new(native(&server.url()), 100, Duration::from_secs(1));
    let decision = per_ip.limiter.check(&[("ip", Value::from(IP))]);
    assert!(decision.is_allowed() && decision.is_error());
    let logged = per_ip.logged();
    assert!(logged[0].contains(r#"class_name="CommandError" error_message="LOADING Redis is loading"#), "{logged:?}");
    eventually("it is loaded", || per_ip.remaining(IP).is_some());
}

#[test]
fn a_replica_is_a_failure_until_it_is_master() {
    let master = RedisServer::start();
    let replica = RedisServer::with(&["--replicaof", "127.0.0.1", &master.port.to_string()]);
    let per_ip = PerIp::on(&replica.url(), 100);
    assert_eq!(per_ip.remaining(IP), None);
    let logged = per_ip.logged();
    assert!(logged[0].contains("READONLY You can't write against a read only replica"), "{logged:?}");
    // Who was demoted may be another machine by the same name by now: each such failure dials anew.
    let connected = connections(&replica);
    assert_eq!(per_ip.remaining(IP), None);
    assert_eq!(connections(&replica), connected + 2, "our own question, and a new connection");
    replica.run::<()>("REPLICAOF NO ONE");
    assert_eq!(per_ip.remaining(IP), Some(99.0));
    let connected = connections(&replica);
    assert_eq!(per_ip.remaining(IP), Some(98.0));
    assert_eq!(connections(&replica), connected + 1, "our own question");
}

fn connections(server: &RedisServer) -> u64 {
    let info: String = server.run("INFO stats");
    let line = info.lines().find_map(|line| line.strip_prefix("total_connections_received:"));
    line.and_then(|number| number.parse().ok()).unwrap()
}

#[test]
fn a_full_server_and_a_wrong_type_say_so() {
    let server = RedisServer::start();
    let per_ip = PerIp::on(&server.url(), 100);
    server.run::<()>(&format!("SADD {} member", support::limiters::key(IP)));
    assert_eq!(per_ip.remaining(IP), None);
    let logged = per_ip.logged();
    assert!(logged[0].contains("WRONGTYPE"), "{logged:?}");
    server.run::<()>("CONFIG SET maxmemory 1");
    assert_eq!(per_ip.remaining("198.18.0.2"), None);
    let logged = per_ip.logged();
    assert!(logged[0].contains("OOM"), "{logged:?}");
}

#[test]
fn a_call_of_unknown_fate_is_not_sent_again() {
    let closes = Pretender::start(|_| None);
    let per_ip = PerIp::on(&closes.url, 100);
    assert_eq!(per_ip.remaining(IP), None);
    assert_eq!(closes.scripts(), 1);
    assert!(per_ip.logged()[0].contains("ConnectionError"));

    let silent = Pretender::start(|_| Some(""));
    let per_ip = PerIp::new(native(&silent.url), 100, DEADLINE);
    fails_in_time(&per_ip);
    sleep(DEADLINE);
    assert_eq!(silent.scripts(), 1);
}

#[test]
fn a_connection_that_says_nothing_is_replaced() {
    // The first call is lost in a hole. On the same connection the second one's reply would be taken for its own.
    let hole = Pretender::start(|nth| Some(if nth == 0 { "" } else { "$9\r\n7 60000 0\r\n" }));
    let per_ip = PerIp::new(native(&hole.url), 100, DEADLINE);
    fails_in_time(&per_ip);
    assert_eq!(per_ip.remaining(IP), Some(93.0));
    assert_eq!(per_ip.remaining(IP), Some(93.0));
    assert_eq!(hole.scripts(), 3);
}

#[test]
fn noscript_is_answered_with_the_text_once() {
    let forgetful = Pretender::start(|_| Some("-NOSCRIPT No matching script.\r\n"));
    let per_ip = PerIp::on(&forgetful.url, 100);
    assert_eq!(per_ip.remaining(IP), None);
    assert_eq!(forgetful.scripts(), 2, "EVALSHA, then EVAL");
    assert!(per_ip.logged()[0].contains("NOSCRIPT No matching script."));
}

#[test]
fn replies_that_are_none_are_failures() {
    for (reply, said) in [
        ("*0\r\n", "UnexpectedReply"),
        (":1\r\n", "UnexpectedReply"),
        ("$3\r\na b\r\n", "UnexpectedReply"),
        ("!\r\n", "ConnectionError"),
        ("-OOPS something new\r\n", r#""OOPS something new""#),
        ("-ERR plain\r\n", r#""ERR plain""#),
        ("-MOVED 1 127.0.0.1:1\r\n", "redis+cluster://"),
    ] {
        assert_says(reply, said);
    }
}

fn assert_says(reply: &'static str, said: &str) {
    use std::sync::Mutex;
    static LOCK: Mutex<&str> = Mutex::new("");
    *LOCK.lock().unwrap() = reply;
    let pretender = Pretender::start(|_| Some(*LOCK.lock().unwrap()));
    let per_ip = PerIp::on(&pretender.url, 100);
    assert_eq!(per_ip.remaining(IP), None);
    let logged = per_ip.logged();
    assert!(logged[0].contains(said), "{logged:?}");
}
