//! The decisions file: a JSON line for each request, in the order in which they ran.

use super::Arguments;
use crate::mistake::Mistake;
use labkit_ratelimit::Decision;
use serde::Serialize;
use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
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

/// Makes the file, or empties it; never one that is being read, by whatever name, nor the one that the
/// report is written to.
pub(super) fn create(path: &Path, arguments: &Arguments) -> Result<Decisions, Mistake> {
    let name = path.display().to_string();
    if let Ok(target) = fs::metadata(path) {
        let log = if arguments.log == Path::new("-") { behind(&io::stdin()) } else { fs::metadata(&arguments.log) };
        if is_same(&target, log) || is_same(&target, fs::metadata(&arguments.rules)) {
            return Err(Mistake::Misuse(format!("--decisions would overwrite {name}, which is read")));
        }
        if is_same(&target, behind(&io::stdout())) {
            let what = format!("--decisions {name} is standard output, where the report goes; name another file");
            return Err(Mistake::Misuse(what));
        }
    }
    let file = File::create(path).map_err(|error| Mistake::unwritable(&name, &error))?;
    Ok(Decisions { name, out: BufWriter::new(file) })
}

/// What a stream is redirected to.
fn behind(stream: &impl AsFd) -> io::Result<Metadata> {
    File::from(stream.as_fd().try_clone_to_owned()?).metadata()
}

/// Whether both are one file, or one pipe. A terminal or `/dev/null` may be used twice.
fn is_same(target: &Metadata, other: io::Result<Metadata>) -> bool {
    let is_one = |other: Metadata| (target.dev(), target.ino()) == (other.dev(), other.ino());
    !target.file_type().is_char_device() && other.is_ok_and(is_one)
}

impl Decisions {
    pub(super) fn write(&mut self, line: u64, decision: &Decision) -> Result<(), Mistake> {
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
