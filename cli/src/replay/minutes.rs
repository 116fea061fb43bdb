//! Requests and refusals, minute by minute.

/// How long a minute is, in µs.
pub(crate) const MINUTE_US: u64 = 60_000_000;

/// Minutes in which there was a request, in order.
#[derive(Debug, Default)]
pub(crate) struct Minutes(Vec<Minute>);

/// One minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Minute {
    pub(crate) from_us: u64,
    pub(crate) requests: u64,
    pub(crate) refused: u64,
}

impl Minutes {
    /// Adds a request; they come in order of time.
    pub(super) fn add(&mut self, at_us: u64, refused: bool) {
        let from_us = at_us - at_us % MINUTE_US;
        if self.0.last().is_none_or(|minute| minute.from_us != from_us) {
            self.0.push(Minute { from_us, requests: 0, refused: 0 });
        }
        if let Some(minute) = self.0.last_mut() {
            minute.requests += 1;
            minute.refused += u64::from(refused);
        }
    }

    /// All of them, in order.
    pub(crate) fn all(&self) -> &[Minute] {
        &self.0
    }

    /// The minutes with most refusals, those with none left out; of equals the one with more requests, then
    /// the earlier.
    pub(crate) fn worst(&self, top: usize) -> Vec<Minute> {
        let mut minutes: Vec<Minute> = self.0.iter().copied().filter(|minute| minute.refused > 0).collect();
        minutes.sort_by_key(|minute| (std::cmp::Reverse((minute.refused, minute.requests)), minute.from_us));
        minutes.truncate(top);
        minutes
    }

    /// How many minutes have refusals.
    pub(crate) fn with_refusals(&self) -> usize {
        self.0.iter().filter(|minute| minute.refused > 0).count()
    }
}
