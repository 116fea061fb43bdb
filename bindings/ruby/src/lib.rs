//! The native half of the Ruby gem `labkit-ratelimit`: `Labkit::RateLimit::Native`.
//!
//! **Promise.** It translates: Ruby values into the facts, rules and options of `labkit-ratelimit`, and decisions
//! back. It knows no action and no algorithm, and never talks to a Redis: the Ruby half runs the calls of a
//! [`pending::Waiting`] on its own connection.
//!
//! ```ruby
//! core = Labkit::RateLimit::Native::Core.new("sign_in", [{name: "per_ip", action: "limit", limit: 2, period_s: 60, characteristics: ["ip"]}], {store: :memory})
//! core.check({ip: "198.18.0.1"}, nil, nil).action # => :allow
//! ```
//!
//! **Invariants.**
//! - No panic reaches Ruby: [`boundary`] stops each. A check then fails open and logs.
//! - No Ruby exception jumps over a frame of Rust: whatever may raise runs under `rb_protect`. A `StandardError` of a
//!   callable or a pattern is the failure of its rule; anything else leaves as it came, with nothing counted.
//! - The GVL is held all along. So no lock of the library is ever held while another thread runs, nor at a fork.
//! - No Ruby value is kept in Rust but those that are pinned for ever: the Symbols of properties and the scripts.
//!
//! **Absent on purpose.** `Ractor` safety: two Ractors run at once, and a fork of one may then catch the other
//! inside a lock. Threads, sockets, and any opinion on what a rule means.

mod allocate;
mod attributes;
mod boundary;
mod build_error;
mod clock;
mod core;
mod decision;
mod documents;
mod fact;
mod host;
mod host_number;
mod journal;
mod matcher;
mod names;
mod options;
mod pending;
mod placeholder;
mod rules;
mod script;
mod shown;

use magnus::{Error, Module as _, RModule, Ruby, prelude::*};

/// Defines `Labkit::RateLimit::Native`. `Labkit::RateLimit` is there already.
#[magnus::init(name = "labkit_ratelimit_native")]
fn init(ruby: &Ruby) -> Result<(), Error> {
    boundary::hear_panics();
    let parent: RModule = ruby.class_object().funcall("const_get", ("Labkit::RateLimit",))?;
    let native = parent.define_module("Native")?;
    native.const_set("VERSION", ruby.str_new(labkit_ratelimit::VERSION).to_interned_str())?;
    native.const_set("DEFAULT_MAX_KEYS", labkit_ratelimit::DEFAULT_MAX_KEYS)?;
    attributes::define(native)?;
    build_error::define(ruby, native)?;
    boundary::define(ruby, native)?;
    clock::define(ruby, native)?;
    placeholder::define(ruby, native)?;
    decision::define(ruby, native)?;
    pending::define(ruby, native)?;
    core::define(ruby, native)
}
