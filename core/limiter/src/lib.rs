//! Decides, per request, whether it may go on.
//!
//! **Promise.** [`Limiter::check`] says allow or block: the same answer in every language and on every
//! store, in one Redis round trip, and never by breaking its host.
//!
//! ```
//! use labkit_ratelimit::{Limiter, RuleSpec, Value};
//!
//! let limiter = Limiter::builder("sign_in")
//!     .rule(RuleSpec::limit("per_ip", 2, 60).characteristics(["ip"]))
//!     .build()?;
//! let identifier = [("ip", Value::from("198.18.0.1"))];
//! assert!(limiter.check(&identifier).is_allowed());
//! assert!(limiter.check(&identifier).is_allowed());
//! let decision = limiter.check(&identifier);
//! assert!(decision.is_blocked());
//! assert_eq!(decision.rule().map(|rule| rule.name()), Some("per_ip"));
//! # Ok::<(), labkit_ratelimit::BuildError>(())
//! ```
//!
//! **Invariants.** A check never returns an error: without a verdict it answers as [`OnError`] says, and
//! logs one warning. Mistakes in rules are found when a limiter is built, all at once. No thread is
//! started, no socket opened.
//!
//! **Absent on purpose.** Sockets: give a [`Connection`] (`labkit-ratelimit-native` has one), or run the
//! calls of a [`Pending`] yourself. Watching files: a host says when to [`Limiter::reload_files`].

mod builder;
mod callbacks;
mod circuit;
mod clearing;
mod clock;
mod exceeded;
mod fallback;
mod generation;
mod held;
mod keyed;
mod limiter;
mod loading;
mod log;
mod metrics;
mod panics;
mod pending;
mod rounds;
mod sample;
mod store;
mod stripe;
mod totals;
mod walk;
mod warnings;

pub use builder::{BuildError, Builder};
pub use callbacks::{Callbacks, Context};
pub use circuit::Circuit;
pub use clearing::Clearing;
pub use clock::{Clock, ManualClock, SystemClock};
pub use exceeded::Exceeded;
pub use generation::{Decision, RulesRef};
pub use keyed::{
    FixedWindowLimiter, GcraLimiter, GcraWindow, KeyedError, Quota, QuotaError, RateDecision, RateLimiter,
};
pub use labkit_ratelimit_documents::{
    Catalog, Contract, Dialect, Documents, Files, HostValues, LimiterDocument, NoHostValues, RuleDraft, Source,
    UnreadableFile, read_rule,
};
pub use labkit_ratelimit_engine::{
    Action, Algorithm, CallableId, Code, Evaluated, Evaluation, Evaluations, Failure, FailureKind, Finding, Findings,
    HeaderFormat, Headers, Host, HostError, HostNumber, Identifier, Info, Location, MatcherSpec, Mode, NumberSpec,
    Outcome, OverrideSpec, PatternId, Rule, RuleEvaluation, RuleSpec, Rules, Scalar, Scratch, Severity, Value, Verdict,
};
pub use labkit_ratelimit_store::redis::{Call, Fault, Script, Topology};
pub use labkit_ratelimit_store::{DEFAULT_MAX_KEYS, Evictions, MemoryStore};
pub use limiter::{CallOptions, Limiter, OnError};
pub use loading::LoadError;
pub use log::{LogEvent, LogRecorder, Logger, TracingLogger};
pub use pending::{Pending, Planned};
pub use rounds::{Answer, Question, Round};
pub use sample::{Sample, SampleKind};
/// The version of this library, as a runner and a binding report it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub use store::{Connection, DEFAULT_DEADLINE, RedisOptions, Store};
