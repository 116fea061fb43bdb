//! Building a limiter.

use crate::callbacks::Callbacks;
use crate::clock::{Clock, SystemClock};
use crate::limiter::{Limiter, OnError};
use crate::log::{self, LogEvent, Logger, TracingLogger};
use crate::store::{Connection, RedisOptions, Store};
use labkit_ratelimit_engine::{Evaluation, Findings, RuleSpec, Rules};
use labkit_ratelimit_store::MemoryStore;
use std::fmt;
use std::sync::{Arc, Once};

/// Why a limiter could not be built: every mistake in its name and rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    limiter: String,
    findings: Findings,
}

impl BuildError {
    /// The mistakes.
    pub const fn findings(&self) -> &Findings {
        &self.findings
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "limiter `{}` cannot be built:\n{}", self.limiter, self.findings)
    }
}

impl std::error::Error for BuildError {}

/// Gathers what a limiter is made of; [`Builder::build`] checks it.
#[derive(Debug)]
pub struct Builder {
    name: String,
    rules: Vec<RuleSpec>,
    evaluation: Evaluation,
    callbacks: Callbacks,
    store: Option<Store>,
    clock: Box<dyn Clock>,
    logger: Box<dyn Logger>,
    on_error: OnError,
}

impl Builder {
    pub(crate) fn new(name: String) -> Self {
        Self {
            name,
            rules: Vec::new(),
            evaluation: Evaluation::FirstBlock,
            callbacks: Callbacks::default(),
            store: None,
            clock: Box::new(SystemClock),
            logger: Box::new(TracingLogger),
            on_error: OnError::Allow,
        }
    }

    /// Adds a rule at the end of the chain.
    #[must_use]
    pub fn rule(mut self, rule: RuleSpec) -> Self {
        self.rules.push(rule);
        self
    }

    /// Adds rules at the end of the chain.
    #[must_use]
    pub fn rules(mut self, rules: impl IntoIterator<Item = RuleSpec>) -> Self {
        self.rules.extend(rules);
        self
    }

    /// Which results stop the chain; by default the first block.
    #[must_use]
    pub const fn evaluation(mut self, evaluation: Evaluation) -> Self {
        self.evaluation = evaluation;
        self
    }

    /// The closures that the rules name.
    #[must_use]
    pub fn callbacks(mut self, callbacks: Callbacks) -> Self {
        self.callbacks = callbacks;
        self
    }

    /// Where it counts; by default in the memory store that all limiters of the process share.
    #[must_use]
    pub fn store(mut self, store: Store) -> Self {
        self.store = Some(store);
        self
    }

    /// Counts in `store`.
    #[must_use]
    pub fn memory(self, store: Arc<MemoryStore>) -> Self {
        self.store(Store::Memory(store))
    }

    /// Counts on a Redis, by a connection that blocks.
    #[must_use]
    pub fn redis(self, connection: Arc<dyn Connection>, options: RedisOptions) -> Self {
        self.store(Store::Connected(connection, options))
    }

    /// The clock: the memory store's, and that of `reset_at`. By default the system's.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Box::new(clock);
        self
    }

    /// Takes warnings; by default they are events of `tracing`.
    #[must_use]
    pub fn logger(mut self, logger: impl Logger + 'static) -> Self {
        self.logger = Box::new(logger);
        self
    }

    /// What a check without a verdict answers; by default it allows.
    #[must_use]
    pub const fn on_error(mut self, on_error: OnError) -> Self {
        self.on_error = on_error;
        self
    }

    /// Checks and compiles everything.
    ///
    /// # Errors
    /// Every mistake in the name and in all rules, each with its code, path and mend.
    pub fn build(self) -> Result<Limiter, BuildError> {
        match Rules::build(&self.name, &self.rules, self.evaluation) {
            Ok(rules) => {
                let store = self.store.unwrap_or_else(|| {
                    say_memory(&self.name, &*self.logger);
                    Store::process_wide()
                });
                Ok(Limiter::new(rules, store, self.callbacks, self.clock, self.logger, self.on_error))
            }
            Err(findings) => Err(BuildError { limiter: self.name, findings }),
        }
    }
}

/// Says, once in a process, that limiters without a store count in its memory alone.
fn say_memory(limiter: &str, logger: &dyn Logger) {
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        log::warn(
            logger,
            &LogEvent { message: "rate_limit_memory_store", name: limiter.to_owned(), ..LogEvent::default() },
        );
    });
}
