//! What stands in a rule for an object that Ruby keeps: its place in the limiter's list of callables, or of patterns.

use magnus::{Error, Module as _, Object as _, RModule, Ruby};

/// A number that is asked for in each check.
#[magnus::wrap(class = "Labkit::RateLimit::Native::Callable", free_immediately)]
pub(crate) struct Callable {
    pub(crate) id: u32,
}

impl Callable {
    pub(crate) const fn new(id: u32) -> Self {
        Self { id }
    }

    const fn id(&self) -> u32 {
        self.id
    }
}

/// A pattern object.
#[magnus::wrap(class = "Labkit::RateLimit::Native::Pattern", free_immediately)]
pub(crate) struct Pattern {
    pub(crate) id: u32,
}

impl Pattern {
    pub(crate) const fn new(id: u32) -> Self {
        Self { id }
    }

    const fn id(&self) -> u32 {
        self.id
    }
}

pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let callable = native.define_class("Callable", ruby.class_object())?;
    callable.define_singleton_method("new", magnus::function!(Callable::new, 1))?;
    callable.define_method("id", magnus::method!(Callable::id, 0))?;
    let pattern = native.define_class("Pattern", ruby.class_object())?;
    pattern.define_singleton_method("new", magnus::function!(Pattern::new, 1))?;
    pattern.define_method("id", magnus::method!(Pattern::id, 0))
}
