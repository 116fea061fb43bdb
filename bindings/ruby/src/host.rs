//! The host of one call: a Ruby object that runs the callables and the patterns that the rules name.

use crate::boundary::Passage;
use crate::fact::{class_of, is_standard};
use crate::host_number;
use labkit_ratelimit::{CallableId, Host, HostError, HostNumber, PatternId, Scratch, Value as Property};
use magnus::error::ErrorType;
use magnus::value::LazyId;
use magnus::{Error, RString, Ruby, Value, prelude::*};

static NUMBER: LazyId = LazyId::new("number");
static MATCHES: LazyId = LazyId::new("matches");

/// Asks `number(id)` and `matches(id, text)` of the object that the call brought.
pub(crate) struct RubyHost<'c> {
    pub(crate) ruby: &'c Ruby,
    pub(crate) host: Value,
    pub(crate) passage: &'c Passage,
}

impl RubyHost<'_> {
    /// A `StandardError` is a failure of the rule. Anything else leaves the library at once.
    fn failure(&self, error: Error) -> HostError {
        if !is_standard(self.ruby, &error) {
            self.passage.leave(error);
        }
        HostError::new(class_of(&error), message_of(&error))
    }
}

/// What an exception says; nothing where it cannot say it.
fn message_of(error: &Error) -> String {
    match error.error_type() {
        ErrorType::Exception(exception) => {
            let said = exception.funcall::<_, _, Value>("message", ()).ok().and_then(RString::from_value);
            // SAFETY: the text is copied at once.
            said.map(|said| unsafe { said.to_string_lossy() }.into_owned()).unwrap_or_default()
        }
        ErrorType::Error(_, message) => message.to_string(),
        ErrorType::Jump(_) => String::new(),
    }
}

impl Host for RubyHost<'_> {
    fn matches(&self, pattern: PatternId, value: Property<'_>) -> Result<bool, HostError> {
        let mut scratch = Scratch::default();
        // Null is asked for as "".
        let text =
            self.ruby.str_new(std::str::from_utf8(value.text(&mut scratch).unwrap_or_default()).unwrap_or_default());
        let answer: Result<Value, Error> =
            self.host.funcall(LazyId::get_inner_with(&MATCHES, self.ruby), (pattern.0, text));
        answer.map(magnus::value::ReprValue::to_bool).map_err(|error| self.failure(error))
    }

    fn number(&self, callable: CallableId) -> Result<HostNumber, HostError> {
        let answer: Result<Value, Error> = self.host.funcall(LazyId::get_inner_with(&NUMBER, self.ruby), (callable.0,));
        match answer.and_then(host_number::read) {
            Ok(Some(number)) => Ok(number),
            Ok(None) => Err(HostError::new("TypeError", "a callable gave no number")),
            Err(error) => Err(self.failure(error)),
        }
    }
}
