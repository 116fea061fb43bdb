//! Numbers of rules: integers of any size and floats.

use crate::fact::is_decimal;
use labkit_ratelimit::HostNumber;
use magnus::{Error, Float, Integer, Value, prelude::*};

/// An Integer, a Float, a Rational or a `BigDecimal`; `None` for anything else.
///
/// # Errors
/// What a method of the number raised.
pub(crate) fn read(value: Value) -> Result<Option<HostNumber>, Error> {
    if let Some(integer) = Integer::from_value(value) {
        return integer_of(integer).map(|n| Some(HostNumber::Int(n)));
    }
    if let Some(float) = Float::from_value(value) {
        return Ok(Some(HostNumber::Float(float.to_f64())));
    }
    if is_decimal(value) {
        return value.funcall("to_f", ()).map(|f| Some(HostNumber::Float(f)));
    }
    Ok(None)
}

/// One beyond 128 bits is as far out as they go: no rule takes half as much.
fn integer_of(integer: Integer) -> Result<i128, Error> {
    if let Ok(n) = integer.to_i128() {
        return Ok(n);
    }
    let is_negative: bool = integer.funcall("negative?", ())?;
    Ok(if is_negative { i128::MIN } else { i128::MAX })
}

/// The cost that a call brings: any `Numeric`, as a float. What is none is no number either: a bad cost.
///
/// # Errors
/// What its `to_f` raised, unless that is a `StandardError`.
pub(crate) fn cost(ruby: &magnus::Ruby, value: Value) -> Result<Option<f64>, Error> {
    if value.is_nil() {
        return Ok(None);
    }
    if let Some(fixnum) = magnus::value::Fixnum::from_value(value) {
        // Exact up to 2^53, and a cost beyond that is counted to double precision anyway.
        #[expect(
            clippy::as_conversions,
            clippy::cast_precision_loss,
            reason = "no conversion that rounds has a name"
        )]
        return Ok(Some(fixnum.to_i64() as f64));
    }
    if let Some(float) = Float::from_value(value) {
        return Ok(Some(float.to_f64()));
    }
    let numeric: magnus::RClass = ruby.class_object().const_get("Numeric")?;
    if !value.is_kind_of(numeric) {
        return Ok(Some(f64::NAN));
    }
    match value.funcall("to_f", ()) {
        Ok(cost) => Ok(Some(cost)),
        Err(error) if crate::fact::is_standard(ruby, &error) => Ok(Some(f64::NAN)),
        Err(error) => Err(error),
    }
}
