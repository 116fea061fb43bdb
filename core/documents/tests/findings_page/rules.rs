//! Fields of a rule, and what stands in them.

use crate::section::Example::{AvailableLimiters, Rules};
use crate::section::Section;
use labkit_ratelimit_engine::Code;

pub(crate) const SECTIONS: &[Section] = &[
    Section::new(
        Code::ActionMissing,
        "A rule in a document has no action",
        "rate_limits.sign_in[0].action",
        Rules(
            "
- name: per_ip
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
    )
    .more("In code the action is `limit` where none is given; who leaves it out of a document has mostly forgotten it."),
    Section::new(
        Code::ActionUnknown,
        "There is no such action",
        "rate_limits.sign_in[0].action",
        Rules(
            "
- name: per_ip
  action: block
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
        Code::AlgorithmUnknown,
        "There is no such algorithm",
        "rate_limits.sign_in[0].algorithm",
        Rules(
            "
- name: per_ip
  action: limit
  characteristics: [ip]
  algorithm: token_bucket
  limit: 60
  period_s: 60
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
",
        ),
    )
    .more("What others call a token bucket or a leaky bucket is `gcra`."),
    Section::new(
        Code::UnknownField,
        "There is no such field",
        "rate_limits.sign_in[0].ban_for",
        Rules(
            "
- name: per_ip
  action: limit
  characteristics: [ip]
  limit: 10
  period_s: 60
  ban_for: 600
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
    .more(
        "The finding names the nearest field that there is. A file of the other kind is found in this way too: \
         `available_limiters` is no field of a `rate_limits` file.",
    ),
    Section::new(
        Code::WrongType,
        "A value is of another type than its field takes, or does not fit it",
        "rate_limits.sign_in[0].limit",
        Rules(
            "
- name: per_ip
  action: limit
  characteristics: [ip]
  limit: '10'
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
    .more("An integer is written without quotes and without a point. A field with nothing behind its colon is `null`, and found too."),
    Section::new(
        Code::OptionInvalid,
        "An option has a value that it does not know",
        "available_limiters.sign_in.evaluation",
        AvailableLimiters(
            "
available_limiters:
  sign_in:
    description: Attempts to sign in
    evaluation: last_block
",
        ),
        AvailableLimiters(
            "
available_limiters:
  sign_in:
    description: Attempts to sign in
    evaluation: all
",
        ),
    )
    .more("`evaluation` is `first_block` or `all`."),
    Section::new(
        Code::SkipTakesNoNumbers,
        "A `skip` rule in a document has a number",
        "rate_limits.sign_in[0].limit",
        Rules(
            "
- name: allowlist
  action: skip
  match: {ip: {cidr: 192.0.2.0/24}}
  limit: 1000
",
        ),
        Rules(
            "
- name: allowlist
  action: skip
  match: {ip: {cidr: 192.0.2.0/24}}
",
        ),
    )
    .more("If these callers are to have a limit of their own, it is a `limit` rule, with `final: true` where no other is to follow."),
    Section::new(
        Code::DescriptionMissing,
        "A limiter of `available_limiters` has no description",
        "available_limiters.sign_in.description",
        AvailableLimiters(
            "
available_limiters:
  sign_in:
    available_properties: [ip, user]
",
        ),
        AvailableLimiters(
            "
available_limiters:
  sign_in:
    description: Attempts to sign in with a password
    available_properties: [ip, user]
",
        ),
    ),
];
