//! Identifiers: what a caller says of one request.

use crate::value::Value;
use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};

/// A caller's identifier: pairs of name and value in an array, a slice, a `Vec` or a map, or a type of one's own. Of a
/// name that comes twice the first counts.
pub trait Identifier {
    /// The value of `property`, whose place among [`crate::Rules::properties`] is `slot`. Other rules have other
    /// places: go by `slot` only where the rules of the call are known.
    fn value(&self, slot: usize, property: &str) -> Value<'_>;

    /// Calls `each` with the name of every property, mentioned by a rule or not, for the log.
    fn each_name(&self, each: &mut dyn FnMut(&str));
}

impl<K: AsRef<str>> Identifier for [(K, Value<'_>)] {
    fn value(&self, _: usize, property: &str) -> Value<'_> {
        self.iter().find(|(name, _)| name.as_ref() == property).map_or(Value::Null, |(_, value)| *value)
    }

    fn each_name(&self, each: &mut dyn FnMut(&str)) {
        for (name, _) in self {
            each(name.as_ref());
        }
    }
}

impl<K: AsRef<str>, const N: usize> Identifier for [(K, Value<'_>); N] {
    fn value(&self, slot: usize, property: &str) -> Value<'_> {
        self.as_slice().value(slot, property)
    }

    fn each_name(&self, each: &mut dyn FnMut(&str)) {
        self.as_slice().each_name(each);
    }
}

impl<K: AsRef<str>> Identifier for Vec<(K, Value<'_>)> {
    fn value(&self, slot: usize, property: &str) -> Value<'_> {
        self.as_slice().value(slot, property)
    }

    fn each_name(&self, each: &mut dyn FnMut(&str)) {
        self.as_slice().each_name(each);
    }
}

impl<K: Borrow<str> + Eq + Hash, S: BuildHasher> Identifier for HashMap<K, Value<'_>, S> {
    fn value(&self, _: usize, property: &str) -> Value<'_> {
        self.get(property).copied().unwrap_or(Value::Null)
    }

    fn each_name(&self, each: &mut dyn FnMut(&str)) {
        for name in self.keys() {
            each(name.borrow());
        }
    }
}

impl<K: Borrow<str> + Ord> Identifier for BTreeMap<K, Value<'_>> {
    fn value(&self, _: usize, property: &str) -> Value<'_> {
        self.get(property).copied().unwrap_or(Value::Null)
    }

    fn each_name(&self, each: &mut dyn FnMut(&str)) {
        for name in self.keys() {
            each(name.borrow());
        }
    }
}
