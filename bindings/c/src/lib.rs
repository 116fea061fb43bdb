//! labkit-ratelimit as a C ABI.
//!
//! **Promise.** It translates: bytes and flat structs into the facts, rules and options of `labkit-ratelimit`, and
//! decisions back. It knows no action and no algorithm, opens no socket, starts no thread, and no call of it waits.
//!
//! A host makes a limiter from a JSON text ([`labkit_ratelimit_limiter_new`]), and asks it with
//! [`labkit_ratelimit_decide`]. On the memory store that is all. On a Redis the answer is a call for the host to run,
//! and what came of it goes to [`labkit_ratelimit_settle`]. `bindings/c/README.md` has the formats of the bytes,
//! `bindings/c/tests/example.c` a host in C.
//!
//! **Invariants.**
//! - No panic leaves it: `boundary.rs` stops each. A check then fails open, and says so.
//! - Every pointer is checked as far as one can be; a handle that was freed, or never was one, is an error value.
//! - Each handle has one owner and one end. Nothing that a host lends is kept beyond the call.
//! - No call back into the host: what its callables and patterns say is asked for in rounds, before anything is counted.
//!
//! **Absent on purpose.** Callbacks, threads, sockets, and any opinion on what a rule means.

mod abi;
mod borrowed;
mod boundary;
mod call;
mod call_entries;
mod clock;
mod config;
mod control;
mod deciding;
mod decision;
mod facts;
mod fault;
mod headers;
mod heard;
mod limiters;
mod rounds;
mod rules;
mod said;
mod settling;
mod status;
mod table;
mod text;
mod waiting;
mod wire;

pub use abi::{
    labkit_ratelimit_abi_version, labkit_ratelimit_build_hash, labkit_ratelimit_script, labkit_ratelimit_version,
};
#[cfg(feature = "panic-probe")]
pub use boundary::probe::labkit_ratelimit_panic_at_next_call;
pub use call_entries::labkit_ratelimit_call;
pub use clock::{
    labkit_ratelimit_clock_advance, labkit_ratelimit_clock_free, labkit_ratelimit_clock_new, labkit_ratelimit_clock_now,
};
pub use control::{
    labkit_ratelimit_limiter_close_circuit, labkit_ratelimit_limiter_free, labkit_ratelimit_limiter_metrics,
    labkit_ratelimit_limiter_new, labkit_ratelimit_limiter_reload, labkit_ratelimit_limiter_rules,
};
pub use deciding::{labkit_ratelimit_clear, labkit_ratelimit_decide};
pub use decision::{Answer, Evaluation, NONE};
pub use headers::labkit_ratelimit_headers;
pub use settling::{labkit_ratelimit_abandon, labkit_ratelimit_settle};
pub use status::Status;
pub use text::labkit_ratelimit_text_take;
