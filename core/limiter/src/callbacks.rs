//! Rules with numbers and patterns of the host, in Rust: closures.

use crate::panics::panic_message;
use labkit_ratelimit_engine::{CallableId, Host, HostError, HostNumber, NoHost, PatternId, Value};
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a call of a limiter brings for its callables.
pub type Context<'a> = Option<&'a (dyn Any + Send + Sync)>;

type Number = Box<dyn Fn(Context<'_>) -> Result<HostNumber, HostError> + Send + Sync>;
type Pattern = Box<dyn Fn(&str) -> Result<bool, HostError> + Send + Sync>;

/// The closures that a limiter's rules name.
///
/// ```
/// use labkit_ratelimit::{CallOptions, Callbacks, HostNumber, Limiter, RuleSpec, Value};
/// struct Plan { limit: i128 }
///
/// let mut callbacks = Callbacks::default();
/// let by_plan = callbacks.number_with_context(|context| {
///     let plan = context.and_then(|c| c.downcast_ref::<Plan>());
///     Ok(HostNumber::Int(plan.map_or(1, |plan| plan.limit)))
/// });
/// let limiter = Limiter::builder("imports")
///     .rule(RuleSpec::limit("per_user", by_plan, 60).characteristics(["user"]))
///     .callbacks(callbacks)
///     .build()?;
/// let user = [("user", Value::from(42))];
/// let paid = Plan { limit: 3 };
/// let decision = limiter.check_with(&user, CallOptions::default().context(&paid));
/// assert_eq!(decision.info().map(|info| info.remaining), Some(2.0));
/// # Ok::<(), labkit_ratelimit::BuildError>(())
/// ```
#[derive(Default)]
pub struct Callbacks {
    numbers: Vec<Number>,
    patterns: Vec<Pattern>,
}

impl Callbacks {
    /// A number that is asked for anew in each check.
    pub fn number(&mut self, f: impl Fn() -> Result<HostNumber, HostError> + Send + Sync + 'static) -> CallableId {
        self.number_with_context(move |_| f())
    }

    /// A number that depends on the call's context.
    pub fn number_with_context(
        &mut self,
        f: impl Fn(Context<'_>) -> Result<HostNumber, HostError> + Send + Sync + 'static,
    ) -> CallableId {
        self.numbers.push(Box::new(f));
        CallableId(place(self.numbers.len()))
    }

    /// A pattern that is asked of a property's text form; absent and null as `""`.
    pub fn pattern(&mut self, f: impl Fn(&str) -> Result<bool, HostError> + Send + Sync + 'static) -> PatternId {
        self.patterns.push(Box::new(f));
        PatternId(place(self.patterns.len()))
    }

    pub(crate) const fn host<'a>(&'a self, context: Context<'a>) -> CallbackHost<'a> {
        CallbackHost { callbacks: self, context }
    }
}

/// The place of the last of `len`.
fn place(len: usize) -> u32 {
    u32::try_from(len - 1).unwrap_or(u32::MAX)
}

impl fmt::Debug for Callbacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Callbacks({} numbers, {} patterns)", self.numbers.len(), self.patterns.len())
    }
}

pub(crate) struct CallbackHost<'a> {
    callbacks: &'a Callbacks,
    context: Context<'a>,
}

fn at<T>(list: &[T], place: u32) -> Option<&T> {
    list.get(usize::try_from(place).unwrap_or(usize::MAX))
}

/// A closure that panics fails: a check does not end of it.
fn guarded<T>(f: impl FnOnce() -> Result<T, HostError>) -> Result<T, HostError> {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|panic| Err(HostError::new("panic", panic_message(&*panic))))
}

impl Host for CallbackHost<'_> {
    fn matches(&self, pattern: PatternId, value: Value<'_>) -> Result<bool, HostError> {
        let Some(matches) = at(&self.callbacks.patterns, pattern.0) else { return NoHost.matches(pattern, value) };
        let mut scratch = labkit_ratelimit_engine::Scratch::default();
        let text = value.text(&mut scratch).map(std::str::from_utf8).transpose();
        text.map_or(Ok(false), |text| guarded(|| matches(text.unwrap_or_default())))
    }

    fn number(&self, callable: CallableId) -> Result<HostNumber, HostError> {
        let found = at(&self.callbacks.numbers, callable.0);
        found.map_or_else(|| NoHost.number(callable), |number| guarded(|| number(self.context)))
    }
}
