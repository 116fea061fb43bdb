//! `--against`: what it tells is the difference of two runs.

#![allow(clippy::expect_used, reason = "a test that cannot run fails")]

mod kit;

use flate2::read::GzDecoder;
use kit::{Bench, NO_CONTRACT, TWO_A_MINUTE, common, root, run_in};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};

const A: &str = "examples/rack.rate_limits.yaml";
const B: &str = "examples/rack.stricter.rate_limits.yaml";

/// The report and the decisions of a run over the whole example log.
fn example(rules: &[&str]) -> (Json, Vec<Json>) {
    let folder = tempfile::TempDir::new().expect("a folder");
    let file = folder.path().join("decisions.jsonl");
    let more = ["examples/access.log.gz", "--top", "100000", "--format", "json", "--decisions"];
    let arguments = [["replay", "--rules"].as_slice(), rules, &more, &[file.to_str().expect("UTF-8")]].concat();
    let report = run_in(&root(), &arguments, b"").json();
    let decisions = fs::read_to_string(file).expect("decisions");
    (report, decisions.lines().map(|line| serde_json::from_str(line).expect("a decision")).collect())
}

/// Of each line of the example log its time, its address and its path.
fn lines() -> Vec<(String, String, String)> {
    let file = File::open(root().join("examples/access.log.gz")).expect("the log");
    let line = |line: String| {
        let (head, rest) = line.split_once(" [").expect("a time");
        let (time, rest) = rest.split_once("] \"").expect("a request");
        let time = jiff::Timestamp::strptime("%d/%b/%Y:%H:%M:%S %z", time).expect("a time").to_string();
        let path = rest.split(' ').nth(1).expect("a path").split('?').next().expect("a path");
        (time, head.split(' ').next().expect("an address").to_owned(), path.to_owned())
    };
    BufReader::new(GzDecoder::new(file)).lines().map(|text| line(text.expect("a line"))).collect()
}

/// Count, first and last.
#[derive(Debug, Default, PartialEq)]
struct Times(u64, String, String);

impl Times {
    fn take(&mut self, at: &str) {
        if self.0 == 0 {
            at.clone_into(&mut self.1);
        }
        self.0 += 1;
        at.clone_into(&mut self.2);
    }

    fn of(json: &Json) -> Self {
        let text = |field: &str| json[field].as_str().unwrap_or_default().to_owned();
        Self(json["requests"].as_u64().expect("a number"), text("first"), text("last"))
    }
}

/// What two decisions files tell: by rule, by rule and identity, by identity.
#[derive(Debug, Default)]
struct Expected {
    all: Times,
    rules: BTreeMap<String, Times>,
    identities: BTreeMap<(String, String), Times>,
}

impl Expected {
    fn assert(&self, turned: &Json) {
        assert!(self.all.0 > 50, "{self:?}");
        assert_eq!(Times::of(turned), self.all);
        let rules = turned["rules"].as_array().expect("rules");
        let name = |rule: &Json| rule["rule"].as_str().expect("a name").to_owned();
        let by_rule: BTreeMap<String, Times> = rules.iter().map(|rule| (name(rule), Times::of(rule))).collect();
        assert_eq!(by_rule, self.rules);
        let mut by_identity = BTreeMap::new();
        for rule in rules {
            let busiest = rule["busiest"].as_array().expect("identities");
            assert_eq!(rule["identities"], busiest.len());
            let of = |identity: &Json| ((name(rule), identity["characteristics"].to_string()), Times::of(identity));
            by_identity.extend(busiest.iter().map(of));
        }
        assert_eq!(by_identity, self.identities);
        assert_eq!(turned["identities"], self.identities.len());
    }
}

/// Whom a rule of either document tells apart.
fn identity(rule: &str, ip: &str, path: &str) -> String {
    let mut identity = Map::from_iter([("ip".to_owned(), json!(ip))]);
    if rule.starts_with("feeds") {
        identity.insert("path".to_owned(), json!(path));
    }
    Json::Object(identity).to_string()
}

#[test]
fn the_changes_of_the_example_are_the_difference_of_two_runs() {
    let ((report_a, a), (report_b, b), (report, both)) = (example(&[A]), example(&[B]), example(&[A, "--against", B]));
    for field in ["totals", "rules", "minutes_with_refusals", "busiest_minutes", "failures", "evicted"] {
        assert_eq!(report[field], report_a[field], "{field}");
        assert_eq!(report["against"][field], report_b[field], "{field}");
    }
    let lines = lines();
    let (mut refused, mut allowed) = (Expected::default(), Expected::default());
    let mut identities: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let (mut another, mut flips) = (0, [0_u64; 4]);
    assert_eq!((a.len(), b.len(), both.len()), (10_000, 10_000, 10_000));
    for ((a, b), both) in a.into_iter().zip(b).zip(both) {
        let number = a["line"].as_u64().expect("a number");
        let without = |decision: &Json| json!([decision["action"], decision["rule"], decision["exceeded"]]);
        assert_eq!(both["line"], number);
        assert_eq!([without(&both["a"]), without(&both["b"])], [without(&a), without(&b)]);
        let (at, ip, path) = &lines[usize::try_from(number - 1).expect("a number")];
        let is_refused = |decision: &Json| decision["action"] == "block";
        let (by, expected, is_newly_refused) = match (is_refused(&a), is_refused(&b)) {
            (false, true) => (&b["rule"], &mut refused, true),
            (true, false) => (&a["rule"], &mut allowed, false),
            (both, _) => {
                another += u64::from(both && a["rule"] != b["rule"]);
                (&Json::Null, &mut refused, false)
            }
        };
        if let Some(rule) = by.as_str() {
            let identity = identity(rule, ip, path);
            expected.all.take(at);
            expected.rules.entry(rule.to_owned()).or_default().take(at);
            expected.identities.entry((rule.to_owned(), identity.clone())).or_default().take(at);
            let counts = identities.entry(identity).or_default();
            *(if is_newly_refused { &mut counts.0 } else { &mut counts.1 }) += 1;
        }
        let is_over =
            |decision: &Json, rule: &str| decision["exceeded"].as_array().expect("rules").contains(&json!(rule));
        for (at, rule) in [(0, "rush"), (2, "feeds_dry_run")] {
            flips[at] += u64::from(is_over(&b, rule) && !is_over(&a, rule));
            flips[at + 1] += u64::from(is_over(&a, rule) && !is_over(&b, rule));
        }
    }
    let changes = &report["changes"];
    refused.assert(&changes["newly_refused"]);
    allowed.assert(&changes["newly_allowed"]);
    assert_eq!(changes["action_changed"], refused.all.0 + allowed.all.0);
    assert_eq!(changes["refused_by_another_rule"], another);
    let fields = ["newly_warned", "no_longer_warned", "newly_logged", "no_longer_logged"];
    assert_eq!(fields.map(|field| changes[field].as_u64().expect("a number")), flips);
    let most = changes["most_changed"].as_array().expect("identities");
    let counts = |identity: &Json| {
        let n = |field: &str| identity[field].as_u64().expect("a number");
        (n("newly_refused"), n("newly_allowed"))
    };
    let actual: BTreeMap<String, (u64, u64)> =
        most.iter().map(|identity| (identity["characteristics"].to_string(), counts(identity))).collect();
    assert_eq!((most.len(), &changes["identities"]), (identities.len(), &json!(identities.len())));
    assert_eq!(actual, identities);
    let sums: Vec<u64> = most.iter().map(|identity| counts(identity).0 + counts(identity).1).collect();
    assert!(sums.is_sorted_by(|a, b| a >= b), "{sums:?}");
}

#[test]
fn a_document_against_itself_changes_nothing() {
    let (report, _) = example(&[A, "--against", A]);
    let changes = &report["changes"];
    assert_eq!([&changes["action_changed"], &changes["identities"], &changes["refused_by_another_rule"]], [0, 0, 0]);
    assert_eq!(report["against"]["totals"], report["totals"]);
    let bench = Bench::new(TWO_A_MINUTE, common("a", 0));
    assert!(bench.replay(&["--against", "rules.yaml"]).stdout.contains("B allows and refuses as A does"));
}

#[test]
fn each_document_sees_the_properties_of_its_own_rules() {
    let bench = Bench::new(
        "web: [{name: by_both, action: limit, characteristics: [ip, path], limit: 1, period_s: 60}]",
        "time,ip,path\n1,x,/\n2,x,/\n3,y,/\n4,y,/b\n5,y,/b\n",
    );
    bench.put("b.yaml", "web: [{name: by_path, action: limit, characteristics: [path], limit: 1, period_s: 60}]");
    let changes = &bench.report(&["--against", "b.yaml"])["changes"];
    assert_eq!(changes["newly_refused"]["rules"][0]["rule"], "by_path");
    assert_eq!(
        changes["most_changed"],
        json!([{"characteristics": {"path": "/"}, "newly_refused": 1, "newly_allowed": 0,
                "first": "1970-01-01T00:00:03Z", "last": "1970-01-01T00:00:03Z"}])
    );
    // The other way round: what is held of a request is more than A's rules mention.
    let arguments = ["replay", "--rules", "b.yaml", "--against", "rules.yaml", "access.log", "--format", "json"];
    let back = &run_in(bench.path(), &arguments, b"").json()["changes"];
    assert_eq!([&back["newly_allowed"]["requests"], &back["newly_refused"]["requests"]], [1, 0]);
    assert_eq!(back["newly_allowed"]["rules"][0]["rule"], "by_path");
}

#[test]
fn an_identity_is_the_same_in_whichever_order_rules_name_it() {
    let rules = |match_: &str, names: &str| {
        format!(
            "web: [{{name: r, action: limit, match: {{path: {match_}}}, characteristics: {names}, limit: 1, period_s: 60}}]"
        )
    };
    let bench =
        Bench::new(&rules("/1", "[ip, user]"), "time,ip,user,path\n1,x,u,/1\n2,x,u,/1\n3,x,u,/2\n4,x,u,/2\n5,x,,/2\n");
    bench.put("b.yaml", rules("/2", "[user, ip]"));
    let changes = &bench.report(&["--against", "b.yaml"])["changes"];
    let turned = |at: &str, characteristics: Json, identity: Json| {
        let at = format!("1970-01-01T00:00:0{at}Z");
        let busiest = json!([{"characteristics": identity, "requests": 1, "first": at, "last": at}]);
        let rule = json!({"rule": "r", "characteristics": characteristics, "requests": 1, "first": at, "last": at,
                          "identities": 1, "busiest": busiest});
        json!({"requests": 1, "first": at, "last": at, "identities": 1, "rules": [rule]})
    };
    let expected = json!({
        "action_changed": 2,
        "newly_refused": turned("4", json!(["user", "ip"]), json!({"user": "u", "ip": "x"})),
        "newly_allowed": turned("2", json!(["ip", "user"]), json!({"ip": "x", "user": "u"})),
        "refused_by_another_rule": 0,
        "newly_warned": 0,
        "no_longer_warned": 0,
        "newly_logged": 0,
        "no_longer_logged": 0,
        "identities": 1,
        "most_changed": [{"characteristics": {"ip": "x", "user": "u"}, "newly_refused": 1, "newly_allowed": 1,
                          "first": "1970-01-01T00:00:02Z", "last": "1970-01-01T00:00:04Z"}],
    });
    assert_eq!(*changes, expected);
    let human = bench.replay(&["--against", "b.yaml"]).stdout;
    for part in [
        "ip=x, user=u              1              1",
        "B newly refuses 1 request (20.0 %)",
        "A: rules.yaml\nB: b.yaml\n",
    ] {
        assert!(human.contains(part), "{part} in\n{human}");
    }
}

#[test]
fn the_lists_are_no_longer_than_top() {
    let log: String = (0..4).flat_map(|ip| (0..6 - ip).map(move |n| common(&format!("ip{ip}"), n))).collect();
    let bench = Bench::new(TWO_A_MINUTE, log);
    bench.put("b.yaml", TWO_A_MINUTE.replace("limit: 2", "limit: 4"));
    let changes = &bench.report(&["--against", "b.yaml", "--top", "2"])["changes"];
    assert_eq!(changes["newly_allowed"]["rules"][0]["identities"], 4);
    assert_eq!(changes["newly_allowed"]["rules"][0]["busiest"].as_array().map(Vec::len), Some(2));
    assert_eq!(changes["most_changed"].as_array().map(Vec::len), Some(2));
    let human = bench.replay(&["--against", "b.yaml", "--top", "2"]).stdout;
    assert!(human.contains("… and 2 more") && !human.contains("ip2"), "{human}");
}

#[test]
fn warnings_that_come_and_go() {
    let rules = |rule: &str| format!("web: [{{name: r, limit: 1, period_s: 60, {rule}}}]");
    let bench = Bench::new(&rules("action: warn"), common("a", 0).repeat(3));
    bench.put("b.yaml", rules("action: log"));
    let changes = &bench.report(&["--against", "b.yaml"])["changes"];
    let fields = ["action_changed", "newly_warned", "no_longer_warned", "newly_logged", "no_longer_logged"];
    assert_eq!(fields.map(|field| changes[field].clone()), [0, 0, 2, 2, 0]);
    let human = bench.replay(&["--against", "b.yaml"]).stdout;
    assert!(human.contains("2 no longer warned of · 2 newly over log rules"), "{human}");
}

const CONTRACT: &str = "web: {description: d, available_properties: [ip],
  default_rules: [{name: per_ip, action: limit, characteristics: [ip], limit: 2, period_s: 60}]}";

/// A file in the place of a default: with the contract it allows more, without it would look like a new rule.
#[test]
fn with_the_contract_the_answer_may_be_the_opposite() {
    let bench = Bench::new("web: []", common("a", 0).repeat(5));
    bench.put("contract.yaml", CONTRACT);
    bench.put("b.yaml", TWO_A_MINUTE.replace("limit: 2", "limit: 3"));
    let newly =
        |report: &Json| ["newly_refused", "newly_allowed"].map(|turned| report["changes"][turned]["requests"].as_u64());
    assert_eq!(newly(&bench.report(&["--against", "b.yaml"])), [Some(2), Some(0)]);
    let report = bench.report(&["--against", "b.yaml", "--available", "contract.yaml"]);
    assert_eq!(newly(&report), [Some(0), Some(1)]);
    let files = |side: &Json| ["rules_file", "rules_files", "available_file"].map(|field| side[field].clone());
    assert_eq!(files(&report), [json!("rules.yaml"), json!(["rules.yaml"]), json!("contract.yaml")]);
    assert_eq!(files(&report["against"]), [json!("b.yaml"), json!(["b.yaml"]), json!("contract.yaml")]);
    let said = |more: &[&str]| bench.replay(&[["--against", "b.yaml"].as_slice(), more].concat()).stderr;
    assert_eq!(said(&[]), NO_CONTRACT);
    assert_eq!(said(&["--available", "contract.yaml"]), "");
    let of_b = "note: no contract is given with --available: default rules take no part in A\n";
    assert_eq!(said(&["--against-available", "contract.yaml"]), of_b);
}

/// What production runs: a contract, and several files in their order.
#[test]
fn each_side_is_a_contract_and_files_in_their_order() {
    let bench = Bench::new("web: []", common("a", 0).repeat(5));
    let run = |arguments: &[&str], input: &str| {
        let all = [["replay", "access.log", "--format", "json"].as_slice(), arguments].concat();
        let report = run_in(bench.path(), &all, input.as_bytes()).json();
        [report["totals"]["refused"].as_u64(), report["against"]["totals"]["refused"].as_u64()]
    };
    bench.put("contract.yaml", CONTRACT);
    bench.put("other.yaml", CONTRACT.replace("limit: 2", "limit: 1"));
    for (name, limit) in [("three.yaml", "limit: 3"), ("four.yaml", "limit: 4")] {
        bench.put(name, TWO_A_MINUTE.replace("limit: 2", limit));
    }
    let three_and_four = ["--rules", "three.yaml", "--rules", "four.yaml"];
    assert_eq!(run(&["--available", "contract.yaml"], ""), [Some(3), None]);
    assert_eq!(run(&three_and_four, ""), [Some(2), None]);
    let four_and_three = ["--against", "four.yaml", "--against", "three.yaml"];
    assert_eq!(run(&[three_and_four, four_and_three].concat(), ""), [Some(2), Some(1)]);
    let contracts = ["--available", "contract.yaml", "--against-available", "other.yaml"];
    assert_eq!(run(&contracts, ""), [Some(3), Some(4)]);
    assert_eq!(
        run(&[contracts.as_slice(), &["--rules", "rules.yaml", "--against", "four.yaml"]].concat(), ""),
        [Some(3), Some(1)]
    );
    // Of both sides, and read once.
    assert_eq!(run(&["--available", "-", "--against", "four.yaml"], CONTRACT), [Some(3), Some(1)]);
    let human = run_in(bench.path(), &[["replay", "access.log"].as_slice(), &contracts].concat(), b"").stdout;
    assert!(human.contains("\nA: defaults of contract.yaml\nB: defaults of other.yaml\n"), "{human}");
    let twice = ["replay", "access.log", "--available", "-", "--against-available", "-"];
    assert!(run_in(bench.path(), &twice, b"").stderr.contains("`-` stands twice"));
}

#[test]
fn a_side_without_rules_allows_all() {
    let bench = Bench::new("rate_limits: {}", common("a", 0).repeat(5));
    bench.put("b.yaml", TWO_A_MINUTE);
    let refused = |report: Json| [&report["totals"], &report["against"]["totals"]].map(|t| t["refused"].as_u64());
    assert_eq!(refused(bench.report(&["--against", "b.yaml"])), [Some(0), Some(3)]);
    assert_eq!(refused(bench.report(&["--against", "b.yaml", "--limiter", "web"])), [Some(0), Some(3)]);
    let back = ["replay", "--rules", "b.yaml", "--against", "rules.yaml", "access.log", "--format", "json"];
    assert_eq!(refused(run_in(bench.path(), &back, b"").json()), [Some(3), Some(0)]);
    // No side says which limiter it is.
    let none = bench.replay(&["--against", "rules.yaml"]);
    assert!(none.code == 2 && none.stderr.contains("rules.yaml holds no limiter"), "{none:?}");
}

#[test]
fn misuse() {
    let bench = Bench::new(TWO_A_MINUTE, common("a", 0));
    let says = |more: &[&str], code: i32, says: &str| {
        let run = bench.replay(more);
        assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{run:?}");
        assert!(run.stderr.contains(says), "{says} in {}", run.stderr);
    };
    says(&["--against", "none.yaml"], 2, "cannot read none.yaml");
    bench.put("b.yaml", "{api: [], admin: []}");
    says(&["--against", "b.yaml"], 2, "b.yaml holds no limiter `web`; it holds admin, api");
    says(&["--against", "b.yaml", "--limiter", "api"], 2, "rules.yaml holds no limiter `api`; it holds web");
    bench.put("b.yaml", "web: [{name: r, action: blok, limit: 1, period_s: 60}]");
    says(&["--against", "b.yaml"], 1, "error: 1 finding in b.yaml");
    bench.put("b.yaml", "{web: [], admin: []}");
    assert_eq!(bench.report(&["--against", "b.yaml"])["limiter"], "web");
    for option in ["--decisions", "--picture"] {
        bench.put("b.svg", "web: []");
        says(&["--against", "b.svg", option, "b.svg"], 2, &format!("{option} would overwrite b.svg, which is read"));
    }
    assert_eq!(bench.text("b.svg"), "web: []");
}
