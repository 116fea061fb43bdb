//! Facts: the values a caller gives for the properties of one request, and their text form.

use crate::numbers;
use arrayvec::ArrayString;
use std::fmt::Write as _;

/// One property's value, borrowed from the host for the length of a call.
///
/// An integer beyond `i64` is its decimal text; hosts with wider ones than `u64` hand that over. What is none of these kinds (a list,
/// a map) is [`Value::Bad`]: the check then has no verdict (semantics section 8).
#[derive(Clone, Copy, Debug, PartialEq)]
// A tag of a whole word: read back at once after it was written, a byte's would stall the processor.
#[repr(u64)]
pub enum Value<'a> {
    /// Absent, or the host's null.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An unsigned integer: one beyond `i64` counts as its decimal text.
    Unsigned(u64),
    /// A float. NaN and the infinities are bad values.
    Float(f64),
    /// Text.
    Text(&'a str),
    /// Bytes: text where they are UTF-8, otherwise compared as bytes and keyed by their digest.
    Bytes(&'a [u8]),
    /// A value of a kind that cannot be a fact; the word names it ("list") in the log.
    Bad(&'a str),
}

impl<'a> Value<'a> {
    /// The value as the engine reads it: bytes that are UTF-8 become text, `Err` holds the word for
    /// a bad kind.
    pub(crate) fn normalized(self) -> Result<Self, &'a str> {
        match self {
            Self::Bytes(bytes) => Ok(std::str::from_utf8(bytes).map_or(self, Self::Text)),
            Self::Float(f) if f.is_nan() => Err("NaN"),
            Self::Float(f) if f.is_infinite() => Err("an infinite number"),
            Self::Bad(kind) => Err(kind),
            Self::Unsigned(n) => Ok(i64::try_from(n).map_or(self, Self::Int)),
            other => Ok(other),
        }
    }

    /// Absent, null or `""`: what counts as `_unknown_` in a key.
    pub fn is_missing(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Text(text) => text.is_empty(),
            Self::Bytes(bytes) => bytes.is_empty(),
            _ => false,
        }
    }

    /// The text form of semantics section 1 as bytes; null has none.
    pub fn text<'b>(&'b self, scratch: &'b mut Scratch) -> Option<&'b [u8]> {
        match self {
            Self::Null | Self::Bad(_) => None,
            Self::Text(text) => Some(text.as_bytes()),
            Self::Bytes(bytes) => Some(bytes),
            Self::Bool(flag) => Some(if *flag { b"true" } else { b"false" }),
            Self::Int(n) => Some(scratch.integer.format(*n).as_bytes()),
            Self::Unsigned(n) => Some(scratch.integer.format(*n).as_bytes()),
            Self::Float(f) => Some(scratch.float(*f).as_bytes()),
        }
    }

    /// The text form where it is UTF-8; `None` for null and for other bytes.
    pub(crate) fn utf8<'b>(&'b self, scratch: &'b mut Scratch) -> Option<&'b str> {
        match self {
            Self::Null | Self::Bad(_) | Self::Bytes(_) => None,
            Self::Text(text) => Some(text),
            Self::Bool(flag) => Some(if *flag { "true" } else { "false" }),
            Self::Int(n) => Some(scratch.integer.format(*n)),
            Self::Unsigned(n) => Some(scratch.integer.format(*n)),
            Self::Float(f) => Some(scratch.float(*f)),
        }
    }
}

/// Room on the stack for the text form of one number.
pub struct Scratch {
    integer: itoa::Buffer,
    // The longest positional double: `-0.` and 1,074 places cannot occur in shortest form; 5e-324
    // takes 326 characters, 1.7976931348623157e308 takes 309.
    float: ArrayString<352>,
}

impl Default for Scratch {
    fn default() -> Self {
        Self { integer: itoa::Buffer::new(), float: ArrayString::new_const() }
    }
}

impl Scratch {
    /// Shortest round-trip decimal, positional, no trailing `.0`, negative zero as `0`.
    fn float(&mut self, f: f64) -> &str {
        self.float.clear();
        // Rust's Display for floats is exactly that text but for the sign of zero. The buffer holds
        // the longest one, so the write cannot fail.
        let _ = write!(self.float, "{}", if f == 0.0 { 0.0 } else { f });
        &self.float
    }
}

macro_rules! value_from {
    ($($from:ty => |$v:ident| $to:expr),* $(,)?) => {
        $(impl<'a> From<$from> for Value<'a> {
            fn from($v: $from) -> Self { $to }
        })*
    };
}

value_from! {
    bool => |v| Value::Bool(v),
    i8 => |v| Value::Int(i64::from(v)),
    i16 => |v| Value::Int(i64::from(v)),
    i32 => |v| Value::Int(i64::from(v)),
    i64 => |v| Value::Int(v),
    u8 => |v| Value::Int(i64::from(v)),
    u16 => |v| Value::Int(i64::from(v)),
    u32 => |v| Value::Int(i64::from(v)),
    u64 => |v| Value::Unsigned(v),
    usize => |v| Value::Unsigned(u64::try_from(v).unwrap_or(u64::MAX)),
    // Its shortest decimal is what it means: 0.1 is 0.1.
    f32 => |v| Value::Float(v.to_string().parse().unwrap_or(f64::from(v))),
    f64 => |v| Value::Float(v),
    &'a str => |v| Value::Text(v),
    &'a String => |v| Value::Text(v),
    &'a [u8] => |v| Value::Bytes(v),
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

/// A value that a rule holds: the right side of `eq` and the members of `one_of`.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// Holds for an absent or null property.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A finite float.
    Float(f64),
    /// Text.
    Text(String),
    /// Bytes that are not UTF-8.
    Bytes(Vec<u8>),
}

impl Scalar {
    /// Same type and value; integer and float compare by number; no other coercion.
    pub fn equals(&self, value: &Value<'_>) -> bool {
        match (self, value) {
            (Self::Null, Value::Null) => true,
            (Self::Bool(a), Value::Bool(b)) => a == b,
            (Self::Int(a), Value::Int(b)) => a == b,
            (Self::Float(a), Value::Float(b)) => a == b,
            (Self::Int(a), Value::Float(b)) | (Self::Float(b), Value::Int(a)) => same_number(*a, *b),
            (Self::Text(a), Value::Text(b)) => a == b,
            (Self::Bytes(a), Value::Bytes(b)) => a == b,
            // Beyond i64: its text.
            (Self::Text(a), Value::Unsigned(b)) => *a == *itoa::Buffer::new().format(*b),
            _ => false,
        }
    }
}

/// Exact: a double beyond 2^53 is not every integer that rounds to it.
fn same_number(integer: i64, float: f64) -> bool {
    float.fract() == 0.0 && numbers::cut_to_i128(float) == i128::from(integer)
}

impl From<&str> for Scalar {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Scalar {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Scalar {
    fn from(n: i64) -> Self {
        Self::Int(n)
    }
}

impl From<u64> for Scalar {
    fn from(n: u64) -> Self {
        i64::try_from(n).map_or_else(|_| Self::Text(n.to_string()), Self::Int)
    }
}

impl From<f64> for Scalar {
    fn from(n: f64) -> Self {
        Self::Float(n)
    }
}

impl From<bool> for Scalar {
    fn from(flag: bool) -> Self {
        Self::Bool(flag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: Value<'_>) -> String {
        let mut scratch = Scratch::default();
        String::from_utf8(value.text(&mut scratch).expect("a text form").to_vec()).expect("UTF-8")
    }

    #[test]
    fn floats_are_shortest_and_positional() {
        for (f, expected) in [
            (1.0, "1"),
            (-0.0, "0"),
            (0.1, "0.1"),
            (1e20, "100000000000000000000"),
            (1e-7, "0.0000001"),
            (503.5, "503.5"),
        ] {
            assert_eq!(text(Value::Float(f)), expected);
        }
        assert_eq!(text(Value::Float(5e-324)).len(), 326);
        assert_eq!(text(Value::Float(f64::MIN)).len(), 310);
    }

    #[test]
    fn a_short_float_is_what_it_means() {
        for f in [0.1_f32, f32::MAX, f32::MIN_POSITIVE, -0.0, 16_777_216.0] {
            assert_eq!(text(Value::from(f)), if f == 0.0 { "0".to_owned() } else { f.to_string() });
        }
        assert!(Scalar::Float(0.1).equals(&Value::from(0.1_f32)));
        assert!(matches!(Value::from(f32::NAN), Value::Float(f) if f.is_nan()));
        assert!(matches!(Value::from(f32::NEG_INFINITY), Value::Float(f) if f == f64::NEG_INFINITY));
    }

    #[test]
    fn integers_and_floats_compare_by_number_exactly() {
        assert!(Scalar::Int(1).equals(&Value::Float(1.0)));
        assert!(!Scalar::Int(9_007_199_254_740_993).equals(&Value::Float(9_007_199_254_740_992.0)));
        assert!(!Scalar::Int(i64::MAX).equals(&Value::Float(9_223_372_036_854_775_808.0)));
        assert!(!Scalar::Int(1).equals(&Value::Text("1")));
        assert!(!Scalar::Int(1).equals(&Value::Bool(true)));
        assert!(!Scalar::Text(String::new()).equals(&Value::Null));
        let large = Value::from(u64::MAX).normalized().expect("a good value");
        assert!(Scalar::from("18446744073709551615").equals(&large) && Scalar::from(u64::MAX).equals(&large));
        assert!(Scalar::from(7_u64).equals(&Value::from(7_u64).normalized().expect("a good value")));
    }
}
