//! Questions and answers as bytes.

use crate::status::Status;
use crate::wire::{self, Reader, Writer};
use labkit_ratelimit::{Answer, HostError, HostNumber, Question, Value};

/// What the host answered so far.
pub(crate) fn answers(bytes: &[u8]) -> Result<Vec<Answer>, Status> {
    let (mut reader, mut answers) = (Reader::new(bytes), Vec::new());
    while !reader.is_at_end() {
        answers.push(answer(&mut reader)?);
    }
    Ok(answers)
}

fn answer(reader: &mut Reader<'_>) -> Result<Answer, Status> {
    let tag = reader.tag()?;
    if tag == wire::FAILED {
        return Ok(Answer::Failed(HostError::new(reader.text()?, reader.text()?)));
    }
    Ok(match reader.value_of(tag)? {
        Value::Bool(found) => Answer::Matches(found),
        Value::Int(n) => Answer::Number(HostNumber::Int(n.into())),
        Value::Unsigned(n) => Answer::Number(HostNumber::Int(n.into())),
        Value::Float(n) => Answer::Number(HostNumber::Float(n)),
        _ => return Err(Status::BadArgument),
    })
}

/// Writes what the host is asked.
pub(crate) fn ask(questions: &[Question], writer: &mut Writer<'_>) {
    for question in questions {
        match question {
            Question::Number(callable) => {
                writer.push(&[wire::QUESTION_NUMBER]);
                writer.push(&callable.0.to_le_bytes());
            }
            Question::Matches(pattern, text) => {
                writer.push(&[wire::QUESTION_MATCHES]);
                writer.push(&pattern.0.to_le_bytes());
                writer.bytes(text.as_bytes());
            }
        }
    }
}
