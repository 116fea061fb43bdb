//! Rules as documents: YAML and JSON.
//!
//! **Promise.** A document is accepted whole or not at all, and every mistake in it is reported at once,
//! each with its code, its path and its mend.
//!
//! ```
//! let document = "
//! rate_limits:
//!   sign_in:
//!     - name: per_ip
//!       action: limit
//!       characteristics: [ip]
//!       limit: 10
//!       period_s: 60
//! ";
//! let limiters = labkit_ratelimit_documents::read_rate_limits(document)?;
//! assert_eq!(limiters[0].name, "sign_in");
//! assert_eq!(limiters[0].rules[0].name, "per_ip");
//! # Ok::<(), labkit_ratelimit_engine::Findings>(())
//! ```
//!
//! **Invariants.** What is returned builds: no finding is left for later. YAML is 1.2 (`yes` and `on` are strings).
//!
//! **Absent on purpose, for now.** Source positions, `available_limiters`, checks across documents, tiers,
//! publishing: `rate_limits` documents are read plainly.
//!
//! YAML is read by `serde-saphyr`: the maintained successor to the archived `serde_yaml` that reports duplicate
//! keys, bounds aliases, and has no unsafe code.

mod matcher;
mod number;
mod rate_limits;
mod rule;
mod unique;

pub use rate_limits::{DocumentLimiter, MAX_BYTES, read_rate_limits};
pub use rule::{Dialect, HostValues, NoHostValues, RuleDraft, read_rule};
