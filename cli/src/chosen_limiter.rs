//! The documents of a command, and the one limiter of them that is asked for.

use crate::inputs::Inputs;
use crate::mistake::Mistake;
use clap::Args;
use labkit_ratelimit::{Evaluation, RuleSpec};
use labkit_ratelimit_documents::{Catalog, DocumentKind, Documents, LimiterDocument, Source};
use std::path::PathBuf;

/// Which limiter, of which documents.
#[derive(Args, Debug)]
pub(crate) struct LimiterArguments {
    /// The contract: an `available_limiters` document, YAML or JSON; its default rules run behind those of --rules
    #[arg(long, value_name = "FILE")]
    pub(crate) available: Option<PathBuf>,

    /// Rules: a `rate_limits` document; once for each file, in their order. `-` reads standard input
    #[arg(long, value_name = "FILE", required_unless_present = "available")]
    pub(crate) rules: Vec<PathBuf>,

    /// The limiter, where the documents hold several
    #[arg(long, value_name = "NAME")]
    pub(crate) limiter: Option<String>,
}

impl LimiterArguments {
    /// Reads the documents and gives the limiter.
    pub(crate) fn read(&self) -> Result<ChosenLimiter, Mistake> {
        self.sources(&mut Inputs::default())?.read()?.choose(self.limiter.as_deref())
    }

    /// The documents, not looked at yet.
    pub(crate) fn sources(&self, inputs: &mut Inputs) -> Result<Sources, Mistake> {
        let contract = self.available.as_ref().map(|path| inputs.read(path)).transpose()?;
        let rules = self.rules.iter().map(|path| inputs.read(path)).collect::<Result<_, _>>()?;
        Ok(Sources { contract, rules })
    }
}

/// A contract, rules, or both.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    pub(crate) contract: Option<Source>,
    /// In their order.
    pub(crate) rules: Vec<Source>,
}

impl Sources {
    /// Reads what is in them.
    pub(crate) fn read(self) -> Result<ReadSources, Mistake> {
        let contract_file = self.contract.as_ref().map(|source| source.name().to_owned());
        let rules_files: Vec<String> = self.rules.iter().map(|source| source.name().to_owned()).collect();
        let file = contract_file.iter().chain(&rules_files).cloned().collect::<Vec<_>>().join(", ");
        let hint = self.mixed_up();
        let mut documents = Documents::new();
        if let Some(contract) = self.contract {
            documents = documents.available_limiters(contract);
        }
        for rules in self.rules {
            documents = documents.rate_limits(rules);
        }
        match documents.read() {
            Ok(catalog) => Ok(ReadSources { catalog, file, contract_file, rules_files }),
            Err(findings) => Err(Mistake::Findings { file, findings, hint }),
        }
    }

    /// What stands behind the other one's option.
    fn mixed_up(&self) -> Option<String> {
        let is = |kind| move |source: &&Source| source.kind() == kind;
        let contract = self.rules.iter().find(is(DocumentKind::AvailableLimiters));
        contract.map(|contract| format!("{} looks like a contract: give it as --available", contract.name()))
    }
}

/// Documents without findings.
#[derive(Debug)]
pub(crate) struct ReadSources {
    catalog: Catalog,
    /// All of them, in words.
    pub(crate) file: String,
    pub(crate) contract_file: Option<String>,
    pub(crate) rules_files: Vec<String>,
}

/// A limiter of documents without findings.
#[derive(Debug)]
pub(crate) struct ChosenLimiter {
    pub(crate) chain: Chain,
    /// The tiers themselves.
    pub(crate) document: LimiterDocument,
    /// The file of the contract.
    pub(crate) contract_file: Option<String>,
}

/// What a limiter runs.
#[derive(Debug)]
pub(crate) struct Chain {
    /// The limiter's name.
    pub(crate) name: String,
    /// Its rules, tiers merged.
    pub(crate) rules: Vec<RuleSpec>,
    /// Which results stop it.
    pub(crate) evaluation: Evaluation,
}

impl ReadSources {
    /// The limiter called `name`, or the only one.
    pub(crate) fn choose(self, name: Option<&str>) -> Result<ChosenLimiter, Mistake> {
        let document = self.limiter(name)?.clone();
        Ok(ChosenLimiter { chain: Chain::of(&document), document, contract_file: self.contract_file })
    }

    /// The chain of the limiter called `name`. Documents without any limiter leave it without rules.
    pub(crate) fn chain(&self, name: &str) -> Result<Chain, Mistake> {
        if self.is_empty() {
            return Ok(Chain { name: name.to_owned(), rules: Vec::new(), evaluation: Evaluation::default() });
        }
        self.limiter(Some(name)).map(Chain::of)
    }

    /// Whether they hold no limiter at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.catalog.limiters().len() == 0
    }

    /// The limiter called `name`, or the only one.
    pub(crate) fn limiter(&self, name: Option<&str>) -> Result<&LimiterDocument, Mistake> {
        choose(&self.catalog, name).map_err(|what| Mistake::Misuse(format!("{} {what}", self.file)))
    }
}

impl Chain {
    fn of(document: &LimiterDocument) -> Self {
        Self {
            name: document.name().to_owned(),
            rules: document.rules(),
            evaluation: document.evaluation().unwrap_or_default(),
        }
    }
}

fn choose<'c>(catalog: &'c Catalog, name: Option<&str>) -> Result<&'c LimiterDocument, String> {
    let names = || catalog.limiters().map(LimiterDocument::name).collect::<Vec<_>>().join(", ");
    match (name, catalog.limiters().len()) {
        (_, 0) => Err("holds no limiter".into()),
        (Some(name), _) => {
            catalog.limiter(name).ok_or_else(|| format!("holds no limiter `{name}`; it holds {}", names()))
        }
        (None, 1) => catalog.limiters().next().ok_or_else(|| "holds no limiter".into()),
        (None, _) => Err(format!("holds several limiters; choose one with --limiter: {}", names())),
    }
}
