//! Rules as Hashes, for Ruby to show: those of documents above all.

use crate::placeholder::{Callable, Pattern};
use labkit_ratelimit::{MatcherSpec, NumberSpec, OverrideSpec, RuleSpec, RulesRef, Scalar};
use magnus::{Error, IntoValue as _, RArray, RHash, Ruby, Value, prelude::*};

/// Rules in chain order, as they were written.
///
/// # Errors
/// Ruby has no memory for them.
pub(crate) fn rules(ruby: &Ruby, rules: &RulesRef) -> Result<RArray, Error> {
    ruby.ary_try_from_iter(rules.specs().iter().map(|spec| rule(ruby, spec)))
}

/// A rule as it was written.
///
/// # Errors
/// Ruby has no memory for it.
pub(crate) fn rule(ruby: &Ruby, spec: &RuleSpec) -> Result<Value, Error> {
    let hash = ruby.hash_new();
    let set = |key: &str, value: Value| hash.aset(ruby.to_symbol(key), value);
    set("name", text(ruby, &spec.name))?;
    set("action", text(ruby, spec.action.as_str()))?;
    set("match", pairs(ruby, &spec.matchers)?)?;
    let characteristics = ruby.ary_from_iter(spec.characteristics.iter().map(|name| text(ruby, name)));
    characteristics.freeze();
    set("characteristics", characteristics.as_value())?;
    numbers(ruby, hash, [spec.limit, spec.period_s, spec.burst, spec.ban_for_s])?;
    set("count_distinct", optional(ruby, spec.count_distinct.as_deref()))?;
    set("algorithm", text(ruby, spec.algorithm.as_str()))?;
    set("final", spec.is_final.into_value_with(ruby))?;
    let overrides = ruby.ary_try_from_iter(spec.overrides.iter().map(|other| replacement(ruby, other)))?;
    overrides.freeze();
    set("overrides", overrides.as_value())?;
    set("description", optional(ruby, spec.description.as_deref()))?;
    hash.freeze();
    Ok(hash.as_value())
}

fn replacement(ruby: &Ruby, spec: &OverrideSpec) -> Result<Value, Error> {
    let hash = ruby.hash_new();
    hash.aset(ruby.to_symbol("match"), pairs(ruby, &spec.matchers)?)?;
    numbers(ruby, hash, [spec.limit, spec.period_s, spec.burst, spec.ban_for_s])?;
    hash.freeze();
    Ok(hash.as_value())
}

fn numbers(ruby: &Ruby, hash: RHash, numbers: [NumberSpec; 4]) -> Result<(), Error> {
    for (key, number) in ["limit", "period_s", "burst", "ban_for_s"].into_iter().zip(numbers) {
        let value = match number {
            NumberSpec::Absent | NumberSpec::Reported => ruby.qnil().as_value(),
            NumberSpec::Int(n) => ruby.integer_from_i128(n).as_value(),
            NumberSpec::Float(f) => ruby.float_from_f64(f).as_value(),
            NumberSpec::Callable(id) => ruby.obj_wrap(Callable::new(id.0)).as_value(),
        };
        hash.aset(ruby.to_symbol(key), value)?;
    }
    Ok(())
}

fn pairs(ruby: &Ruby, matchers: &[(String, MatcherSpec)]) -> Result<Value, Error> {
    let hash = ruby.hash_new();
    for (key, spec) in matchers {
        hash.aset(text(ruby, key), matcher(ruby, spec)?)?;
    }
    hash.freeze();
    Ok(hash.as_value())
}

fn matcher(ruby: &Ruby, spec: &MatcherSpec) -> Result<Value, Error> {
    Ok(match spec {
        MatcherSpec::Scalar(Scalar::Null) => ruby.qnil().as_value(),
        MatcherSpec::Scalar(Scalar::Bool(flag)) => flag.into_value_with(ruby),
        MatcherSpec::Scalar(Scalar::Int(n)) => n.into_value_with(ruby),
        MatcherSpec::Scalar(Scalar::Float(f)) => f.into_value_with(ruby),
        MatcherSpec::Scalar(Scalar::Text(word)) => text(ruby, word),
        MatcherSpec::Scalar(Scalar::Bytes(bytes)) => ruby.str_from_slice(bytes).as_value(),
        // No rule that was built holds one.
        MatcherSpec::BadScalar(what) => text(ruby, what),
        MatcherSpec::Pattern(id) => ruby.obj_wrap(Pattern::new(id.0)).as_value(),
        MatcherSpec::Map(entries) => pairs(ruby, entries)?,
        MatcherSpec::List(entries) => {
            let list = ruby.ary_try_from_iter(entries.iter().map(|entry| matcher(ruby, entry)))?;
            list.freeze();
            list.as_value()
        }
    })
}

fn text(ruby: &Ruby, text: &str) -> Value {
    ruby.str_new(text).to_interned_str().as_value()
}

fn optional(ruby: &Ruby, word: Option<&str>) -> Value {
    word.map_or_else(|| ruby.qnil().as_value(), |word| text(ruby, word))
}
