//! The arguments of `validate`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

const HELP: &str = "\
A file whose outer key is `available_limiters` is the contract; there is at most one.
All others are `rate_limits` files: on equal names the earlier file's rule stands.
A file that has no outer key, or cannot be parsed, is what its name says.

Examples:
  labkit-ratelimit validate available_limiters.yaml rate_limits.yaml
  labkit-ratelimit validate --strict available_limiters.yaml owner.yaml global.yaml
  labkit-ratelimit validate --format json rate_limits.yaml | jq '.findings[].code'
  generate-rules | labkit-ratelimit validate available_limiters.yaml -

Exit codes:
  0  valid; there may be warnings
  1  there are findings; with --strict also: there are warnings
  2  it could not be done: a file is missing, an option is wrong, two contracts";

/// Check documents: every mistake at once, each with its place and how to mend it.
///
/// Findings go to standard output, whatever the format. Nothing is changed, and no Redis is asked.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The documents, YAML or JSON; `-` reads standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Warnings are failures too
    #[arg(long)]
    pub(crate) strict: bool,

    /// For whom the findings are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: ReportFormat,
}

/// For whom findings are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// for people: the line, and where in it
    #[default]
    Human,
    /// one JSON object
    Json,
    /// workflow commands, which GitHub shows as annotations
    Github,
    /// a code quality report, which GitLab shows in the merge request
    Gitlab,
}
