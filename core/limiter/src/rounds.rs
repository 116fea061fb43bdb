//! Rounds of questions: for hosts whose callables and patterns cannot be run in the middle of a call.
//!
//! Such a host asks what a call would ask of it, answers, and asks again with the answers so far, until there is no
//! question left; then it makes the call with all of them. Nothing is counted before that. Matching is deterministic,
//! so that answers need no names: the n-th answers the n-th question.

use crate::generation::RulesRef;
use crate::limiter::{CallOptions, Limiter, Prepared};
use labkit_ratelimit_engine::{CallableId, Host, HostError, HostNumber, Identifier, Mode, PatternId, Scratch, Value};
use std::cell::{Cell, RefCell};

/// What a call asks of its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// The number of a callable.
    Number(CallableId),
    /// Whether a pattern is found in this text; that of an absent property and of null is `""`.
    Matches(PatternId, String),
}

/// What the host says to it.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The number.
    Number(HostNumber),
    /// Whether the pattern was found.
    Matches(bool),
    /// It failed.
    Failed(HostError),
}

/// The answers so far, as the host of a call; what they lack is a failure of the rule in hand.
#[derive(Debug)]
pub struct Round<'a> {
    answers: &'a [Answer],
    at: Cell<usize>,
    // While a round is under way: what is asked beyond the answers.
    asked: Option<RefCell<Vec<Question>>>,
}

impl<'a> Round<'a> {
    /// Answers, in the order of their questions.
    pub const fn new(answers: &'a [Answer]) -> Self {
        Self { answers, at: Cell::new(0), asked: None }
    }

    fn next(&self, question: impl FnOnce() -> Question) -> Option<&'a Answer> {
        let answer = self.answers.get(self.at.get());
        match (answer, &self.asked) {
            (Some(_), _) => self.at.set(self.at.get() + 1),
            (None, Some(asked)) => asked.borrow_mut().push(question()),
            (None, None) => {}
        }
        answer
    }
}

fn amiss(answer: Option<&Answer>) -> HostError {
    match answer {
        Some(Answer::Failed(error)) => error.clone(),
        Some(_) => HostError::new("WrongAnswer", "the answer is to a question of another kind"),
        None => HostError::new("NoAnswer", "a rule asked its host, and nobody answered"),
    }
}

impl Host for Round<'_> {
    fn matches(&self, pattern: PatternId, value: Value<'_>) -> Result<bool, HostError> {
        let text = || {
            let mut scratch = Scratch::default();
            String::from_utf8_lossy(value.text(&mut scratch).unwrap_or_default()).into_owned()
        };
        // What follows hangs on the answer: without one the failure ends the round here.
        match self.next(|| Question::Matches(pattern, text())) {
            Some(Answer::Matches(found)) => Ok(*found),
            other => Err(amiss(other)),
        }
    }

    fn number(&self, callable: CallableId) -> Result<HostNumber, HostError> {
        match self.next(|| Question::Number(callable)) {
            Some(Answer::Number(number)) => Ok(*number),
            // Which rules match hangs on no number: the round goes on with any.
            None if self.asked.is_some() => Ok(HostNumber::Int(1)),
            other => Err(amiss(other)),
        }
    }
}

impl Limiter {
    /// What a call by `rules` would still ask of its host, in order, with `answers` to what it asked before; none where
    /// it can be made. Several numbers are asked at once; a pattern is the last question of its round. A host that
    /// fails at one leaves those behind it unanswered.
    pub fn questions<I: Identifier + ?Sized>(
        &self,
        rules: &RulesRef,
        identifier: &I,
        options: CallOptions<'_>,
        mode: Mode,
        answers: &[Answer],
    ) -> Vec<Question> {
        if !rules.asks_host() {
            return Vec::new();
        }
        let round = Round { asked: Some(RefCell::default()), ..Round::new(answers) };
        let mut prepared = Prepared::default();
        // A call that fails before its rules are looked at asks nothing.
        let _ = self.prepare(rules, identifier, options.host(&round), mode, &mut prepared);
        round.asked.map(RefCell::into_inner).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MatcherSpec, Planned, RuleSpec, Store};

    fn limiter() -> Limiter {
        let called = |id| labkit_ratelimit_engine::NumberSpec::Callable(CallableId(id));
        let rules = [
            RuleSpec::limit("a", called(0), called(1)).characteristics(["user"]),
            RuleSpec::skip("s").matching("path", MatcherSpec::Pattern(PatternId(7))),
            RuleSpec::limit("b", called(2), 60_u32),
        ];
        Limiter::builder("lim").rules(rules).store(Store::memory(100)).build().expect("good rules")
    }

    const REQUEST: [(&str, Value<'static>); 2] = [("user", Value::Int(1)), ("path", Value::Text("/x"))];

    fn asked(limiter: &Limiter, answers: &[Answer]) -> Vec<Question> {
        limiter.questions(&limiter.rules(), &REQUEST, CallOptions::default(), Mode::Check, answers)
    }

    #[test]
    fn numbers_come_together_and_a_pattern_ends_its_round() {
        let limiter = limiter();
        let mut answers = Vec::new();
        let first = asked(&limiter, &answers);
        let path = Question::Matches(PatternId(7), "/x".into());
        assert_eq!(first, [Question::Number(CallableId(0)), Question::Number(CallableId(1)), path]);
        answers.extend([Answer::Number(HostNumber::Int(5)), Answer::Number(HostNumber::Int(60))]);
        answers.push(Answer::Matches(false));
        assert_eq!(asked(&limiter, &answers), [Question::Number(CallableId(2))]);
        answers.push(Answer::Number(HostNumber::Int(9)));
        assert_eq!(asked(&limiter, &answers), []);
        let round = Round::new(&answers);
        let Planned::Done(decision) = limiter.plan(&REQUEST, CallOptions::default().host(&round), Mode::Check) else {
            panic!("memory decides at once");
        };
        let limits: Vec<u64> = decision.evaluations().iter().map(|e| e.limit()).collect();
        assert_eq!((limits, decision.is_error()), (vec![5, 9], false));
    }

    #[test]
    fn a_failure_ends_the_questions_and_a_match_of_a_skip_too() {
        let limiter = limiter();
        let failed = Answer::Failed(HostError::new("E", "no"));
        assert_eq!(asked(&limiter, std::slice::from_ref(&failed)), []);
        let round = [failed];
        let round = Round::new(&round);
        let decision = limiter.check_with(&REQUEST, CallOptions::default().host(&round));
        assert_eq!(decision.failure().map(|failure| failure.message.as_str()), Some("no"));
        let number = Answer::Number(HostNumber::Int(5));
        assert_eq!(asked(&limiter, &[number.clone(), number, Answer::Matches(true)]), []);
    }

    #[test]
    fn a_bad_cost_asks_nothing() {
        let limiter = limiter();
        let options = CallOptions::default().cost(f64::NAN);
        assert_eq!(limiter.questions(&limiter.rules(), &REQUEST, options, Mode::Check, &[]), []);
    }
}
