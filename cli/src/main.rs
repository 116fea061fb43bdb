//! The command line of labkit-ratelimit.
//!
//! **Promise.** It decides as services do, for the core decides here too, and it never changes what it reads.
//!
//! **Invariants.** Results go to standard output or a file that is asked for, all else to standard error. The
//! exit code is 0 when the command did its work, 1 when a document has findings, 2 when it could not do its work.
//!
//! **Absent on purpose.** A Redis: `replay` counts in memory, on the clock of the log.

mod access_log;
mod arguments;
mod chosen_limiter;
mod inputs;
mod machine_finding;
mod mistake;
mod output;
mod output_file;
mod printable;
mod progress;
mod replay;
mod table;
mod validate;
mod words;

use arguments::{CommandLine, Task};
use clap::Parser;
use mistake::Mistake;
use output::OutputFormat;
use std::process::ExitCode;

fn main() -> ExitCode {
    let CommandLine { task } = CommandLine::parse();
    let (done, format) = match task {
        Task::Validate(arguments) => (validate::run(&arguments), OutputFormat::Human),
        Task::Replay(arguments) => (well(replay::run(&arguments)), arguments.format),
    };
    done.unwrap_or_else(|mistake| mistake.report(format))
}

/// A command that knows but one good end.
fn well(done: Result<(), Mistake>) -> Result<ExitCode, Mistake> {
    done.map(|()| ExitCode::SUCCESS)
}
