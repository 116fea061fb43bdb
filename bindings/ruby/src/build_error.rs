//! `Native::BuildError`: everything that is wrong with a limiter or its documents.

use labkit_ratelimit::{BuildError, Finding, Findings, LoadError};
use magnus::value::Lazy;
use magnus::{Error, ExceptionClass, Module as _, RModule, RString, Ruby, Value, prelude::*};

static CLASS: Lazy<ExceptionClass> = Lazy::new(|ruby| {
    let class = ruby.class_object().funcall("const_get", ("Labkit::RateLimit::Native::BuildError",));
    class.unwrap_or_else(|_| ruby.exception_arg_error())
});

pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_error("BuildError", ruby.exception_standard_error())?;
    class.define_attr("findings", magnus::Attr::Read)
}

/// Of mistakes that the binding found, and those that the library did, if it got so far.
pub(crate) fn of_build(ruby: &Ruby, limiter: &str, read: Findings, built: Option<&BuildError>) -> Error {
    let message = match built {
        Some(error) if read.is_empty() => error.to_string(),
        _ => {
            let all = read.iter().chain(built.iter().flat_map(|error| error.findings()));
            let lines: Vec<String> = all.map(ToString::to_string).collect();
            format!("limiter `{limiter}` cannot be built:\n{}", lines.join("\n"))
        }
    };
    let built = built.map(|error| error.findings().clone()).unwrap_or_default();
    raised(ruby, &message, &read.into_iter().chain(built).collect())
}

/// Of documents that were not loaded.
pub(crate) fn of_load(ruby: &Ruby, error: &LoadError) -> Error {
    let findings = match error {
        LoadError::Invalid(findings) => findings.clone(),
        _ => Findings::default(),
    };
    raised(ruby, &error.to_string(), &findings)
}

fn raised(ruby: &Ruby, message: &str, findings: &Findings) -> Error {
    let build = || {
        let exception = ruby.get_inner(&CLASS).new_instance((ruby.str_new(message),))?;
        let list = ruby.ary_try_from_iter(findings.iter().map(|finding| shown(ruby, finding)))?;
        list.freeze();
        exception.funcall::<_, _, Value>("instance_variable_set", ("@findings", list))?;
        Ok(Error::from(exception))
    };
    build().unwrap_or_else(|error| error)
}

/// A finding as a Hash.
fn shown(ruby: &Ruby, finding: &Finding) -> Result<Value, Error> {
    let text = |text: &str| ruby.str_new(text);
    let hash = ruby.hash_new();
    hash.aset(ruby.to_symbol("code"), text(finding.code.as_str()))?;
    hash.aset(ruby.to_symbol("path"), text(&finding.path))?;
    hash.aset(ruby.to_symbol("message"), text(&finding.message))?;
    hash.aset(ruby.to_symbol("mend"), text(finding.mend()))?;
    hash.aset(ruby.to_symbol("severity"), text(finding.severity.as_str()))?;
    let location = finding.location.as_ref();
    let file: Option<RString> = location.map(|location| text(&location.file));
    hash.aset(ruby.to_symbol("file"), file)?;
    hash.aset(ruby.to_symbol("line"), location.map(|location| location.line))?;
    hash.aset(ruby.to_symbol("column"), location.map(|location| location.column))?;
    hash.freeze();
    Ok(hash.as_value())
}
