//! What the engine asks of its host: the answer of a pattern object, the number of a callable.

use crate::value::Value;

/// A pattern object of the host (a Ruby `Regexp`, a Python `re.Pattern`), known by a number that the
/// host chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PatternId(pub u32);

/// A callable of the host, known by a number that the host chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallableId(pub u32);

/// What a callable returned, before it is checked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HostNumber {
    /// An integer of any usual width.
    Int(i128),
    /// A float; a fraction is cut off, NaN and the infinities are failures.
    Float(f64),
}

/// A failure inside the host: an exception of a callable, a pattern that timed out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostError {
    /// The class or type of the host's error, for the log.
    pub class_name: String,
    /// Its message, for the log.
    pub message: String,
}

impl HostError {
    /// An error of `class_name` saying `message`.
    pub fn new(class_name: impl Into<String>, message: impl Into<String>) -> Self {
        Self { class_name: class_name.into(), message: message.into() }
    }
}

/// The host of one check. Asked lazily: a pattern only where every cheaper matcher of its rule
/// holds, a callable only for a rule that matches.
pub trait Host {
    /// Whether the pattern is found in `value`; absent and null come as [`Value::Null`] and are
    /// matched as `""`.
    ///
    /// # Errors
    /// The host's own failure, a time-out included.
    fn matches(&self, pattern: PatternId, value: Value<'_>) -> Result<bool, HostError>;

    /// The number that the callable returns in this call.
    ///
    /// # Errors
    /// The host's own failure, and a value that is no number.
    fn number(&self, callable: CallableId) -> Result<HostNumber, HostError>;
}

/// The host of rules that hold neither patterns nor callables of a host: asked anyway, it fails.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHost;

impl Host for NoHost {
    fn matches(&self, _: PatternId, _: Value<'_>) -> Result<bool, HostError> {
        Err(HostError::new("NoHost", "a rule holds a pattern object, and nobody was given to run it"))
    }

    fn number(&self, _: CallableId) -> Result<HostNumber, HostError> {
        Err(HostError::new("NoHost", "a rule holds a callable, and nobody was given to call it"))
    }
}
