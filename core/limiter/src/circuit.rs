//! The circuit: a store that keeps failing is left alone for a while, so that it costs nothing per request.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Failures in a row that open it.
const FAILURES: u32 = 5;
const FIRST_PAUSE_US: u64 = 200_000;
const LONGEST_PAUSE_US: u64 = 10_000_000;

/// What a call's end did to the circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    None,
    Opened,
    Closed,
}

/// Opens after 5 failures in a row for 0.2 s; then one call tries the store, and while it fails the
/// pause doubles, to 10 s at most. Limiters on one store may share it.
#[derive(Debug, Default)]
pub struct Circuit {
    open: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    pause_us: u64,
    open_until_us: u64,
    // How long callers waited that went without an answer, since the last one.
    waited_us: u64,
    // A call was let through to try the store.
    trying: bool,
}

impl Circuit {
    /// Closed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether it is open: calls fail at once.
    pub fn is_open(&self) -> bool {
        self.open.load(Relaxed)
    }

    /// Closes it, whatever was.
    pub fn close(&self) {
        *self.state.lock() = State::default();
        self.open.store(false, Relaxed);
    }

    /// Whether a call may go to the store at `now_us`.
    pub(crate) fn admits(&self, now_us: u64) -> bool {
        if !self.is_open() {
            return true;
        }
        let mut state = self.state.lock();
        // A clock that stepped back does not keep it open for longer than its pause.
        let waits = state.open_until_us > now_us && state.open_until_us - now_us <= state.pause_us;
        if self.is_open() && waits {
            return false;
        }
        state.open_until_us = now_us.saturating_add(state.pause_us);
        state.trying = true;
        true
    }

    /// A call was answered.
    pub(crate) fn succeeded(&self) -> Change {
        let mut state = self.state.lock();
        state.failures = 0;
        state.waited_us = 0;
        if !self.is_open() {
            return Change::None;
        }
        *state = State::default();
        self.open.store(false, Relaxed);
        Change::Closed
    }

    /// A caller went at `now_us`, before its deadline, and its call with it. Waits that together reach a deadline, no
    /// answer between them, are a failure.
    pub(crate) fn waited(&self, waited_us: u64, deadline_us: u64, now_us: u64) -> Change {
        let mut state = self.state.lock();
        state.waited_us = state.waited_us.saturating_add(waited_us);
        if state.waited_us < deadline_us {
            return Change::None;
        }
        state.waited_us = 0;
        drop(state);
        self.failed(now_us)
    }

    /// A call failed at `now_us`.
    pub(crate) fn failed(&self, now_us: u64) -> Change {
        let mut state = self.state.lock();
        if self.is_open() {
            if state.trying {
                state.trying = false;
                state.pause_us = (state.pause_us * 2).min(LONGEST_PAUSE_US);
                state.open_until_us = now_us.saturating_add(state.pause_us);
            }
            return Change::None;
        }
        state.failures += 1;
        if state.failures < FAILURES {
            return Change::None;
        }
        state.pause_us = FIRST_PAUSE_US;
        state.open_until_us = now_us.saturating_add(FIRST_PAUSE_US);
        self.open.store(true, Relaxed);
        Change::Opened
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_after_five_in_a_row_tries_and_doubles() {
        let circuit = Circuit::new();
        for _ in 0..4 {
            assert_eq!(circuit.failed(0), Change::None);
        }
        assert_eq!(circuit.succeeded(), Change::None, "the row is broken");
        for _ in 0..4 {
            assert_eq!(circuit.failed(0), Change::None);
        }
        assert_eq!(circuit.failed(0), Change::Opened);
        assert!(!circuit.admits(FIRST_PAUSE_US - 1));
        assert!(circuit.admits(FIRST_PAUSE_US), "one call tries");
        assert!(!circuit.admits(FIRST_PAUSE_US), "and only one");
        assert_eq!(circuit.failed(FIRST_PAUSE_US), Change::None);
        assert!(!circuit.admits(FIRST_PAUSE_US * 3 - 1));
        assert!(circuit.admits(FIRST_PAUSE_US * 3));
        assert_eq!(circuit.succeeded(), Change::Closed);
        assert!(circuit.admits(0));
    }

    #[test]
    fn a_clock_that_steps_back_does_not_keep_it_open() {
        let circuit = Circuit::new();
        for _ in 0..5 {
            circuit.failed(1_000_000_000_000);
        }
        assert!(circuit.admits(1_000_000));
    }

    #[test]
    fn callers_that_go_hide_no_dead_store() {
        let circuit = Circuit::new();
        for _ in 0..100 {
            assert_eq!(circuit.waited(60, 100, 0), Change::None);
            assert_eq!(circuit.succeeded(), Change::None, "an answer between them");
        }
        for _ in 0..9 {
            assert_eq!(circuit.waited(60, 100, 0), Change::None);
        }
        assert_eq!(circuit.waited(60, 100, 0), Change::Opened, "five deadlines");
    }
}
