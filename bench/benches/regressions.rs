//! Micro benchmarks, to see a regression: `cargo bench -p labkit-ratelimit-bench`.

use criterion::{BatchSize, Criterion};
use labkit_ratelimit::{CallOptions, Fault, Limiter, MatcherSpec, MemoryStore, Mode, Planned, RuleSpec, Value};
use labkit_ratelimit_bench::{by_user, four_rules, gcra, planned, random_order, request, users};
use std::hint::black_box;
use std::sync::Arc;

fn store() -> Arc<MemoryStore> {
    Arc::new(MemoryStore::with_max_keys(500_000))
}

fn checks(criterion: &mut Criterion) {
    let limiter = gcra(store());
    let keys = users(100_000);
    criterion.bench_function("check/hot key", |b| b.iter(|| black_box(limiter.check(&by_user(black_box(&keys[0]))))));
    let order = random_order(1 << 20, 100_000);
    let mut places = order.iter().cycle().map(|at| usize::try_from(*at).unwrap_or(0));
    criterion.bench_function("check/100,000 keys", |b| {
        b.iter_batched_ref(
            || places.next().map_or(keys[0].as_str(), |at| keys[at].as_str()),
            |key| black_box(limiter.check(&by_user(key)).is_allowed()),
            BatchSize::SmallInput,
        );
    });
    let limiter = four_rules(store());
    criterion.bench_function("check/four rules", |b| {
        b.iter(|| black_box(limiter.check(black_box(&request("tenant:42:user:00000001")))));
    });
}

fn plan_and_settle(criterion: &mut Criterion) {
    for (rules, reply) in [(1, "5 3599000 0"), (3, "5 3599000 0 5 3599000 0 5 3599000 0")] {
        let limiter = planned(rules);
        criterion.bench_function(&format!("plan and settle/{rules} rules"), |b| {
            b.iter(|| {
                let identifier = by_user(black_box("tenant:42:user:00000001"));
                match limiter.plan(&identifier, CallOptions::default(), Mode::Check) {
                    Planned::Call(pending) => match limiter.settle(pending, Ok::<_, Fault>(reply)) {
                        Planned::Done(decision) => decision.is_allowed(),
                        Planned::Call(_) => false,
                    },
                    Planned::Done(_) => false,
                }
            });
        });
    }
}

/// A rule that matches one property and never counts: what is left is the matcher, and a check's frame.
fn matching(matcher: MatcherSpec) -> Limiter {
    let rule = RuleSpec::skip("matched").matching("path", matcher);
    match Limiter::builder("bench").rule(rule).build() {
        Ok(limiter) => limiter,
        Err(error) => panic!("{error}"),
    }
}

fn matchers(criterion: &mut Criterion) {
    let path = "/api/v4/projects/278964/issues";
    let many = (0..100).map(|n| format!("/api/v4/groups/{n}")).chain([path.to_owned()]);
    let cases = [
        ("eq", MatcherSpec::eq(path), path),
        ("one_of 4", MatcherSpec::one_of(["/a", "/b", "/c", path]), path),
        ("one_of 101", MatcherSpec::one_of(many), path),
        ("prefix", MatcherSpec::prefix("/api/"), path),
        ("regex", MatcherSpec::regex("^/api/v[0-9]+/"), path),
        ("cidr", MatcherSpec::cidr(["10.0.0.0/8", "198.18.0.0/15"]), "198.18.0.1"),
    ];
    for (kind, matcher, value) in cases {
        let limiter = matching(matcher);
        let identifier = [("path", Value::from(value))];
        criterion.bench_function(&format!("match/{kind}"), |b| {
            b.iter(|| black_box(limiter.check(black_box(&identifier))));
        });
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    checks(&mut criterion);
    plan_and_settle(&mut criterion);
    matchers(&mut criterion);
    criterion.final_summary();
}
