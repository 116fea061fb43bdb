//! The value of one property of a request.

use labkit_ratelimit::Value;
use std::borrow::Cow;
use std::fmt;

/// A value, whose text is owned, borrowed, or either. Text need not be UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Property<T> {
    Absent,
    Flag(bool),
    Integer(i64),
    /// The bits of a float, so that equal values have equal hashes.
    Number(u64),
    Text(T),
    /// A value that no property can have; the word says what it is.
    Bad(&'static str),
}

impl<T: AsRef<[u8]>> Property<T> {
    /// The same value, its text borrowed.
    pub(crate) fn as_bytes(&self) -> Property<&[u8]> {
        match self {
            Self::Absent => Property::Absent,
            Self::Flag(flag) => Property::Flag(*flag),
            Self::Integer(n) => Property::Integer(*n),
            Self::Number(bits) => Property::Number(*bits),
            Self::Text(text) => Property::Text(text.as_ref()),
            Self::Bad(kind) => Property::Bad(kind),
        }
    }

    /// As the limiter takes it.
    pub(crate) fn value(&self) -> Value<'_> {
        match self {
            Self::Absent => Value::Null,
            Self::Flag(flag) => Value::Bool(*flag),
            Self::Integer(n) => Value::Int(*n),
            Self::Number(bits) => Value::Float(f64::from_bits(*bits)),
            Self::Text(text) => Value::Bytes(text.as_ref()),
            Self::Bad(kind) => Value::Bad(kind),
        }
    }
}

impl Property<&[u8]> {
    pub(crate) fn to_owned(self) -> Property<Box<[u8]>> {
        match self {
            Self::Absent => Property::Absent,
            Self::Flag(flag) => Property::Flag(flag),
            Self::Integer(n) => Property::Integer(n),
            Self::Number(bits) => Property::Number(bits),
            Self::Text(text) => Property::Text(text.into()),
            Self::Bad(kind) => Property::Bad(kind),
        }
    }
}

impl<'a> From<&'a [u8]> for Property<Cow<'a, [u8]>> {
    fn from(text: &'a [u8]) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

/// The text form that counters are keyed by; absent is empty.
impl<T: AsRef<[u8]>> fmt::Display for Property<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => Ok(()),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Integer(n) => write!(f, "{n}"),
            Self::Number(bits) => {
                let n = f64::from_bits(*bits);
                write!(f, "{}", if n == 0.0 { 0.0 } else { n })
            }
            Self::Text(text) => f.write_str(&String::from_utf8_lossy(text.as_ref())),
            Self::Bad(kind) => write!(f, "({kind})"),
        }
    }
}
