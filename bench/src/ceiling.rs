//! `redis-benchmark` with the very script, keys and arguments of a check: a client that only asks, for a server that only answers.

use crate::rounds::median;
use crate::server::Server;
use labkit_ratelimit::{CallOptions, Limiter, Mode, Planned, Script, Value};
use labkit_ratelimit_bench::{by_user, planned, planned_by};
use redis::cmd;
use serde::Deserialize;
use std::error::Error;
use std::io;
use std::process::{Command, Stdio};

/// `redis-benchmark` puts a number of twelve digits in its place, another one in each call.
const USER: &str = "__rand_int__";
const USERS: &str = "1000";

/// What a rate is measured under: so many rules in a check, so many connections at once.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Load {
    pub(crate) rules: u32,
    pub(crate) connections: u32,
}

impl Load {
    pub(crate) const ALL: [Self; 4] = [Self::new(1, 1), Self::new(3, 1), Self::new(1, 50), Self::new(3, 50)];

    pub(crate) const fn new(rules: u32, connections: u32) -> Self {
        Self { rules, connections }
    }

    pub(crate) fn text(self) -> String {
        let counted = |n: u32, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
        format!("{}, {}", counted(self.rules, "rule"), counted(self.connections, "connection"))
    }

    /// Enough for some tenths of a second.
    const fn calls(self) -> u32 {
        if self.connections == 1 { 5_000 } else { 25_000 }
    }
}

/// Whose keys are asked for: as many other ones as its check asks for.
#[derive(Clone, Copy)]
pub(crate) enum Keys {
    /// Each rule by user.
    Users,
    /// By user, by one address, and by both.
    Go,
    /// By address, by user and by path, of one request.
    Python,
}

impl Keys {
    /// The command of a check of so many rules.
    fn words(self, rules: u32) -> io::Result<Vec<String>> {
        const ADDRESS: Value<'_> = Value::Text("198.18.0.1");
        match self {
            Self::Users => words(&planned(rules), &by_user(USER)),
            Self::Go => words(
                &first(rules, &[("per_user", &["user"]), ("per_ip", &["ip"]), ("per_both", &["user", "ip"])]),
                &[("user", Value::from(USER)), ("ip", ADDRESS)],
            ),
            Self::Python => words(
                &first(rules, &[("by_ip", &["ip"]), ("by_user", &["user"]), ("by_path", &["path"])]),
                &[("ip", ADDRESS), ("user", Value::from("user:42")), ("path", Value::from("/api/v4/projects"))],
            ),
        }
    }
}

/// The first of these rules. Their counters are not those of the package, which looks at its own.
fn first(count: u32, rules: &[(&str, &[&str])]) -> Limiter {
    planned_by("ceiling", rules.iter().copied().take(usize::try_from(count).unwrap_or(0)))
}

/// The rates of one server, under some loads.
pub(crate) struct Ceiling {
    port: u16,
    keys: Keys,
    rates: Vec<(Load, Vec<f64>)>,
}

impl Ceiling {
    /// The server knows the script then.
    pub(crate) fn of(server: &Server, keys: Keys, loads: &[Load]) -> Result<Self, Box<dyn Error>> {
        let _: String = cmd("SCRIPT").arg("LOAD").arg(Script::chain().source()).query(&mut server.connect()?)?;
        Ok(Self { port: server.port(), keys, rates: loads.iter().map(|load| (*load, Vec::new())).collect() })
    }

    /// Where the server listens, on the loopback address.
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// Takes a sample under each load.
    pub(crate) fn sample(&mut self) -> Result<(), Box<dyn Error>> {
        for (load, rates) in &mut self.rates {
            rates.push(rate(self.port, self.keys, *load)?);
        }
        Ok(())
    }

    /// Calls a second, the median of the samples; none under a load that is not measured.
    pub(crate) fn rate(&self, load: Load) -> Option<f64> {
        let (_, rates) = self.rates.iter().find(|(one, rates)| *one == load && !rates.is_empty())?;
        Some(median(rates.clone()))
    }
}

/// Calls a second of one run of `redis-benchmark`, on a server that knows the script.
pub(crate) fn rate(port: u16, keys: Keys, load: Load) -> Result<f64, Box<dyn Error>> {
    let output = Command::new("redis-benchmark")
        .args(["-h", "127.0.0.1", "-p", &port.to_string(), "-r", USERS, "--csv"])
        .args(["-c", &load.connections.to_string(), "-n", &load.calls().to_string()])
        .args(keys.words(load.rules)?)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| io::Error::new(error.kind(), format!("redis-benchmark: {error}; ci/setup installs it")))?;
    // It ends with 1 as soon as a reply is an error.
    let told = String::from_utf8_lossy(&output.stdout);
    let rate = rate_of(&told).filter(|_| output.status.success());
    rate.ok_or_else(|| io::Error::other(format!("redis-benchmark, {}: {told}", output.status)).into())
}

/// The command of a check.
fn words(limiter: &Limiter, identifier: &[(&str, Value<'_>)]) -> io::Result<Vec<String>> {
    let Planned::Call(pending) = limiter.plan(identifier, CallOptions::default(), Mode::Check) else {
        return Err(io::Error::other("a check without a call"));
    };
    let call = pending.call();
    let head = ["EVALSHA".to_owned(), call.script.digest().to_owned(), call.keys.len().to_string()];
    Ok(head.into_iter().chain(call.keys.iter().cloned()).chain(call.args.iter().cloned()).collect())
}

/// The column `rps`. The first one is the command and may hold commas, so that columns are counted from the end.
fn rate_of(csv: &str) -> Option<f64> {
    let mut lines = csv.lines();
    let from_end = lines.next()?.rsplit(',').position(|name| name == "\"rps\"")?;
    lines.next_back()?.rsplit(',').nth(from_end)?.trim_matches('"').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = r#""test","rps","avg_latency_ms","max_latency_ms""#;

    #[test]
    fn the_rate_is_found_behind_a_command_with_commas() {
        let csv = format!("{HEAD}\n\"evalsha 1 a,b \"\"c\"\" w,1\",\"94339.62\",\"0.398\",\"5.247\"\n");
        assert_eq!(rate_of(&csv), Some(94_339.62));
        assert_eq!(rate_of("\"test\",\"rps\"\n\"evalsha 1 a\",\"500.00\"\n"), Some(500.0));
    }

    #[test]
    fn no_rate_is_none() {
        assert_eq!(rate_of(&format!("{HEAD}\n")), None);
        assert_eq!(rate_of("Error from server: NOSCRIPT"), None);
        assert_eq!(rate_of(""), None);
    }

    #[test]
    fn the_words_are_those_of_a_call_and_each_key_has_a_place_for_the_number() {
        let words = Keys::Users.words(3).expect("a call");
        let keys = &words[3..6];
        assert_eq!((words[1].as_str(), words[2].as_str()), (Script::chain().digest(), "3"));
        assert!(keys.iter().all(|key| key.contains(USER)), "{words:?}");
        assert!(words.len() > 6 && !words[6..].iter().any(|word| word.contains(USER)), "{words:?}");
    }

    #[test]
    fn the_keys_are_those_of_the_package() {
        let keys = |keys: Keys| keys.words(3).expect("a call")[3..6].join(" ").replace(USER, "N");
        let go = "labkit:rl:{ceiling:per_user:user:N} labkit:rl:{ceiling:per_ip:ip:198.18.0.1} labkit:rl:{ceiling:per_both:user:N:ip:198.18.0.1}";
        assert_eq!(keys(Keys::Go), go);
        let python = "labkit:rl:{ceiling:by_ip:ip:198.18.0.1} labkit:rl:{ceiling:by_user:user:user:42} labkit:rl:{ceiling:by_path:path:/api/v4/projects}";
        assert_eq!(keys(Keys::Python), python);
        assert_eq!(Keys::Go.words(1).expect("a call")[2], "1");
    }

    #[test]
    fn a_load_is_told_in_words() {
        assert_eq!(Load::new(1, 50).text(), "1 rule, 50 connections");
        assert_eq!(Load::new(3, 1).text(), "3 rules, 1 connection");
    }
}
