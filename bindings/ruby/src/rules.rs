//! Rules as Ruby writes them: Hashes with Symbol keys.

use crate::placeholder::Callable;
use crate::{host_number, matcher, names};
use labkit_ratelimit::{
    Action, Algorithm, CallableId, Code, Finding, Findings, HostNumber, NumberSpec, OverrideSpec, RuleSpec,
};
use magnus::{Error, RArray, RHash, Ruby, TryConvert as _, Value, prelude::*};

/// Reads rules, and keeps what cannot be one.
pub(crate) struct Reader<'r> {
    ruby: &'r Ruby,
    pub(crate) findings: Findings,
}

/// One Hash, and where it stands.
struct Fields<'p> {
    hash: RHash,
    path: &'p str,
}

impl<'r> Reader<'r> {
    pub(crate) fn new(ruby: &'r Ruby) -> Self {
        Self { ruby, findings: Findings::default() }
    }

    /// All of them, in chain order.
    ///
    /// # Errors
    /// What a method of a value raised.
    pub(crate) fn rules(&mut self, written: RArray) -> Result<Vec<RuleSpec>, Error> {
        let mut rules = Vec::with_capacity(written.len());
        for at in 0..written.len() {
            let hash = written.entry(isize::try_from(at).unwrap_or(isize::MAX))?;
            rules.push(self.rule(&Fields { hash, path: &format!("rules[{at}]") })?);
        }
        Ok(rules)
    }

    fn rule(&mut self, fields: &Fields<'_>) -> Result<RuleSpec, Error> {
        let mut overrides = Vec::new();
        if let Some(list) = self.list(fields, "overrides")? {
            for at in 0..list.len() {
                let hash = list.entry(isize::try_from(at).unwrap_or(isize::MAX))?;
                let path = format!("{}.overrides[{at}]", fields.path);
                overrides.push(self.replacement(&Fields { hash, path: &path })?);
            }
        }
        Ok(RuleSpec {
            name: self.text(fields, "name").unwrap_or_default(),
            action: self.spelled(fields, "action", Code::ActionUnknown, Action::parse),
            matchers: self.matchers(fields)?,
            characteristics: self.words(fields, "characteristics")?,
            limit: self.number(fields, "limit")?,
            period_s: self.number(fields, "period_s")?,
            ban_for_s: self.number(fields, "ban_for_s")?,
            count_distinct: self.text(fields, "count_distinct"),
            algorithm: self.spelled(fields, "algorithm", Code::AlgorithmUnknown, Algorithm::parse),
            burst: self.number(fields, "burst")?,
            is_final: self.given(fields, "final").is_some_and(magnus::value::ReprValue::to_bool),
            overrides,
            description: self.text(fields, "description"),
        })
    }

    fn replacement(&mut self, fields: &Fields<'_>) -> Result<OverrideSpec, Error> {
        Ok(OverrideSpec {
            matchers: self.matchers(fields)?,
            limit: self.number(fields, "limit")?,
            period_s: self.number(fields, "period_s")?,
            burst: self.number(fields, "burst")?,
            ban_for_s: self.number(fields, "ban_for_s")?,
        })
    }

    fn given(&self, fields: &Fields<'_>, field: &str) -> Option<Value> {
        names::entry(self.ruby, fields.hash, field)
    }

    fn mistake(&mut self, code: Code, fields: &Fields<'_>, field: &str, message: String) {
        self.findings.push(Finding::new(code, format!("{}.{field}", fields.path), message));
    }

    fn wrong_type(&mut self, fields: &Fields<'_>, field: &str, wanted: &str, given: Value) {
        self.mistake(Code::WrongType, fields, field, format!("{field} takes {wanted}, not {}", given.inspect()));
    }

    fn text(&mut self, fields: &Fields<'_>, field: &str) -> Option<String> {
        let value = self.given(fields, field)?;
        let text = names::word(value);
        if text.is_none() {
            self.wrong_type(fields, field, "a string", value);
        }
        text
    }

    /// A word of the library's, whatever those are.
    fn spelled<T: Default>(
        &mut self,
        fields: &Fields<'_>,
        field: &str,
        unknown: Code,
        parse: impl Fn(&str) -> Option<T>,
    ) -> T {
        let Some(text) = self.text(fields, field) else { return T::default() };
        parse(&text).unwrap_or_else(|| {
            self.mistake(unknown, fields, field, format!("`{text}` is no {field}"));
            T::default()
        })
    }

    fn list(&mut self, fields: &Fields<'_>, field: &str) -> Result<Option<RArray>, Error> {
        self.given(fields, field).map(RArray::try_convert).transpose()
    }

    fn words(&mut self, fields: &Fields<'_>, field: &str) -> Result<Vec<String>, Error> {
        let Some(list) = self.list(fields, field)? else { return Ok(Vec::new()) };
        let mut words = Vec::with_capacity(list.len());
        for at in 0..list.len() {
            let value: Value = list.entry(isize::try_from(at).unwrap_or(isize::MAX))?;
            // What is no word is no name either, and the library says so.
            words.push(names::word(value).unwrap_or_else(|| value.inspect()));
        }
        Ok(words)
    }

    fn matchers(&mut self, fields: &Fields<'_>) -> Result<Vec<(String, labkit_ratelimit::MatcherSpec)>, Error> {
        let Some(written) = self.given(fields, "match") else { return Ok(Vec::new()) };
        matcher::map(self.ruby, RHash::try_convert(written)?)
    }

    fn number(&mut self, fields: &Fields<'_>, field: &str) -> Result<NumberSpec, Error> {
        let Some(value) = self.given(fields, field) else { return Ok(NumberSpec::Absent) };
        if let Ok(callable) = <&Callable>::try_convert(value) {
            return Ok(NumberSpec::Callable(CallableId(callable.id)));
        }
        Ok(match host_number::read(value)? {
            Some(HostNumber::Int(n)) => NumberSpec::Int(n),
            Some(HostNumber::Float(f)) => NumberSpec::Float(f),
            None => {
                self.wrong_type(fields, field, "a number", value);
                NumberSpec::Reported
            }
        })
    }
}
