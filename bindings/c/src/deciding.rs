//! Checks, peeks and clears.

use crate::boundary::{guarded, probed, stopped};
use crate::decision::{Answer, Evaluation, kind};
use crate::facts::Facts;
use crate::limiters::Held;
use crate::status::Status;
use crate::waiting::Waiting;
use crate::wire::Writer;
use crate::{borrowed, heard, limiters, rounds, said, text};
use labkit_ratelimit::{CallOptions, Clearing, Mode, Planned, Round, RulesRef};

/// What the library takes for a panic of its own.
const PANIC: &str = "panic";

/// A check, as its arguments say it.
struct Check<'a> {
    rules: u64,
    mode: Mode,
    cost: f64,
    identifier: &'a [u8],
    answers: &'a [u8],
}

/// Where the host wants the answer.
struct Room<'a> {
    answer: &'a mut Answer,
    evaluations: &'a mut [Evaluation],
    buffer: &'a mut [u8],
}

/// Checks (`mode` 0) or peeks (`mode` 1).
///
/// `rules` is the serial number of the rules by whose properties the values of `identifier` are ordered; or 0, and each
/// value has its name before it. `answers` are those to every question that was asked of this call before. `cost` is of
/// a check.
///
/// - `DONE`: `answer` is the decision, with `evaluations` as far as there is room. A limiter without any rules needs none.
/// - `CALL`: a script is to be run, whose keys and arguments are in `buffer`.
/// - `ASK`: `buffer` holds questions; nothing was counted.
/// - `STALE`: other rules are in force; nothing was counted.
/// - `TOO_SMALL`: `answer->len` bytes are needed. Where `answer->pending` is not 0, `labkit_ratelimit_call` writes them;
///   else repeat the call.
///
/// # Safety
/// As many bytes or elements as are said can be read, or written, at each pointer, until the call returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn labkit_ratelimit_decide(
    limiter: u64,
    rules: u64,
    mode: u32,
    cost: f64,
    identifier: *const u8,
    identifier_len: usize,
    answers: *const u8,
    answers_len: usize,
    answer: *mut Answer,
    evaluations: *mut Evaluation,
    evaluations_len: usize,
    buffer: *mut u8,
    buffer_len: usize,
) -> Status {
    stopped(|| {
        // SAFETY: the caller's word.
        let room = unsafe {
            Room {
                answer: borrowed::place(answer)?,
                evaluations: borrowed::slice_mut(evaluations, evaluations_len)?,
                buffer: borrowed::slice_mut(buffer, buffer_len)?,
            }
        };
        *room.answer = Answer::EMPTY;
        let mode = match mode {
            0 => Mode::Check,
            1 => Mode::Peek,
            _ => return Err(Status::BadArgument),
        };
        // SAFETY: the caller's word.
        let (identifier, answers) =
            unsafe { (borrowed::slice(identifier, identifier_len)?, borrowed::slice(answers, answers_len)?) };
        let limiter = limiters::get(limiter).ok_or(Status::UnknownHandle)?;
        let check = Check { rules, mode, cost, identifier, answers };
        match guarded(|| check.run(&limiter, &mut *room.answer, &mut *room.evaluations, &mut *room.buffer)) {
            Ok(status) => status,
            Err(said) => {
                give_up(&limiter, mode, said, room.answer, room.evaluations);
                Ok(Status::Done)
            }
        }
    })
}

impl Check<'_> {
    fn run(
        &self,
        limiter: &Held,
        answer: &mut Answer,
        evaluations: &mut [Evaluation],
        buffer: &mut [u8],
    ) -> Result<Status, Status> {
        probed();
        let rules = limiter.rules();
        let mut facts = Facts::default();
        if !facts.read(self.rules, &rules, self.identifier)? {
            answer.rules = rules.serial();
            return Ok(Status::Stale);
        }
        let mut options = CallOptions::default();
        // The default needs no work.
        if self.cost.to_bits() != 1.0_f64.to_bits() {
            options = options.cost(self.cost);
        }
        if !rules.asks_host() {
            return Ok(self.decided(limiter, rules, &facts, options, answer, evaluations, buffer));
        }
        let answers = rounds::answers(self.answers)?;
        let questions = limiter.questions(&rules, &facts, options, self.mode, &answers);
        if !questions.is_empty() {
            let mut writer = Writer::new(buffer);
            rounds::ask(&questions, &mut writer);
            answer.len = u64::try_from(writer.len()).unwrap_or(u64::MAX);
            return Ok(if writer.has_room() { Status::Ask } else { Status::TooSmall });
        }
        let round = Round::new(&answers);
        Ok(self.decided(limiter, rules, &facts, options.host(&round), answer, evaluations, buffer))
    }

    #[expect(clippy::too_many_arguments, reason = "the call, and the host's room")]
    fn decided(
        &self,
        limiter: &Held,
        rules: RulesRef,
        facts: &Facts<'_>,
        options: CallOptions<'_>,
        answer: &mut Answer,
        evaluations: &mut [Evaluation],
        buffer: &mut [u8],
    ) -> Status {
        match limiter.show_by(rules, facts, options, self.mode, |decision| answer.fill(decision, evaluations)) {
            Ok(()) => Status::Done,
            Err(pending) => Waiting::Decision(pending, self.mode).kept(limiter.handle(), answer, buffer),
        }
    }
}

pub(crate) fn planned(
    limiter: &Held,
    planned: Planned,
    mode: Mode,
    answer: &mut Answer,
    evaluations: &mut [Evaluation],
    buffer: &mut [u8],
) -> Status {
    match planned {
        Planned::Done(decision) => {
            answer.fill(&decision, evaluations);
            Status::Done
        }
        Planned::Call(pending) => Waiting::Decision(Box::new(pending), mode).kept(limiter.handle(), answer, buffer),
    }
}

/// The decision of a check that panicked: as `on_error` says, and one line is logged.
#[cold]
pub(crate) fn give_up(limiter: &Held, mode: Mode, said: String, answer: &mut Answer, evaluations: &mut [Evaluation]) {
    *answer = Answer::EMPTY;
    // Whatever was said before belongs to it.
    answer.fill(&limiter.give_up(&Facts::default(), mode, PANIC, said), evaluations);
}

/// Deletes counter and ban of every counting rule for an identifier, given as to `labkit_ratelimit_decide`.
///
/// - `DONE`: `answer->deleted` keys were deleted; `answer->failure` is the last thing that failed, and `answer->text` says so,
///   and what is to be logged.
/// - `CALL`, `STALE`, `TOO_SMALL`: as there.
///
/// # Safety
/// As many bytes as are said can be read, or written, at each pointer, until the call returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn labkit_ratelimit_clear(
    limiter: u64,
    rules: u64,
    identifier: *const u8,
    identifier_len: usize,
    answer: *mut Answer,
    buffer: *mut u8,
    buffer_len: usize,
) -> Status {
    stopped(|| {
        probed();
        // SAFETY: the caller's word.
        let (answer, identifier, buffer) = unsafe {
            (
                borrowed::place(answer)?,
                borrowed::slice(identifier, identifier_len)?,
                borrowed::slice_mut(buffer, buffer_len)?,
            )
        };
        *answer = Answer::EMPTY;
        let limiter = limiters::get(limiter).ok_or(Status::UnknownHandle)?;
        let in_force = limiter.rules();
        let mut facts = Facts::default();
        if !facts.read(rules, &in_force, identifier)? {
            answer.rules = in_force.serial();
            return Ok(Status::Stale);
        }
        Ok(cleared(&limiter, limiter.plan_clear_by(in_force, &facts), answer, buffer))
    })
}

pub(crate) fn cleared(limiter: &Held, clearing: Clearing, answer: &mut Answer, buffer: &mut [u8]) -> Status {
    answer.deleted = clearing.deleted();
    let events = heard::take();
    answer.failure = clearing.failure().map_or(0, |failure| kind(failure.kind));
    if answer.failure != 0 || !events.is_empty() {
        answer.text = text::keep(&said::course(clearing.failure(), &limiter.rules(), &events));
    }
    match clearing.call() {
        Some(_) => Waiting::Clear(clearing).kept(limiter.handle(), answer, buffer),
        None => Status::Done,
    }
}
