//! The documents that a command reads: files, and once standard input.

use crate::mistake::Mistake;
use crate::note;
use labkit_ratelimit_documents::Source;
use std::io;
use std::path::Path;

/// What standard input is called in findings.
pub(crate) const STANDARD_INPUT: &str = "standard input";

/// Reads documents. Knows whether standard input was read.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    standard_input: bool,
}

impl Inputs {
    /// The document at `path`; `-` is standard input. That there is nothing in it is said, for it may be what a
    /// generator left that failed.
    pub(crate) fn read(&mut self, path: &Path) -> Result<Source, Mistake> {
        let source = self.source(path)?;
        if source == Source::new(source.name(), "") {
            note::write(&format!("{} is empty: it holds no rules", source.name()));
        }
        Ok(source)
    }

    fn source(&mut self, path: &Path) -> Result<Source, Mistake> {
        if path != Path::new("-") {
            return Source::read_file(path).map_err(|error| Mistake::unreadable(&path.display().to_string(), &error));
        }
        if std::mem::replace(&mut self.standard_input, true) {
            return Err(Mistake::Misuse("`-` stands twice: standard input can be read once".into()));
        }
        Source::read_from(STANDARD_INPUT, io::stdin().lock())
            .map_err(|error| Mistake::unreadable(STANDARD_INPUT, &error))
    }
}
