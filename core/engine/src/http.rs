//! The HTTP fields of a decision (semantics section 12).

use crate::decision::Decision;
use crate::evaluation::Evaluation;
use crate::reading::Info;
use crate::rule_spec::Action;
use crate::rules::Rules;
use std::ops::Deref;
use std::time::{Duration, UNIX_EPOCH};

/// Which fields are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HeaderFormat {
    /// As GitLab's API documents them.
    #[default]
    Gitlab,
    /// draft-ietf-httpapi-ratelimit-headers-11.
    IetfDraft11,
}

/// Field names and values, in the order they are sent.
pub type Headers = Vec<(&'static str, String)>;

const MICROS: u64 = 1_000_000;
/// The last second that an HTTP date can write: a key that somebody else gave a longer life ends here.
const LAST_SECOND: u64 = 253_402_300_799;

impl<R: Deref<Target = Rules>> Decision<R> {
    /// The fields of the most constraining evaluation whose rule is not a `log` rule; none for
    /// unmatched and failed decisions, nor where a skip is reported.
    pub fn headers(&self, format: HeaderFormat) -> Headers {
        let shown = self.shown();
        shown.map_or_else(Headers::new, |e| format.fields(e.rule().name(), &self.info_of(&e), e.blocks()))
    }

    /// The evaluation that [`Decision::headers`] speak of.
    pub fn shown(&self) -> Option<Evaluation<'_>> {
        if self.is_skipped() && !self.is_blocked() {
            return None;
        }
        let visible = self.evaluations().iter().filter(|e| e.action() != Action::Log);
        visible.min_by(|a, b| a.constrains(b))
    }
}

impl Evaluation<'_> {
    /// The fields of this evaluation, a `log` rule's too.
    pub fn headers(&self, format: HeaderFormat) -> Headers {
        format.fields(self.rule().name(), &self.info(), self.blocks())
    }
}

impl HeaderFormat {
    /// The fields of a rule's numbers, for hosts that kept those of a decision and not the decision itself. `blocks`:
    /// the rule refused the call.
    pub fn fields(self, rule: &str, info: &Info, blocks: bool) -> Headers {
        let mut headers = match self {
            Self::Gitlab => vec![
                ("RateLimit-Name", rule.to_owned()),
                ("RateLimit-Limit", info.limit.to_string()),
                ("RateLimit-Observed", whole(info.count)),
                ("RateLimit-Remaining", whole(info.remaining)),
                ("RateLimit-Reset", info.reset_at_us().div_ceil(MICROS).to_string()),
            ],
            Self::IetfDraft11 => {
                let (left, reset_s) = (whole(info.remaining), info.reset_after_us.div_ceil(MICROS));
                vec![
                    ("RateLimit-Policy", format!("\"{rule}\";q={};w={}", info.limit, info.period_s)),
                    ("RateLimit", format!("\"{rule}\";r={left};t={reset_s}")),
                ]
            }
        };
        if blocks {
            if let Some(wait_us) = info.retry_after_us {
                headers.push(("Retry-After", wait_us.div_ceil(MICROS).max(1).to_string()));
            }
            if self == Self::Gitlab {
                let reset = UNIX_EPOCH + Duration::from_secs(info.reset_at_us().div_ceil(MICROS).min(LAST_SECOND));
                headers.push(("RateLimit-ResetTime", httpdate::fmt_http_date(reset)));
            }
        }
        headers
    }
}

/// Whole, rounded down, at least 0. A double says all its digits, beyond the widest integer too.
fn whole(n: f64) -> String {
    if n < 1.0 { "0".to_owned() } else { format!("{:.0}", n.floor()) }
}
