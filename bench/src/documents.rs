//! Reading documents: a large file of rules against its contract.

use crate::report::{Report, Target};
use crate::rounds::{Case, cpu_time, interleave};
use labkit_ratelimit::{Documents, Source};
use std::fmt::Write as _;
use std::hint::black_box;

const SECTION: &str = "documents";
const LIMITERS: u32 = 100;
const RULES_EACH: u32 = 20;

/// A contract of a hundred limiters.
fn contract() -> String {
    let mut text = "available_limiters:\n".to_owned();
    for limiter in 0..LIMITERS {
        let _ = write!(
            text,
            "  endpoint_{limiter}:
    description: What endpoint {limiter} guards
    available_properties: [user, ip, project, method, path, plan]
    allowed_skip_rules: [rule_0]
    default_rules:
      - name: rule_1
        action: limit
        characteristics: [user]
        limit: 600
        period_s: 60
"
        );
    }
    text
}

/// Twenty rules for each of them: a bypass, rules with patterns, lists and networks, some with overrides.
fn rules() -> String {
    let mut text = "rate_limits:\n".to_owned();
    for limiter in 0..LIMITERS {
        let _ = writeln!(text, "  endpoint_{limiter}:");
        for rule in 0..RULES_EACH {
            let _ = match rule {
                0 => write!(
                    text,
                    "    - name: rule_0
      action: skip
      match: {{ip: {{cidr: [10.{limiter}.0.0/16, \"2001:db8::/32\"]}}}}
"
                ),
                n if n % 4 == 0 => write!(
                    text,
                    "    - name: rule_{n}
      description: Heavy calls of endpoint {limiter}, by user
      action: limit
      match:
        path: {{regex: \"^/api/v[0-9]+/projects/\\\\d+/part_{n}(/|$)\"}}
        method: {{one_of: [POST, PUT, PATCH, DELETE]}}
      characteristics: [user, project]
      limit: {n}00
      period_s: 60
      overrides:
        - match: {{plan: premium}}
          limit: {n}000
        - match: {{plan: ultimate}}
          limit: {n}0000
"
                ),
                n => write!(
                    text,
                    "    - name: rule_{n}
      action: limit
      match:
        path: {{prefix: /endpoint/{limiter}/{n}/}}
        method: {{ne: HEAD}}
      characteristics: [ip]
      limit: {n}0
      period_s: 3600
      ban_for_s: 600
"
                ),
            };
        }
    }
    text
}

/// Milliseconds of processor time for reading two thousand rules and checking them against their contract.
pub(crate) fn two_thousand_rules(rounds: usize, report: &mut Report) {
    let (contract, rules) = (contract(), rules());
    let size = f64::from(u32::try_from(contract.len() + rules.len()).unwrap_or(u32::MAX)) / 1e6;
    let documents = Documents::new()
        .available_limiters(Source::new("available_limiters.yaml", contract))
        .rate_limits(Source::new("rate_limits.yaml", rules));
    let read: Case<'_> = Box::new(|| {
        let start = cpu_time();
        let catalog = documents.read();
        let took = cpu_time().saturating_sub(start);
        let Ok(catalog) = catalog else { return f64::NAN };
        let count: usize = catalog.limiters().map(|limiter| limiter.file_rules().len()).sum();
        let whole = usize::try_from(LIMITERS * RULES_EACH).is_ok_and(|all| all == count);
        black_box(catalog);
        if whole { took.as_secs_f64() * 1e3 } else { f64::NAN }
    });
    let ms = interleave(rounds, [read]).median(0);
    report.add(SECTION, "validate 2,000 rules of 100 limiters", ms, "ms", Target::Below(200.0));
    report.add(SECTION, "the same, a second", size / (ms / 1e3), "MB", Target::None);
}
