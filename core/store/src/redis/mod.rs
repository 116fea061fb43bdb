//! Redis in words: what to send and what a reply says. Whoever owns the connection sends it.
//!
//! Every call is `EVALSHA digest numkeys KEYS… ARGV…`. On an error that starts with `NOSCRIPT` send
//! `EVAL` with the source once; it was not run, so this never counts twice. Works on Redis 6.2 and
//! later and on Valkey.

mod call;
mod fault;
mod reply;
mod script;
mod slot;

pub use call::{Call, ChainStep, Topology, chain_calls, clear_calls};
pub use fault::Fault;
pub use reply::{ChainReply, StepReply, read_chain, read_clear};
pub use script::Script;
