//! The sides of a replay: the documents of A, and those of B where it is asked what they would change.

use super::arguments::Arguments;
use super::report::DocumentsReport;
use super::simulation::Simulation;
use crate::chosen_limiter::{Chain, ReadSources, Sources};
use crate::inputs::Inputs;
use crate::mistake::Mistake;
use crate::note;

/// A limiter of documents, ready to decide.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) chain: Chain,
    pub(super) simulation: Simulation,
    rules_files: Vec<String>,
    contract_file: Option<String>,
}

/// Reads A, and B where there is one. Both run the same limiter: the one that is asked for, or else the only one of A,
/// or of B where A holds none.
pub(super) fn read(arguments: &Arguments) -> Result<(Side, Option<Side>), Mistake> {
    let mut inputs = Inputs::default();
    let sources = arguments.limiter.sources(&mut inputs)?;
    let against = against(arguments, &sources, &mut inputs)?;
    let a = sources.read()?;
    let b = against.map(Sources::read).transpose()?;
    let name = match (&arguments.limiter.limiter, &b) {
        (Some(name), _) => name.clone(),
        (None, Some(b)) if a.is_empty() && !b.is_empty() => b.limiter(None)?.name().to_owned(),
        (None, _) => a.limiter(None)?.name().to_owned(),
    };
    let a = Side::new(a, &name)?;
    let b = b.map(|b| Side::new(b, &name)).transpose()?;
    match (&a.contract_file, &b) {
        (None, Some(Side { contract_file: None, .. }) | None) => {
            note::write("no contract is given with --available: its default rules take no part");
        }
        (None, Some(_)) => note::write("no contract is given with --available: default rules take no part in A"),
        (Some(_), _) => {}
    }
    Ok((a, b))
}

/// What is not given of B is as in A.
fn against(arguments: &Arguments, a: &Sources, inputs: &mut Inputs) -> Result<Option<Sources>, Mistake> {
    if arguments.against.is_empty() && arguments.against_available.is_none() {
        return Ok(None);
    }
    let mut b = a.clone();
    if let Some(path) = &arguments.against_available {
        b.contract = Some(inputs.read(path)?);
    }
    if !arguments.against.is_empty() {
        b.rules = arguments.against.iter().map(|path| inputs.read(path)).collect::<Result<_, _>>()?;
    }
    Ok(Some(b))
}

impl Side {
    fn new(sources: ReadSources, name: &str) -> Result<Self, Mistake> {
        let chain = sources.chain(name)?;
        let simulation = Simulation::new(&chain)?;
        Ok(Self { chain, simulation, rules_files: sources.rules_files, contract_file: sources.contract_file })
    }

    /// What it runs, for the report.
    pub(super) fn documents(&self) -> DocumentsReport {
        DocumentsReport::new(&self.rules_files, self.contract_file.as_ref())
    }
}
