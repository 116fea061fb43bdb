//! What is found where rules and files meet.

use crate::section::Example::{Both, Rules};
use crate::section::Section;
use labkit_ratelimit_engine::Code;

/// The contract of most examples.
const CONTRACT: &str = "
available_limiters:
  sign_in:
    description: Attempts to sign in
    available_properties: [ip, user]
    allowed_skip_rules: [allowlist]
    default_rules:
      - name: per_ip
        action: limit
        characteristics: [ip]
        limit: 100
        period_s: 60
";

pub(crate) const SECTIONS: &[Section] = &[
    Section::new(
        Code::UnknownLimiter,
        "A file names a limiter that the contract does not have",
        "rate_limits.sing_in",
        Both(
            CONTRACT,
            "
rate_limits:
  sing_in:
    - name: per_user
      action: limit
      characteristics: [user]
      limit: 10
      period_s: 60
",
        ),
        Both(
            CONTRACT,
            "
rate_limits:
  sign_in:
    - name: per_user
      action: limit
      characteristics: [user]
      limit: 10
      period_s: 60
",
        ),
    ),
    Section::new(
        Code::UnknownProperty,
        "A rule names a property that the limiter does not offer",
        "rate_limits.sign_in[0].characteristics[0]",
        Both(
            CONTRACT,
            "
rate_limits:
  sign_in:
    - name: per_user
      action: limit
      characteristics: [username]
      limit: 10
      period_s: 60
",
        ),
        Both(
            CONTRACT,
            "
rate_limits:
  sign_in:
    - name: per_user
      action: limit
      characteristics: [user]
      limit: 10
      period_s: 60
",
        ),
    )
    .more("They are listed under `available_properties` in the contract. Of a `skip` rule only `match` is looked at."),
    Section::new(
        Code::SkipNotAllowed,
        "A `skip` rule outside the defaults is not among `allowed_skip_rules`",
        "rate_limits.sign_in[0].name",
        Both(
            CONTRACT,
            "
rate_limits:
  sign_in:
    - name: office
      action: skip
      match: {ip: {cidr: 192.0.2.0/24}}
",
        ),
        Both(
            CONTRACT,
            "
rate_limits:
  sign_in:
    - name: allowlist
      action: skip
      match: {ip: {cidr: 192.0.2.0/24}}
",
        ),
    )
    .more("The contract is the application's: ask its developers, or use a name that they allow."),
    Section::new(
        Code::DistinctChangeNeedsNewName,
        "`count_distinct` was added to a rule, or taken away, under the same name",
        "rate_limits.sign_in[0].count_distinct",
        Both(
            CONTRACT,
            "
rate_limits:
  sign_in:
    - name: per_ip
      action: limit
      characteristics: [ip]
      count_distinct: user
      limit: 20
      period_s: 60
",
        ),
        Both(
            CONTRACT,
            "
rate_limits:
  sign_in:
    - name: users_per_ip
      action: limit
      characteristics: [ip]
      count_distinct: user
      limit: 20
      period_s: 60
",
        ),
    )
    .beside(&[(Code::DefaultShadowed, "rate_limits.sign_in[0].name")])
    .more("In a publish it is an error."),
    Section::new(
        Code::RuleUnreachable,
        "A rule can never run: one before it always ends the chain for all that it matches, or it matches nothing",
        "rate_limits.sign_in[1]",
        Rules(
            "
- name: allowlist
  action: skip
  match: {ip: {cidr: 192.0.2.0/24}}
- name: known_bot
  action: limit
  match: {ip: {cidr: 192.0.2.0/24}, user: import-bot}
  limit: 100
  period_s: 60
",
        ),
        Rules(
            "
- name: known_bot
  action: limit
  match: {ip: {cidr: 192.0.2.0/24}, user: import-bot}
  limit: 100
  period_s: 60
- name: allowlist
  action: skip
  match: {ip: {cidr: 192.0.2.0/24}}
",
        ),
    )
    .more(
        "What ends the chain is a `skip` rule or one with `final: true`. A rule whose name an earlier file has already \
         is found at its `name`.",
    ),
    Section::new(
        Code::DefaultShadowed,
        "A rule has the name of a default, which is dropped for it",
        "rate_limits.sign_in[0].name",
        Both(
            CONTRACT,
            "
rate_limits:
  sign_in:
    - name: per_ip
      action: log
      characteristics: [ip]
      limit: 50
      period_s: 60
",
        ),
        Both(
            CONTRACT,
            "
rate_limits:
  sign_in:
    - name: per_ip_lower
      action: log
      characteristics: [ip]
      limit: 50
      period_s: 60
",
        ),
    )
    .more("Here it was not meant: the default refuses, and the dry run in its place refuses nobody."),
    Section::new(
        Code::LimitLoweredTenfold,
        "A rule in the place of a default allows less than a tenth of it in the same time",
        "rate_limits.sign_in[0].limit",
        Both(
            CONTRACT,
            "
rate_limits:
  sign_in:
    - name: per_ip
      action: limit
      characteristics: [ip]
      limit: 9
      period_s: 60
",
        ),
        Both(
            CONTRACT,
            "
rate_limits:
  sign_in:
    - name: per_ip_strict
      action: log
      characteristics: [ip]
      limit: 9
      period_s: 60
",
        ),
    )
    .beside(&[(Code::DefaultShadowed, "rate_limits.sign_in[0].name")])
    .more("Mostly a digit is missing. Where it is meant, see in a dry run under another name whom it would refuse."),
];
