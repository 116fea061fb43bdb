//! The arguments of every command, as `--help` explains them.

use crate::{clear, explain, peek, replay, validate};
use clap::{Parser, Subcommand};

/// The exit codes, the same of every command.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  the work is done, also where requests were refused
  1  a document has findings: all of them are printed
  2  the work could not be done: a file is missing, an option is wrong,
     the documents hold no such limiter, no line of the log could be read,
     the Redis does not answer";

/// Rate limits on the command line: what rules would do, decided as services decide it.
#[derive(Debug, Parser)]
#[command(name = "labkit-ratelimit", version, about, after_help = EXIT_CODES, arg_required_else_help = true)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) task: Task,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    Validate(validate::Arguments),
    Explain(explain::Arguments),
    Replay(Box<replay::Arguments>),
    Peek(peek::Arguments),
    Clear(clear::Arguments),
}
