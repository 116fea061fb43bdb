//! Four rules and five properties: time and allocations.

use crate::report::{Report, Target};
use crate::rounds::{Case, interleave, ns_per_call};
use labkit_ratelimit::MemoryStore;
use labkit_ratelimit_bench::{four_rules, request, users};
use stats_alloc::{Region, StatsAlloc};
use std::alloc::System;
use std::hint::black_box;
use std::sync::Arc;

const CALLS: u32 = 200_000;
const SECTION: &str = "rules";

pub(crate) fn four_matching_rules(rounds: usize, heap: &StatsAlloc<System>, report: &mut Report) {
    let limiter = four_rules(Arc::new(MemoryStore::with_max_keys(500_000)));
    let keys = users(1024);
    let run = |keys: &[String]| {
        for key in keys.iter().cycle().take(usize::try_from(CALLS).unwrap_or(0)) {
            let decision = limiter.check(black_box(&request(key)));
            assert!(decision.is_allowed() && decision.evaluations().len() == 4);
            black_box(&decision);
        }
    };
    let case = |keys| -> Case<'_> { Box::new(move || ns_per_call(CALLS, || run(keys))) };
    let measured = interleave(rounds, [case(&keys[..1]), case(&keys)]);
    report.add(SECTION, "four rules, five properties, one user", measured.median(0), "ns", Target::AtMost(600.0));
    report.add(SECTION, "the same, 1,024 users in turn", measured.median(1), "ns", Target::AtMost(600.0));

    let region = Region::new(heap);
    run(&keys);
    let change = region.change();
    let allocations = u32::try_from(change.allocations + change.reallocations).unwrap_or(u32::MAX);
    report.add(SECTION, "heap allocations in 200,000 checks", f64::from(allocations), "", Target::Exactly(0.0));
}
