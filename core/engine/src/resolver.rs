//! The numbers of one rule in one check: fixed, replaced by an override, or asked of the host.

use crate::failure::{Failure, FailureKind};
use crate::finding::Code;
use crate::host::{CallableId, Host, HostNumber};
use crate::numbers;
use crate::rule::Amount;

/// Resolves the numbers of one rule.
pub(crate) struct Resolver<'a> {
    pub(crate) host: &'a dyn Host,
    pub(crate) rule: u32,
}

impl Resolver<'_> {
    pub(crate) fn resolve(
        &self,
        field: &str,
        replaced: Option<u64>,
        own: Amount,
        min: u64,
        max: u64,
    ) -> Result<u64, Failure> {
        match (replaced, own) {
            (Some(n), _) | (None, Amount::Fixed(n)) => Ok(n),
            (None, Amount::Callable(id)) => self.call(field, id, min, max),
        }
    }

    fn call(&self, field: &str, id: CallableId, min: u64, max: u64) -> Result<u64, Failure> {
        let number = self.host.number(id).map_err(|error| Failure::of_host(FailureKind::Callable, self.rule, error))?;
        let whole = match number {
            HostNumber::Int(n) => n,
            HostNumber::Float(f) if f.is_finite() => numbers::cut_to_i128(f),
            HostNumber::Float(f) => return Err(self.failure(format!("{field} must be a finite number, not {f}"))),
        };
        // Only a limit may be 0 or less: it then refuses everything.
        let whole = if min == 0 { whole.max(0) } else { whole };
        u64::try_from(whole)
            .ok()
            .filter(|n| (min..=max).contains(n))
            .ok_or_else(|| self.failure(format!("{field} must be within {min} and {max}, not {whole}")))
    }

    pub(crate) fn out_of_range(&self, limit: u64, period_s: u64, burst: u64) -> Failure {
        self.failure(format!(
            "{limit} per {period_s} s with a burst of {burst} is beyond exact arithmetic ({})",
            Code::GcraOutOfRange
        ))
    }

    fn failure(&self, message: String) -> Failure {
        Failure { rule: Some(self.rule), ..Failure::new(FailureKind::Callable, "OutOfRange", message) }
    }
}
