//! The native half of the Python package `labkit_ratelimit`: its module `_native`.
//!
//! **Promise.** It translates: Python values into the facts, rules and options of `labkit-ratelimit`, and decisions
//! back. It knows no action and no algorithm, and never talks to a Redis: the Python half runs a `Call` on its
//! own client.
//!
//! ```python
//! core = Core("sign_in", [{"name": "per_ip", "limit": 2, "period_s": 60, "characteristics": ["ip"]}], options, tell)
//! core.check({"ip": "198.18.0.1"}, 1, None).action  # "allow"
//! ```
//!
//! **Invariants.**
//! - No panic reaches Python: `boundary` stops each. A check then fails open and logs.
//! - An `Exception` of a callable or a pattern is the failure of its rule; anything else leaves as it came, with
//!   nothing counted.
//! - The GIL is held all along: in a check for microseconds, while documents are loaded for as long as they take. So
//!   no lock of the library is ever held while another thread runs, nor at a fork.
//! - A lock is never held while Python runs.
//!
//! **Absent on purpose.** Threads, sockets, event loops, and any opinion on what a rule means. Support for builds
//! without a GIL: a fork of one thread may catch another inside a lock.

mod boundary;
mod call;
mod clock;
mod core;
mod documents;
mod evaluation;
mod fact;
mod findings;
mod host;
mod identifier;
mod journal;
mod matcher;
mod memory;
mod number;
mod options;
mod python;
mod result;
mod rules;
mod shown;

use pyo3::prelude::*;

/// `labkit_ratelimit._native`.
#[pymodule(gil_used = true)]
mod _native {
    #[pymodule_export]
    use super::call::Call;
    #[pymodule_export]
    use super::clock::Clock;
    #[pymodule_export]
    use super::core::Core;
    #[pymodule_export]
    use super::evaluation::{Info, One};
    #[pymodule_export]
    use super::memory::Memory;
    #[pymodule_export]
    use super::result::Outcome;
    use pyo3::prelude::*;

    #[cfg(feature = "panic-probe")]
    #[pymodule_export]
    use super::boundary::panic_next;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::boundary::hear_panics();
        module.add("VERSION", labkit_ratelimit::VERSION)
    }
}
