//! One scenario: its limiter and its steps.

use crate::actual;
use crate::backend::Backend;
use crate::tags::{Closures, Fact, float};
use labkit_ratelimit::{
    CallOptions, Clock as _, Code, Decision, Documents, Evaluation, Finding, Findings, Limiter, LogRecorder,
    ManualClock, OnError, RedisOptions, Source, Store, SystemClock, Topology, Value,
};
use labkit_ratelimit_documents::{Dialect, read_rule};
use serde_json::{Value as Json, json};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

const KEYS: [&str; 10] = [
    "name",
    "why",
    "limiter",
    "rules",
    "available_limiters",
    "rate_limits",
    "options",
    "stores",
    "steps",
    "expect_build_error",
];
const OPTIONS: [&str; 2] = ["evaluation", "on_error"];
const OPS: [&str; 9] = ["check", "peek", "clear", "headers", "advance", "redis", "store", "logs", "metrics"];
/// What stands beside an op.
const BESIDE: [&str; 3] = ["cost", "context", "expect"];

/// No key is passed over in silence.
fn refuse_unknown(value: &Json, known: &[&str], what: &str) -> Result<(), Box<dyn Error>> {
    match value.as_object().and_then(|map| map.keys().find(|key| !known.contains(&key.as_str()))) {
        Some(key) => Err(format!("unknown key `{key}` of a {what} (publishes come with the rule store)").into()),
        None => Ok(()),
    }
}

pub(crate) struct World {
    pub(crate) backend: Option<Arc<Backend>>,
    pub(crate) topology: Topology,
}

struct Run<'w> {
    world: &'w World,
    name: &'w str,
    limiter: &'w Limiter,
    clock: &'w ManualClock,
    log: &'w LogRecorder,
    last: Option<(Decision, u64)>,
}

/// Runs a scenario; `print` gets each step's index, op and actual.
pub(crate) fn run(
    scenario: &Json,
    world: &World,
    mut print: impl FnMut(i64, &str, &Json),
) -> Result<(), Box<dyn Error>> {
    refuse_unknown(scenario, &KEYS, "scenario")?;
    refuse_unknown(&scenario["options"], &OPTIONS, "scenario's options")?;
    if let Some(backend) = &world.backend {
        backend.flush()?;
        backend.down.store(false, SeqCst);
    }
    let (clock, log) = (Arc::new(ManualClock::at_unix_seconds(1_700_000_000)), Arc::new(LogRecorder::default()));
    let limiter = match build(scenario, world, &clock, &log) {
        Ok(limiter) => limiter,
        Err(findings) => {
            let list = findings.iter().map(|f| json!({"code": f.code.as_str(), "path": f.path, "message": f.message}));
            print(-1, "build", &json!({"findings": list.collect::<Vec<_>>()}));
            return Ok(());
        }
    };
    print(-1, "build", &Json::Null);
    let name = scenario["limiter"].as_str().unwrap_or_default();
    let mut run = Run { world, name, limiter: &limiter, clock: &clock, log: &log, last: None };
    for (at, step) in (0..).zip(scenario["steps"].as_array().into_iter().flatten()) {
        let (op, actual) = run.step(step)?;
        print(at, op, &actual);
    }
    Ok(())
}

fn build(
    scenario: &Json,
    world: &World,
    clock: &Arc<ManualClock>,
    log: &Arc<LogRecorder>,
) -> Result<Limiter, Findings> {
    let (mut closures, mut findings, mut specs) = (Closures::default(), Findings::default(), Vec::new());
    for (at, rule) in scenario["rules"].as_array().into_iter().flatten().enumerate() {
        let draft = read_rule(rule, Dialect::Code, &mut closures);
        // What the rule's builder says too is said once.
        if draft.findings.iter().next().is_some() {
            findings.extend_below(&format!("rules[{at}]"), draft.build().err().unwrap_or_default());
        }
        specs.push(draft.spec);
    }
    let mut option = |name: &str, known: &[&str]| match &scenario["options"][name] {
        Json::Null => None,
        given => {
            let text = given.as_str().filter(|text| known.contains(text));
            if text.is_none() {
                findings.push(Finding::new(Code::OptionInvalid, name, format!("{given} is none of {known:?}")));
            }
            text.map(str::to_owned)
        }
    };
    let evaluation = option("evaluation", &Evaluation::ALL.map(Evaluation::as_str));
    let on_error = option("on_error", &OnError::ALL.map(OnError::as_str));
    let store = match &world.backend {
        None => Store::memory(100_000),
        Some(backend) => Store::Connected(
            Arc::<Backend>::clone(backend),
            // A busy machine must not fail a scenario.
            RedisOptions { topology: world.topology, deadline: Duration::from_secs(5), ..RedisOptions::default() },
        ),
    };
    let builder = Limiter::builder(scenario["limiter"].as_str().unwrap_or_default())
        .rules(specs)
        .callbacks(closures.0)
        .evaluation(evaluation.and_then(|text| Evaluation::parse(&text)).unwrap_or_default())
        .on_error(on_error.and_then(|text| OnError::parse(&text)).unwrap_or_default())
        .store(store)
        .logger(Arc::clone(log))
        .strict_documents(true);
    let builder = match documents(scenario) {
        Some(documents) => builder.documents(documents),
        None => builder,
    };
    let builder = if world.backend.is_none() { builder.clock(Arc::clone(clock)) } else { builder };
    match builder.build() {
        Ok(limiter) => findings.or(limiter),
        Err(error) => {
            let known: Vec<String> = findings.iter().map(|finding| finding.path.clone()).collect();
            error.findings().iter().filter(|f| !known.contains(&f.path)).for_each(|f| findings.push(f.clone()));
            Err(findings)
        }
    }
}

/// The documents, as the texts of their values.
fn documents(scenario: &Json) -> Option<Documents> {
    let (available, files) = (&scenario["available_limiters"], scenario["rate_limits"].as_array());
    if available.is_null() && files.is_none() {
        return None;
    }
    let mut documents = Documents::new();
    if !available.is_null() {
        documents = documents.available_limiters(Source::new("available_limiters.json", available.to_string()));
    }
    for (at, file) in files.into_iter().flatten().enumerate() {
        documents = documents.rate_limits(Source::new(format!("rate_limits.{at}.json"), file.to_string()));
    }
    Some(documents)
}

impl Run<'_> {
    fn step(&mut self, step: &Json) -> Result<(&'static str, Json), Box<dyn Error>> {
        let map = step.as_object().ok_or("a step is a map")?;
        refuse_unknown(step, &[OPS.as_slice(), &BESIDE].concat(), "step")?;
        let facts = |op: &str| -> Vec<(String, Fact)> {
            map[op].as_object().into_iter().flatten().map(|(name, value)| (name.clone(), Fact::read(value))).collect()
        };
        let mut options = CallOptions::default();
        if let Some(cost) = map.get("cost") {
            options = options.cost(float(cost).or_else(|| cost.as_f64()).ok_or("cost is no number")?);
        }
        if let Some(context) = map.get("context").filter(|context| !context.is_null()) {
            options = options.context(context);
        }
        let op = OPS
            .into_iter()
            .find(|op| map.contains_key(*op))
            .ok_or_else(|| format!("no step this runner knows: {step}"))?;
        let actual = match op {
            "check" | "peek" => {
                let facts = facts(op);
                let identifier: Vec<(&str, Value<'_>)> =
                    facts.iter().map(|(name, fact)| (name.as_str(), fact.value())).collect();
                let decision = if op == "check" {
                    self.limiter.check_with(identifier.as_slice(), options)
                } else {
                    self.limiter.peek_with(identifier.as_slice(), options)
                };
                let now_us = if self.world.backend.is_some() { SystemClock.now_us() } else { self.clock.now_us() };
                let actual = actual::decision(&decision);
                self.last = Some((decision, now_us / 1_000_000));
                actual
            }
            "clear" => {
                let facts = facts(op);
                let identifier: Vec<(&str, Value<'_>)> =
                    facts.iter().map(|(name, fact)| (name.as_str(), fact.value())).collect();
                json!({"deleted": self.limiter.clear(identifier.as_slice())})
            }
            "headers" => {
                let (decision, second) = self.last.as_ref().ok_or("headers before any check")?;
                actual::headers(decision, map["headers"]["format"] == "ietf", *second)
            }
            "advance" => {
                let us = map["advance"].as_number().ok_or("advance takes seconds")?.to_string().parse::<f64>()?;
                let us: i64 = format!("{:.0}", us * 1e6).parse()?;
                match &self.world.backend {
                    Some(backend) => backend.age(self.name, us)?,
                    None => self.clock.advance_us(us),
                }
                Json::Null
            }
            "redis" => self.redis(&map["redis"]["command"])?,
            "store" => {
                let backend = self.world.backend.as_ref().ok_or("a store step on memory")?;
                backend.down.store(map["store"] == "down", SeqCst);
                if map["store"] == "up" {
                    self.limiter.close_circuit();
                }
                Json::Null
            }
            "logs" => Json::Array(self.log.take().iter().map(actual::log).collect()),
            _ => actual::metrics(self.limiter),
        };
        Ok((op, actual))
    }

    fn redis(&self, words: &Json) -> Result<Json, Box<dyn Error>> {
        let backend = self.world.backend.as_ref().ok_or("a redis step on memory")?;
        let words: Vec<&str> = words.as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        Ok(match backend.raw(&words) {
            Ok(reply) => json!({"reply": actual::reply(&reply)}),
            Err(error) => json!({"reply": {"error": error.to_string()}}),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_is_passed_over_in_silence() {
        let world = World { backend: None, topology: Topology::Single };
        let played = |scenario: &Json| run(scenario, &world, |_, _, _| {}).map_err(|error| error.to_string());
        let plain =
            json!({"name": "x", "limiter": "l", "rules": [], "steps": [{"check": {}, "cost": 2, "expect": {}}]});
        assert_eq!(played(&plain), Ok(()));
        for (key, odd) in [
            ("cots", json!({"steps": [{"check": {}, "cots": 2}]})),
            ("comment", json!({"comment": "x"})),
            ("eval", json!({"options": {"eval": "all"}})),
        ] {
            let mut scenario = plain.clone();
            for (name, value) in odd.as_object().into_iter().flatten() {
                scenario[name] = value.clone();
            }
            assert!(played(&scenario).is_err_and(|error| error.contains(&format!("`{key}`"))), "{scenario}");
        }
    }
}
