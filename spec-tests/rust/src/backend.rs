//! The runner's own connections: they run the limiter's calls (or `labkit-ratelimit-native` does), age its keys, and send
//! the raw commands of `redis` steps.

use labkit_ratelimit::{Call, Connection, Fault};
use labkit_ratelimit_native::{NativeRedis, Server};
use redis::{Cmd, RedisResult, Value};
use std::error::Error;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

const AGE: &str = include_str!("../../age.lua");

/// Redis as a host has it: one server, or a cluster and each of its masters.
pub(crate) struct Backend {
    masters: Vec<Mutex<redis::Connection>>,
    cluster: Option<Mutex<redis::cluster::ClusterConnection>>,
    /// Runs the limiter's calls in this one's place.
    native: Option<NativeRedis>,
    pub(crate) down: AtomicBool,
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Backend({} masters)", self.masters.len())
    }
}

type Raw = Result<Value, Box<dyn Error>>;

fn locked<C>(connection: &Mutex<C>) -> std::sync::MutexGuard<'_, C> {
    connection.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Backend {
    pub(crate) fn connect(addresses: &[String], clustered: bool) -> Result<Self, Box<dyn Error>> {
        let url = |address: &String| format!("redis://{address}/");
        let open = |address| -> RedisResult<_> { Ok(Mutex::new(redis::Client::open(url(address))?.get_connection()?)) };
        let masters = addresses.iter().map(open).collect::<RedisResult<_>>()?;
        let cluster = if clustered {
            Some(Mutex::new(redis::cluster::ClusterClient::new(addresses.iter().map(url))?.get_connection()?))
        } else {
            None
        };
        let scheme = if clustered { "redis+cluster" } else { "redis" };
        let native = match std::env::var("LABKIT_SPEC_CONNECTION").as_deref() {
            Ok("native") => Some(NativeRedis::new(Server::parse(&format!("{scheme}://{}", addresses.join(",")))?)?),
            Ok("host") | Err(_) => None,
            Ok(other) => return Err(format!("LABKIT_SPEC_CONNECTION is host or native, not {other}").into()),
        };
        Ok(Self { masters, cluster, native, down: AtomicBool::new(false) })
    }

    pub(crate) fn flush(&self) -> RedisResult<()> {
        self.masters.iter().try_for_each(|master| redis::cmd("FLUSHALL").exec(&mut *locked(master)))
    }

    fn send<T: redis::FromRedisValue>(&self, command: &Cmd) -> RedisResult<T> {
        match &self.cluster {
            Some(cluster) => command.query(&mut *locked(cluster)),
            None => command.query(&mut *locked(&self.masters[0])),
        }
    }

    /// A command of a `redis` step; on a cluster keyless ones go to every master.
    pub(crate) fn raw(&self, words: &[&str]) -> Raw {
        let mut command = Cmd::new();
        command.arg(words);
        if !["KEYS", "DBSIZE", "SCRIPT", "FLUSHALL", "FLUSHDB"].contains(&words[0].to_uppercase().as_str()) {
            return Ok(self.send(&command)?);
        }
        let replies: Vec<Value> =
            self.masters.iter().map(|m| command.query(&mut *locked(m))).collect::<RedisResult<_>>()?;
        Ok(replies.into_iter().reduce(joined).unwrap_or(Value::Nil))
    }

    /// Lets `us` microseconds pass for the limiter's keys.
    pub(crate) fn age(&self, limiter: &str, us: i64) -> RedisResult<()> {
        for master in &self.masters {
            let mut master = locked(master);
            let keys: std::collections::BTreeSet<String> = redis::cmd("SCAN")
                .arg(0)
                .arg(&["MATCH", &format!("labkit:rl:{{{limiter}:*"), "COUNT", "1000"])
                .clone()
                .iter(&mut *master)?
                .collect::<RedisResult<_>>()?;
            for key in keys {
                redis::cmd("EVAL").arg(AGE).arg(1).arg(key).arg(us).exec(&mut *master)?;
            }
        }
        Ok(())
    }
}

fn joined(a: Value, b: Value) -> Value {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => Value::Array(a.into_iter().chain(b).collect()),
        (Value::Int(a), Value::Int(b)) => Value::Int(a + b),
        (first, _) => first,
    }
}

impl Connection for Backend {
    fn run(&self, call: &Call, deadline: Duration) -> Result<Vec<u8>, Fault> {
        if self.down.load(SeqCst) {
            return Err(Fault::unreachable("connection refused (the scenario says so)"));
        }
        if let Some(native) = &self.native {
            return native.run(call, deadline);
        }
        let send = |name: &str, script: &str| {
            let mut command = redis::cmd(name);
            command.arg(script).arg(call.keys.len()).arg(&call.keys).arg(&call.args);
            self.send(&command)
        };
        let sent = match send("EVALSHA", call.script.digest()) {
            Err(error) if error.code() == Some("NOSCRIPT") => send("EVAL", call.script.source()),
            sent => sent,
        };
        sent.map_err(|error| {
            let text = [error.code().unwrap_or_default(), error.detail().unwrap_or_default()].join(" ");
            Fault::new("RedisError", if text.trim().is_empty() { error.to_string() } else { text })
        })
    }
}
