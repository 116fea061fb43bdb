//! Rules as Python writes them: dicts, of which the fields that nobody gave are left out.

use crate::host::Asked;
use crate::{matcher, number};
use labkit_ratelimit::{
    Action, Algorithm, Code, Finding, Findings, HostNumber, MatcherSpec, NumberSpec, OverrideSpec, RuleSpec,
};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

const RULE: [&str; 13] = [
    "name",
    "action",
    "match",
    "characteristics",
    "limit",
    "period_s",
    "ban_for_s",
    "count_distinct",
    "algorithm",
    "burst",
    "final",
    "overrides",
    "description",
];
const OVERRIDE: [&str; 5] = ["match", "limit", "period_s", "burst", "ban_for_s"];

/// Reads rules, and keeps what cannot be one.
#[derive(Default)]
pub(crate) struct Reader {
    pub(crate) asked: Asked,
    pub(crate) findings: Findings,
}

/// One dict, and where it stands.
struct Fields<'p, 'py> {
    dict: &'p Bound<'py, PyDict>,
    path: &'p str,
}

impl<'py> Fields<'_, 'py> {
    fn given(&self, field: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.dict.get_item(field)?.filter(|value| !value.is_none()))
    }
}

/// The text of a string, whatever is in it.
fn text_of(value: &Bound<'_, PyAny>) -> Option<String> {
    value.cast::<PyString>().ok().map(|text| text.to_string_lossy().into_owned())
}

impl Reader {
    /// All of them, in chain order.
    ///
    /// # Errors
    /// What a method of a value raised.
    pub(crate) fn rules(&mut self, written: &Bound<'_, PyAny>) -> PyResult<Vec<RuleSpec>> {
        let Ok(written) = written.cast::<PyList>() else {
            self.wrong_type("rules".to_owned(), "a limiter", "a list of rules", written);
            return Ok(Vec::new());
        };
        let mut rules = Vec::with_capacity(written.len());
        for (at, rule) in written.iter().enumerate() {
            let path = format!("rules[{at}]");
            match rule.cast::<PyDict>() {
                Ok(dict) => rules.push(self.rule(&Fields { dict, path: &path })?),
                Err(_) => self.wrong_type(path, "a limiter", "rules, and maps that are written as such", &rule),
            }
        }
        Ok(rules)
    }

    fn rule(&mut self, fields: &Fields<'_, '_>) -> PyResult<RuleSpec> {
        self.know(fields, &RULE)?;
        Ok(RuleSpec {
            name: self.text(fields, "name")?.unwrap_or_default(),
            action: self.spelled(fields, "action", Code::ActionUnknown, Action::parse)?,
            matchers: self.matchers(fields)?,
            characteristics: self.words(fields, "characteristics")?,
            limit: self.number(fields, "limit")?,
            period_s: self.number(fields, "period_s")?,
            ban_for_s: self.number(fields, "ban_for_s")?,
            count_distinct: self.text(fields, "count_distinct")?,
            algorithm: self.spelled(fields, "algorithm", Code::AlgorithmUnknown, Algorithm::parse)?,
            burst: self.number(fields, "burst")?,
            is_final: self.flag(fields, "final")?,
            overrides: self.overrides(fields)?,
            description: self.text(fields, "description")?,
        })
    }

    fn overrides(&mut self, fields: &Fields<'_, '_>) -> PyResult<Vec<OverrideSpec>> {
        let Some(list) = self.list(fields, "overrides")? else { return Ok(Vec::new()) };
        let mut overrides = Vec::with_capacity(list.len());
        for (at, entry) in list.iter().enumerate() {
            let path = format!("{}.overrides[{at}]", fields.path);
            match entry.cast::<PyDict>() {
                Ok(dict) => overrides.push(self.replacement(&Fields { dict, path: &path })?),
                Err(_) => self.wrong_type(path, "an override", "a map", &entry),
            }
        }
        Ok(overrides)
    }

    fn replacement(&mut self, fields: &Fields<'_, '_>) -> PyResult<OverrideSpec> {
        self.know(fields, &OVERRIDE)?;
        Ok(OverrideSpec {
            matchers: self.matchers(fields)?,
            limit: self.number(fields, "limit")?,
            period_s: self.number(fields, "period_s")?,
            burst: self.number(fields, "burst")?,
            ban_for_s: self.number(fields, "ban_for_s")?,
        })
    }

    /// Fields that there are none of.
    fn know(&mut self, fields: &Fields<'_, '_>, known: &[&str]) -> PyResult<()> {
        for key in fields.dict.keys() {
            let name = text_of(&key).map_or_else(|| key.repr().map(|shown| shown.to_string()), Ok)?;
            if !known.contains(&name.as_str()) {
                let message = format!("there is no field `{name}`");
                self.findings.push(Finding::new(Code::UnknownField, format!("{}.{name}", fields.path), message));
            }
        }
        Ok(())
    }

    fn wrong_type(&mut self, path: String, what: &str, wanted: &str, given: &Bound<'_, PyAny>) {
        let shown = given.repr().map(|shown| shown.to_string()).unwrap_or_default();
        self.findings.push(Finding::new(Code::WrongType, path, format!("{what} takes {wanted}, not {shown}")));
    }

    fn text(&mut self, fields: &Fields<'_, '_>, field: &str) -> PyResult<Option<String>> {
        let Some(value) = fields.given(field)? else { return Ok(None) };
        let text = text_of(&value);
        if text.is_none() {
            self.wrong_type(format!("{}.{field}", fields.path), field, "a string", &value);
        }
        Ok(text)
    }

    fn flag(&mut self, fields: &Fields<'_, '_>, field: &str) -> PyResult<bool> {
        let Some(value) = fields.given(field)? else { return Ok(false) };
        // What is true for Python may say "false".
        Ok(value.extract().unwrap_or_else(|_| {
            self.wrong_type(format!("{}.{field}", fields.path), field, "True or False", &value);
            false
        }))
    }

    /// A word of the library's, whatever those are.
    fn spelled<T: Default>(
        &mut self,
        fields: &Fields<'_, '_>,
        field: &str,
        unknown: Code,
        parse: impl Fn(&str) -> Option<T>,
    ) -> PyResult<T> {
        let Some(text) = self.text(fields, field)? else { return Ok(T::default()) };
        Ok(parse(&text).unwrap_or_else(|| {
            let path = format!("{}.{field}", fields.path);
            self.findings.push(Finding::new(unknown, path, format!("`{text}` is no {field}")));
            T::default()
        }))
    }

    fn list<'py>(&mut self, fields: &Fields<'_, 'py>, field: &str) -> PyResult<Option<Bound<'py, PyList>>> {
        let Some(value) = fields.given(field)? else { return Ok(None) };
        match value.cast_into::<PyList>() {
            Ok(list) => Ok(Some(list)),
            Err(other) => {
                self.wrong_type(format!("{}.{field}", fields.path), field, "a list", &other.into_inner());
                Ok(None)
            }
        }
    }

    fn words(&mut self, fields: &Fields<'_, '_>, field: &str) -> PyResult<Vec<String>> {
        let Some(list) = self.list(fields, field)? else { return Ok(Vec::new()) };
        // What is no word is no name either, and the library says so.
        list.iter().map(|value| text_of(&value).map_or_else(|| Ok(value.repr()?.to_string()), Ok)).collect()
    }

    fn matchers(&mut self, fields: &Fields<'_, '_>) -> PyResult<Vec<(String, MatcherSpec)>> {
        let Some(value) = fields.given("match")? else { return Ok(Vec::new()) };
        if let Ok(written) = value.cast::<PyDict>() {
            return matcher::map(&mut self.asked, written);
        }
        self.wrong_type(format!("{}.match", fields.path), "match", "a map", &value);
        Ok(Vec::new())
    }

    fn number(&mut self, fields: &Fields<'_, '_>, field: &str) -> PyResult<NumberSpec> {
        let Some(value) = fields.given(field)? else { return Ok(NumberSpec::Absent) };
        if value.is_callable() {
            return self.asked.callable(&value).map(NumberSpec::Callable);
        }
        match number::read(&value) {
            Ok(HostNumber::Int(n)) => Ok(NumberSpec::Int(n)),
            Ok(HostNumber::Float(f)) => Ok(NumberSpec::Float(f)),
            Err(error) if error.is_instance_of::<PyException>(value.py()) => {
                self.wrong_type(format!("{}.{field}", fields.path), field, "a number", &value);
                Ok(NumberSpec::Reported)
            }
            Err(error) => Err(error),
        }
    }
}
