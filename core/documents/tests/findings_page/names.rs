//! Names of limiters, rules and properties.

use crate::section::Example::Rules;
use crate::section::Section;
use labkit_ratelimit_engine::Code;

pub(crate) const SECTIONS: &[Section] = &[
    Section::new(
        Code::NameMissing,
        "The rule has no name",
        "rate_limits.sign_in[0].name",
        Rules(
            "
- action: limit
  characteristics: [ip]
  limit: 10
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
    ),
    Section::new(
        Code::NameInvalid,
        "The name of a limiter or of a rule holds other characters, or is too long",
        "rate_limits.sign_in[0].name",
        Rules(
            "
- name: Per IP
  action: limit
  characteristics: [ip]
  limit: 10
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
    ),
    Section::new(
        Code::DuplicateRuleName,
        "Two rules of one limiter have one name",
        "rate_limits.sign_in[1].name",
        Rules(
            "
- name: per_ip
  action: limit
  characteristics: [ip]
  limit: 10
  period_s: 60
- name: per_ip
  action: limit
  characteristics: [ip]
  limit: 200
  period_s: 86400
",
        ),
        Rules(
            "
- name: per_ip_minute
  action: limit
  characteristics: [ip]
  limit: 10
  period_s: 60
- name: per_ip_day
  action: limit
  characteristics: [ip]
  limit: 200
  period_s: 86400
",
        ),
    )
    .more(
        "A name may stand again in another file, and among the defaults: the rule that stands there is then dropped.",
    ),
    Section::new(
        Code::PropertyInvalid,
        "The name of a property holds other characters, or is too long",
        "rate_limits.sign_in[0].characteristics[0]",
        Rules(
            "
- name: per_user
  action: limit
  characteristics: [user-id]
  limit: 10
  period_s: 60
",
        ),
        Rules(
            "
- name: per_user
  action: limit
  characteristics: [user_id]
  limit: 10
  period_s: 60
",
        ),
    ),
    Section::new(
        Code::DuplicateCharacteristic,
        "A characteristic is named twice",
        "rate_limits.sign_in[0].characteristics[1]",
        Rules(
            "
- name: per_ip
  action: limit
  characteristics: [ip, ip]
  limit: 10
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
    ),
    Section::new(
        Code::DistinctInCharacteristics,
        "The property whose values are counted is a characteristic too",
        "rate_limits.sign_in[0].count_distinct",
        Rules(
            "
- name: users_per_ip
  action: limit
  characteristics: [ip, user]
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
];
