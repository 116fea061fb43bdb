//! What the library has to say, as JSON.

use labkit_ratelimit::{
    BuildError, Failure, Finding, Findings, LoadError, LogEvent, RuleSpec, Rules, RulesRef, Sample, SampleKind,
};
use serde_json::{Map, Value as Json, json};

/// What failed in a call, and what is to be logged of it.
pub(crate) fn course(failure: Option<&Failure>, rules: &Rules, events: &[LogEvent]) -> Json {
    let failure = failure.map(|failure| {
        let rule = failure.rule.map(|place| rules.rule(place).name());
        json!({"rule": rule, "class_name": failure.class_name, "error_message": failure.message})
    });
    json!({"failure": failure, "logs": logs(events)})
}

/// Lines of the log. `of_identifier`: the names of the identifier's properties belong to it, and the host has them.
pub(crate) fn logs(events: &[LogEvent]) -> Json {
    let shown = |event: &LogEvent| {
        let mut names = event.identifier_keys.as_slice();
        let of_identifier = names.first().is_some_and(String::is_empty);
        if of_identifier {
            names = &[];
        }
        json!({
            "message": event.message, "error_type": event.error_type, "name": event.name, "rule": event.rule,
            "count_distinct": event.count_distinct, "class_name": event.class_name,
            "error_message": event.error_message, "identifier_keys": names, "of_identifier": of_identifier,
        })
    };
    events.iter().map(shown).collect()
}

/// Rules in force.
pub(crate) fn rules(rules: &RulesRef) -> Json {
    json!({
        "serial": rules.serial(), "evaluation": rules.evaluation().as_str(), "asks": rules.asks_host(),
        "properties": rules.properties().collect::<Vec<_>>(),
        "rules": rules.specs().iter().map(rule).collect::<Vec<_>>(),
    })
}

fn rule(spec: &RuleSpec) -> Json {
    json!({
        "name": spec.name, "action": spec.action.as_str(), "algorithm": spec.algorithm.as_str(),
        "characteristics": spec.characteristics, "count_distinct": spec.count_distinct, "final": spec.is_final,
        "description": spec.description,
    })
}

/// Why a limiter was not built: mistakes in how its text is written, and all others.
pub(crate) fn not_built(limiter: &str, written: &Findings, built: Option<&BuildError>) -> Json {
    let known: Vec<&str> = written.iter().map(|finding| finding.path.as_str()).collect();
    let built_findings = built.map(|error| error.findings().clone()).unwrap_or_default();
    // What was mistyped is said once, and of what is no rule at all there is nothing more to say.
    let is_said = |path: &str| {
        known.iter().any(|known| path.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
    };
    let others = built_findings.iter().filter(|finding| !is_said(&finding.path));
    let all: Vec<&Finding> = written.iter().chain(others).collect();
    let mut message = format!("limiter `{limiter}` cannot be built:");
    let unreadable = built.and_then(BuildError::unreadable);
    let lines = unreadable.map(str::to_owned).into_iter().chain(all.iter().map(ToString::to_string));
    for line in lines {
        message.extend(["\n", &line]);
    }
    json!({"message": message, "findings": all.into_iter().map(finding).collect::<Vec<_>>()})
}

/// Why documents were not loaded.
pub(crate) fn not_loaded(error: &LoadError) -> Json {
    let findings: Vec<Json> = match error {
        LoadError::Invalid(findings) => findings.iter().map(finding).collect(),
        _ => Vec::new(),
    };
    json!({"message": error.to_string(), "findings": findings})
}

fn finding(finding: &Finding) -> Json {
    let location = finding.location.as_ref();
    json!({
        "code": finding.code.as_str(), "path": finding.path, "message": finding.message, "mend": finding.mend(),
        "severity": finding.severity.as_str(), "file": location.map(|place| &*place.file),
        "line": location.map(|place| place.line), "column": location.map(|place| place.column),
    })
}

/// Counters and gauges.
pub(crate) fn samples(samples: &[Sample]) -> Json {
    let shown = |sample: &Sample| {
        let labels: Map<String, Json> =
            sample.labels.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        let kind = match sample.kind {
            SampleKind::Counter => "counter",
            SampleKind::Gauge => "gauge",
        };
        json!({"name": sample.name, "kind": kind, "labels": labels, "value": sample.value})
    };
    samples.iter().map(shown).collect()
}
