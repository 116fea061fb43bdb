//! Rules as documents: YAML and JSON.
//!
//! **Promise.** A document is accepted whole or not at all, and every mistake in it is reported at once,
//! each with its code, its file, line and column, its path and its mend.
//!
//! ```
//! use labkit_ratelimit_documents::{Documents, Source};
//!
//! let contract = "
//! sign_in:
//!   description: Attempts to sign in
//!   available_properties: [ip]
//!   default_rules:
//!     - {name: per_ip, action: limit, characteristics: [ip], limit: 10, period_s: 60}
//! ";
//! let operators = "
//! sign_in:
//!   - {name: per_ip, action: limit, characteristics: [ip], limit: 5, period_s: 60}
//! ";
//! let documents = Documents::new()
//!     .available_limiters(Source::new("available_limiters.yaml", contract))
//!     .rate_limits(Source::new("rate_limits.yaml", operators));
//! let catalog = documents.read()?;
//! let rules = catalog.limiter("sign_in").map(|limiter| limiter.rules()).unwrap_or_default();
//! assert_eq!(rules.len(), 1);
//! assert_eq!(rules[0].limit, 5_u64.into());
//! # Ok::<(), labkit_ratelimit_engine::Findings>(())
//! ```
//!
//! **Invariants.** What is returned builds: no finding is left for later. YAML is 1.2 (`yes` and `on` are strings).
//! Nothing panics, and time and memory are bounded, whatever is in a document: at most 10 MiB, 64 levels and a million
//! values of it are looked at, 10,000 errors and as many warnings are kept, patterns have a budget; so reading takes
//! at most 64 bytes of memory for each byte of documents and 384 MiB besides (`tests/bounds.rs` holds it to that), and
//! time that grows as their size does.
//!
//! **Absent on purpose.** Deciding: a catalog holds rules, a limiter runs them. Watching files: a host knows when to
//! load again.
//!
//! YAML is read by `granit-parser` and written by `serde-saphyr`, which is built on it: of the successors to the
//! archived `serde_yaml` the one that is maintained, follows YAML 1.2, has no unsafe code and gives a place to every
//! value. Its deserializer is not used: it stops at the first mistake, and keeps no places.

mod catalog;
mod contract;
mod cross;
mod documents;
mod drafts;
mod files;
mod flaw;
mod found;
mod kind;
mod matcher;
pub mod message;
mod number;
mod path;
mod pattern;
mod reading;
mod rule;
mod scalar;
mod source;
mod tiers;
mod tree;
mod warnings;
mod yaml;

pub use catalog::{Catalog, LimiterDocument};
pub use contract::Contract;
pub use documents::Documents;
pub use files::{Files, UnreadableFile};
pub use kind::DocumentKind;
pub use rule::{Dialect, HostValues, NoHostValues, RuleDraft, read_rule};
pub use source::{MAX_BYTES, Source};
