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
mod mistake;
mod output;
mod output_file;
mod printable;
mod progress;
mod replay;
mod rules_file;

use arguments::{CommandLine, Task};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let CommandLine { task } = CommandLine::parse();
    let (done, format) = match task {
        Task::Replay(arguments) => (replay::run(&arguments), arguments.format),
    };
    done.map_or_else(|mistake| mistake.report(format), |()| ExitCode::SUCCESS)
}
