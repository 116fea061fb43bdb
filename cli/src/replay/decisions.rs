//! The decisions file: a JSON line for each request, in the order in which they ran.

use crate::mistake::Mistake;
use crate::output_file::OutputFile;
use labkit_ratelimit::{Decision, Rule};
use serde::Serialize;

/// Writes the file.
#[derive(Debug)]
pub(super) struct Decisions(pub(super) OutputFile);

/// One line.
#[derive(Serialize)]
struct Written<'d> {
    /// The line's number in the log.
    line: u64,
    #[serde(flatten)]
    decided: Option<Decided<'d>>,
    /// With `--against` each under its own name, in place of the one.
    #[serde(skip_serializing_if = "Option::is_none")]
    a: Option<Decided<'d>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<Decided<'d>>,
}

/// One decision.
#[derive(Serialize)]
struct Decided<'d> {
    action: &'static str,
    /// The reported rule.
    rule: Option<&'d str>,
    /// Every rule that was over, in rule order.
    exceeded: Vec<&'d str>,
}

impl<'d> Decided<'d> {
    fn new(decision: &'d Decision) -> Self {
        Self {
            action: decision.verdict().as_str(),
            rule: decision.rule().map(Rule::name),
            exceeded: decision.evaluations().iter().filter(|e| e.is_exceeded()).map(|e| e.rule().name()).collect(),
        }
    }
}

impl Decisions {
    /// Adds a line: of the decision under A, and of the one under B where there is one.
    pub(super) fn write(&mut self, line: u64, a: &Decision, b: Option<&Decision>) -> Result<(), Mistake> {
        let written = match b {
            None => Written { line, decided: Some(Decided::new(a)), a: None, b: None },
            Some(b) => Written { line, decided: None, a: Some(Decided::new(a)), b: Some(Decided::new(b)) },
        };
        self.0.write(|out| {
            serde_json::to_writer(&mut *out, &written)?;
            out.write_all(b"\n")
        })
    }
}
