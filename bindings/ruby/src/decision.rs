//! `Native::Decision`: what a check answers, read as it is asked for.

use crate::{allocate, shown};
use labkit_ratelimit::{Decision as Core, Evaluated, HeaderFormat, Headers, Info, Outcome, Verdict};
use magnus::value::{Lazy, LazyId};
use magnus::{Error, RArray, RHash, RModule, RString, Ruby, Symbol, Value, method, prelude::*};
use std::mem;

/// The Symbols of verdicts, at hand: every check asks for one.
static ALLOW: LazyId = LazyId::new(Verdict::Allow.as_str());
static BLOCK: LazyId = LazyId::new(Verdict::Block.as_str());

/// What outcomes are called, in the order of [`Outcome::ALL`].
static OUTCOMES: Lazy<RArray> = Lazy::new(|ruby| {
    ruby.ary_from_iter(Outcome::ALL.iter().map(|outcome| ruby.str_new(outcome.as_str()).to_interned_str()))
});

/// What is told where no rule was evaluated and none skipped, for each way the check came out: most checks make nothing new.
static NOTHING: Lazy<RArray> = Lazy::new(|ruby| {
    let told = |way: usize| {
        let told = ruby.ary_from_iter([way]);
        told.freeze();
        told
    };
    ruby.ary_from_iter((0..WAYS).map(told))
});

/// How many ways a check comes out, as metrics tell them apart.
const WAYS: usize = 8;

/// What Ruby is told that one costs beside its slot: the garbage collector goes by it.
const WEIGHT: isize = {
    let bytes = mem::size_of::<Decision>();
    assert!(bytes < 4096);
    #[expect(clippy::as_conversions, clippy::cast_possible_wrap, reason = "constant, and small")]
    let weight = bytes as isize;
    weight
};

/// A decision of the library's.
#[magnus::wrap(class = "Labkit::RateLimit::Native::Decision", free_immediately, size)]
pub(crate) struct Decision {
    decision: Core,
    version: u64,
}

impl Drop for Decision {
    fn drop(&mut self) {
        // SAFETY: it is freed by Ruby's garbage collector, on a thread of Ruby's; this only counts.
        unsafe { Ruby::get_unchecked() }.gc_adjust_memory_usage(-WEIGHT);
    }
}

impl Decision {
    /// The frozen object that Ruby gets.
    pub(crate) fn wrapped(ruby: &Ruby, decision: Core, version: u64) -> Result<Value, Error> {
        ruby.gc_adjust_memory_usage(WEIGHT);
        let object = allocate::object(ruby, Self { decision, version })?;
        object.freeze();
        Ok(object)
    }

    fn action(ruby: &Ruby, this: &Self) -> Symbol {
        let id = match this.decision.verdict() {
            Verdict::Allow => &ALLOW,
            Verdict::Block => &BLOCK,
        };
        LazyId::get_inner_with(id, ruby).into()
    }

    fn is_matched(&self) -> bool {
        self.decision.is_matched()
    }

    fn is_exceeded(&self) -> bool {
        self.decision.is_exceeded()
    }

    fn is_skipped(&self) -> bool {
        self.decision.is_skipped()
    }

    fn is_warned(&self) -> bool {
        self.decision.is_warned()
    }

    fn is_error(&self) -> bool {
        self.decision.is_error()
    }

    fn is_degraded(&self) -> bool {
        self.decision.is_degraded()
    }

    const fn version(&self) -> u64 {
        self.version
    }

    /// The rules that it speaks of.
    fn rules(ruby: &Ruby, this: &Self) -> Result<RArray, Error> {
        shown::rules(ruby, this.decision.rules_by())
    }

    /// The place of the reported rule.
    fn rule(&self) -> Option<usize> {
        let reported = self.decision.rule()?;
        self.decision.rules().iter().position(|rule| std::ptr::eq(rule, reported))
    }

    fn skipped_by(&self) -> Option<usize> {
        self.decision.skipped_at()
    }

    fn size(&self) -> usize {
        self.decision.evaluations().len()
    }

    /// The evaluation of the reported rule, counted among evaluations.
    fn reported(&self) -> Option<usize> {
        let rule = self.decision.rule()?;
        self.decision.evaluations().iter().position(|evaluation| std::ptr::eq(evaluation.rule(), rule))
    }

    fn most_constraining(&self) -> Option<usize> {
        let tightest = self.decision.most_constraining()?;
        self.decision
            .evaluations()
            .iter()
            .position(|evaluation| std::ptr::eq(&raw const *evaluation, &raw const *tightest))
    }

    /// Of the reported rule: where several block, the longest of their waits.
    fn reported_retry_after(&self) -> Option<f64> {
        self.decision.info()?.retry_after().map(|wait| wait.as_secs_f64())
    }

    /// One of those that were evaluated, also before a failure.
    fn evaluated(&self, ruby: &Ruby, at: usize) -> Result<&Evaluated, Error> {
        let missing = || Error::new(ruby.exception_index_error(), format!("there is no evaluation {at}"));
        self.decision.counted().get(at).ok_or_else(missing)
    }

    fn info(&self, ruby: &Ruby, at: usize) -> Result<Info, Error> {
        Ok(self.evaluated(ruby, at)?.info())
    }

    fn place(ruby: &Ruby, this: &Self, at: usize) -> Result<usize, Error> {
        Ok(this.evaluated(ruby, at)?.place())
    }

    fn outcome(ruby: &Ruby, this: &Self, at: usize) -> Result<RString, Error> {
        outcome_name(ruby, this.evaluated(ruby, at)?.outcome())
    }

    fn is_over(ruby: &Ruby, this: &Self, at: usize) -> Result<bool, Error> {
        Ok(this.evaluated(ruby, at)?.is_exceeded())
    }

    fn limit(ruby: &Ruby, this: &Self, at: usize) -> Result<u64, Error> {
        Ok(this.evaluated(ruby, at)?.limit())
    }

    fn period(ruby: &Ruby, this: &Self, at: usize) -> Result<u32, Error> {
        Ok(this.evaluated(ruby, at)?.period_s())
    }

    fn count(ruby: &Ruby, this: &Self, at: usize) -> Result<f64, Error> {
        Ok(this.info(ruby, at)?.count)
    }

    fn remaining(ruby: &Ruby, this: &Self, at: usize) -> Result<f64, Error> {
        Ok(this.info(ruby, at)?.remaining)
    }

    fn reset_at_us(ruby: &Ruby, this: &Self, at: usize) -> Result<u64, Error> {
        Ok(this.info(ruby, at)?.reset_at_us())
    }

    fn reset_after(ruby: &Ruby, this: &Self, at: usize) -> Result<f64, Error> {
        Ok(this.info(ruby, at)?.reset_after().as_secs_f64())
    }

    fn retry_after(ruby: &Ruby, this: &Self, at: usize) -> Result<Option<f64>, Error> {
        Ok(this.info(ruby, at)?.retry_after().map(|wait| wait.as_secs_f64()))
    }

    fn is_banned(ruby: &Ruby, this: &Self, at: usize) -> Result<bool, Error> {
        Ok(this.info(ruby, at)?.banned)
    }

    /// The fields of the result, or of one evaluation.
    fn headers(ruby: &Ruby, this: &Self, at: Option<usize>, format: Value) -> Result<RHash, Error> {
        let format = match crate::names::word(format).as_deref() {
            Some("gitlab") => HeaderFormat::Gitlab,
            Some("ietf") => HeaderFormat::IetfDraft11,
            _ => return Err(Error::new(ruby.exception_arg_error(), "the format of headers is gitlab or ietf")),
        };
        let headers: Headers = match at {
            None => this.decision.headers(format),
            // A failed check has none.
            Some(at) => this.decision.evaluations().get(at).map_or_else(Headers::new, |one| one.headers(format)),
        };
        let hash = ruby.hash_new();
        for (name, value) in headers {
            hash.aset(ruby.str_new(name).to_interned_str(), ruby.str_new(&value))?;
        }
        Ok(hash)
    }

    /// The way it came out: 1 where some rule matched, 2 where something failed, 4 where it blocks, added up.
    fn way(&self) -> usize {
        let decision = &self.decision;
        usize::from(decision.is_matched())
            + 2 * usize::from(decision.is_error() || decision.is_degraded())
            + 4 * usize::from(decision.verdict() == Verdict::Block)
    }

    /// All that metrics tell, in one flat Array, as each call from Ruby costs: the way it came out; then four for each
    /// rule that was evaluated, place, outcome, limit and period; then of a rule that skipped its place and its action.
    fn told(ruby: &Ruby, this: &Self) -> Result<RArray, Error> {
        let skip = this.skipped_by().zip(this.decision.skipped_by());
        let (way, counted) = (this.way(), this.decision.counted());
        if counted.is_empty() && skip.is_none() {
            return ruby.get_inner(&NOTHING).entry(isize::try_from(way).unwrap_or_default());
        }
        let told = ruby.ary_new_capa(1 + 4 * counted.len() + 2 * usize::from(skip.is_some()));
        told.push(way)?;
        for evaluated in counted {
            told.push(evaluated.place())?;
            told.push(outcome_name(ruby, evaluated.outcome())?)?;
            told.push(evaluated.limit())?;
            told.push(evaluated.period_s())?;
        }
        if let Some((place, rule)) = skip {
            told.push(place)?;
            // The same object each time.
            told.push(ruby.str_new(rule.action().as_str()).to_interned_str())?;
        }
        Ok(told)
    }
}

fn outcome_name(ruby: &Ruby, outcome: Outcome) -> Result<RString, Error> {
    let place = Outcome::ALL.iter().position(|known| *known == outcome).unwrap_or_default();
    ruby.get_inner(&OUTCOMES).entry(isize::try_from(place).unwrap_or_default())
}

pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("Decision", ruby.class_object())?;
    class.undef_default_alloc_func();
    class.define_method("action", method!(Decision::action, 0))?;
    class.define_method("matched?", method!(Decision::is_matched, 0))?;
    class.define_method("exceeded?", method!(Decision::is_exceeded, 0))?;
    class.define_method("skipped?", method!(Decision::is_skipped, 0))?;
    class.define_method("warned?", method!(Decision::is_warned, 0))?;
    class.define_method("error?", method!(Decision::is_error, 0))?;
    class.define_method("degraded?", method!(Decision::is_degraded, 0))?;
    class.define_method("rules_version", method!(Decision::version, 0))?;
    class.define_method("rules", method!(Decision::rules, 0))?;
    class.define_method("rule", method!(Decision::rule, 0))?;
    class.define_method("skipped_by", method!(Decision::skipped_by, 0))?;
    class.define_method("most_constraining", method!(Decision::most_constraining, 0))?;
    class.define_method("reported", method!(Decision::reported, 0))?;
    class.define_method("reported_retry_after", method!(Decision::reported_retry_after, 0))?;
    class.define_method("size", method!(Decision::size, 0))?;
    class.define_method("place", method!(Decision::place, 1))?;
    class.define_method("outcome", method!(Decision::outcome, 1))?;
    class.define_method("over?", method!(Decision::is_over, 1))?;
    class.define_method("limit", method!(Decision::limit, 1))?;
    class.define_method("period", method!(Decision::period, 1))?;
    class.define_method("count", method!(Decision::count, 1))?;
    class.define_method("remaining", method!(Decision::remaining, 1))?;
    class.define_method("reset_at_us", method!(Decision::reset_at_us, 1))?;
    class.define_method("reset_after", method!(Decision::reset_after, 1))?;
    class.define_method("retry_after", method!(Decision::retry_after, 1))?;
    class.define_method("banned?", method!(Decision::is_banned, 1))?;
    class.define_method("headers", method!(Decision::headers, 2))?;
    class.define_method("told", method!(Decision::told, 0))
}
