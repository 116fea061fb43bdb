//! Decides, per request, whether it may go on: rules, matchers, the chain and the arithmetic.
//!
//! **Promise.** Everything here is a pure function of rules, facts and `now`: no clock, no I/O, no
//! threads. A request goes in as an [`Identifier`]; [`Rules::select`] says what to ask of the store, in
//! chain order; a [`Tally`] turns the store's readings into a [`Decision`].
//!
//! ```
//! use labkit_ratelimit_engine::{Counter, Decision, Evaluation, Mode, NoHost, Reading, RuleSpec, Rules, Step, Tally};
//! use labkit_ratelimit_engine::{Cost, Millionths, Value};
//!
//! let rules = Rules::build("sign_in", &[RuleSpec::limit("per_ip", 2, 60).characteristics(["ip"])], Evaluation::FirstBlock)?;
//! let identifier = [("ip", Value::from("198.18.0.1"))];
//! let facts = rules.facts(&identifier).expect("a good identifier");
//! let selection = rules.select(&facts, Mode::Check, &NoHost);
//! let [Step::Count(step)] = selection.steps.as_slice() else { unreachable!() };
//!
//! // A store charged the rule's counter for the third time:
//! let reading = Reading {
//!     counter: Counter::Window { count: Millionths::from_units(3), left_us: Some(42_000_000), over: true },
//!     ban_left_us: None,
//! };
//! let mut decision = Decision::undecided(&rules);
//! let mut tally = Tally::new(Cost::ONE, 1_700_000_000_000_000, &mut decision);
//! assert!(tally.count(step, &reading), "a block stops the chain");
//! assert!(decision.is_blocked());
//! assert_eq!(decision.info().expect("a rule matched").retry_after().expect("a wait helps").as_secs(), 42);
//! # Ok::<(), labkit_ratelimit_engine::Findings>(())
//! ```
//!
//! **Invariants.** A rule that was built cannot be wrong. Counting is exact integers ([`gcra`], [`Millionths`]).
//! Only properties that a rule mentions are looked at.
//!
//! **Absent on purpose.** Stores (`labkit-ratelimit-store`), documents (`labkit-ratelimit-documents`), clocks, logging.

mod algorithm;
mod cost;
mod decision;
mod evaluation;
mod explain;
mod failure;
mod finding;
pub mod gcra;
mod host;
mod http;
mod identifier;
mod matcher;
mod matcher_spec;
pub mod names;
mod number_spec;
pub mod numbers;
mod reading;
mod resolver;
mod rule;
mod rule_spec;
mod rules;
mod select;
mod step;
mod value;
pub mod window;

pub use algorithm::Algorithm;
pub use cost::{BadCost, Cost, CostText, Millionths};
pub use decision::{Decision, Tally, Verdict};
pub use evaluation::{Evaluated, Evaluation as RuleEvaluation, Evaluations};
pub use explain::{Condition, Explained, Explanation};
pub use failure::{Failure, FailureKind};
pub use finding::{Code, Finding, Findings, Location, Severity};
pub use host::{CallableId, Host, HostError, HostNumber, NoHost, PatternId};
pub use http::{HeaderFormat, Headers};
pub use identifier::Identifier;
pub use matcher_spec::MatcherSpec;
pub use number_spec::NumberSpec;
pub use reading::{Counter, Info, Outcome, Reading};
pub use rule::{Amount, Rule};
pub use rule_spec::{Action, OverrideSpec, PERIOD_MAX_S, RuleSpec};
pub use rules::{Evaluation, Facts, Rules};
pub use step::{CountStep, Counting, End, Mode, Selection, Step, Stop};
pub use value::{Scalar, Scratch, Value};
