//! Calls that wait for the host to run them.

use crate::call;
use crate::decision::Answer;
use crate::status::Status;
use crate::table::Table;
use crate::wire::Writer;
use labkit_ratelimit::{Clearing, Mode, Pending};
use std::time::Duration;

/// Each with the handle of the limiter that planned it.
pub(crate) static WAITING: Table<(u64, Waiting)> = Table::new();

/// One of them.
pub(crate) enum Waiting {
    /// Of a check or a peek.
    Decision(Box<Pending>, Mode),
    /// Of a clear.
    Clear(Clearing),
    /// Its check was given up; only whether the store works is left to be seen, in that time.
    Abandoned(Duration),
}

impl Waiting {
    /// Keeps it for the limiter of that handle, and writes its call.
    pub(crate) fn kept(self, limiter: u64, answer: &mut Answer, buffer: &mut [u8]) -> Status {
        answer.pending = WAITING.insert((limiter, self));
        Self::shown(answer.pending, answer, buffer).unwrap_or_else(|status| status)
    }

    /// Whether that limiter may settle a handle: another one's is none of its business. A handle that is none is told later.
    pub(crate) fn is_of(handle: u64, limiter: u64) -> bool {
        WAITING.with(handle, |(owner, _)| *owner == limiter).unwrap_or(true)
    }

    /// How long its call may be waited for.
    pub(crate) fn deadline(&self) -> Duration {
        match self {
            Self::Decision(pending, _) => pending.deadline(),
            Self::Clear(clearing) => clearing.deadline(),
            Self::Abandoned(deadline) => *deadline,
        }
    }

    /// Writes the call of a handle, which the host then has.
    pub(crate) fn shown(handle: u64, answer: &mut Answer, buffer: &mut [u8]) -> Result<Status, Status> {
        let written = WAITING.with(handle, |(_, waiting)| {
            let (call, deadline) = match waiting {
                Self::Decision(pending, _) => (pending.call(), pending.deadline()),
                Self::Clear(clearing) => (clearing.call()?, clearing.deadline()),
                Self::Abandoned(_) => return None,
            };
            if call.keys.is_empty() {
                return Some(Status::BadArgument);
            }
            let mut writer = Writer::new(buffer);
            call::write(call, &mut writer);
            answer.deadline_us = u64::try_from(deadline.as_micros()).unwrap_or(u64::MAX);
            answer.script = call::script_of(call);
            answer.keys = crate::decision::narrow(call.keys.len());
            answer.args = crate::decision::narrow(call.args.len());
            answer.len = u64::try_from(writer.len()).unwrap_or(u64::MAX);
            if !writer.has_room() {
                return Some(Status::TooSmall);
            }
            if let Self::Decision(pending, _) = waiting {
                pending.let_go();
            }
            Some(Status::Call)
        });
        written.flatten().ok_or(Status::UnknownHandle)
    }
}
