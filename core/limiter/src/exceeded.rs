//! A block as an error.

use crate::generation::Decision;
use std::fmt;

/// The error of [`crate::Limiter::enforce`]: the decision that blocks.
#[derive(Clone, Debug)]
pub struct Exceeded {
    decision: Decision,
}

impl Exceeded {
    pub(crate) const fn new(decision: Decision) -> Self {
        Self { decision }
    }

    /// The decision.
    pub const fn decision(&self) -> &Decision {
        &self.decision
    }
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rate limit {} exceeded", self.decision.rules().limiter())?;
        if let Some(rule) = self.decision.rule() {
            write!(f, " by rule {}", rule.name())?;
        }
        match self.decision.info().and_then(|info| info.retry_after()) {
            Some(wait) => write!(f, "; it passes again in {:.3} s", wait.as_secs_f64()),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Exceeded {}
