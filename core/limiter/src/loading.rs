//! Loading documents: a limiter's first rules, and later ones in their place.

use crate::limiter::Limiter;
use crate::log::{self, LogEvent, Logger};
use labkit_ratelimit_documents::{Catalog, Contract, Documents, Files};
use labkit_ratelimit_engine::{Code, Evaluation, Finding, Findings, RuleSpec, Severity};
use parking_lot::Mutex;
use std::fmt;

/// The most findings that one line of the log tells.
const MAX_LOGGED: usize = 100;

/// Why documents could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadError {
    /// A file cannot be read: which one, and why.
    Unreadable(String),
    /// Something is wrong in the documents.
    Invalid(Findings),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(what) => f.write_str(what),
            Self::Invalid(findings) => findings.fmt(f),
        }
    }
}

impl std::error::Error for LoadError {}

impl From<Findings> for LoadError {
    fn from(findings: Findings) -> Self {
        Self::Invalid(findings)
    }
}

/// From where a limiter takes its documents.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    Documents(Documents),
    Files(Files),
    Catalog(Catalog),
}

impl Origin {
    fn without_rate_limits(&self) -> Option<Self> {
        match self {
            Self::Documents(documents) => Some(Self::Documents(documents.without_rate_limits())),
            Self::Files(files) => Some(Self::Files(files.without_rate_limits())),
            // Whoever has a catalog has read the documents.
            Self::Catalog(_) => None,
        }
    }
}

/// What a limiter brings to its documents.
#[derive(Debug)]
pub(crate) struct Own {
    /// Its rules in code, and what files may speak of beside them.
    contract: Contract,
    /// Where the documents say nothing of it.
    evaluation: Evaluation,
    // The contract of the documents in force, for later ones that bring none. Held while documents are loaded: of two
    // loads at once the one that began later ends later.
    in_force: Mutex<Option<Contract>>,
}

/// The rules in force: all tiers, in chain order.
pub(crate) struct Chain {
    pub(crate) rules: Vec<RuleSpec>,
    pub(crate) evaluation: Evaluation,
}

impl Own {
    pub(crate) const fn new(contract: Contract, evaluation: Evaluation) -> Self {
        Self { contract, evaluation, in_force: Mutex::new(None) }
    }

    /// The rules in code.
    pub(crate) fn rules_in_code(&self) -> &[RuleSpec] {
        self.contract.default_rules()
    }

    /// The chain of the first load. Bad documents are no reason to have no limiter: unless it is `strict`, they are
    /// logged, and the defaults stand alone, those of the contract or those in code.
    pub(crate) fn first(
        &self,
        limiter: &str,
        origin: &Origin,
        is_strict: bool,
        logger: &dyn Logger,
    ) -> Result<Chain, LoadError> {
        let mut in_force = self.in_force.lock();
        let error = match self.chain(limiter, origin, &mut in_force) {
            Err(error) if !is_strict => error,
            settled => return settled,
        };
        let Some(contract_alone) = origin.without_rate_limits() else { return Err(error) };
        let defaults = match self.chain(limiter, &contract_alone, &mut in_force) {
            Ok(defaults) => defaults,
            Err(_) if self.contract.default_rules().is_empty() => return Err(error),
            Err(_) => Chain { rules: self.contract.default_rules().to_vec(), evaluation: self.evaluation },
        };
        warn(limiter, &error, logger);
        Ok(defaults)
    }

    fn chain(&self, limiter: &str, origin: &Origin, in_force: &mut Option<Contract>) -> Result<Chain, LoadError> {
        match origin {
            Origin::Documents(documents) => Ok(self.of_documents(limiter, documents, in_force)?),
            Origin::Files(files) => {
                let documents = files.open().map_err(|error| LoadError::Unreadable(error.to_string()))?;
                Ok(self.of_documents(limiter, &documents, in_force)?)
            }
            Origin::Catalog(catalog) => Ok(self.of_catalog(limiter, catalog, in_force)?),
        }
    }

    fn of_documents(
        &self,
        limiter: &str,
        documents: &Documents,
        in_force: &mut Option<Contract>,
    ) -> Result<Chain, Findings> {
        let contract = match (documents.contract_of(limiter), &*in_force) {
            (Some(given), _) => given.clone().beside(&self.contract),
            (None, Some(last)) if !documents.has_available_limiters() => last.clone(),
            (None, _) => self.contract.clone(),
        };
        let catalog = documents.clone().contract(limiter, contract).read()?;
        self.of_catalog(limiter, &catalog, in_force)
    }

    fn of_catalog(&self, limiter: &str, catalog: &Catalog, in_force: &mut Option<Contract>) -> Result<Chain, Findings> {
        let document = catalog.limiter(limiter).filter(|document| document.contract().is_some());
        let Some(document) = document else {
            let message = format!("the documents know no limiter `{limiter}`");
            let finding = Finding::new(Code::UnknownLimiter, format!("available_limiters.{limiter}"), message);
            return Err([finding].into_iter().collect());
        };
        let rules = document.rules_over(self.contract.default_rules());
        *in_force = document.contract().cloned();
        Ok(Chain { rules, evaluation: document.evaluation().unwrap_or(self.evaluation) })
    }
}

impl Limiter {
    /// Loads documents in place of those in force. Calls under way end by the rules that they began with; counters
    /// go on by the names of their rules. Documents with a mistake change nothing: the rules in force stay, and one
    /// line is logged. Of several loads at once, the one that began last stands.
    ///
    /// Without an `available_limiters` document the contract in force stays.
    ///
    /// # Errors
    /// Every mistake in the documents, with its place.
    pub fn reload(&self, documents: &Documents) -> Result<(), LoadError> {
        self.load(&Origin::Documents(documents.clone()))
    }

    /// As [`Limiter::reload`], from files as they are now.
    ///
    /// # Errors
    /// A file cannot be read, or there is a mistake in one.
    pub fn reload_files(&self, files: &Files) -> Result<(), LoadError> {
        self.load(&Origin::Files(files.clone()))
    }

    /// As [`Limiter::reload`], from documents that were read already: many limiters of one set of documents read them
    /// once.
    ///
    /// # Errors
    /// The catalog has no contract of this limiter.
    pub fn reload_catalog(&self, catalog: &Catalog) -> Result<(), LoadError> {
        self.load(&Origin::Catalog(catalog.clone()))
    }

    fn load(&self, origin: &Origin) -> Result<(), LoadError> {
        let mut in_force = self.own.in_force.lock();
        let mut contract = in_force.clone();
        let loaded = self.own.chain(self.name(), origin, &mut contract).and_then(|Chain { rules, evaluation }| {
            self.replace_rules(&rules, evaluation)?;
            *in_force = contract;
            Ok(())
        });
        drop(in_force);
        if let Err(error) = &loaded {
            warn(self.name(), error, &*self.logger);
        }
        loaded
    }
}

/// One line: documents were not taken, and why.
fn warn(limiter: &str, error: &LoadError, logger: &dyn Logger) {
    let (class_name, text) = match error {
        LoadError::Unreadable(what) => ("UnreadableDocument", what.clone()),
        LoadError::Invalid(findings) => ("InvalidDocuments", one_line(findings)),
    };
    let event = LogEvent {
        message: "rate_limit_invalid_documents",
        error_type: Some("rate_limit_error"),
        name: limiter.to_owned(),
        class_name: Some(class_name.into()),
        error_message: Some(text),
        ..LogEvent::default()
    };
    log::warn(logger, &event);
}

/// The mistakes on one line.
fn one_line(findings: &Findings) -> String {
    let errors = || findings.iter().filter(|finding| finding.severity == Severity::Error);
    let mut lines: Vec<String> = errors().take(MAX_LOGGED).map(ToString::to_string).collect();
    let more = errors().count().saturating_sub(MAX_LOGGED);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines.join("; ")
}
