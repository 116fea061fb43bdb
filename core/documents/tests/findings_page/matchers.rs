//! Matchers.

use crate::section::Example::Rules;
use crate::section::Section;
use labkit_ratelimit_engine::Code;

pub(crate) const SECTIONS: &[Section] = &[
    Section::new(
        Code::MatcherBareList,
        "A plain value, or a list, stands in a list of matchers",
        "rate_limits.sign_in[0].match.method[0]",
        Rules(
            "
- name: reads
  action: limit
  match: {method: [GET, HEAD]}
  limit: 1000
  period_s: 60
",
        ),
        Rules(
            "
- name: reads
  action: limit
  match: {method: {one_of: [GET, HEAD]}}
  limit: 1000
  period_s: 60
",
        ),
    ),
    Section::new(
        Code::MatcherEmptyList,
        "A list of matchers, or `none_of`, is empty",
        "rate_limits.sign_in[0].match.user.none_of",
        Rules(
            "
- name: people
  action: limit
  match: {user: {none_of: []}}
  limit: 1000
  period_s: 60
",
        ),
        Rules(
            "
- name: people
  action: limit
  match: {user: {none_of: [import-bot]}}
  limit: 1000
  period_s: 60
",
        ),
    )
    .more("An empty `one_of` is no mistake: it never holds."),
    Section::new(
        Code::MatcherTooDeep,
        "Maps and lists nest more than 8 levels deep",
        "rate_limits.sign_in[0].match.ip",
        Rules(
            "
- name: elsewhere
  action: log
  match: {ip: {not: {not: {not: {not: {not: {not: {not: {not: {cidr: 10.0.0.0/8}}}}}}}}}}
  limit: 1000
  period_s: 60
",
        ),
        Rules(
            "
- name: elsewhere
  action: log
  match: {ip: {cidr: 10.0.0.0/8}}
  limit: 1000
  period_s: 60
",
        ),
    )
    .more("Two `not` are none."),
    Section::new(
        Code::MatcherTwoMarkers,
        "One map holds two markers",
        "rate_limits.sign_in[0].match.path",
        Rules(
            "
- name: api
  action: limit
  match: {path: {prefix: /api/, ne: /api/v4/version}}
  limit: 1000
  period_s: 60
",
        ),
        Rules(
            "
- name: api
  action: limit
  match: {path: [{prefix: /api/}, {ne: /api/v4/version}]}
  limit: 1000
  period_s: 60
",
        ),
    ),
    Section::new(
        Code::MatcherUnknownMarker,
        "There is no such marker, or the map is empty",
        "rate_limits.sign_in[0].match.path",
        Rules(
            "
- name: api
  action: limit
  match: {path: {glob: /api/*}}
  limit: 1000
  period_s: 60
",
        ),
        Rules(
            "
- name: api
  action: limit
  match: {path: {prefix: /api/}}
  limit: 1000
  period_s: 60
",
        ),
    ),
    Section::new(
        Code::MatcherBadRegex,
        "The pattern does not compile",
        "rate_limits.sign_in[0].match.path.regex",
        Rules(
            "
- name: api
  action: limit
  match: {path: {regex: '^/api/(?!v4/version)'}}
  limit: 1000
  period_s: 60
",
        ),
        Rules(
            "
- name: api
  action: limit
  match: {path: [{regex: '^/api/'}, {nre: '^/api/v4/version'}]}
  limit: 1000
  period_s: 60
",
        ),
    )
    .more("The finding names the construct. What a look-ahead forbids, `nre` in a list says."),
    Section::new(
        Code::MatcherBadCidr,
        "The text is no network",
        "rate_limits.sign_in[0].match.ip.cidr",
        Rules(
            "
- name: office
  action: log
  match: {ip: {cidr: 192.0.2.0/33}}
  limit: 1000
  period_s: 60
",
        ),
        Rules(
            "
- name: office
  action: log
  match: {ip: {cidr: 192.0.2.0/24}}
  limit: 1000
  period_s: 60
",
        ),
    ),
    Section::new(
        Code::MatcherBadValue,
        "The value of a marker is of another kind than it takes",
        "rate_limits.sign_in[0].match.path.prefix",
        Rules(
            "
- name: api
  action: limit
  match: {path: {prefix: [/api/, /oauth/]}}
  limit: 1000
  period_s: 60
",
        ),
        Rules(
            "
- name: api
  action: limit
  match: {path: {regex: '^/(api|oauth)/'}}
  limit: 1000
  period_s: 60
",
        ),
    )
    .more("Only `one_of`, `none_of` and `cidr` take lists."),
];
