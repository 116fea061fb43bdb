//! The identifier of one call.

use crate::status::Status;
use crate::wire::Reader;
use labkit_ratelimit::{Identifier, RulesRef, Value};
use smallvec::SmallVec;

/// What a call brings. It is read where it stands: it is large.
#[derive(Default)]
pub(crate) struct Facts<'a> {
    /// By the places of [`labkit_ratelimit::Rules::properties`].
    placed: SmallVec<[Value<'a>; 8]>,
    /// By name, where the host goes by no rules.
    named: Option<Vec<(&'a str, Value<'a>)>>,
}

impl<'a> Facts<'a> {
    /// Reads one value for each property of the rules that have this serial number, in their order; or with 0, pairs of
    /// a name and a value in any order. Gives whether those are the rules in force.
    pub(crate) fn read(&mut self, serial: u64, rules: &RulesRef, bytes: &'a [u8]) -> Result<bool, Status> {
        let mut reader = Reader::new(bytes);
        if serial == 0 {
            let mut pairs = Vec::new();
            while !reader.is_at_end() {
                pairs.push((reader.text()?, reader.value()?));
            }
            self.named = Some(pairs);
            return Ok(true);
        }
        if serial != rules.serial() {
            return Ok(false);
        }
        while !reader.is_at_end() {
            self.placed.push(reader.value()?);
        }
        Ok(true)
    }
}

impl Identifier for Facts<'_> {
    fn value(&self, slot: usize, property: &str) -> Value<'_> {
        match &self.named {
            None => self.placed.get(slot).copied().unwrap_or(Value::Null),
            Some(pairs) => pairs.as_slice().value(slot, property),
        }
    }

    fn each_name(&self, each: &mut dyn FnMut(&str)) {
        match &self.named {
            // The host has more of them than it handed over, and puts them into the log itself.
            None => each(""),
            Some(pairs) => pairs.as_slice().each_name(each),
        }
    }
}
