//! What the Go module costs: rounds of the benchmarks of `bench/go`, each case in a process of its own.

use crate::ceiling::{Ceiling, Load};
use crate::report::Beside;
use crate::rounds::median;
use crate::sdk::{Bound, Told, ToldRow, Unit, at, run};
use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::path::Path;
use std::process::Command;

const CALLS_IN_MEMORY: &str = "200000x";
const CALLS_ON_REDIS: &str = "6000x";
const GOROUTINES: [&str; 3] = ["1", "100", "1000"];
/// `redis_rate` once and thrice, a check of three rules, and the same by a client that minds deadlines.
const ONE: &str = "redis_rate_1";
const THREE: &str = "redis_rate_3";
const CHECK: &str = "labkit_3";
const PUNCTUAL: &str = "labkit_3_punctual";
/// A check in memory, and its peer.
const OURS: &str = "labkit";
const PEER: &str = "go-limiter";
const MODULES: [&str; 3] =
    ["github.com/redis/go-redis/v9", "github.com/go-redis/redis_rate/v10", "github.com/sethvargo/go-limiter"];

/// Stages the library, builds the benchmarks, and runs them on the Redis of the ceiling.
pub(crate) fn measure(ceiling: &mut Ceiling, rounds: usize) -> Result<Told, Box<dyn Error>> {
    run(&mut Command::new(at("ci/go-library")))?;
    let binary = std::env::current_exe()?.with_file_name("labkit-ratelimit-bench-go");
    run(Command::new("go").arg("-C").arg(at("bench/go")).args(["test", "-c", "-o"]).arg(&binary))?;
    let mut samples = Samples::default();
    let cases = Case::all();
    for round in 0..rounds {
        ceiling.sample()?;
        for turn in 0..cases.len() {
            let case = &cases[(round + turn) % cases.len()];
            samples.0.entry(case.key()).or_default().push(sample(&binary, ceiling.port(), case)?);
        }
    }
    Ok(Told { versions: versions()?, rows: samples.rows() })
}

fn sample(binary: &Path, port: u16, case: &Case) -> Result<Line, Box<dyn Error>> {
    let told = run(Command::new(binary)
        .env("LABKIT_BENCH_REDIS", format!("127.0.0.1:{port}"))
        .args(["-test.run", "^$", "-test.bench", &case.pattern()])
        .args(["-test.benchtime", if case.goroutines.is_some() { CALLS_ON_REDIS } else { CALLS_IN_MEMORY }]))?;
    let told = String::from_utf8(told)?;
    Line::only(&told).ok_or_else(|| io::Error::other(format!("no benchmark {}: {told}", case.pattern())).into())
}

fn versions() -> Result<Vec<String>, Box<dyn Error>> {
    let go = String::from_utf8(run(Command::new("go").args(["env", "GOVERSION"]))?)?;
    let list = ["list", "-m", "-f", "{{.Path}} {{.Version}}"];
    let modules = run(Command::new("go").arg("-C").arg(at("bench/go")).args(list).args(MODULES))?;
    let modules = String::from_utf8(modules)?;
    let mut versions = vec![go.trim().replacen("go", "Go ", 1)];
    versions.extend(modules.lines().filter_map(module));
    Ok(versions)
}

/// `github.com/redis/go-redis/v9 v9.19.0` is `go-redis 9.19.0`.
fn module(line: &str) -> Option<String> {
    let (path, version) = line.split_once(" v")?;
    let is_name = |part: &&str| part.strip_prefix('v').is_none_or(|n| n.parse::<u32>().is_err());
    Some(format!("{} {version}", path.rsplit('/').find(is_name)?))
}

/// Peer and goroutines; none in memory.
type Key = (&'static str, &'static str);

/// One benchmark: in memory, or on Redis by so many goroutines.
struct Case {
    peer: &'static str,
    goroutines: Option<&'static str>,
}

impl Case {
    fn all() -> Vec<Self> {
        let memory = [PEER, OURS].map(|peer| Self { peer, goroutines: None });
        let on_redis =
            |goroutines| [ONE, THREE, CHECK, PUNCTUAL].map(|peer| Self { peer, goroutines: Some(goroutines) });
        memory.into_iter().chain(GOROUTINES.into_iter().flat_map(on_redis)).collect()
    }

    fn key(&self) -> Key {
        (self.peer, self.goroutines.unwrap_or(""))
    }

    fn pattern(&self) -> String {
        match self.goroutines {
            None => format!("^BenchmarkMemory$/^peer={}$", self.peer),
            Some(goroutines) => format!("^BenchmarkRedis$/^peer={}$/^goroutines={goroutines}$", self.peer),
        }
    }
}

/// What Go prints of one benchmark.
#[derive(Clone, Copy)]
struct Line {
    ns: f64,
    cpu_ns: f64,
    allocs: f64,
}

impl Line {
    /// Of the one benchmark that ran.
    fn only(told: &str) -> Option<Self> {
        let mut lines = told.lines().filter(|line| line.starts_with("Benchmark")).filter_map(Self::read);
        lines.next().filter(|_| lines.next().is_none())
    }

    /// Name, calls, then values, each before its unit.
    fn read(line: &str) -> Option<Self> {
        let words: Vec<_> = line.split_whitespace().collect();
        let values: BTreeMap<_, f64> = words
            .get(2..)?
            .chunks_exact(2)
            .map(|pair| Some((pair[1], pair[0].parse().ok()?)))
            .collect::<Option<_>>()?;
        let value = |unit| values.get(unit).copied();
        Some(Self { ns: value("ns/op")?, cpu_ns: value("cpu-ns/op")?, allocs: value("allocs/op")? })
    }
}

/// By peer and goroutines, what each round gave.
#[derive(Default)]
struct Samples(BTreeMap<Key, Vec<Line>>);

impl Samples {
    fn of(&self, key: Key) -> &[Line] {
        self.0.get(&key).map_or(&[], Vec::as_slice)
    }

    fn median(&self, key: Key, part: fn(&Line) -> f64) -> f64 {
        median(self.of(key).iter().map(part).collect())
    }

    /// The median of the rounds' ratios.
    fn ratio(&self, key: Key, to: Key, part: fn(&Line) -> f64) -> f64 {
        median(self.of(key).iter().zip(self.of(to)).map(|(one, other)| part(one) / part(other)).collect())
    }

    fn rows(&self) -> Vec<ToldRow> {
        let mut rows = self.in_memory();
        rows.extend(GOROUTINES.into_iter().flat_map(|goroutines| self.on_redis(goroutines)));
        rows
    }

    fn in_memory(&self) -> Vec<ToldRow> {
        let (ours, peer, cpu): (_, _, fn(&Line) -> f64) = ((OURS, ""), (PEER, ""), |line| line.cpu_ns);
        let slower = self.ratio(ours, peer, cpu);
        let faster = self.ratio(peer, ours, cpu);
        let most = |most| Some(Bound::AtMost(most));
        vec![
            row("check in memory, 3 properties, 1 rule", self.median(ours, cpu), Unit::Nanos, most(400.0)),
            row("the same: allocations", self.median(ours, |line| line.allocs), Unit::Count, most(2.0)),
            row("go-limiter, Take of a key that is made already", self.median(peer, cpu), Unit::Nanos, None),
            ToldRow {
                beside: Some(Beside::new(
                    "memory",
                    "check, 3 properties, 1 rule",
                    "go-limiter, its key made already",
                    faster,
                )),
                ..row("check in memory / go-limiter", slower, Unit::Times, None)
            },
        ]
    }

    fn on_redis(&self, goroutines: &'static str) -> Vec<ToldRow> {
        let who = if goroutines == "1" { "1 goroutine".to_owned() } else { format!("{goroutines} goroutines") };
        let wall: fn(&Line) -> f64 = |line| line.ns;
        let took = |peer: &'static str, name: &str| {
            row(format!("{who}: {name}"), self.median((peer, goroutines), wall) / 1e3, Unit::Micros, None)
        };
        let faster = |peer: &'static str, than: &'static str| self.ratio((than, goroutines), (peer, goroutines), wall);
        let least = |least| Some(Bound::AtLeast(least));
        let ratio = |name: &str, times, bound| row(format!("{who}: {name}"), times, Unit::Times, least(bound));
        let told = |row: ToldRow, peer: &str| {
            let beside = Beside::new("Redis", format!("check of 3 rules, {who}"), peer, row.value);
            ToldRow { beside: Some(beside), ..row }
        };
        let connections = if goroutines == "1" { 1 } else { 50 };
        let rate = 1e9 / self.median((CHECK, goroutines), wall);
        vec![
            took(ONE, "`redis_rate.Allow`, one"),
            took(THREE, "`redis_rate.Allow`, three"),
            took(CHECK, "check of 3 rules"),
            took(PUNCTUAL, "the same, punctual"),
            told(ratio("throughput / three `Allow`", faster(CHECK, THREE), 1.5), "three `redis_rate.Allow`"),
            ratio("the same, punctual", faster(PUNCTUAL, THREE), 1.5),
            told(ratio("throughput / one `Allow`", faster(CHECK, ONE), 0.8), "one `redis_rate.Allow`"),
            ratio("the same, punctual", faster(PUNCTUAL, ONE), 0.8),
            row(
                format!("{who}: the same, not punctual, by processor time of the client"),
                self.ratio((ONE, goroutines), (CHECK, goroutines), |line| line.cpu_ns),
                Unit::Times,
                None,
            ),
            row(
                format!("{who}: allocations of a check, go-redis' included"),
                self.median((CHECK, goroutines), |line| line.allocs),
                Unit::Count,
                None,
            ),
            ToldRow {
                ceiling: Some(Load::new(3, connections)),
                ..row(format!("{who}: checks of 3 rules a second"), rate, Unit::PerSecond, None)
            },
        ]
    }
}

fn row(what: impl Into<String>, value: f64, unit: Unit, target: Option<Bound>) -> ToldRow {
    ToldRow { what: what.into(), value, unit, target, beside: None, ceiling: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "BenchmarkRedis/peer=labkit_3/goroutines=1000-2 \t 6000\t 44000 ns/op\t 23900 cpu-ns/op\t 1200 B/op\t 21 allocs/op";

    #[test]
    fn a_line_is_read_by_its_units() {
        let told = format!("goos: linux\n{LINE}\nPASS\n");
        let line = Line::only(&told).expect("a line");
        assert_eq!((line.ns, line.cpu_ns, line.allocs), (44_000.0, 23_900.0, 21.0));
    }

    #[test]
    fn no_line_two_lines_and_a_line_that_says_less_are_none() {
        assert!(Line::only("goos: linux\nPASS\n").is_none());
        assert!(Line::only(&format!("{LINE}\n{LINE}\n")).is_none());
        assert!(Line::only("BenchmarkRedis/peer=labkit_3 6000 44000 ns/op").is_none());
        assert!(Line::only("BenchmarkRedis/peer=labkit_3 6000 many ns/op 1 cpu-ns/op 2 allocs/op").is_none());
        assert!(Line::only("BenchmarkRedis/peer=labkit_3").is_none());
    }

    #[test]
    fn ratios_are_of_rounds_and_throughput_is_time_turned_over() {
        let mut samples = Samples::default();
        let rounds = |ns: [f64; 3]| ns.map(|ns| Line { ns, cpu_ns: ns, allocs: 3.0 }).to_vec();
        for case in Case::all() {
            samples.0.insert(case.key(), rounds([100.0, 200.0, 300.0]));
        }
        // Round by round 0.5, 2 and 3: the median is 2, where that of the medians is 0.67.
        samples.0.insert((CHECK, "1"), rounds([200.0, 100.0, 100.0]));
        samples.0.insert((THREE, "1"), rounds([100.0, 200.0, 300.0]));
        let rows = samples.rows();
        let row = |what: &str| rows.iter().find(|row| row.what == what).expect("a row");
        let ratio = row("1 goroutine: throughput / three `Allow`");
        assert_eq!((ratio.value, ratio.beside.as_ref().map(|beside| beside.times)), (2.0, Some(2.0)));
        let rate = row("1 goroutine: checks of 3 rules a second");
        assert_eq!((rate.value, rate.ceiling), (1e7, Some(Load::new(3, 1))));
        assert_eq!(row("100 goroutines: checks of 3 rules a second").ceiling, Some(Load::new(3, 50)));
    }

    #[test]
    fn a_module_is_known_by_its_last_name() {
        assert_eq!(module("github.com/redis/go-redis/v9 v9.19.0").as_deref(), Some("go-redis 9.19.0"));
        assert_eq!(module("github.com/sethvargo/go-limiter v0.7.1").as_deref(), Some("go-limiter 0.7.1"));
        assert_eq!(module("github.com/sethvargo/go-limiter"), None);
    }

    #[test]
    fn every_case_runs_alone() {
        let patterns: Vec<_> = Case::all().iter().map(Case::pattern).collect();
        assert_eq!(patterns.len(), 14);
        assert_eq!(patterns[1], "^BenchmarkMemory$/^peer=labkit$");
        assert!(patterns.contains(&"^BenchmarkRedis$/^peer=labkit_3_punctual$/^goroutines=1000$".to_owned()));
    }
}
