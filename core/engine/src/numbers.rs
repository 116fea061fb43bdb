//! Conversions between number types that lose nothing unsaid. The only file with `as` in it.

#![expect(clippy::as_conversions, reason = "the one place where casts are argued")]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "each function says what is lost"
)]

/// 2^53: up to here every integer is a double, here and in Redis' Lua.
pub const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// The double nearest to `n`. Exact up to 2^53.
pub const fn to_f64(n: u64) -> f64 {
    n as f64
}

/// The integer part of a double, saturating at the type's ends; NaN is 0.
pub const fn floor_to_wide(n: f64) -> u128 {
    n as u128
}

/// The integer part of a double, saturating at the type's ends; NaN is 0.
pub const fn cut_to_i128(n: f64) -> i128 {
    n as i128
}

/// An index as the 32-bit number that steps and cells carry. Saturates: no rule set comes near it.
pub const fn index(n: usize) -> u32 {
    if n > u32::MAX as usize { u32::MAX } else { n as u32 }
}

/// A 32-bit index back as a `usize`.
pub const fn offset(n: u32) -> usize {
    n as usize
}

/// A wider integer, where `From` cannot be used: in constants.
pub const fn widen(n: u32) -> u64 {
    n as u64
}

/// Whole seconds as microseconds.
pub const fn seconds_to_micros(seconds: u64) -> u64 {
    seconds.saturating_mul(1_000_000)
}

/// `n`, or the largest `u64` where it does not fit.
pub const fn saturate(n: u128) -> u64 {
    if n > u64::MAX as u128 { u64::MAX } else { n as u64 }
}
