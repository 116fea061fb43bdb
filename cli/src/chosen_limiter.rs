//! The documents of a command, and the one limiter of them that is asked for.

use crate::inputs::Inputs;
use crate::mistake::Mistake;
use clap::Args;
use labkit_ratelimit::{Evaluation, RuleSpec};
use labkit_ratelimit_documents::{Catalog, Documents, LimiterDocument};
use std::path::{Path, PathBuf};

/// Which limiter, of which documents.
#[derive(Args, Debug)]
pub(crate) struct LimiterArguments {
    /// The contract: an `available_limiters` document, YAML or JSON
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
        ChosenLimiter::read(self.available.as_deref(), &self.rules, self.limiter.as_deref())
    }
}

/// A limiter of documents without findings.
#[derive(Debug)]
pub(crate) struct ChosenLimiter {
    /// Its name.
    pub(crate) name: String,
    /// Its chain, tiers merged.
    pub(crate) rules: Vec<RuleSpec>,
    /// Which results stop the chain.
    pub(crate) evaluation: Evaluation,
    /// The tiers themselves.
    pub(crate) document: LimiterDocument,
    /// The file of the contract.
    pub(crate) contract_file: Option<String>,
}

impl ChosenLimiter {
    /// Reads the documents and gives the limiter called `name`, or the only one.
    pub(crate) fn read(available: Option<&Path>, rules: &[PathBuf], name: Option<&str>) -> Result<Self, Mistake> {
        let mut inputs = Inputs::default();
        let mut documents = Documents::new();
        let mut files = Vec::new();
        let mut contract_file = None;
        if let Some(path) = available {
            let source = inputs.read(path)?;
            files.push(source.name().to_owned());
            contract_file = Some(source.name().to_owned());
            documents = documents.available_limiters(source);
        }
        for path in rules {
            let source = inputs.read(path)?;
            files.push(source.name().to_owned());
            documents = documents.rate_limits(source);
        }
        let files = files.join(", ");
        let catalog = documents.read().map_err(|findings| Mistake::Findings { file: files.clone(), findings })?;
        let document = choose(&catalog, name).map_err(|what| Mistake::Misuse(format!("{files} {what}")))?;
        Ok(Self {
            name: document.name().to_owned(),
            rules: document.rules(),
            evaluation: document.evaluation().unwrap_or_default(),
            document: document.clone(),
            contract_file,
        })
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
