//! HTTP fields of numbers that a host kept.

use crate::borrowed;
use crate::boundary::{probed, stopped};
use crate::decision::Evaluation;
use crate::status::Status;
use crate::wire::Writer;
use labkit_ratelimit::{HeaderFormat, Info};

/// Writes the HTTP fields of an evaluation into `buffer`: name, value, name, value, each behind its length. `format` 0:
/// as GitLab's API documents them; 1: draft-ietf-httpapi-ratelimit-headers-11. `rule` is the rule's name, `now_us` the
/// clock of the decision. `*len` is the length of what is written; with `TOO_SMALL`, of what would be.
///
/// # Safety
/// As many bytes as are said can be read, or written, at each pointer; an evaluation can be read at `evaluation`, and a
/// `size_t` written at `len`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn labkit_ratelimit_headers(
    format: u32,
    rule: *const u8,
    rule_len: usize,
    evaluation: *const Evaluation,
    now_us: u64,
    buffer: *mut u8,
    buffer_len: usize,
    len: *mut usize,
) -> Status {
    stopped(|| {
        probed();
        // SAFETY: the caller's word.
        let (rule, evaluation, buffer, len) = unsafe {
            (
                borrowed::slice(rule, rule_len)?,
                borrowed::slice(evaluation, 1)?,
                borrowed::slice_mut(buffer, buffer_len)?,
                borrowed::place(len)?,
            )
        };
        let format = match format {
            0 => HeaderFormat::Gitlab,
            1 => HeaderFormat::IetfDraft11,
            _ => return Err(Status::BadArgument),
        };
        let rule = std::str::from_utf8(rule).map_err(|_| Status::BadArgument)?;
        let [evaluation] = evaluation else { return Err(Status::BadArgument) };
        let mut writer = Writer::new(buffer);
        for (name, value) in format.fields(rule, &info(evaluation, now_us), evaluation.blocks != 0) {
            writer.bytes(name.as_bytes());
            writer.bytes(value.as_bytes());
        }
        *len = writer.len();
        Ok(if writer.has_room() { Status::Done } else { Status::TooSmall })
    })
}

fn info(evaluation: &Evaluation, now_us: u64) -> Info {
    Info {
        limit: evaluation.limit,
        period_s: evaluation.period_s,
        count: evaluation.count,
        remaining: evaluation.remaining,
        banned: evaluation.banned != 0,
        now_us,
        reset_after_us: evaluation.reset_after_us,
        retry_after_us: Some(evaluation.retry_after_us).filter(|wait| *wait != u64::MAX),
    }
}
