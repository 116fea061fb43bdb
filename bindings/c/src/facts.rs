//! The identifier of one call.

use crate::status::Status;
use crate::wire::Reader;
use labkit_ratelimit::{Identifier, Value};
use smallvec::SmallVec;

/// What a call brings.
pub(crate) enum Facts<'a> {
    /// By the places of [`labkit_ratelimit::Rules::properties`].
    Placed(SmallVec<[Value<'a>; 8]>),
    /// By name.
    Named(Vec<(&'a str, Value<'a>)>),
}

impl<'a> Facts<'a> {
    /// None at all.
    pub(crate) const fn none() -> Self {
        Self::Named(Vec::new())
    }

    /// Values alone: one for each property of the rules, in their order.
    pub(crate) fn placed(bytes: &'a [u8]) -> Result<Self, Status> {
        let (mut reader, mut values) = (Reader::new(bytes), SmallVec::new());
        while !reader.is_at_end() {
            values.push(reader.value()?);
        }
        Ok(Self::Placed(values))
    }

    /// Pairs of a name and a value, in any order.
    pub(crate) fn named(bytes: &'a [u8]) -> Result<Self, Status> {
        let (mut reader, mut pairs) = (Reader::new(bytes), Vec::new());
        while !reader.is_at_end() {
            pairs.push((reader.text()?, reader.value()?));
        }
        Ok(Self::Named(pairs))
    }
}

impl Identifier for Facts<'_> {
    fn value(&self, slot: usize, property: &str) -> Value<'_> {
        match self {
            Self::Placed(values) => values.get(slot).copied().unwrap_or(Value::Null),
            Self::Named(pairs) => pairs.as_slice().value(slot, property),
        }
    }

    fn each_name(&self, each: &mut dyn FnMut(&str)) {
        match self {
            // The host has more of them than it handed over, and puts them into the log itself.
            Self::Placed(_) => each(""),
            Self::Named(pairs) => pairs.as_slice().each_name(each),
        }
    }
}
