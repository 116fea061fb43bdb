//! The Redis of a command, by environment alone: a command line is for all to see.

use crate::mistake::Mistake;
use clap::Args;
use labkit_ratelimit::{LogEvent, RedisOptions};
use labkit_ratelimit_native::{ConfigError, ConfigErrorKind, NativeRedis, Server, Tls};
use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;
use std::{env, fs};

const URL: &str = "LABKIT_RATELIMIT_REDIS_URL";
const USERNAME: &str = "LABKIT_RATELIMIT_REDIS_USERNAME";
const PASSWORD: &str = "LABKIT_RATELIMIT_REDIS_PASSWORD";
const SENTINEL_USERNAME: &str = "LABKIT_RATELIMIT_REDIS_SENTINEL_USERNAME";
const SENTINEL_PASSWORD: &str = "LABKIT_RATELIMIT_REDIS_SENTINEL_PASSWORD";
const CA_FILE: &str = "LABKIT_RATELIMIT_REDIS_CA_FILE";
const CERT_FILE: &str = "LABKIT_RATELIMIT_REDIS_CERT_FILE";
const KEY_FILE: &str = "LABKIT_RATELIMIT_REDIS_KEY_FILE";
const SERVER_NAME: &str = "LABKIT_RATELIMIT_REDIS_SERVER_NAME";

/// The variables, for `--help`. Values are never shown.
pub(crate) const ENVIRONMENT_HELP: &str = "\
Environment:
  LABKIT_RATELIMIT_REDIS_URL  the Redis, one of
      redis://user:password@host:6379/0        rediss://… with TLS
      redis+sentinel://host1,host2/mymaster    rediss+sentinel://…
      redis+cluster://host1,host2              rediss+cluster://…
      unix:///run/redis.sock
  LABKIT_RATELIMIT_REDIS_USERNAME, LABKIT_RATELIMIT_REDIS_PASSWORD
      in the place of those of the URL
  LABKIT_RATELIMIT_REDIS_SENTINEL_USERNAME, LABKIT_RATELIMIT_REDIS_SENTINEL_PASSWORD
      of the sentinels, which are not asked with those of the master
  LABKIT_RATELIMIT_REDIS_CA_FILE
      the authorities to trust (PEM), and no others; by default the system's
  LABKIT_RATELIMIT_REDIS_CERT_FILE, LABKIT_RATELIMIT_REDIS_KEY_FILE
      the certificate to show, and its key (PEM)
  LABKIT_RATELIMIT_REDIS_SERVER_NAME
      the name to expect in every certificate, where it is not the host's";

/// How long a Redis is waited for.
#[derive(Args, Debug)]
pub(crate) struct RedisArguments {
    /// How long each answer of the Redis is waited for, connecting included
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    timeout: Duration,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.001..=3600.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "give seconds within 0.001 and 3600".to_owned())
}

/// A Redis, and how it is asked.
#[derive(Debug)]
pub(crate) struct RedisServer {
    /// Its address, without secrets.
    pub(crate) address: String,
    pub(crate) connection: Arc<NativeRedis>,
    pub(crate) options: RedisOptions,
}

impl RedisServer {
    /// The Redis that the environment names. It is not asked yet.
    pub(crate) fn of_environment(arguments: &RedisArguments) -> Result<Self, Mistake> {
        let url = variable(URL)?.ok_or_else(|| {
            Mistake::Misuse(format!("{URL} is not set: put the address of the Redis there, such as redis://host:6379"))
        })?;
        let mut server = Server::parse(&url).map_err(|error| wrong(&format!("{URL}: "), &error))?;
        if let Some(name) = variable(USERNAME)? {
            server = server.username(name);
        }
        if let Some(password) = variable(PASSWORD)? {
            server = server.password(password);
        }
        if let Some(name) = variable(SENTINEL_USERNAME)? {
            server = server.sentinel_username(name);
        }
        if let Some(password) = variable(SENTINEL_PASSWORD)? {
            server = server.sentinel_password(password);
        }
        if let Some(tls) = tls()? {
            if !server.to_string().starts_with("rediss") {
                let what = format!("certificates are given, and {URL} asks for no TLS: write rediss in place of redis");
                return Err(Mistake::Misuse(what));
            }
            server = server.tls(tls);
        }
        let address = server.to_string();
        // So that an attempt which fails can say why, and another address be tried, before the answer is given up.
        let patience = arguments.timeout / 2;
        let connection =
            NativeRedis::builder(server).connect_timeout(patience).build().map_err(|error| match error.kind() {
                ConfigErrorKind::Credentials => wrong(&format!("{URL} and {PASSWORD}: "), &error),
                _ => wrong("", &error),
            })?;
        let options = RedisOptions { deadline: arguments.timeout, ..connection.options() };
        Ok(Self { address, connection: Arc::new(connection), options })
    }

    /// It gave no answer, or none that can be used.
    pub(crate) fn failed(&self, why: &str) -> Mistake {
        let hint = if why.contains("AuthenticationError") {
            format!(". A password stands in {PASSWORD}, or in {URL}; a user in {USERNAME}")
        } else {
            String::new()
        };
        Mistake::Misuse(format!("{} gave no answer that can be used: {why}{hint}", self.address))
    }
}

/// What a limiter's warnings say of a failure.
pub(crate) fn reasons(events: &[LogEvent]) -> Option<String> {
    let reason = |event: &LogEvent| {
        let parts = [event.class_name.as_deref(), event.error_message.as_deref()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(": ")
    };
    let reasons: Vec<String> = events.iter().filter(|event| event.error_type.is_some()).map(reason).collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// A variable that is set and not empty.
fn variable(name: &str) -> Result<Option<String>, Mistake> {
    match env::var(name) {
        Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
        Err(env::VarError::NotPresent) => Ok(None),
        // What it holds is not repeated.
        Err(env::VarError::NotUnicode(_)) => Err(Mistake::Misuse(format!("{name} is not UTF-8"))),
    }
}

/// What a variable's file holds.
fn file(name: &str) -> Result<Option<Vec<u8>>, Mistake> {
    let read =
        |path: String| fs::read(&path).map_err(|error| Mistake::Misuse(format!("{name}: cannot read {path}: {error}")));
    variable(name)?.map(read).transpose()
}

fn tls() -> Result<Option<Tls>, Mistake> {
    let (authorities, name) = (file(CA_FILE)?, variable(SERVER_NAME)?);
    let identity = match (file(CERT_FILE)?, file(KEY_FILE)?) {
        (None, None) => None,
        (Some(certificates), Some(key)) => Some((certificates, key)),
        _ => return Err(Mistake::Misuse(format!("{CERT_FILE} and {KEY_FILE} belong together: set both or none"))),
    };
    if authorities.is_none() && name.is_none() && identity.is_none() {
        return Ok(None);
    }
    let mut tls = Tls::new();
    if let Some(authorities) = authorities {
        tls = tls.authorities(authorities);
    }
    if let Some(name) = name {
        tls = tls.server_name(name);
    }
    if let Some((certificates, key)) = identity {
        tls = tls.identity(certificates, key);
    }
    Ok(Some(tls))
}

fn wrong(before: &str, error: &ConfigError) -> Mistake {
    let cause = error.source().map_or_else(String::new, |cause| format!(": {cause}"));
    Mistake::Misuse(format!("{before}{error}{cause}"))
}
