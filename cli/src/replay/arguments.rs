//! The arguments of `replay`.

use super::picture::Picture;
use crate::access_log::Format;
use crate::arguments::EXIT_CODES;
use crate::chosen_limiter::LimiterArguments;
use crate::output::OutputFormat;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

/// The fields that hold the time unless `--time-field` names another.
const TIME_FIELDS: [&str; 3] = ["time", "timestamp", "@timestamp"];

const EXAMPLE: &str = "\
Properties of the common and combined formats:
  ip, user, method, path (without its query), status and bytes (integers),
  referrer, user_agent; absent where the log has `-`.
JSON lines and CSV give their own fields.

Lines of --decisions, and with --against:
  {\"line\":17,\"action\":\"block\",\"rule\":\"per_ip\",\"exceeded\":[\"per_ip\"]}
  {\"line\":17,\"a\":{\"action\":\"allow\",\"rule\":\"per_ip\",\"exceeded\":[]},
   \"b\":{\"action\":\"block\",\"rule\":\"per_ip\",\"exceeded\":[\"per_ip\"]}}

Examples:
  labkit-ratelimit replay --available available_limiters.yaml \\
      --rules rules.yaml --limiter rack_request access.log.gz
  cat access.log.*.gz | labkit-ratelimit replay --rules rules.yaml \\
      --format json - | jq .totals
  labkit-ratelimit replay --available available_limiters.yaml \\
      --rules today.yaml --against tomorrow.yaml --limiter rack_request \\
      --picture changes.html access.log.gz";

/// Run an access log through rules: who would have been refused, by which rule, when and how often.
///
/// The requests run in the order of their times, on a clock that stands at each request's time. Nothing is
/// evicted, no Redis is asked, and nothing but the files of --decisions and --picture is written.
#[derive(Args, Debug)]
#[command(after_help = format!("{EXAMPLE}\n\n{EXIT_CODES}"))]
pub(crate) struct Arguments {
    /// The access log, plain or gzip; `-` reads standard input
    #[arg(value_name = "LOG")]
    pub(crate) log: PathBuf,

    #[command(flatten)]
    pub(crate) limiter: LimiterArguments,

    /// Other rules in the place of --rules, to see what they would change; once for each file, in their order
    ///
    /// A is what --available and --rules say, B the same with these files. Both run over the same requests, each with
    /// counters of its own. The report tells whom B newly refuses and whom it newly allows.
    #[arg(long, value_name = "FILE")]
    pub(crate) against: Vec<PathBuf>,

    /// Another contract in the place of --available, for B; by default B has the contract of A
    #[arg(long, value_name = "FILE")]
    pub(crate) against_available: Option<PathBuf>,

    /// For whom the report is written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: OutputFormat,

    /// How the log is written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) log_format: LogFormat,

    /// The field of JSON lines or CSV that holds the time; by default `time`, `timestamp` or `@timestamp`
    ///
    /// RFC 3339, 17/May/2015:10:05:03 +0000 (with a fraction or without), or Unix seconds; above 10^11 Unix milliseconds.
    #[arg(long, value_name = "FIELD")]
    time_field: Option<String>,

    /// Also write a JSON line for each request, in the order in which they ran; neither into a file that is
    /// read nor into standard output
    ///
    /// With --against each line holds both decisions; both kinds of lines are shown below.
    #[arg(long, value_name = "FILE")]
    pub(crate) decisions: Option<PathBuf>,

    /// Also draw requests and refusals over time, with --against under both; FILE ends in .svg or .html
    ///
    /// One file that needs no other. The page (.html) holds the tables of what changes, too. A bar is a
    /// minute, or where the log is long the mean per minute of 5 or 15 minutes, an hour and more, and pale
    /// behind it the busiest minute in it: the axis says which.
    #[arg(long, value_name = "FILE", value_parser = Picture::parse)]
    pub(crate) picture: Option<Picture>,

    /// How many identities (of each rule, and of those with changes) and how many minutes are shown
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) top: usize,
}

impl Arguments {
    /// Every file that is read.
    pub(crate) fn read(&self) -> impl Iterator<Item = &Path> {
        let LimiterArguments { available, rules, .. } = &self.limiter;
        let a = [&self.log].into_iter().chain(available).chain(rules);
        a.chain(&self.against).chain(&self.against_available).map(PathBuf::as_path)
    }

    /// The fields that may hold the time, the preferred first.
    pub(crate) fn time_fields(&self) -> Vec<String> {
        match &self.time_field {
            Some(name) => vec![name.clone()],
            None => TIME_FIELDS.map(String::from).to_vec(),
        }
    }
}

/// How the log is written, as the option takes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// whichever of the others the first lines are in
    #[default]
    Auto,
    /// host, identity, user, time, "request", status, bytes
    Common,
    /// the same, then "referrer" and "user agent"
    Combined,
    /// a JSON object on each line
    Json,
    /// comma-separated values below a line that names the fields
    Csv,
}

impl LogFormat {
    /// The format that was asked for.
    pub(crate) const fn format(self) -> Option<Format> {
        match self {
            Self::Auto => None,
            Self::Common => Some(Format::Common),
            Self::Combined => Some(Format::Combined),
            Self::Json => Some(Format::Json),
            Self::Csv => Some(Format::Csv),
        }
    }
}
