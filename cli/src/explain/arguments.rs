//! The arguments of `explain`.

use crate::arguments::EXIT_CODES;
use crate::chosen_limiter::LimiterArguments;
use crate::identity::{IdentityArguments, PROPERTIES_HELP};
use crate::output::OutputFormat;
use clap::Args;

const EXAMPLES: &str = "\
Examples:
  labkit-ratelimit explain --available available_limiters.yaml --rules rate_limits.yaml \\
      --limiter rack_request ip=203.0.113.7 path=/search
  labkit-ratelimit explain --rules rate_limits.yaml --format json \\
      --identifier '{\"ip\": \"203.0.113.7\", \"status\": 404}' | jq '.rules[] | select(.matches).name'";

/// Show which rules one request meets, in which order, and why the others pass it over.
///
/// Nothing is counted, and no Redis is asked: whether a rule is over is not known here. `peek` knows.
#[derive(Args, Debug)]
#[command(after_help = format!("{PROPERTIES_HELP}\n\n{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) limiter: LimiterArguments,

    #[command(flatten)]
    pub(crate) identity: IdentityArguments,

    /// For whom it is written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: OutputFormat,
}
