//! `peek` and `clear` on real servers: one with a password, TLS, Sentinel, Cluster.

#![allow(clippy::expect_used, reason = "a test that cannot run fails")]

mod kit;
#[path = "../../core/native/tests/support/mod.rs"]
mod support;

use kit::{Run, assert_misuse, documents, run_on_terminal, run_with};
use labkit_ratelimit::{Limiter, RedisOptions, Value};
use labkit_ratelimit_documents::{Documents, Source};
use labkit_ratelimit_native::{NativeRedis, Server, Tls};
use serde_json::{Value as Json, json};
use std::fs;
use std::process::{Command, Stdio};
use std::sync::Arc;
use support::cluster::RedisCluster;
use support::server::{Folder, RedisServer};
use support::{eventually, free_port};

const URL: &str = "LABKIT_RATELIMIT_REDIS_URL";
const PASSWORD: &str = "LABKIT_RATELIMIT_REDIS_PASSWORD";
/// A request that meets `scanners`, which bans, and `steady`, which is GCRA.
const SCANNER: [&str; 2] = ["ip=203.0.113.7", "path=/x.php"];
const KEYS: [&str; 3] = [
    "labkit:rl:{web:scanners:ip:203.0.113.7}",
    "labkit:rl:{web:scanners:ip:203.0.113.7}:ban",
    "labkit:rl:{web:steady:user:_unknown_}:gcra",
];

fn of_web<'a>(command: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let documents = ["--available", "available_limiters.yaml", "--rules", "rate_limits.yaml", "--limiter", "web"];
    [&[command, "--timeout", "10"], documents.as_slice(), more].concat()
}

fn run(command: &str, more: &[&str], environment: &[(&str, &str)]) -> Run {
    run_with(&documents(), &of_web(command, more), b"", environment)
}

fn json_of(run: &Run) -> Json {
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).expect("JSON")
}

/// A service that decides by the same documents: three requests of a scanner, of which two are refused.
fn serve(server: Server) {
    let file = |name: &str| Source::read_file(documents().join(name)).expect("a file");
    let documents =
        Documents::new().available_limiters(file("available_limiters.yaml")).rate_limits(file("rate_limits.yaml"));
    let catalog = documents.read().expect("good documents");
    let rules = catalog.limiter("web").expect("a limiter").rules();
    let redis = Arc::new(NativeRedis::new(server).expect("a connection"));
    let options = RedisOptions { deadline: support::limiters::PATIENCE, ..redis.options() };
    let limiter = Limiter::builder("web").rules(rules).redis(redis, options).build().expect("a limiter");
    let identifier = [("ip", Value::from("203.0.113.7")), ("path", Value::from("/x.php"))];
    let refused = (0..3).filter(|_| limiter.check(&identifier).is_blocked()).count();
    assert_eq!(refused, 2);
}

/// Peeks, clears and peeks again.
fn assert_peeked_and_cleared(environment: &[(&str, &str)]) {
    let peek = || json_of(&run("peek", &[["--format", "json"].as_slice(), &SCANNER].concat(), environment));
    let before = peek();
    assert_eq!((&before["action"], &before["rule"]), (&json!("block"), &json!("scanners")), "{before}");
    assert_eq!(before["info"]["banned"], true);
    assert_eq!(peek()["info"]["count"], before["info"]["count"], "a peek counts nothing");

    let clear = || json_of(&run("clear", &[["--yes", "--format", "json"].as_slice(), &SCANNER].concat(), environment));
    let cleared = clear();
    assert_eq!(cleared, json!({"limiter": "web", "deleted": 3, "keys": KEYS}));
    assert_eq!(clear()["deleted"], 0);
    let after = peek();
    assert_eq!((&after["action"], &after["info"]["banned"]), (&json!("allow"), &json!(false)), "{after}");
}

#[test]
fn one_server_with_a_password_of_either_place() {
    let server = RedisServer::with(&["--requirepass", "s3cret"]);
    let bare = format!("redis://127.0.0.1:{}", server.port);
    for environment in [&[(URL, server.url().as_str())][..], &[(URL, &bare), (PASSWORD, "s3cret")]] {
        serve(Server::parse(&server.url()).expect("a server"));
        assert_peeked_and_cleared(environment);
    }
    server.run::<()>("ACL SETUSER operator on >0ther ~labkit:* +@all");
    serve(Server::parse(&server.url()).expect("a server"));
    let user = "LABKIT_RATELIMIT_REDIS_USERNAME";
    assert_peeked_and_cleared(&[(URL, &bare), (user, "operator"), (PASSWORD, "0ther")]);
}

#[test]
fn a_result_has_the_fields_of_every_language() {
    let server = RedisServer::start();
    serve(Server::parse(&server.url()).expect("a server"));
    let arguments = [["--format", "json"].as_slice(), &SCANNER].concat();
    let result = json_of(&run("peek", &arguments, &[(URL, &server.url())]));
    let fields = |json: &Json| json.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    let expected =
        ["action", "matched", "exceeded", "skipped", "warned", "error", "degraded", "rule", "info", "evaluations"];
    assert_eq!(fields(&result), expected);
    let expected = ["limit", "period_s", "count", "remaining", "reset_after", "retry_after", "banned"];
    assert_eq!(fields(&result["info"]), expected);
    let [only] = result["evaluations"].as_array().expect("a list").as_slice() else { panic!("{result}") };
    assert_eq!(fields(only), ["rule", "result", "exceeded", "info"]);
    assert_eq!((&only["rule"], &only["result"]), (&json!("scanners"), &json!("banned")));
    let wait = result["info"]["retry_after"].as_f64().expect("a wait");
    assert!((86_000.0..=86_400.0).contains(&wait), "{result}");
    let office = json_of(&run("peek", &["--format", "json", "ip=192.0.2.1"], &[(URL, &server.url())]));
    assert_eq!((&office["skipped"], &office["rule"], &office["info"]), (&json!(true), &json!("office"), &Json::Null));
}

#[test]
fn people_see_a_verdict_and_a_table() {
    let server = RedisServer::start();
    let url = server.url();
    let environment = [(URL, url.as_str())];
    let run = |command, more: &[&str]| run(command, more, &environment);
    serve(Server::parse(&url).expect("a server"));
    let peek = run("peek", &SCANNER);
    let not_given =
        "note: not given: user, status; of a rule that counts by it, the counter of all who lack it is shown\n";
    assert_eq!((peek.code, peek.stderr.as_str()), (0, not_given));
    // That it is absent is said.
    assert_eq!(run("peek", &[SCANNER.as_slice(), &["user:=null", "status:=404"]].concat()).stderr, "");
    assert!(peek.stdout.starts_with("web: refused, `scanners` is over, passes again in "), "{}", peek.stdout);
    assert!(peek.stdout.contains(&format!("\non redis://127.0.0.1:{}/0\n", server.port)), "{}", peek.stdout);
    let row = peek.stdout.lines().find(|line| line.trim_start().starts_with("scanners")).expect("a row");
    let words: Vec<&str> = row.split_whitespace().take(6).collect();
    assert_eq!(words, ["scanners", "limit", "banned", "2", "1", "0"]);
    // Of the default rules none was reached.
    assert_eq!(peek.stdout.lines().count(), 5, "{}", peek.stdout);

    let office = run("peek", &["ip=192.0.2.1"]);
    assert!(office.stdout.starts_with("web: allowed, `office` lets it through\n"), "{}", office.stdout);
    let typo = run("peek", &["ip=203.0.113.9", "usr=ada"]);
    assert!(typo.stderr.starts_with("note: web knows no property usr\nnote: not given: "), "{}", typo.stderr);

    let clear = run("clear", &[["--yes"].as_slice(), &SCANNER].concat());
    assert_eq!(clear.stdout, format!("web: 3 keys deleted\n  {}\n", KEYS.join("\n  ")));
    assert_eq!(
        clear.stderr,
        "note: not given: user; of a rule that counts by it, the counter of all who lack it is meant\n"
    );
    assert!(server.keys().is_empty());
}

#[test]
fn clear_leaves_others_alone() {
    let server = RedisServer::start();
    let url = server.url();
    serve(Server::parse(&url).expect("a server"));
    let other = json_of(&run("clear", &["--yes", "--format", "json", "ip=203.0.113.8", "user=ada"], &[(URL, &url)]));
    assert_eq!(other["deleted"], 0);
    assert_eq!(server.keys(), KEYS);
}

#[test]
fn clear_asks_first() {
    let server = RedisServer::start();
    let url = server.url();
    serve(Server::parse(&url).expect("a server"));
    let environment = [(URL, url.as_str())];
    assert_misuse(&run("clear", &SCANNER, &environment), "clear lifts bans, and nobody can be asked here: give --yes");
    let on_terminal = |answer: &[u8]| run_on_terminal(&documents(), &of_web("clear", &SCANNER), answer, &environment);
    let no = on_terminal(b"\n");
    assert_eq!(no.code, 2, "{no:?}");
    assert!(no.stdout.contains("Delete them? [y/N]") && no.stdout.contains("error: nothing was deleted"), "{no:?}");
    assert!(KEYS.iter().all(|key| no.stdout.contains(key)), "{no:?}");
    assert_eq!(server.keys(), KEYS);
    let yes = on_terminal(b"y\n");
    assert_eq!(yes.code, 0, "{yes:?}");
    assert!(yes.stdout.contains("3 keys deleted"), "{yes:?}");
    assert!(server.keys().is_empty());
}

#[test]
fn sentinel() {
    let master = RedisServer::with(&["--requirepass", "s3cret"]);
    let sentinel = RedisServer::sentinel(&master, "s3ntinel");
    serve(Server::parse(&master.url()).expect("a server"));
    // The first sentinel is not there.
    let hosts = format!("127.0.0.1:1,127.0.0.1:{}", sentinel.port);
    let url = format!("redis+sentinel://{hosts}/mymaster");
    let environment =
        [(URL, url.as_str()), (PASSWORD, "s3cret"), ("LABKIT_RATELIMIT_REDIS_SENTINEL_PASSWORD", "s3ntinel")];
    assert_peeked_and_cleared(&environment);
    let another = format!("redis+sentinel://{hosts}/another");
    let run = run("peek", &SCANNER, &[&[(URL, another.as_str())], &environment[1..]].concat());
    assert_misuse(&run, "no sentinel leads to the master `another`");
    assert!(!run.stderr.contains("s3"), "{}", run.stderr);
}

#[test]
fn cluster() {
    let cluster = RedisCluster::start(3, 0);
    let server = Server::parse(&cluster.url()).expect("a server");
    eventually("all nodes answer", || cluster.nodes.iter().all(|node| node.try_run::<String>("PING").is_ok()));
    serve(server);
    assert_peeked_and_cleared(&[(URL, &cluster.url())]);
    assert!(cluster.nodes.iter().all(|node| node.keys().is_empty()));
}

fn openssl(folder: &Folder, arguments: &str) {
    let mut command = Command::new("openssl");
    command.args(arguments.split(' ')).current_dir(folder.path()).stdin(Stdio::null());
    let output = command.output().expect("openssl must be installed: apt-get install openssl (3.0 or later)");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn tls() {
    let folder = Folder::new();
    let ec = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2";
    openssl(&folder, &format!("{ec} -keyout ca.key -out ca.pem -subj /CN=ca"));
    let signed = format!("{ec} -CA ca.pem -CAkey ca.key -keyout key.pem -out cert.pem -subj /CN=name");
    openssl(&folder, &format!("{signed} -addext subjectAltName=DNS:name.test -addext basicConstraints=CA:FALSE"));
    let port = free_port();
    let [ca, cert, key] = ["ca.pem", "cert.pem", "key.pem"].map(|name| folder.file(name));
    let tls_port = port.to_string();
    let files = ["--tls-cert-file", &cert, "--tls-key-file", &key, "--tls-ca-cert-file", &ca];
    let _server = RedisServer::with(&[["--tls-port", tls_port.as_str()].as_slice(), &files].concat());
    let url = format!("rediss://127.0.0.1:{port}");
    let read = |path: &str| fs::read(path).expect("a certificate");
    let tls = Tls::new().authorities(read(&ca)).identity(read(&cert), read(&key)).server_name("name.test");
    serve(Server::parse(&url).expect("a server").tls(tls));
    let environment = [
        (URL, url.as_str()),
        ("LABKIT_RATELIMIT_REDIS_CA_FILE", &ca),
        ("LABKIT_RATELIMIT_REDIS_CERT_FILE", &cert),
        ("LABKIT_RATELIMIT_REDIS_KEY_FILE", &key),
        ("LABKIT_RATELIMIT_REDIS_SERVER_NAME", "name.test"),
    ];
    assert_peeked_and_cleared(&environment);
    // Not the name that the certificate is for.
    assert_misuse(&run("peek", &SCANNER, &environment[..4]), &format!("rediss://127.0.0.1:{port}/0 gave no answer"));
    assert_misuse(&run("peek", &SCANNER, &environment[..3]), "belong together");
    let plain = [(URL, "redis://127.0.0.1:1"), environment[1]];
    assert_misuse(&run("peek", &SCANNER, &plain), "asks for no TLS: write rediss in place of redis");
    let missing = [environment[0], ("LABKIT_RATELIMIT_REDIS_CA_FILE", "none.pem")];
    assert_misuse(&run("peek", &SCANNER, &missing), "LABKIT_RATELIMIT_REDIS_CA_FILE: cannot read none.pem");
}

/// A limiter without its Redis allows. Here that is no answer.
#[test]
fn without_an_answer_nothing_is_said_to_be_allowed() {
    let nobody = format!("redis://user_s3cret:s3cret@127.0.0.1:{}", free_port());
    let server = RedisServer::with(&["--requirepass", "another"]);
    let wrong = format!("redis://:s3cret@127.0.0.1:{}", server.port);
    for (url, says) in [
        (nobody.as_str(), "gave no answer that can be used: ConnectionError: "),
        (&wrong, "gave no answer that can be used: AuthenticationError: "),
        ("redis://user_s3cret@127.0.0.1", "a user without a password"),
        ("redis://:s3/cret@127.0.0.1", "percent-encode"),
        ("http://:s3cret@127.0.0.1", "LABKIT_RATELIMIT_REDIS_URL: the URL must begin with redis://"),
        ("", "LABKIT_RATELIMIT_REDIS_URL is not set"),
    ] {
        for (command, more) in [("peek", &[][..]), ("peek", &["--format", "json"]), ("clear", &["--yes"])] {
            let run = run(command, &[more, &["ip=203.0.113.7", "user=ada"]].concat(), &[(URL, url)]);
            assert_misuse(&run, says);
            assert!(!run.stderr.contains("s3"), "{}", run.stderr);
        }
    }
    // A deadline that passes.
    let deaf = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let url = format!("redis://{}", deaf.local_addr().expect("an address"));
    let started = std::time::Instant::now();
    let arguments = ["peek", "--rules", "rate_limits.yaml", "--timeout", "0.4", "ip=203.0.113.7"];
    let run = run_with(&documents(), &arguments, b"", &[(URL, &url)]);
    assert_misuse(&run, &format!("{url}/0 gave no answer that can be used: "));
    assert!(started.elapsed().as_secs() < 5);
}

#[test]
fn a_counter_of_everybody_is_pointed_out() {
    let server = RedisServer::start();
    let url = server.url();
    let rules = b"api: [{name: all, action: limit, limit: 5, period_s: 60}]";
    let run = |command: &[&str]| {
        let arguments = [command, &["--timeout", "10", "--rules", "-", "ip=203.0.113.7"]].concat();
        run_with(&documents(), &arguments, rules, &[(URL, url.as_str())])
    };
    server.run::<()>("SET labkit:rl:{api:all} 3 PX 30000");
    let peek = run(&["peek"]);
    assert!(peek.stdout.starts_with("api: allowed, `all` is nearest to its limit\n"), "{peek:?}");
    assert_eq!(peek.stderr, "note: api knows no property ip\n");
    let clear = run(&["clear", "--yes"]);
    assert_eq!((clear.code, clear.stdout.as_str()), (0, "api: 1 key deleted\n  labkit:rl:{api:all}\n"));
    assert!(
        clear.stderr.contains("note: everybody's counter is meant of all: it has no characteristics\n"),
        "{clear:?}"
    );
}

/// A key that somebody else has written.
#[test]
fn a_key_of_another_type_is_no_verdict_and_can_be_cleared() {
    let server = RedisServer::start();
    let url = server.url();
    server.run::<()>(&format!("LPUSH {} x", KEYS[0]));
    server.run::<()>(&format!("LPUSH {} x", KEYS[2]));
    let peek = run("peek", &SCANNER, &[(URL, &url)]);
    assert_misuse(&peek, &format!("error: redis://127.0.0.1:{}/0: keys hold something else", server.port));
    for part in [
        format!("\n  `scanners`: WRONGTYPE, {}\n", KEYS[0]),
        format!("\n  `steady`: WRONGTYPE, {}\n", KEYS[2]),
        "\n  `clear` with the same request deletes such keys".to_owned(),
        "\n  under the other rules, as if these were not there:\n    rule ".to_owned(),
        "\n    pages  limit ".to_owned(),
    ] {
        assert!(peek.stderr.contains(&part), "{part} in {}", peek.stderr);
    }
    let clear = json_of(&run("clear", &[["--yes", "--format", "json"].as_slice(), &SCANNER].concat(), &[(URL, &url)]));
    assert_eq!(clear["keys"], json!([KEYS[0], KEYS[2]]));
}

/// What one key and its rule make of the verdict line.
fn verdict(rule: &str, count: u32) -> String {
    let server = RedisServer::start();
    let url = server.url();
    server.run::<()>(&format!("SET labkit:rl:{{api:r}} {count} PX 30000"));
    let rules = format!("api: [{{name: r, limit: 5, period_s: 60, {rule}}}]");
    let run = run_with(&documents(), &["peek", "--timeout", "10", "--rules", "-"], rules.as_bytes(), &[(URL, &url)]);
    assert_eq!(run.code, 0, "{run:?}");
    run.stdout.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn the_verdict_says_what_comes_next_and_what_only_tells() {
    for (rule, count, says) in [
        ("action: limit", 4, "api: allowed, `r` is nearest to its limit"),
        ("action: limit", 5, "api: allowed, `r` has none left: the next one is refused"),
        ("action: warn", 5, "api: allowed, `r` is nearest to its limit"),
        ("action: warn", 6, "api: allowed and warned of, `r` is over, and only warns"),
        ("action: log", 6, "api: allowed, `r` is over, and only logs"),
    ] {
        assert!(verdict(rule, count).starts_with(says), "{says}: {}", verdict(rule, count));
    }
    assert!(verdict("action: limit", 6).starts_with("api: refused, `r` is over, passes again in "));
}

/// Also where a check has so many keys that the server takes them for an attack.
#[test]
fn that_a_password_is_needed_is_said() {
    let server = RedisServer::with(&["--requirepass", "s3cret"]);
    let bare = format!("redis://127.0.0.1:{}", server.port);
    let rule =
        |n: u32| format!("{{name: r{n}, action: log, characteristics: [ip], limit: 5, period_s: 60, ban_for_s: 5}}");
    let many = format!("web: [{}]", (0..12).map(rule).collect::<Vec<_>>().join(", "));
    for rules in [many, format!("web: [{}]", rule(0))] {
        for command in [&["peek"][..], &["clear", "--yes"]] {
            let arguments = [command, &["--timeout", "10", "--rules", "-", "ip=203.0.113.7"]].concat();
            let run = run_with(&documents(), &arguments, rules.as_bytes(), &[(URL, bare.as_str())]);
            assert_misuse(&run, "AuthenticationError: the server asks for a password, and none was given");
            assert!(run.stderr.contains("A password stands in LABKIT_RATELIMIT_REDIS_PASSWORD"), "{run:?}");
        }
    }
    server.run::<()>("ACL SETUSER operator on >0ther ~labkit:* +@all");
    serve(Server::parse(&server.url()).expect("a server"));
    let named = format!("redis://operator@127.0.0.1:{}", server.port);
    assert_peeked_and_cleared(&[(URL, &named), (PASSWORD, "0ther")]);
    assert_misuse(
        &run("peek", &SCANNER, &[(URL, &named)]),
        "LABKIT_RATELIMIT_REDIS_PASSWORD: a user without a password",
    );
}

/// What is announced is not told as done.
#[test]
fn notes_of_clear_are_true_where_nothing_is_deleted() {
    let nobody = format!("redis://127.0.0.1:{}", free_port());
    let run = run("clear", &["--yes", "ip=203.0.113.7"], &[(URL, &nobody)]);
    assert_misuse(&run, "nothing was deleted");
    assert!(!run.stderr.contains("is deleted") && !run.stderr.contains("lose"), "{}", run.stderr);
}

#[test]
fn documents_come_first() {
    let bad = ["--rules", "bad.rate_limits.yaml"];
    for command in ["peek", "clear"] {
        let run = run(command, &bad, &[]);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
        assert!(run.stderr.contains("bad.rate_limits.yaml:14:14: "), "{}", run.stderr);
        assert_misuse(&self::run(command, &["ip"], &[]), "`ip` is no property");
        let never = run_with(&documents(), &[command, "--rules", "rate_limits.yaml", "--timeout", "0"], b"", &[]);
        assert_misuse(&never, "give seconds within 0.001 and 3600");
    }
}

#[test]
fn the_help_shows_variables_and_no_values() {
    for command in ["peek", "clear"] {
        let help =
            run_with(&documents(), &[command, "--help"], b"", &[(URL, "redis://:s3cret@h"), (PASSWORD, "s3cret")]);
        assert_eq!(help.code, 0);
        for part in ["Examples:", "Exit codes:", "Environment:", URL, PASSWORD, "CA_FILE", "--timeout", "--limiter"] {
            assert!(help.stdout.contains(part), "{part} in {}", help.stdout);
        }
        assert!(!help.stdout.contains("s3cret"), "{}", help.stdout);
    }
}
