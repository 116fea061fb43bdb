//! Where labkit-ratelimit counts: in memory, or on a Redis that somebody else talks to.
//!
//! **Promise.** The same step on either store gives the same [`Reading`]. [`MemoryStore`] decides at once;
//! for Redis, [`redis`] says what to send (script digest, KEYS, ARGV) and reads the reply.
//!
//! ```
//! use labkit_ratelimit_engine::{Cost, Evaluation, Mode, NoHost, RuleSpec, Rules, Step, Value};
//! use labkit_ratelimit_store::{MemoryStore, RuleKeys};
//!
//! let rules = Rules::build("sign_in", &[RuleSpec::limit("per_ip", 1, 60).characteristics(["ip"])], Evaluation::FirstBlock)?;
//! let store = MemoryStore::with_max_keys(10_000);
//! let keys = RuleKeys::new(&store, &rules);
//!
//! let identifier = [("ip", Value::from("198.18.0.1"))];
//! let facts = rules.facts(&identifier).expect("a good identifier");
//! let selection = rules.select(&facts, Mode::Check, &NoHost);
//! let Step::Count(step) = &selection.steps[0] else { unreachable!() };
//! let key = keys.key(&rules, step.rule, &facts);
//! let first = store.run(key, step, None, Cost::ONE, Mode::Check, 1_000_000);
//! let second = store.run(key, step, None, Cost::ONE, Mode::Check, 1_000_001);
//! assert_ne!(first, second);
//! # Ok::<(), labkit_ratelimit_engine::Findings>(())
//! ```
//!
//! **Invariants.** Keys are built in one file, and identifiers that differ never share one. Every counter
//! expires. Time is an argument. The memory store keeps no string, and never more than its maximum of keys.
//!
//! **Absent on purpose.** Sockets (`labkit-ratelimit-native`, or the host), clocks, background threads.
//!
//! [`Reading`]: labkit_ratelimit_engine::Reading

mod keys;
mod memory;
pub mod redis;

pub use keys::{Member, StoreKeys};
pub use memory::{DEFAULT_MAX_KEYS, Evictions, Key, MAX_STACKED, MemoryStore, RuleKeys, StackReading};
