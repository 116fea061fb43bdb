//! Why a command ends early, and with which exit code.

use crate::machine_finding::MachineFinding;
use crate::output::OutputFormat;
use crate::printable;
use crate::words::some;
use labkit_ratelimit::Findings;
use std::io::{self, Write};
use std::process::ExitCode;

/// Ends a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Mistake {
    /// A document is wrong: exit code 1.
    #[error("{file} cannot be used")]
    Findings {
        file: String,
        findings: Findings,
        /// What may have been meant.
        hint: Option<String>,
    },
    /// The work could not be done, by a mistake of the command or for want of what it needs: exit code 2.
    #[error("{0}")]
    Misuse(String),
    /// The same, with lines below that say more.
    #[error("{what}")]
    Explained { what: String, below: Vec<String> },
    /// Whoever read the output went away, as `head` does: nothing to report.
    #[error("the output is closed")]
    Closed,
}

/// How the message of the last finding ends where no more are listed.
const CUT: &str = "only so many findings are shown)";

/// Whether there may be more of them than are listed.
pub(crate) fn are_cut(findings: &Findings) -> bool {
    findings.iter().any(|finding| finding.message.ends_with(CUT))
}

impl Mistake {
    /// `name` cannot be read.
    pub(crate) fn unreadable(name: &str, error: &io::Error) -> Self {
        Self::Misuse(format!("cannot read {name}: {error}"))
    }

    /// `name` cannot be written.
    pub(crate) fn unwritable(name: &str, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::Closed;
        }
        Self::Misuse(format!("cannot write {name}: {error}"))
    }

    /// Says what is wrong on standard error, and gives the exit code.
    pub(crate) fn report(&self, format: OutputFormat) -> ExitCode {
        let mut stderr = io::stderr().lock();
        // Where even standard error is closed, the exit code has to do.
        let _ = self.write(&mut stderr, format);
        match self {
            Self::Closed => ExitCode::SUCCESS,
            Self::Findings { .. } => ExitCode::from(1),
            Self::Misuse(_) | Self::Explained { .. } => ExitCode::from(2),
        }
    }

    fn write(&self, out: &mut dyn Write, format: OutputFormat) -> io::Result<()> {
        match (self, format) {
            (Self::Closed, _) => Ok(()),
            (Self::Misuse(what), _) => writeln!(out, "error: {}", printable::line(what)),
            (Self::Explained { what, below }, _) => {
                writeln!(out, "error: {}", printable::line(what))?;
                below.iter().try_for_each(|line| writeln!(out, "  {}", printable::line(line)))
            }
            (Self::Findings { file, findings, hint }, OutputFormat::Human) => {
                for finding in findings {
                    writeln!(out, "{}", printable::line(&finding.to_string()))?;
                }
                let count = some(u64::try_from(findings.len()).unwrap_or(u64::MAX), "finding");
                let least = if are_cut(findings) { "at least " } else { "" };
                writeln!(out, "error: {least}{count} in {}", printable::line(file))?;
                hint.iter().try_for_each(|hint| writeln!(out, "hint: {}", printable::line(hint)))
            }
            (Self::Findings { findings, .. }, OutputFormat::Json) => {
                let findings = MachineFinding::all(findings);
                serde_json::to_writer(&mut *out, &serde_json::json!({ "findings": findings }))?;
                writeln!(out)
            }
        }
    }
}
