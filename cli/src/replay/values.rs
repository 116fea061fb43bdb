//! The distinct values of a log, each held once.

use crate::access_log::Property;
use crate::mistake::Mistake;
use indexmap::{Equivalent, IndexSet};

/// The place of a value among the distinct ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ValueId(u32);

impl ValueId {
    /// The value that an absent property has.
    pub(crate) const ABSENT: Self = Self(0);
}

type Held = Property<Box<[u8]>>;

/// Distinct values, numbered as they come.
#[derive(Debug)]
pub(crate) struct Values {
    held: IndexSet<Held>,
    /// For each value the one that counters take it for: the text `42` for the integer, absent for empty text.
    counted_as: Vec<ValueId>,
}

impl Equivalent<Held> for Property<&[u8]> {
    fn equivalent(&self, held: &Held) -> bool {
        *self == held.as_bytes()
    }
}

impl Values {
    pub(crate) fn new() -> Self {
        Self { held: IndexSet::from([Property::Absent]), counted_as: vec![ValueId::ABSENT] }
    }

    /// The place of the value; a new one for a value not seen before.
    pub(crate) fn place(&mut self, value: Property<&[u8]>) -> Result<ValueId, Mistake> {
        if let Some(at) = self.held.get_index_of(&value) {
            return id(at);
        }
        let place = id(self.held.len())?;
        self.held.insert(value.to_owned());
        self.counted_as.push(place);
        self.counted_as[index(place)] = match value {
            Property::Text(b"") => ValueId::ABSENT,
            Property::Flag(_) | Property::Integer(_) | Property::Number(_) => {
                self.place(Property::Text(value.to_string().as_bytes()))?
            }
            Property::Absent | Property::Text(_) | Property::Bad(_) => place,
        };
        Ok(place)
    }

    pub(crate) fn get(&self, id: ValueId) -> &Held {
        // Ids are given by `place` alone.
        self.held.get_index(index(id)).unwrap_or(&Property::Absent)
    }

    /// The value that counters take this one for.
    pub(crate) fn counted_as(&self, id: ValueId) -> ValueId {
        self.counted_as.get(index(id)).copied().unwrap_or(ValueId::ABSENT)
    }
}

fn id(at: usize) -> Result<ValueId, Mistake> {
    u32::try_from(at)
        .map(ValueId)
        .map_err(|_| Mistake::Misuse("the log holds more than 4 billion distinct values: split it".into()))
}

fn index(id: ValueId) -> usize {
    usize::try_from(id.0).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_held_once_and_counted_by_their_text() {
        let mut values = Values::new();
        let text = values.place(Property::Text(b"42")).expect("room");
        let integer = values.place(Property::Integer(42)).expect("room");
        let number = values.place(Property::Number(42_f64.to_bits())).expect("room");
        assert_eq!(values.place(Property::Text(b"42")).expect("room"), text);
        assert_ne!(integer, text);
        assert_eq!([integer, number].map(|id| values.counted_as(id)), [text; 2]);
        let empty = values.place(Property::Text(b"")).expect("room");
        assert_ne!(empty, ValueId::ABSENT);
        assert_eq!(values.counted_as(empty), ValueId::ABSENT);
        assert_eq!(values.place(Property::Absent).expect("room"), ValueId::ABSENT);
    }
}
