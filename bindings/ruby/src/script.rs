//! The scripts, as Ruby gets them.

use labkit_ratelimit::Script;
use magnus::rb_sys::{AsRawValue as _, FromRawValue as _};
use magnus::value::LazyId;
use magnus::{Error, RArray, Ruby, TryConvert as _, Value, prelude::*};
use parking_lot::Mutex;
use rb_sys::VALUE;

static EVALSHA: LazyId = LazyId::new("evalsha");

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
    // Binary as keys are: redis-rb copies what is not.
    let digest = ruby.str_from_slice(script.digest().as_bytes());
    digest.freeze();
    pair.push(digest)?;
    pair.push(ruby.str_new(script.source()).to_interned_str())?;
    pair.freeze();
    ruby.gc_register_mark_object(pair);
    SHOWN.lock().push((script, pair.as_raw()));
    Ok(pair.as_value())
}

/// The whole command, as a client's `call` takes it: `:evalsha`, digest, how many keys, KEYS and ARGV.
pub(crate) fn command(ruby: &Ruby, script: &'static Script, keys: usize, words: &[String]) -> Result<RArray, Error> {
    let shown = RArray::try_convert(shown(ruby, script)?)?;
    let command = ruby.ary_new_capa(3 + words.len());
    command.push(LazyId::get_inner_with(&EVALSHA, ruby))?;
    command.push(shown.entry::<Value>(0)?)?;
    command.push(keys)?;
    for word in words {
        command.push(ruby.str_from_slice(word.as_bytes()))?;
    }
    Ok(command)
}

/// KEYS or ARGV, as binary Strings.
pub(crate) fn binary(ruby: &Ruby, words: &[String]) -> RArray {
    ruby.ary_from_iter(words.iter().map(|word| ruby.str_from_slice(word.as_bytes())))
}
