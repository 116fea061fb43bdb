//! A message of any of the four kinds.

use crate::draw::Draw;
use crate::oracle::Step;
use labkit_ratelimit_documents::message::{AvailableLimiters, Document, LimiterRules, PublishRulesRequest, RateLimits};
use labkit_ratelimit_engine::Findings;
use prost::Message as _;

const SKIP: i32 = 3;

#[derive(Clone, Debug)]
pub(crate) enum Message {
    Contract(AvailableLimiters),
    Rates(RateLimits),
    Publish(PublishRulesRequest),
    Stored(LimiterRules),
}

impl Message {
    /// The message of this seed: mostly files.
    pub(crate) fn drawn(seed: u64) -> Self {
        let mut draw = Draw::new(seed);
        match seed % 6 {
            0 | 1 => Self::Rates(RateLimits { rate_limits: draw.rule_lists() }),
            2 | 3 => Self::Contract(draw.available_limiters()),
            4 => Self::Publish(PublishRulesRequest { rate_limits: draw.rule_lists() }),
            _ => Self::Stored(draw.limiter_rules()),
        }
    }

    /// The name of its type, and its bytes.
    pub(crate) fn encoded(&self) -> (&'static str, Vec<u8>) {
        match self {
            Self::Contract(message) => ("AvailableLimiters", message.encode_to_vec()),
            Self::Rates(message) => ("RateLimits", message.encode_to_vec()),
            Self::Publish(message) => ("PublishRulesRequest", message.encode_to_vec()),
            Self::Stored(message) => ("LimiterRules", message.encode_to_vec()),
        }
    }

    /// What the library says.
    pub(crate) fn check(&self) -> Findings {
        match self {
            Self::Contract(message) => message.check(),
            Self::Rates(message) => message.check(),
            Self::Publish(message) => message.check(),
            Self::Stored(message) => message.check(),
        }
    }

    /// The path leads into a rule that skips.
    pub(crate) fn skips(&self, path: &[Step]) -> bool {
        let (list, at) = match path {
            [Step::Field(list), Step::Field(_), Step::Index(at), ..] => (list, at),
            [Step::Field(_), Step::Key { key }, Step::Field(_), Step::Index(at), ..] => (key, at),
            _ => return false,
        };
        let at = usize::try_from(*at).expect("a place in memory");
        let action = match self {
            Self::Contract(message) => message.available_limiters[list].default_rules[at].action,
            Self::Rates(message) => message.rate_limits[list].rules[at].action,
            Self::Publish(message) => message.rate_limits[list].rules[at].action,
            Self::Stored(message) => {
                let tier = match list.as_str() {
                    "file_rules" => &message.file_rules,
                    "published_rules" => &message.published_rules,
                    _ => &message.default_rules,
                };
                tier.as_ref().expect("the tier of the path").rules[at].action
            }
        };
        action == SKIP
    }
}
