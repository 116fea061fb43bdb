//! `validate`: every finding of a set of documents, at its place.

mod arguments;
mod github;
mod gitlab;
mod human;
mod machine;
mod place;
mod verdict;

pub(crate) use arguments::Arguments;

use crate::inputs::Inputs;
use crate::mistake::Mistake;
use crate::output;
use arguments::ReportFormat;
use labkit_ratelimit_documents::{DocumentKind, Documents, Source};
use std::io::{self, Write};
use std::process::ExitCode;
use verdict::Verdict;

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Mistake> {
    let (sources, documents) = read(arguments).map_err(|mistake| said(arguments.format, mistake))?;
    let verdict = Verdict::of(sources.len(), documents.read(), arguments.strict);
    let written = output::write(|out| match arguments.format {
        ReportFormat::Human => human::write(out, &verdict, &sources),
        ReportFormat::Json => machine::write(out, &verdict),
        ReportFormat::Github => github::write(out, &verdict),
        ReportFormat::Gitlab => gitlab::write(out, &verdict),
    });
    match written {
        // Whoever stops reading still learns from the exit code what was found.
        Ok(()) | Err(Mistake::Closed) => {}
        Err(mistake) => return Err(mistake),
    }
    if matches!(arguments.format, ReportFormat::Github | ReportFormat::Gitlab) {
        // For whoever reads the job's log. Where standard error is closed, nobody does.
        let _ = writeln!(io::stderr(), "{}", verdict.summary());
    }
    Ok(if verdict.is_good() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn read(arguments: &Arguments) -> Result<(Vec<Source>, Documents), Mistake> {
    let mut inputs = Inputs::default();
    let sources: Vec<Source> = arguments.files.iter().map(|path| inputs.read(path)).collect::<Result<_, _>>()?;
    let documents = documents(&sources)?;
    Ok((sources, documents))
}

/// What ends the command, said to machines too: they read standard output, and should find what they expect there.
fn said(format: ReportFormat, mistake: Mistake) -> Mistake {
    let written = output::write(|out| match format {
        ReportFormat::Human | ReportFormat::Github => Ok(()),
        ReportFormat::Json => machine::write_error(out, &mistake),
        ReportFormat::Gitlab => gitlab::write_none(out),
    });
    match written {
        Ok(()) | Err(Mistake::Closed) => mistake,
        Err(unwritable) => unwritable,
    }
}

/// The contract, wherever it stands, and the others in their order.
fn documents(sources: &[Source]) -> Result<Documents, Mistake> {
    let mut documents = Documents::new();
    let mut contract: Option<&str> = None;
    for source in sources {
        documents = match (source.kind(), contract) {
            (DocumentKind::RateLimits, _) => documents.rate_limits(source.clone()),
            (DocumentKind::AvailableLimiters, None) => {
                contract = Some(source.name());
                documents.available_limiters(source.clone())
            }
            (DocumentKind::AvailableLimiters, Some(first)) => {
                let what = format!("{first} and {} are both contracts: give one", source.name());
                return Err(Mistake::Misuse(what));
            }
        };
    }
    Ok(documents)
}
