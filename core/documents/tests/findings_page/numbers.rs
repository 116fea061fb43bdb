//! Numbers, and what goes together with what.

use crate::section::Example::Rules;
use crate::section::Section;
use labkit_ratelimit_engine::Code;

pub(crate) const SECTIONS: &[Section] = &[
    Section::new(
        Code::LimitBelowOne,
        "The limit is 0 or negative",
        "rate_limits.sign_in[0].limit",
        Rules(
            "
- name: per_ip
  action: limit
  characteristics: [ip]
  limit: 0
  period_s: 60
",
        ),
        Rules(
            "
- name: per_ip
  action: limit
  characteristics: [ip]
  limit: 10
  period_s: 60
",
        ),
    )
    .more("(Callables are in code only.) To shut a path in a file, let one request through and ban whoever sends a second."),
    Section::new(
        Code::PeriodBelowOne,
        "The period is 0 or negative",
        "rate_limits.sign_in[0].period_s",
        Rules(
            "
- name: per_ip
  action: limit
  characteristics: [ip]
  limit: 10
  period_s: 0
",
        ),
        Rules(
            "
- name: per_ip
  action: limit
  characteristics: [ip]
  limit: 10
  period_s: 1
",
        ),
    ),
    Section::new(
        Code::PeriodAboveMax,
        "The period is longer than 366 days",
        "rate_limits.sign_in[0].period_s",
        Rules(
            "
- name: per_user
  action: limit
  characteristics: [user]
  limit: 100000
  period_s: 63072000
",
        ),
        Rules(
            "
- name: per_user
  action: limit
  characteristics: [user]
  limit: 50000
  period_s: 31536000
",
        ),
    )
    .more("Periods are in seconds, not in milliseconds."),
    Section::new(
        Code::BanBelowOne,
        "The ban is 0 or negative",
        "rate_limits.sign_in[0].ban_for_s",
        Rules(
            "
- name: per_ip
  action: limit
  characteristics: [ip]
  limit: 10
  period_s: 60
  ban_for_s: 0
",
        ),
        Rules(
            "
- name: per_ip
  action: limit
  characteristics: [ip]
  limit: 10
  period_s: 60
",
        ),
    ),
    Section::new(
        Code::BurstBelowOne,
        "The burst is 0 or negative",
        "rate_limits.sign_in[0].burst",
        Rules(
            "
- name: per_ip
  action: limit
  characteristics: [ip]
  algorithm: gcra
  limit: 60
  period_s: 60
  burst: 0
",
        ),
        Rules(
            "
- name: per_ip
  action: limit
  characteristics: [ip]
  algorithm: gcra
  limit: 60
  period_s: 60
  burst: 1
",
        ),
    )
    .more("A burst of 1 lets nobody come early; no burst at all lets the whole limit through at once."),
    Section::new(
        Code::LimitRequiresThreshold,
        "A rule that counts lacks its limit or its period",
        "rate_limits.sign_in[0].period_s",
        Rules(
            "
- name: per_ip
  action: limit
  characteristics: [ip]
  limit: 10
",
        ),
        Rules(
            "
- name: per_ip
  action: limit
  characteristics: [ip]
  limit: 10
  period_s: 60
",
        ),
    )
    .more("That holds for `warn` and `log` too."),
    Section::new(
        Code::BanExcludesCountDistinct,
        "A rule that counts distinct values has a ban",
        "rate_limits.sign_in[0].ban_for_s",
        Rules(
            "
- name: users_per_ip
  action: limit
  characteristics: [ip]
  count_distinct: user
  limit: 20
  period_s: 3600
  ban_for_s: 86400
",
        ),
        Rules(
            "
- name: users_per_ip
  action: limit
  characteristics: [ip]
  count_distinct: user
  limit: 20
  period_s: 86400
",
        ),
    ),
    Section::new(
        Code::BanRequiresThreshold,
        "There is a ban, and no limit that could be crossed",
        "rate_limits.sign_in[0].ban_for_s",
        Rules(
            "
- name: per_ip
  action: limit
  characteristics: [ip]
  period_s: 60
  ban_for_s: 600
",
        ),
        Rules(
            "
- name: per_ip
  action: limit
  characteristics: [ip]
  limit: 10
  period_s: 60
  ban_for_s: 600
",
        ),
    )
    .beside(&[(Code::LimitRequiresThreshold, "rate_limits.sign_in[0].limit")])
    .more("In code, a `skip` rule with a ban is found too."),
    Section::new(
        Code::BurstRequiresGcra,
        "A window has a burst",
        "rate_limits.sign_in[0].burst",
        Rules(
            "
- name: per_ip
  action: limit
  characteristics: [ip]
  limit: 60
  period_s: 60
  burst: 5
",
        ),
        Rules(
            "
- name: per_ip
  action: limit
  characteristics: [ip]
  algorithm: gcra
  limit: 60
  period_s: 60
  burst: 5
",
        ),
    ),
    Section::new(
        Code::GcraExcludesCountDistinct,
        "GCRA is to count distinct values",
        "rate_limits.sign_in[0].count_distinct",
        Rules(
            "
- name: users_per_ip
  action: limit
  characteristics: [ip]
  algorithm: gcra
  count_distinct: user
  limit: 20
  period_s: 3600
",
        ),
        Rules(
            "
- name: users_per_ip
  action: limit
  characteristics: [ip]
  count_distinct: user
  limit: 20
  period_s: 3600
",
        ),
    ),
    Section::new(
        Code::GcraOutOfRange,
        "The numbers of a GCRA rule are beyond exact arithmetic",
        "rate_limits.sign_in[0].burst",
        Rules(
            "
- name: per_user
  action: limit
  characteristics: [user]
  algorithm: gcra
  limit: 12
  period_s: 31536000
  burst: 24
",
        ),
        Rules(
            "
- name: per_user
  action: limit
  characteristics: [user]
  algorithm: gcra
  limit: 12
  period_s: 31536000
  burst: 12
",
        ),
    )
    .more("A burst of 24 would take two years to come back. Without a burst it is found at `limit`."),
];
