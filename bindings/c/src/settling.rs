//! The second half of a call on Redis.

use crate::boundary::{guarded, probed, stopped};
use crate::deciding::{cleared, give_up, planned};
use crate::decision::{Answer, Evaluation};
use crate::fault;
use crate::limiters::Held;
use crate::status::Status;
use crate::waiting::{WAITING, Waiting};
use crate::{borrowed, heard, limiters, said, text};
use labkit_ratelimit::Fault;
use serde_json::json;

/// The call was never sent.
const UNSENT: u32 = 3;

/// Takes what came of the call of `pending`, whose handle ends here, whatever the status; but for a call that another
/// limiter planned, which is `BAD_ARGUMENT`, and left as it was.
///
/// `kind` 0: `outcome` is the reply of the script, its bytes. 1: it failed with an error of class `error_class`,
/// which says `outcome`. 2: the deadline passed. 3: it was never sent, and nobody asks for its
/// decision. Of a call that was abandoned, 2 may be told at the deadline, while it is still under way.
///
/// The status is as of `labkit_ratelimit_decide` or `labkit_ratelimit_clear`; with `CALL` another call follows, under
/// a handle of its own. Of a call that was abandoned, `DONE` comes with no decision.
///
/// # Safety
/// As many bytes or elements as are said can be read, or written, at each pointer, until the call returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn labkit_ratelimit_settle(
    limiter: u64,
    pending: u64,
    kind: u32,
    error_class: *const u8,
    class_len: usize,
    outcome: *const u8,
    outcome_len: usize,
    answer: *mut Answer,
    evaluations: *mut Evaluation,
    evaluations_len: usize,
    buffer: *mut u8,
    buffer_len: usize,
) -> Status {
    stopped(|| {
        if !Waiting::is_of(pending, limiter) {
            return Err(Status::BadArgument);
        }
        let waiting = WAITING.take(pending).map(|(_, waiting)| waiting);
        // SAFETY: the caller's word.
        let (answer, evaluations, buffer) = unsafe {
            (
                borrowed::place(answer)?,
                borrowed::slice_mut(evaluations, evaluations_len)?,
                borrowed::slice_mut(buffer, buffer_len)?,
            )
        };
        *answer = Answer::EMPTY;
        // SAFETY: the caller's word.
        let (class, text) =
            unsafe { (borrowed::slice(error_class, class_len)?, borrowed::slice(outcome, outcome_len)?) };
        let waiting = waiting.ok_or(Status::UnknownHandle)?;
        let limiter = limiters::get(limiter).ok_or(Status::UnknownHandle)?;
        if kind == UNSENT {
            return Ok(Status::Done);
        }
        let mode = if let Waiting::Decision(_, mode) = &waiting { Some(*mode) } else { None };
        let reply = fault::outcome(kind, class, text, waiting.deadline())?;
        match guarded(|| settled(&limiter, waiting, reply, &mut *answer, &mut *evaluations, &mut *buffer)) {
            Ok(status) => Ok(status),
            Err(said) => {
                let mode = mode.ok_or(Status::Panic)?;
                give_up(&limiter, mode, said, answer, evaluations);
                Ok(Status::Done)
            }
        }
    })
}

fn settled(
    limiter: &Held,
    waiting: Waiting,
    reply: Result<&[u8], Fault>,
    answer: &mut Answer,
    evaluations: &mut [Evaluation],
    buffer: &mut [u8],
) -> Status {
    probed();
    match waiting {
        Waiting::Decision(pending, mode) => {
            planned(limiter, limiter.settle(*pending, reply), mode, answer, evaluations, buffer)
        }
        Waiting::Clear(mut clearing) => {
            limiter.settle_clear(&mut clearing, reply);
            cleared(limiter, clearing, answer, buffer)
        }
        Waiting::Abandoned(_) => {
            limiter.settle_abandoned(reply);
            let events = heard::take();
            if !events.is_empty() {
                answer.text = text::keep(&json!({"failure": null, "logs": said::logs(&events)}));
            }
            Status::Done
        }
    }
}

/// Decides the check of `pending` without its reply, whose caller does not wait any longer: as the limiter's `on_error`
/// says, with an error of class `error_class` that says `reason`. The handle stays: what comes of the call all the same goes
/// to `labkit_ratelimit_settle`, which then only learns whether the store works. Of a clear nothing is decided.
///
/// # Safety
/// As many bytes or elements as are said can be read, or written, at each pointer, until the call returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn labkit_ratelimit_abandon(
    limiter: u64,
    pending: u64,
    error_class: *const u8,
    class_len: usize,
    reason: *const u8,
    reason_len: usize,
    answer: *mut Answer,
    evaluations: *mut Evaluation,
    evaluations_len: usize,
) -> Status {
    stopped(|| {
        // SAFETY: the caller's word.
        let (answer, evaluations, class, reason) = unsafe {
            (
                borrowed::place(answer)?,
                borrowed::slice_mut(evaluations, evaluations_len)?,
                borrowed::slice(error_class, class_len)?,
                borrowed::slice(reason, reason_len)?,
            )
        };
        *answer = Answer::EMPTY;
        if !Waiting::is_of(pending, limiter) {
            return Err(Status::BadArgument);
        }
        let limiter = limiters::get(limiter).ok_or(Status::UnknownHandle)?;
        let waiting = WAITING.with(pending, |(_, waiting)| {
            let deadline = waiting.deadline();
            std::mem::replace(waiting, Waiting::Abandoned(deadline))
        });
        let (pending, mode) = match waiting.ok_or(Status::UnknownHandle)? {
            Waiting::Decision(pending, mode) => (pending, mode),
            Waiting::Clear(clearing) => {
                answer.deleted = clearing.deleted();
                return Ok(Status::Done);
            }
            Waiting::Abandoned(_) => return Err(Status::UnknownHandle),
        };
        let (class, reason) = (String::from_utf8_lossy(class), String::from_utf8_lossy(reason));
        match guarded(|| {
            probed();
            limiter.abandon(*pending, class, reason)
        }) {
            Ok(decision) => answer.fill(&decision, evaluations),
            Err(said) => give_up(&limiter, mode, said, answer, evaluations),
        }
        Ok(Status::Done)
    })
}
