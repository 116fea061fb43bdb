//! The command line of labkit-ratelimit.
//!
//! **Promise.** It decides as services do, for the core decides here too, and it never changes the files that it reads.
//!
//! **Invariants.** Results go to standard output or a file that is asked for, all else to standard error. The
//! exit code is 0 when the command did its work, 1 when a document has findings, 2 when it could not do its work.
//!
//! **Absent on purpose.** Secrets on the command line: what `peek` and `clear` need to know of a Redis is in the
//! environment. A Redis for the other commands: `replay` counts in memory, on the clock of the log, and `explain` does not
//! count.

mod access_log;
mod arguments;
mod chosen_limiter;
mod clear;
mod explain;
mod identity;
mod inputs;
mod machine_finding;
mod mistake;
mod note;
mod output;
mod output_file;
mod peek;
mod printable;
mod progress;
mod redis_server;
mod replay;
mod stored_limiter;
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
        Task::Explain(arguments) => (well(explain::run(&arguments)), arguments.format),
        Task::Peek(arguments) => (well(peek::run(&arguments)), arguments.format),
        Task::Clear(arguments) => (well(clear::run(&arguments)), arguments.format),
        Task::Replay(arguments) => (well(replay::run(&arguments)), arguments.format),
    };
    done.unwrap_or_else(|mistake| mistake.report(format))
}

/// A command that knows but one good end.
fn well(done: Result<(), Mistake>) -> Result<ExitCode, Mistake> {
    done.map(|()| ExitCode::SUCCESS)
}
