//! What is broken in a log costs its own lines, not those around it.

#![allow(clippy::expect_used, reason = "a test that cannot run fails")]

mod kit;

use flate2::Compression;
use flate2::write::GzEncoder;
use kit::{Bench, TWO_A_MINUTE, common};
use serde_json::{Value as Json, json};
use std::io::Write as _;

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).expect("gzip");
    encoder.finish().expect("gzip")
}

/// The unreadable lines, by reason, and the lines of the requests.
fn read(bench: &Bench, more: &[&str]) -> (Vec<(String, Vec<u64>)>, Vec<u64>) {
    let report = bench.report(more);
    let reason = |group: &Json| {
        let first = group["first"].as_array().expect("examples");
        let lines = first.iter().map(|example| example["line"].as_u64().expect("a line")).collect();
        (group["reason"].as_str().expect("a reason").to_owned(), lines)
    };
    let reasons = report["log"]["unreadable"]["reasons"].as_array().expect("reasons").iter().map(reason).collect();
    (reasons, bench.decisions(more).into_iter().map(|(line, ..)| line).collect())
}

fn one(reason: &str, line: u64) -> Vec<(String, Vec<u64>)> {
    vec![(reason.to_owned(), vec![line])]
}

#[test]
fn a_stray_quote_in_csv_costs_its_line() {
    let bench = Bench::new(TWO_A_MINUTE, "time,ip,path\n1,a,\"x\n2,a,y\n3,a,z\n");
    assert_eq!(read(&bench, &[]), (one("cut_off", 2), vec![3, 4]));
    let human = bench.replay(&[]).stdout;
    for part in ["1 line could not be read", "cut_off", "line 2: a quote that opens here is not closed"] {
        assert!(human.contains(part), "{part} in {human}");
    }
    // Far from the end, too, and two of them.
    let many: String = ["1,a,\"y\n".to_owned(), "2,a,y\n".repeat(199)].concat().repeat(2);
    bench.put("access.log", format!("time,ip,path\n{many}"));
    let (reasons, lines) = read(&bench, &[]);
    assert_eq!((reasons, lines.len()), (vec![("cut_off".to_owned(), vec![2, 202])], 398));
}

#[test]
fn the_last_record_of_csv_keeps_its_number_and_its_value() {
    let bench = Bench::new(TWO_A_MINUTE, "time,ip,path\n1,a,x\n\n2,a,\"y");
    assert_eq!(read(&bench, &[]), (one("cut_off", 4), vec![2]));
    // Values are those that stand there, whatever ends the log.
    bench.put("access.log", "time,ip\n1,\"a\"\n2,\"a\"");
    let report = bench.report(&[]);
    assert_eq!(report["rules"][0]["busiest"].as_array().map(Vec::len), Some(1));
    assert_eq!(report["rules"][0]["busiest"][0]["characteristics"], json!({"ip": "a"}));
    assert_eq!(report["rules"][0]["busiest"][0]["requests"], 2);
}

#[test]
fn comments_above_the_fields_of_csv() {
    let bench = Bench::new(TWO_A_MINUTE, "# it's, \"a comment\n\n#\ntime,ip\n1,a\n2,a\n");
    for more in [[].as_slice(), &["--log-format", "csv"]] {
        assert_eq!(read(&bench, more), (vec![], vec![5, 6]));
    }
    let bench = Bench::new(TWO_A_MINUTE, "time,\"ip\n1,a\n");
    let run = bench.replay(&["--log-format", "csv"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("line 1 of access.log should name the fields: a quote"), "{}", run.stderr);
}

#[test]
fn unreadable_lines_at_the_head() {
    let good: String = (0..100).map(|n| common("a", n).replace(" 5\n", " 5 \"-\" \"-\"\n")).collect();
    let bench = Bench::new(TWO_A_MINUTE, "junk\n".repeat(51) + &good);
    let report = bench.report(&[]);
    assert_eq!((&report["log"]["format"], &report["totals"]["requests"]), (&json!("combined"), &json!(100)));
    assert_eq!(report["log"]["unreadable"]["count"], 51);
    bench.put("access.log", "x".repeat(70_000) + "\n" + &good);
    assert_eq!(bench.report(&[])["log"]["unreadable"]["count"], 1);
    // Where it cannot be told, this is what is said, and what is advised works.
    bench.put("access.log", "junk\n".repeat(1001) + &good);
    let run = bench.replay(&[]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("its first lines (at most 1000 of them, and 1 MiB) do not tell it"), "{}", run.stderr);
    assert!(run.stderr.contains("--log-format") && !run.stderr.contains("no line"), "{}", run.stderr);
    assert_eq!(bench.report(&["--log-format", "combined"])["totals"]["requests"], 100);
}

#[test]
fn damaged_gzip_is_read_as_far_as_it_is_whole() {
    // Addresses that do not repeat, so that what is packed is long.
    let line = |n: u32| common(&format!("{:08x}", n.wrapping_mul(2_654_435_761)), n % 60);
    let log: String = (0..5000).map(line).collect();
    let whole = gzip(&log);
    let bench = Bench::new(TWO_A_MINUTE, &whole[..whole.len() / 2]);
    let report = bench.report(&[]);
    let requests = report["totals"]["requests"].as_u64().expect("a number");
    assert!((1000..4000).contains(&requests), "{requests}");
    assert_eq!(read(&bench, &[]).0, one("damaged", requests + 1));
    assert!(bench.replay(&[]).stdout.contains("the gzip file is cut off"));
    // All lines are there, but not the sum.
    bench.put("access.log", &whole[..whole.len() - 4]);
    assert_eq!(read(&bench, &[]).0, one("damaged", 5001));
    assert_eq!(bench.report(&[])["totals"]["requests"], 5000);
    bench.put("access.log", [whole.as_slice(), &[0; 1000]].concat());
    assert_eq!(read(&bench, &[]).0, []);
    let csv = gzip("time,ip\n1,a\n2,\"b\n3,c\n");
    bench.put("access.log", &csv[..csv.len() - 8]);
    let expected = vec![("cut_off".to_owned(), vec![3]), ("damaged".to_owned(), vec![5])];
    assert_eq!(read(&bench, &[]), (expected, vec![2, 4]));
}
