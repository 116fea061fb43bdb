//! Requests run in the order of their times.

mod kit;

use kit::{Bench, TWO_A_MINUTE, common};

#[test]
fn lines_out_of_order_are_put_in_order_and_counted() {
    let log = [common("a", 30), common("a", 0), common("a", 10), common("a", 61), common("a", 5)].concat();
    let bench = Bench::new(TWO_A_MINUTE, log);
    let expected = [(2, "allow"), (5, "allow"), (3, "block"), (1, "block"), (4, "allow")];
    let decisions = bench.decisions(&[]);
    let actual: Vec<_> = decisions.iter().map(|(line, action, _)| (*line, action.as_str())).collect();
    assert_eq!(actual, expected);
    let report = bench.report(&[]);
    assert_eq!(report["log"]["out_of_order"]["count"], 3);
    assert_eq!(report["log"]["out_of_order"]["furthest_s"], 56.0);
    assert_eq!(report["from"], "2015-05-17T10:00:00Z");
    assert_eq!(report["to"], "2015-05-17T10:01:01Z");
    assert!(bench.replay(&[]).stdout.contains("3 of 5 lines out of order, by up to 56 s"));
}

#[test]
fn equal_times_keep_the_order_of_the_file() {
    let mut log: Vec<String> = (0..100).map(|n| common(&format!("ip{n}"), 20)).collect();
    log.push(common("early", 10));
    let bench = Bench::new(TWO_A_MINUTE, log.concat());
    let lines: Vec<u64> = bench.decisions(&[]).into_iter().map(|(line, ..)| line).collect();
    let expected: Vec<u64> = std::iter::once(101).chain(1..=100).collect();
    assert_eq!(lines, expected);
}

#[test]
fn a_window_ends_at_the_very_instant_it_names() {
    let log = [common("a", 0), common("a", 1), common("a", 59), common("a", 60)].concat();
    let bench = Bench::new(TWO_A_MINUTE, log);
    let actions: Vec<String> = bench.decisions(&[]).into_iter().map(|(_, action, _)| action).collect();
    assert_eq!(actions, ["allow", "allow", "block", "allow"]);
}
