//! The arguments of `clear`.

use crate::arguments::EXIT_CODES;
use crate::identity::PROPERTIES_HELP;
use crate::output::OutputFormat;
use crate::redis_server::ENVIRONMENT_HELP;
use crate::stored_limiter::StoredArguments;
use clap::Args;

const EXAMPLES: &str = "\
Examples:
  export LABKIT_RATELIMIT_REDIS_URL=redis://redis.internal:6379/0
  labkit-ratelimit clear --available available_limiters.yaml --rules rate_limits.yaml \\
      --limiter rack_request ip=203.0.113.7
  labkit-ratelimit clear --rules rate_limits.yaml --yes --format json ip=203.0.113.7";

/// Delete counters and bans of one request under every rule, whether the rule matches or not.
///
/// Only the characteristics of rules are needed. Where a rule has two, the counter is that of the pair: give both. Where
/// one is absent, it is the counter of all who lack it. It lifts bans, so it asks first, or needs --yes where nobody can
/// be asked.
#[derive(Args, Debug)]
#[command(after_help = format!("{PROPERTIES_HELP}\n\n{ENVIRONMENT_HELP}\n\n{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) stored: StoredArguments,

    /// Do not ask; needed where standard input or standard error is no terminal
    #[arg(long)]
    pub(crate) yes: bool,

    /// For whom it is written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: OutputFormat,
}
