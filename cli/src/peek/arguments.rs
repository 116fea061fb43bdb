//! The arguments of `peek`.

use crate::arguments::EXIT_CODES;
use crate::identity::PROPERTIES_HELP;
use crate::output::OutputFormat;
use crate::redis_server::ENVIRONMENT_HELP;
use crate::stored_limiter::StoredArguments;
use clap::Args;

const EXAMPLES: &str = "\
Examples:
  export LABKIT_RATELIMIT_REDIS_URL=redis://redis.internal:6379/0
  labkit-ratelimit peek --available available_limiters.yaml --rules rate_limits.yaml \\
      --limiter rack_request ip=203.0.113.7 path=/search
  labkit-ratelimit peek --rules rate_limits.yaml --format json ip=203.0.113.7 | jq .action";

/// Show where one request stands under every rule that it meets. Changes nothing.
///
/// Give all properties, as the application would. The answer speaks of the requests that were counted until now: where a
/// window has nothing left (remaining 0), they were all allowed, and the one that comes next is refused.
#[derive(Args, Debug)]
#[command(after_help = format!("{PROPERTIES_HELP}\n\n{ENVIRONMENT_HELP}\n\n{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) stored: StoredArguments,

    /// For whom it is written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: OutputFormat,
}
