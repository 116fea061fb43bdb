//! Ruby values as facts: what a property's value is, as the table of the contract says.

use magnus::rb_sys::{AsRawValue as _, FromRawValue as _};
use magnus::value::{Fixnum, Lazy, Qfalse, Qtrue};
use magnus::{
    Error, ExceptionClass, Float, Integer, RArray, RHash, RRational, RString, Ruby, Symbol, Value, prelude::*,
};
use std::borrow::Cow;

static STANDARD_ERROR: Lazy<ExceptionClass> = Lazy::new(Ruby::exception_standard_error);

/// One property's value. Text stays in Ruby's String.
#[derive(Clone)]
pub(crate) enum Fact {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// Bytes of this String, whatever its encoding says of them.
    Text(RString),
    /// The bytes of one, copied.
    Copy(Box<[u8]>),
    /// It cannot be a fact; the words say what it is.
    Bad(Cow<'static, str>),
}

impl Fact {
    /// What costs least to tell, and most values are. Calls nothing of Ruby's.
    #[inline]
    pub(crate) fn plain(value: Value) -> Option<Self> {
        if value.is_nil() {
            return Some(Self::Null);
        }
        if let Some(text) = RString::from_value(value) {
            return Some(Self::Text(text));
        }
        if let Some(n) = Fixnum::from_value(value) {
            return Some(Self::Int(n.to_i64()));
        }
        if let Some(symbol) = Symbol::from_value(value) {
            return Some(Self::Text(text_of(symbol)));
        }
        if Qtrue::from_value(value).is_some() {
            return Some(Self::Bool(true));
        }
        if Qfalse::from_value(value).is_some() {
            return Some(Self::Bool(false));
        }
        Float::from_value(value).map(|f| Self::Float(f.to_f64()))
    }

    /// Any value. May call a method of it.
    ///
    /// # Errors
    /// An exception of that method that is no `StandardError`.
    #[cold]
    pub(crate) fn odd(ruby: &Ruby, value: Value) -> Result<Self, Error> {
        if let Some(plain) = Self::plain(value) {
            return Ok(plain);
        }
        if RArray::from_value(value).is_some() {
            return Ok(Self::Bad("a list".into()));
        }
        if RHash::from_value(value).is_some() {
            return Ok(Self::Bad("a map".into()));
        }
        let done = if let Some(integer) = Integer::from_value(value) {
            integer.to_i64().map(Self::Int).or_else(|_| integer.funcall("to_s", ()).map(Self::Text))
        } else if is_decimal(value) {
            value.funcall("to_f", ()).map(Self::Float)
        } else {
            return Self::by_its_text(ruby, value);
        };
        done.or_else(|error| failed(ruby, error, "a number that fails"))
    }

    /// The same, with no text left in Ruby.
    pub(crate) fn copied(self) -> Self {
        match self {
            // SAFETY: the bytes are copied before anything else happens.
            Self::Text(text) => Self::Copy(unsafe { text.as_slice() }.into()),
            other => other,
        }
    }

    /// An object whose class brings a text of its own.
    fn by_its_text(ruby: &Ruby, value: Value) -> Result<Self, Error> {
        match has_own_text(ruby, value) {
            Ok(true) => {}
            Ok(false) => return Ok(Self::Bad("an object without a text of its own".into())),
            Err(error) => return failed(ruby, error, "an object without a text of its own"),
        }
        match value.funcall::<_, _, Value>("to_s", ()) {
            Ok(text) => {
                Ok(RString::from_value(text)
                    .map_or(Self::Bad("an object whose to_s gives no String".into()), Self::Text))
            }
            Err(error) => failed(ruby, error, "an object whose to_s fails"),
        }
    }
}

/// The name of a Symbol, which lives as long as it does.
fn text_of(symbol: Symbol) -> RString {
    // SAFETY: a Symbol's name is a String, and asking for it raises nothing.
    let name = unsafe { Value::from_raw(rb_sys::rb_sym2str(symbol.as_raw())) };
    RString::from_value(name).unwrap_or_else(|| unreachable!("the name of a Symbol is a String"))
}

/// Rational, and the `BigDecimal` of the library of that name.
pub(crate) fn is_decimal(value: Value) -> bool {
    // SAFETY: the name of a class is read, and not kept.
    RRational::from_value(value).is_some() || unsafe { value.classname() } == "BigDecimal"
}

/// Whether somebody defined `to_s` for it: not Ruby itself for every object.
fn has_own_text(ruby: &Ruby, value: Value) -> Result<bool, Error> {
    let method: Value = value.class().funcall("instance_method", (ruby.to_symbol("to_s"),))?;
    let owner: Value = method.funcall("owner", ())?;
    Ok(!owner.equal(ruby.module_kernel())?)
}

/// A `StandardError` makes the value a bad one; what else was raised is not ours.
fn failed(ruby: &Ruby, error: Error, what: &str) -> Result<Fact, Error> {
    if !error.is_kind_of(ruby.get_inner(&STANDARD_ERROR)) {
        return Err(error);
    }
    Ok(Fact::Bad(format!("{what} ({})", class_of(&error)).into()))
}

/// The class of an exception.
pub(crate) fn class_of(error: &Error) -> String {
    match error.error_type() {
        // SAFETY: the name is copied at once.
        magnus::error::ErrorType::Exception(exception) => unsafe { exception.classname() }.into_owned(),
        // SAFETY: the same.
        magnus::error::ErrorType::Error(class, _) => unsafe { class.name() }.into_owned(),
        magnus::error::ErrorType::Jump(tag) => tag.to_string(),
    }
}

/// Whether an exception is one that a check turns into a failure.
pub(crate) fn is_standard(ruby: &Ruby, error: &Error) -> bool {
    error.is_kind_of(ruby.get_inner(&STANDARD_ERROR))
}
