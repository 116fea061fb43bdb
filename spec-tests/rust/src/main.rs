//! Runs conformance scenarios with the Rust library and prints what came back: see `spec-tests/PROTOCOL.md`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "its output is its purpose")]

mod actual;
mod backend;
mod log;
mod scenario;
mod share;
mod tags;

use labkit_ratelimit::Topology;
use serde_json::{Value as Json, json};
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

#[derive(Default)]
struct Arguments {
    store: String,
    addresses: Vec<String>,
    files: Vec<String>,
    /// A log to play, in the place of scenarios.
    log: Option<String>,
    /// A limiter to share with others, in the place of scenarios.
    share: Option<String>,
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut parsed = Arguments::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} takes a value"));
        match word.as_str() {
            "--store" => parsed.store = value()?,
            "--log" => parsed.log = Some(value()?),
            "--share" => parsed.share = Some(value()?),
            "--redis" | "--cluster" => parsed.addresses = value()?.split(',').map(str::to_owned).collect(),
            option if option.starts_with("--") => return Err(format!("unknown option {option}").into()),
            file => parsed.files.push(file.to_owned()),
        }
    }
    if !["memory", "redis", "cluster"].contains(&parsed.store.as_str()) {
        return Err("give --store memory, redis or cluster".into());
    }
    Ok(parsed)
}

/// Whether the scenario's stores include this one: see the protocol.
fn includes(scenario: &Json, store: &str) -> bool {
    let steps = || scenario["steps"].as_array().into_iter().flatten();
    let named = scenario["stores"].as_array().is_none_or(|stores| stores.iter().any(|named| named == store));
    let real = steps().any(|step| step.get("redis").is_some() || step.get("store").is_some());
    let back = steps().any(|step| step["advance"].as_f64().is_some_and(|seconds| seconds < 0.0));
    named && !(real && store == "memory") && !(back && store != "memory")
}

fn run() -> Result<(), Box<dyn Error>> {
    let arguments = arguments()?;
    let store = arguments.store.as_str();
    let backend = match store {
        "memory" => None,
        _ => Some(Arc::new(backend::Backend::connect(&arguments.addresses, store == "cluster")?)),
    };
    let topology = if store == "cluster" { Topology::Cluster } else { Topology::Single };
    let world = scenario::World { backend, topology };
    // It holds the library.
    let library = std::env::current_exe()?;
    let about = json!({"language": "rust", "version": labkit_ratelimit::VERSION, "store": store, "library": library});
    println!("{}", json!({"runner": about}));
    let print = |line: &Json| println!("{line}");
    if let Some(file) = &arguments.log {
        return log::play(file, &world, print);
    }
    if let Some(file) = &arguments.share {
        let address = arguments.addresses.first().ok_or("--share needs --store redis")?;
        return share::play(file, address, print);
    }
    let mut done = 0;
    for file in &arguments.files {
        let scenarios: Vec<Json> = serde_json::from_str(&std::fs::read_to_string(file)?)?;
        for scenario in scenarios.iter().filter(|scenario| includes(scenario, store)) {
            let name = &scenario["name"];
            let print = |step: i64, op: &str, actual: &Json| {
                println!("{}", json!({"scenario": name, "step": step, "op": op, "actual": actual}));
            };
            scenario::run(scenario, &world, print).map_err(|error| format!("{file}: {name}: {error}"))?;
            done += 1;
        }
    }
    println!("{}", json!({"done": done}));
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("labkit-ratelimit-spec-runner: {error}");
            ExitCode::FAILURE
        }
    }
}
