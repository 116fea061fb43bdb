//! The scripts, as Ruby gets them.

use labkit_ratelimit::Script;
use magnus::rb_sys::{AsRawValue as _, FromRawValue as _};
use magnus::{Error, RArray, Ruby, Value, prelude::*};
use parking_lot::Mutex;
use rb_sys::VALUE;

/// `[digest, text]` of each script that was asked for, pinned for ever: there are few.
static SHOWN: Mutex<Vec<(&'static Script, VALUE)>> = Mutex::new(Vec::new());

/// `[digest, text]`: the same frozen objects each time.
pub(crate) fn shown(ruby: &Ruby, script: &'static Script) -> Result<Value, Error> {
    let known = SHOWN.lock().iter().find(|(known, _)| std::ptr::eq(*known, script)).map(|(_, pair)| *pair);
    if let Some(pair) = known {
        // SAFETY: it is pinned for ever.
        return Ok(unsafe { Value::from_raw(pair) });
    }
    let pair = ruby.ary_new_capa(2);
    pair.push(ruby.str_new(script.digest()).to_interned_str())?;
    pair.push(ruby.str_new(script.source()).to_interned_str())?;
    pair.freeze();
    ruby.gc_register_mark_object(pair);
    SHOWN.lock().push((script, pair.as_raw()));
    Ok(pair.as_value())
}

/// KEYS or ARGV, as binary Strings.
pub(crate) fn binary(ruby: &Ruby, words: &[String]) -> RArray {
    ruby.ary_from_iter(words.iter().map(|word| ruby.str_from_slice(word.as_bytes())))
}
