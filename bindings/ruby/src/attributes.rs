//! The attributes of one call: what its Hash holds for the properties that the rules mention.

use crate::fact::Fact;
use crate::names;
use labkit_ratelimit::{Identifier, RulesRef, Value as Property};
use magnus::r_hash::ForEach;
use magnus::rb_sys::{AsRawValue as _, FromRawValue as _, protect};
use magnus::{Error, Object as _, RHash, RModule, Ruby, Symbol, Value, function, prelude::*};
use rb_sys::VALUE;
use smallvec::SmallVec;

/// So many properties are looked up at once, and kept on the stack, where the garbage collector sees them.
const AT_ONCE: usize = 8;

/// The rules in force, and what a call needs to know of them.
pub(crate) struct InForce {
    pub(crate) rules: RulesRef,
    /// Rises when rules are replaced.
    pub(crate) version: u64,
    /// The Symbols of the properties, by slot.
    symbols: Box<[VALUE]>,
    /// Text must be copied: Ruby runs while the library has it.
    copies: bool,
}

impl InForce {
    pub(crate) fn new(ruby: &Ruby, rules: RulesRef, version: u64) -> Self {
        let symbols: Box<[VALUE]> = rules.properties().map(|name| names::symbol(ruby, name)).collect();
        let copies = symbols.len() > AT_ONCE || rules.asks_host();
        Self { rules, version, symbols, copies }
    }

    /// The Symbols of the properties that are looked at.
    pub(crate) fn properties(&self) -> impl Iterator<Item = Value> {
        // SAFETY: they are pinned for ever.
        self.symbols.iter().map(|symbol| unsafe { Value::from_raw(*symbol) })
    }
}

/// What a call brings, by slot.
pub(crate) struct Attributes {
    hash: RHash,
    facts: SmallVec<[Fact; AT_ONCE]>,
}

impl Attributes {
    /// The names alone, for the log.
    pub(crate) fn names_of(hash: RHash) -> Self {
        Self { hash, facts: SmallVec::new() }
    }

    /// Looks up what the rules mention.
    ///
    /// # Errors
    /// Exceptions of a value's `to_s` that are no `StandardError`.
    pub(crate) fn gather(ruby: &Ruby, hash: RHash, in_force: &InForce) -> Result<Self, Error> {
        let mut gathered = Self::names_of(hash);
        if in_force.copies {
            gathered.copy_one_by_one(ruby, in_force)?;
        } else {
            gathered.take_at_once(ruby, in_force)?;
        }
        Ok(gathered)
    }

    fn take_at_once(&mut self, ruby: &Ruby, in_force: &InForce) -> Result<(), Error> {
        let mut found = [ruby.qnil().as_value(); AT_ONCE];
        let symbols = &in_force.symbols;
        look_up(self.hash, symbols, &mut found)?;
        let mut odd = false;
        for value in &found[..symbols.len()] {
            self.facts.push(Fact::plain(*value).unwrap_or_else(|| {
                odd = true;
                Fact::Null
            }));
        }
        if odd {
            // Here Ruby runs, while no text was borrowed yet.
            for (fact, value) in self.facts.iter_mut().zip(&found) {
                *fact = Fact::odd(ruby, *value)?;
            }
        }
        Ok(())
    }

    #[cold]
    fn copy_one_by_one(&mut self, ruby: &Ruby, in_force: &InForce) -> Result<(), Error> {
        for symbol in &in_force.symbols {
            let mut found = [ruby.qnil().as_value()];
            look_up(self.hash, std::slice::from_ref(symbol), &mut found)?;
            self.facts.push(Fact::odd(ruby, found[0])?.copied());
        }
        Ok(())
    }
}

/// Whether every name in a Hash is a Symbol, and none is `but`.
fn is_plain(hash: RHash, but: Symbol) -> Result<bool, Error> {
    let but = but.as_raw();
    let mut plain = true;
    hash.foreach(|key: Value, _: Value| {
        plain = key.as_raw() != but && Symbol::from_value(key).is_some();
        Ok(if plain { ForEach::Continue } else { ForEach::Stop })
    })?;
    Ok(plain)
}

pub(crate) fn define(native: RModule) -> Result<(), Error> {
    native.define_singleton_method("plain?", function!(is_plain, 2))
}

/// The values of `symbols`, nil where there is none: no default of the Hash is asked for.
fn look_up(hash: RHash, symbols: &[VALUE], found: &mut [Value]) -> Result<(), Error> {
    let nil = found.first().map_or(0, |nil| nil.as_raw());
    protect(|| {
        for (symbol, place) in symbols.iter().zip(found) {
            // SAFETY: a Hash and a Symbol, both alive. A key that is no Symbol and has its hash may be asked whether it
            // is equal, and raise: under `protect`, over a frame that owns nothing.
            *place = unsafe { Value::from_raw(rb_sys::rb_hash_lookup2(hash.as_raw(), *symbol, nil)) };
        }
        nil
    })
    .map(drop)
}

impl Identifier for Attributes {
    fn value(&self, slot: usize, _: &str) -> Property<'_> {
        match self.facts.get(slot) {
            Some(Fact::Bool(flag)) => Property::Bool(*flag),
            Some(Fact::Int(n)) => Property::Int(*n),
            Some(Fact::Float(f)) => Property::Float(*f),
            // SAFETY: the String is on this call's stack, so it stays and does not move; and no Ruby runs that could
            // change it: where the rules ask their host, text was copied.
            Some(Fact::Text(text)) => Property::Bytes(unsafe { text.as_slice() }),
            Some(Fact::Copy(bytes)) => Property::Bytes(bytes),
            Some(Fact::Bad(what)) => Property::Bad(what),
            Some(Fact::Null) | None => Property::Null,
        }
    }

    fn each_name(&self, each: &mut dyn FnMut(&str)) {
        // A Hash that cannot be walked through has names that nobody knows.
        let _ = self.hash.foreach(|key: Value, _: Value| {
            if let Some(name) = names::word(key) {
                each(&name);
            }
            Ok(ForEach::Continue)
        });
    }
}
