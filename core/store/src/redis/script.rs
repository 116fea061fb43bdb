//! The scripts and their digests.

use sha1::{Digest, Sha1};
use std::fmt::Write as _;
use std::sync::OnceLock;

/// A Lua script and the digest that Redis knows it by.
#[derive(Debug, PartialEq, Eq)]
pub struct Script {
    source: &'static str,
    digest: String,
}

#[cfg(not(feature = "sabotage"))]
const fn chain_source() -> &'static str {
    include_str!("chain.lua")
}

/// Wrong on purpose, in a window, in GCRA and in a ban: the suite must notice.
#[cfg(feature = "sabotage")]
fn chain_source() -> &'static str {
    let wrongs = [
        ("over = count > limit or", "over = count >= limit or"),
        ("over = owed > hold or", "over = owed >= hold or"),
        ("free = ban_left <= 0", "free = true"),
    ];
    let source = include_str!("chain.lua").to_owned();
    wrongs.iter().fold(source, |source, (right, wrong)| source.replace(right, wrong)).leak()
}

impl Script {
    fn new(source: &'static str) -> Self {
        let mut digest = String::with_capacity(40);
        for byte in Sha1::digest(source) {
            // Writing to a String does not fail.
            let _ = write!(digest, "{byte:02x}");
        }
        Self { source, digest }
    }

    /// Runs the chain of one check or peek.
    pub fn chain() -> &'static Self {
        static SCRIPT: OnceLock<Script> = OnceLock::new();
        SCRIPT.get_or_init(|| Self::new(chain_source()))
    }

    /// Deletes counters and bans.
    pub fn clear() -> &'static Self {
        static SCRIPT: OnceLock<Script> = OnceLock::new();
        SCRIPT.get_or_init(|| Self::new(include_str!("clear.lua")))
    }

    /// The text, for `EVAL` and `SCRIPT LOAD`.
    pub const fn source(&self) -> &'static str {
        self.source
    }

    /// The SHA-1 of the text in lower-case hex, for `EVALSHA`.
    pub fn digest(&self) -> &str {
        &self.digest
    }
}
