//! Building a limiter.

use crate::callbacks::Callbacks;
use crate::clock::{Clock, SystemClock};
use crate::limiter::{Limiter, OnError};
use crate::loading::{Chain, LoadError, Origin, Own};
use crate::log::{self, LogEvent, Logger, TracingLogger};
use crate::store::{Connection, RedisOptions, Store};
use labkit_ratelimit_documents::{Catalog, Contract, Documents, Files};
use labkit_ratelimit_engine::{Code, Evaluation, Finding, Findings, RuleSpec, Rules, names};
use labkit_ratelimit_store::MemoryStore;
use std::fmt;
use std::sync::{Arc, Once};

/// Why a limiter could not be built: every mistake in its name, its rules and its documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    limiter: String,
    findings: Findings,
    unreadable: Option<String>,
}

impl BuildError {
    /// The mistakes. None where all that is wrong is that a file cannot be read.
    pub const fn findings(&self) -> &Findings {
        &self.findings
    }

    /// The file that cannot be read, and why.
    pub fn unreadable(&self) -> Option<&str> {
        self.unreadable.as_deref()
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "limiter `{}` cannot be built:", self.limiter)?;
        if let Some(what) = &self.unreadable {
            write!(f, "\n{what}")?;
        }
        if self.findings.is_empty() { Ok(()) } else { write!(f, "\n{}", self.findings) }
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
    properties: Vec<String>,
    allowed_skip_rules: Vec<String>,
    origin: Option<Origin>,
    is_strict: bool,
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
            properties: Vec::new(),
            allowed_skip_rules: Vec::new(),
            origin: None,
            is_strict: false,
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

    /// Takes rules from documents: those of operators run before the defaults, and on equal names stand in their
    /// place. The defaults are those of `available_limiters`; where it has none, or is not given, the rules added here.
    ///
    /// ```
    /// use labkit_ratelimit::{Documents, Limiter, RuleSpec, Source};
    /// let operators = Source::new("rate_limits.yaml", "sign_in: [{name: per_ip, action: log, limit: 5, period_s: 60}]");
    /// let limiter = Limiter::builder("sign_in")
    ///     .rule(RuleSpec::limit("per_ip", 10, 60).characteristics(["ip"]))
    ///     .documents(Documents::new().rate_limits(operators))
    ///     .build()?;
    /// assert_eq!(limiter.rules().len(), 1);
    /// # Ok::<(), labkit_ratelimit::BuildError>(())
    /// ```
    #[must_use]
    pub fn documents(mut self, documents: Documents) -> Self {
        self.origin = Some(Origin::Documents(documents));
        self
    }

    /// As [`Builder::documents`], read from files.
    #[must_use]
    pub fn files(mut self, files: Files) -> Self {
        self.origin = Some(Origin::Files(files));
        self
    }

    /// As [`Builder::documents`], read already: many limiters of one set of documents read them once. A limiter whose
    /// rules are code needs its [`Contract`] in it.
    #[must_use]
    pub fn catalog(mut self, catalog: Catalog) -> Self {
        self.origin = Some(Origin::Catalog(catalog));
        self
    }

    /// Offers properties to documents, beside those that the rules added here mention. A mistake beside an
    /// `available_limiters` document or a catalog, which say it themselves.
    #[must_use]
    pub fn properties<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.properties.extend(names.into_iter().map(Into::into));
        self
    }

    /// Allows documents skip rules of these names. A mistake beside an `available_limiters` document or a catalog.
    #[must_use]
    pub fn allowed_skip_rules<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.allowed_skip_rules.extend(names.into_iter().map(Into::into));
        self
    }

    /// Whether bad documents are an error of [`Builder::build`]. By default they are logged, and the defaults stand
    /// alone, as the rules in force do where a later load fails: those of the contract, or those in code where the
    /// contract is bad. Where there are none, it is an error all the same.
    #[must_use]
    pub const fn strict_documents(mut self, is_strict: bool) -> Self {
        self.is_strict = is_strict;
        self
    }

    /// Checks and compiles everything.
    ///
    /// # Errors
    /// Every mistake in the name, in all rules and in the documents, each with its code, path and mend.
    pub fn build(self) -> Result<Limiter, BuildError> {
        // Mistakes in code have the paths of code, whatever documents add.
        let idle: Findings = self.idle_options().into_iter().chain(self.odd_names()).collect();
        let of_code = match Rules::build(&self.name, &self.rules, self.evaluation) {
            Ok(rules) => idle.or(rules),
            Err(findings) => Err(findings.into_iter().chain(idle).collect()),
        };
        let contract = Contract::of_rules(self.rules)
            .with_properties(self.properties)
            .with_allowed_skip_rules(self.allowed_skip_rules);
        let own = Own::new(contract, self.evaluation);
        let logger = &*self.logger;
        let loaded = self.origin.map(|origin| own.first(&self.name, &origin, self.is_strict, logger));
        let rules = match (of_code, loaded) {
            (Ok(rules), None) => Ok((rules, own.rules_in_code().into())),
            (Ok(_), Some(Ok(Chain { rules: specs, evaluation }))) => match Rules::build(&self.name, &specs, evaluation)
            {
                Ok(rules) => Ok((rules, specs.into_boxed_slice())),
                Err(findings) => Err((findings, None)),
            },
            (Err(findings), None | Some(Ok(_))) => Err((findings, None)),
            (of_code, Some(Err(error))) => {
                let findings = of_code.err().unwrap_or_default();
                Err(match error {
                    LoadError::Unreadable(what) => (findings, Some(what)),
                    LoadError::Invalid(more) => (findings.into_iter().chain(more).collect(), None),
                })
            }
        };
        match rules {
            Ok((rules, specs)) => {
                let store = self.store.unwrap_or_else(|| {
                    say_memory(&self.name, logger);
                    Store::process_wide()
                });
                Ok(Limiter::new(rules, specs, own, store, self.callbacks, self.clock, self.logger, self.on_error))
            }
            Err((findings, unreadable)) => Err(BuildError { limiter: self.name, findings, unreadable }),
        }
    }
}

impl Builder {
    /// Options that would do nothing: a contract says itself what it offers and allows.
    fn idle_options(&self) -> Findings {
        let has_contract = match &self.origin {
            None => false,
            Some(Origin::Documents(documents)) => documents.has_available_limiters(),
            Some(Origin::Files(files)) => files.has_available_limiters(),
            Some(Origin::Catalog(_)) => true,
        };
        let options = [("properties", &self.properties), ("allowed_skip_rules", &self.allowed_skip_rules)];
        let idle = options.into_iter().filter(|(_, names)| has_contract && !names.is_empty());
        idle.map(|(option, _)| {
            let message = format!("the documents have a contract, which says itself what is in `{option}`");
            Finding::new(Code::OptionInvalid, option, message)
        })
        .collect()
    }

    /// Names that are none: no rule of a document could ever use them.
    fn odd_names(&self) -> Findings {
        let odd = |option, names: &[String], is_name: fn(&str) -> bool, code, what| {
            let odd = names.iter().enumerate().filter(|(_, name)| !is_name(name));
            let finding = |(at, name): (usize, &String)| {
                Finding::new(code, format!("{option}[{at}]"), format!("`{name}` is no name of a {what}"))
            };
            odd.map(finding).collect::<Vec<_>>()
        };
        let properties =
            odd("properties", &self.properties, names::is_property_name, Code::PropertyInvalid, "property");
        let skips = odd("allowed_skip_rules", &self.allowed_skip_rules, names::is_rule_name, Code::NameInvalid, "rule");
        properties.into_iter().chain(skips).collect()
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
