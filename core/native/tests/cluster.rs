//! Cluster: no CROSSSLOT, redirections followed, verdicts as in memory.

mod support;

use labkit_ratelimit::{Builder, Decision, Limiter, RedisOptions, RuleSpec, Store, Value};
use std::fmt::Write as _;
use std::sync::Arc;
use support::cluster::RedisCluster;
use support::eventually;
use support::limiters::{PATIENCE, PerIp, key, native};

const IP: &str = "198.18.0.1";

fn per_user_and_tenant() -> Builder {
    Limiter::builder("case_18")
        .rule(RuleSpec::limit("per_user", 2, 3600).characteristics(["user"]))
        .rule(RuleSpec::limit("per_tenant", 150, 3600).characteristics(["tenant"]).ban_for_s(3600))
}

/// What a decision says, but for times.
fn said(decision: &Decision) -> String {
    let mut said = format!(
        "{:?} error={} {:?}",
        decision.verdict(),
        decision.is_error(),
        decision.rule().map(|rule| rule.name().to_owned())
    );
    for evaluation in decision.evaluations().iter() {
        let (name, outcome, info) = (evaluation.rule().name(), evaluation.outcome(), evaluation.info());
        let _ = write!(said, "; {name} {outcome:?} {} {} banned={}", info.count, info.remaining, info.banned);
    }
    said
}

/// Field case 18.
#[test]
fn a_thousand_users_of_ten_tenants_are_judged_as_in_memory() {
    let cluster = RedisCluster::start(3, 0);
    let redis = native(&cluster.url());
    let options = RedisOptions { deadline: PATIENCE, ..redis.options() };
    let limiter = per_user_and_tenant().redis(redis, options).build().unwrap();
    let reference = per_user_and_tenant().store(Store::memory(100_000)).build().unwrap();
    let mut blocked = [0, 0];
    for _ in 0..3 {
        for user in 0..1000_i64 {
            let identifier = [("user", Value::from(user)), ("tenant", Value::from(user % 10))];
            let decision = limiter.check(&identifier);
            assert_eq!(said(&decision), said(&reference.check(&identifier)), "user {user}");
            if decision.is_blocked() {
                blocked[usize::from(decision.rule().unwrap().name() == "per_tenant")] += 1;
            }
        }
    }
    // The first round passes. In the second a tenant lets 50 of its 100 users pass. In the third no user passes.
    assert_eq!(blocked, [1000, 500]);
    let keys: usize = cluster.nodes.iter().map(|node| node.keys().len()).sum();
    assert_eq!(keys, 1000 + 10 + 10, "counters and bans");
    for node in &cluster.nodes {
        assert!(node.keys().len() > 200, "keys are spread");
        assert_eq!(node.calls("eval"), 1, "each node learns the text once");
    }
    assert_eq!(cluster.calls("evalsha"), 2 * 2000 + 1000, "a round trip for each slot, none behind a block");
}

#[test]
fn bans_and_clear_work_across_slots() {
    let cluster = RedisCluster::start(3, 0);
    let redis = native(&cluster.url());
    let options = RedisOptions { deadline: PATIENCE, ..redis.options() };
    let limiter = Limiter::builder("banned")
        .rule(RuleSpec::limit("per_user", 1, 60).characteristics(["user"]).ban_for_s(600))
        .rule(RuleSpec::limit("per_ip", 100, 60).characteristics(["ip"]))
        .redis(redis, options)
        .build()
        .unwrap();
    for user in 0..30_i64 {
        let identifier = [("user", Value::from(user)), ("ip", Value::from(IP))];
        assert!(limiter.check(&identifier).is_allowed());
        assert!(limiter.check(&identifier).is_blocked());
        assert!(limiter.check(&identifier).info().unwrap().banned);
        assert_eq!(limiter.clear(&identifier), 3);
    }
}

#[test]
fn a_slot_that_moves_is_followed_while_it_moves_and_afterwards() {
    // The slot moves to a node that had none, so that no map tells of it.
    let cluster = RedisCluster::start(3, 1);
    let per_ip = PerIp::on(&cluster.url(), 100);
    assert_eq!(per_ip.remaining(IP), Some(99.0));
    let (slot, from) = cluster.owner(&key(IP));
    let to = 3;

    cluster.begin_move(slot, from, to);
    assert_eq!(per_ip.remaining(IP), Some(98.0), "its key is still here");
    cluster.move_keys(slot, from, to);
    assert_eq!(per_ip.remaining(IP), Some(97.0), "ASK");
    assert_eq!(per_ip.remaining(IP), Some(96.0), "ASK again, by digest");
    cluster.end_move(slot, from, to);
    for remaining in [95.0, 94.0, 93.0] {
        assert_eq!(per_ip.remaining(IP), Some(remaining), "MOVED, then straight there");
    }
    assert_eq!(cluster.nodes[to].calls("eval"), 1);
    assert_eq!(per_ip.logged(), [""; 0]);

    let asked = cluster.nodes[from].calls("evalsha");
    assert_eq!(per_ip.remaining(IP), Some(92.0));
    assert_eq!(cluster.nodes[from].calls("evalsha"), asked, "the old owner is not asked any more");
}

#[test]
fn a_node_that_died_fails_its_own_slots_only() {
    let mut cluster = RedisCluster::start(3, 0);
    for node in &cluster.nodes {
        node.run::<()>("CONFIG SET cluster-require-full-coverage no");
    }
    let per_ip = PerIp::on(&cluster.url(), 1000);
    let ips: Vec<String> = (0..60).map(|n| format!("198.18.0.{n}")).collect();
    let owners: Vec<usize> = ips.iter().map(|ip| cluster.owner(&key(ip)).1).collect();
    assert!(ips.iter().all(|ip| per_ip.remaining(ip).is_some()));
    // The first of the seeds.
    cluster.nodes[0].kill();
    for (ip, owner) in ips.iter().zip(&owners) {
        per_ip.limiter.close_circuit();
        assert_eq!(per_ip.remaining(ip).is_some(), *owner != 0, "{ip} of node {owner}");
    }
    cluster.nodes[0].restart(&[]);
    eventually("the node is back", || {
        per_ip.limiter.close_circuit();
        ips.iter().all(|ip| per_ip.remaining(ip).is_some())
    });
}

#[test]
fn a_failover_is_followed_asked_for_or_not() {
    let mut cluster = RedisCluster::start(3, 1);
    cluster.replicate(3, 0);
    let per_ip = PerIp::on(&cluster.url(), 100_000);
    let ips: Vec<String> = (0..20).map(|n| format!("198.18.0.{n}")).collect();
    let all_pass = || {
        per_ip.limiter.close_circuit();
        ips.iter().all(|ip| per_ip.remaining(ip).is_some())
    };
    assert!(all_pass());
    cluster.nodes[3].run::<()>("CLUSTER FAILOVER");
    let is = |node: usize, role: &str| cluster.nodes[node].replicates(role);
    eventually("the replica is master", || is(3, "role:master") && is(0, "role:slave"));
    per_ip.logged();
    assert!(all_pass(), "who was master says MOVED: {:?}", per_ip.logged());

    eventually("the old master is in step", || cluster.nodes[0].replicates("master_link_status:up"));
    cluster.nodes[3].kill();
    assert!(!all_pass());
    eventually("the other one is master again", all_pass);
}

#[test]
fn a_limiter_built_for_one_server_is_told_what_to_do() {
    let cluster = RedisCluster::start(3, 0);
    let redis = native(&cluster.url());
    let logs = Arc::new(labkit_ratelimit::LogRecorder::default());
    let options = RedisOptions { deadline: PATIENCE, ..RedisOptions::default() };
    let limiter = per_user_and_tenant().redis(redis, options).logger(Arc::clone(&logs)).build().unwrap();
    assert!(limiter.check(&[("user", Value::from(1)), ("tenant", Value::from(1))]).is_error());
    let logged = logs.take()[0].to_string();
    assert!(logged.contains("CROSSSLOT") && logged.contains("NativeRedis::options"), "{logged}");
}

#[test]
fn a_server_that_is_no_cluster_says_so() {
    let server = support::server::RedisServer::start();
    let per_ip = PerIp::on(&server.url().replace("redis://", "redis+cluster://"), 10);
    assert_eq!(per_ip.remaining(IP), None);
    let logged = per_ip.logged();
    assert!(logged[0].contains("cluster support disabled"), "{logged:?}");
}
