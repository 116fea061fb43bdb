//! Holding a generation without counting: each thread keeps the reference it had for its next call.
//!
//! To count a reference is two atomic writes, to which all threads come; a guard of `arc-swap` is two as well, if of
//! the thread's own. A reference that is moved costs neither: a call takes the one that its thread kept, and whoever
//! drops the decision keeps it in turn. Only a thread's first call of a generation, and a call made while the
//! reference is away, asks for another.
//!
//! A thread that is idle keeps one generation a limiter alive, until its next call of that limiter or its end. Of a
//! limiter that is dropped, other threads keep it until they call one that has its place, or end.

use crate::generation::Generation;
use std::cell::Cell;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// How many references a thread keeps, of as many limiters. Where limiters meet in one place, the last one has it.
const KEPT: usize = 32;

thread_local! {
    static OWN: [Cell<Option<Arc<Generation>>>; KEPT] = const { [const { Cell::new(None) }; KEPT] };
}

/// A generation, which stays as long as this is held. Whichever thread drops it keeps it for its own next call.
pub(crate) struct Held(Option<Arc<Generation>>);

fn place(limiter: u64) -> usize {
    usize::try_from(limiter).unwrap_or(usize::MAX) % KEPT
}

impl Held {
    /// No generation yet.
    pub(crate) const NONE: Self = Self(None);

    /// The reference to the generation in force of `limiter` that this thread kept.
    pub(crate) fn kept(limiter: u64) -> Option<Self> {
        let kept = OWN.try_with(|own| own[place(limiter)].take()).ok().flatten()?;
        if kept.limiter == limiter && !kept.is_retired() {
            return Some(Self(Some(kept)));
        }
        let_go(kept);
        None
    }
}

/// Seldom, and out of the way of those that keep theirs.
#[cold]
fn let_go(generation: Arc<Generation>) {
    drop(generation);
}

impl From<Arc<Generation>> for Held {
    fn from(generation: Arc<Generation>) -> Self {
        Self(Some(generation))
    }
}

impl Deref for Held {
    type Target = Generation;

    fn deref(&self) -> &Generation {
        match &self.0 {
            Some(generation) => generation,
            None => unreachable!("it is there until it is dropped"),
        }
    }
}

impl Clone for Held {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(generation) = self.0.take()
            && !generation.is_retired()
        {
            // A thread that is ending keeps nothing.
            if let Ok(Some(other)) = OWN.try_with(|own| own[place(generation.limiter)].replace(Some(generation))) {
                let_go(other);
            }
        }
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rules of {}", self.rules.len(), self.rules.limiter())
    }
}
