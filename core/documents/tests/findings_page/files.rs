//! Files as such: their bytes, their YAML.

use crate::section::Example::{RateLimits, Rules, Told};
use crate::section::Section;
use labkit_ratelimit_documents::MAX_BYTES;
use labkit_ratelimit_engine::Code;

/// A rule with an é in its description, in the given bytes.
fn cafe(e: &[u8]) -> Vec<u8> {
    let before = b"rate_limits:\n  sign_in:\n    - name: per_ip\n      description: Caf".as_slice();
    let after = b"\n      action: limit\n      limit: 10\n      period_s: 60\n".as_slice();
    [before, e, after].concat()
}

/// A document without limiters, in so many bytes.
fn blank(bytes: usize) -> Vec<u8> {
    let mut document = b"rate_limits: {}\n".to_vec();
    document.resize(bytes, b'\n');
    document
}

pub(crate) const SECTIONS: &[Section] = &[
    Section::new(
        Code::YamlSyntax,
        "The file is neither YAML nor JSON",
        "",
        RateLimits(
            "
rate_limits:
  sign_in:
    - name: per_ip
      action: limit
      characteristics: [ip
      limit: 10
      period_s: 60
",
        ),
        RateLimits(
            "
rate_limits:
  sign_in:
    - name: per_ip
      action: limit
      characteristics: [ip]
      limit: 10
      period_s: 60
",
        ),
    )
    .more(
        "The mistake may stand before it: a bracket or a quote that nobody closed, a tab for spaces. More than 64 levels of \
         nesting, aliases that write out to more than 1,000,000 values, an unknown tag and a second document are found here too.",
    ),
    Section::new(
        Code::NotUtf8,
        "The file is in another encoding",
        "",
        Told("A file saved as Latin-1: the last letter of `description: Café` is the one byte E9", || cafe(b"\xe9")),
        Told("The same file saved as UTF-8: that letter is the two bytes C3 A9", || cafe("é".as_bytes())),
    )
    .more("The place named is that of the first bad byte."),
    Section::new(
        Code::MergeKey,
        "The document holds a merge key",
        "rate_limits.sign_in[1].<<",
        Rules(
            "
- &base
  name: per_ip
  action: limit
  characteristics: [ip]
  limit: 100
  period_s: 60
- <<: *base
  name: per_ip_hour
  action: limit
  limit: 1000
  period_s: 3600
",
        ),
        Rules(
            "
- name: per_ip
  action: limit
  characteristics: &who [ip]
  limit: 100
  period_s: 60
- name: per_ip_hour
  action: limit
  characteristics: *who
  limit: 1000
  period_s: 3600
",
        ),
    )
    .more("Anchors and aliases are read."),
    Section::new(
        Code::DuplicateKey,
        "A key stands twice in one map",
        "rate_limits.sign_in[0].limit",
        Rules(
            "
- name: per_ip
  action: limit
  limit: 10
  characteristics: [ip]
  limit: 20
  period_s: 60
",
        ),
        Rules(
            "
- name: per_ip
  action: limit
  characteristics: [ip]
  limit: 20
  period_s: 60
",
        ),
    )
    .more("A limiter, too, stands in a file once, with all its rules. `period_s` and `periodS` are one field."),
    Section::new(
        Code::DocumentTooLarge,
        "The file is larger than 10 MiB",
        "",
        Told("A file of 10,485,761 bytes", || blank(MAX_BYTES + 1)),
        Told("A file of 10,485,760 bytes, or two files", || blank(MAX_BYTES)),
    ),
];
