//! Calls as bytes: each key, then each argument, behind its length.

use crate::wire::Writer;
use labkit_ratelimit::{Call, Script};

/// The scripts, by the numbers that hosts know them by.
pub(crate) fn scripts() -> [&'static Script; 2] {
    [Script::chain(), Script::clear()]
}

pub(crate) fn script_of(call: &Call) -> u32 {
    u32::from(std::ptr::eq(call.script, Script::clear()))
}

pub(crate) fn write(call: &Call, writer: &mut Writer<'_>) {
    for word in call.keys.iter().chain(&call.args) {
        writer.bytes(word.as_bytes());
    }
}
