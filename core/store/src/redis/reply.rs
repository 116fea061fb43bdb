//! Replies: the words of a script as readings.

use super::fault::Fault;
use labkit_ratelimit_engine::gcra::{self, Fine};
use labkit_ratelimit_engine::{CountStep, Counter, Counting, Millionths, Reading};

/// What one step said.
#[derive(Clone, Debug, PartialEq)]
pub enum StepReply {
    /// It ran.
    Ran(Reading),
    /// It failed, and ended the script.
    Failed(Fault),
}

/// What a chain's script said: the steps that ran, in order; fewer than were asked where one stopped it.
pub type ChainReply = Vec<StepReply>;

/// Reads the reply of a chain's script to `steps`.
///
/// # Errors
/// A fault where it is no reply of that script.
pub fn read_chain<'a>(reply: &[u8], steps: impl IntoIterator<Item = &'a CountStep>) -> Result<ChainReply, Fault> {
    let text = std::str::from_utf8(reply).map_err(|_| strange(reply))?;
    let mut words = Words(text);
    let mut read = Vec::new();
    for step in steps {
        match words.next() {
            None => return Ok(read),
            Some("!") => {
                read.push(StepReply::Failed(Fault::new("CommandError", words.0)));
                return Ok(read);
            }
            Some(first) => match read_step(first, &mut words, step).ok_or_else(|| strange(reply))? {
                Ok(reading) => read.push(StepReply::Ran(reading)),
                Err(fault) => {
                    read.push(StepReply::Failed(fault));
                    return Ok(read);
                }
            },
        }
    }
    Ok(read)
}

/// Reads the reply of the script that clears: how many were deleted, and what failed.
///
/// # Errors
/// A fault where it is no reply of that script.
pub fn read_clear(reply: &[u8]) -> Result<(u64, Option<Fault>), Fault> {
    let text = std::str::from_utf8(reply).map_err(|_| strange(reply))?;
    let mut words = Words(text);
    let deleted = words.number().ok_or_else(|| strange(reply))?;
    let failed = words.next().map(|_| Fault::new("CommandError", words.0));
    Ok((deleted, failed))
}

fn strange(reply: &[u8]) -> Fault {
    Fault::new(
        "UnexpectedReply",
        format!("no reply of this script: {:?}", String::from_utf8_lossy(&reply[..reply.len().min(200)])),
    )
}

struct Words<'a>(&'a str);

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (word, rest) = self.0.split_once(' ').unwrap_or((self.0, ""));
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }

    fn number(&mut self) -> Option<u64> {
        self.next()?.parse().ok()
    }

    fn flag(&mut self) -> Option<bool> {
        self.next().map(|word| word == "1")
    }
}

/// A step's words; inside, the error that the script ended with behind them.
fn read_step(first: &str, words: &mut Words<'_>, step: &CountStep) -> Option<Result<Reading, Fault>> {
    let counter = match &step.counting {
        Counting::Gcra(_) => Counter::Gcra(gcra::Reading {
            tat: Fine { micros: first.parse().ok()?, rest: words.number()? },
            now_us: words.number()?,
            clock_us: words.number()?,
            refused: words.flag()?,
        }),
        Counting::Window | Counting::Distinct { .. } => Counter::Window {
            count: Millionths::parse(first)?,
            left_us: micros(milliseconds(words.next()?)?),
            over: words.flag()?,
        },
    };
    let ban_left_us = match step.ban_for_s {
        None => None,
        Some(_) => match words.next()? {
            // The counter was read, writing the ban failed.
            "!" => return Some(Err(Fault::new("CommandError", words.0))),
            ms => micros(milliseconds(ms)?).filter(|left| *left > 0),
        },
    };
    Some(Ok(Reading { counter, ban_left_us }))
}

fn milliseconds(word: &str) -> Option<i64> {
    word.parse().ok()
}

/// As µs; none where there is no expiry or no key (-1).
fn micros(ms: i64) -> Option<u64> {
    u64::try_from(ms).ok().map(|ms| ms.saturating_mul(1000))
}
