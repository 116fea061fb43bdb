//! Sentinel: the master is found, and found again when it is another one.

mod support;

use support::eventually;
use support::limiters::PerIp;
use support::server::RedisServer;

const IP: &str = "198.18.0.1";

/// A master, its replica and a sentinel, each with a password.
fn trio() -> (RedisServer, RedisServer, RedisServer) {
    let login = ["--requirepass", "s3cret", "--masterauth", "s3cret"];
    let master = RedisServer::with(&login);
    let port = master.port.to_string();
    let replica = RedisServer::with(&[&login[..], &["--replicaof", "127.0.0.1", &port]].concat());
    let sentinel = RedisServer::sentinel(&master, "s3ntinel");
    eventually("the sentinel knows the replica, and it is in step", || {
        let replicas: Vec<Vec<String>> = sentinel.run("SENTINEL REPLICAS mymaster");
        replicas.iter().any(|replica| replica.join(" ").contains("master-link-status ok"))
    });
    (master, replica, sentinel)
}

fn url(sentinel: &RedisServer, name: &str) -> String {
    // The first sentinel is not there.
    format!("redis+sentinel://:s3cret@127.0.0.1:1,127.0.0.1:{}/{name}?sentinel_password=s3ntinel", sentinel.port)
}

#[test]
fn a_failover_is_followed() {
    let (master, replica, sentinel) = trio();
    let per_ip = PerIp::on(&url(&sentinel, "mymaster"), 1000);
    assert_eq!(per_ip.remaining(IP), Some(999.0));
    assert!(took_scripts(&master) && !took_scripts(&replica));

    sentinel.run::<()>("SENTINEL FAILOVER mymaster");
    // Whose role changes is made to drop its clients, us too.
    eventually("the replica is master", || replica.replicates("role:master") && master.replicates("role:slave"));
    eventually("checks go to the new master", || {
        let in_a_row = (per_ip.remaining(IP), per_ip.remaining(IP));
        matches!(in_a_row, (Some(first), Some(second)) if first > second) && took_scripts(&replica)
    });
}

fn took_scripts(server: &RedisServer) -> bool {
    server.try_run::<String>("INFO commandstats").is_ok_and(|info| info.contains("cmdstat_evalsha"))
}

#[test]
fn a_master_that_died_is_replaced() {
    let (mut master, replica, sentinel) = trio();
    let per_ip = PerIp::on(&url(&sentinel, "mymaster"), 1000);
    assert_eq!(per_ip.remaining(IP), Some(999.0));
    master.kill();
    assert_eq!(per_ip.remaining(IP), None);
    eventually("checks go to the new master", || per_ip.remaining(IP).is_some());
    assert!(took_scripts(&replica));
}

#[test]
fn what_sentinels_do_not_know_is_said() {
    let master = RedisServer::start();
    let sentinel = RedisServer::sentinel(&master, "s3ntinel");
    let per_ip = PerIp::on(&url(&sentinel, "another"), 1000);
    assert_eq!(per_ip.remaining(IP), None);
    let logged = per_ip.logged().join("\n");
    assert!(logged.contains("no sentinel leads to the master `another`"), "{logged}");
    assert!(logged.contains("127.0.0.1:1: ") && logged.contains("knows no master of that name"), "{logged}");
    assert!(!logged.contains("s3cret") && !logged.contains("s3ntinel"), "{logged}");
}
