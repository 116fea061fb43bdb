//! The decisions file: a JSON line for each request, in the order in which they ran.

use super::Arguments;
use crate::mistake::Mistake;
use labkit_ratelimit::Decision;
use serde::Serialize;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes the file.
#[derive(Debug)]
pub(super) struct Decisions {
    name: String,
    out: BufWriter<File>,
}

/// One line.
#[derive(Serialize)]
struct Decided<'d> {
    /// The line's number in the log.
    line: u64,
    action: &'static str,
    /// The reported rule.
    rule: Option<&'d str>,
    /// Every rule that was over, in rule order.
    exceeded: Vec<&'d str>,
}

/// Makes the file, or empties it; never one that is being read.
pub(super) fn create(path: &Path, arguments: &Arguments) -> Result<Decisions, Mistake> {
    let name = path.display().to_string();
    let same = |other: &Path| matches!((fs::canonicalize(path), fs::canonicalize(other)), (Ok(a), Ok(b)) if a == b);
    if same(&arguments.log) || same(&arguments.rules) {
        return Err(Mistake::Misuse(format!("--decisions would overwrite {name}, which is read")));
    }
    let file = File::create(path).map_err(|error| Mistake::unwritable(&name, &error))?;
    Ok(Decisions { name, out: BufWriter::new(file) })
}

impl Decisions {
    pub(super) fn write(&mut self, line: u64, decision: &Decision<'_>) -> Result<(), Mistake> {
        let decided = Decided {
            line,
            action: decision.verdict().as_str(),
            rule: decision.rule().map(labkit_ratelimit::Rule::name),
            exceeded: decision.evaluations().iter().filter(|e| e.is_exceeded()).map(|e| e.rule().name()).collect(),
        };
        let written = serde_json::to_writer(&mut self.out, &decided).map_err(io::Error::from);
        written.and_then(|()| self.out.write_all(b"\n")).map_err(|error| Mistake::unwritable(&self.name, &error))
    }

    pub(super) fn finish(mut self) -> Result<(), Mistake> {
        self.out.flush().map_err(|error| Mistake::unwritable(&self.name, &error))
    }
}
