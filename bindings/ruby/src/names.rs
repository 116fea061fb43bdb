//! The Symbols of properties.

use magnus::{RHash, Ruby, Symbol, Value, prelude::*, rb_sys::AsRawValue as _};
use parking_lot::Mutex;
use rb_sys::VALUE;
use std::collections::HashMap;

/// Those that were made already. Each is pinned for ever, as every name that Ruby itself interns is: a process knows
/// few properties.
static SYMBOLS: Mutex<Option<HashMap<Box<str>, VALUE>>> = Mutex::new(None);

/// The Symbol of a property, pinned: it neither moves nor goes.
pub(crate) fn symbol(ruby: &Ruby, name: &str) -> VALUE {
    if let Some(known) = SYMBOLS.lock().get_or_insert_default().get(name) {
        return *known;
    }
    let symbol = ruby.to_symbol(name);
    ruby.gc_register_mark_object(symbol);
    let symbol = symbol.as_raw();
    SYMBOLS.lock().get_or_insert_default().insert(name.into(), symbol);
    symbol
}

/// The text of a Symbol or a String.
pub(crate) fn word(value: Value) -> Option<String> {
    if let Some(symbol) = Symbol::from_value(value) {
        return symbol.name().ok().map(std::borrow::Cow::into_owned);
    }
    magnus::RString::from_value(value).and_then(|text| text.to_string().ok())
}

/// What `hash` holds under the Symbol `key`; nil is nothing.
pub(crate) fn entry(ruby: &Ruby, hash: RHash, key: &str) -> Option<Value> {
    hash.get(ruby.to_symbol(key)).filter(|value| !value.is_nil())
}
