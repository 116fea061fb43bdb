//! What a call answered, as the protocol writes it.

use labkit_ratelimit::{Decision, HeaderFormat, Info, LogEvent};
use redis::Value as Reply;
use serde_json::{Map, Value as Json, json};

fn float(f: f64) -> Json {
    if f.is_finite() { json!(f) } else { json!({"$float": f.to_string().to_lowercase()}) }
}

fn info(info: &Info) -> Json {
    json!({
        "limit": info.limit, "period_s": info.period_s, "count": float(info.count), "remaining": float(info.remaining),
        "reset_after": info.reset_after().as_secs_f64(), "retry_after": info.retry_after().map(|wait| wait.as_secs_f64()),
        "banned": info.banned,
    })
}

pub(crate) fn decision(decision: &Decision) -> Json {
    let evaluations = decision.evaluations().iter().map(|e| {
        json!({"rule": e.rule().name(), "result": e.outcome().as_str(), "exceeded": e.is_exceeded(), "info": info(&e.info())})
    });
    json!({
        "action": decision.verdict().as_str(), "matched": decision.is_matched(), "exceeded": decision.is_exceeded(),
        "skipped": decision.is_skipped(), "warned": decision.is_warned(), "error": decision.is_error(),
        "degraded": decision.is_degraded(), "rule": decision.rule().map(labkit_ratelimit::Rule::name),
        "info": decision.info().as_ref().map(info), "evaluations": evaluations.collect::<Vec<_>>(),
    })
}

/// Headers, the times among them as seconds after the clock's whole second.
pub(crate) fn headers(decision: &Decision, ietf: bool, second: u64) -> Json {
    let format = if ietf { HeaderFormat::IetfDraft11 } else { HeaderFormat::Gitlab };
    let relative = |(name, text): (&'static str, String)| {
        let unix = match name {
            "RateLimit-Reset" => text.parse().ok(),
            "RateLimit-ResetTime" => httpdate::parse_http_date(&text)
                .ok()
                .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
                .map(|since| since.as_secs()),
            _ => None,
        };
        (name.to_owned(), Json::String(unix.map_or(text, |unix: u64| (unix - second).to_string())))
    };
    Json::Object(decision.headers(format).into_iter().map(relative).collect())
}

pub(crate) fn log(event: &LogEvent) -> Json {
    let mut keys = event.identifier_keys.clone();
    keys.sort();
    json!({
        "message": event.message, "error_type": event.error_type, "name": event.name, "rule": event.rule,
        "count_distinct": event.count_distinct, "identifier_keys": keys, "metric": null,
        "class_name": event.class_name, "error_message": event.error_message,
    })
}

pub(crate) fn reply(reply: &Reply) -> Json {
    match reply {
        Reply::Nil => Json::Null,
        Reply::Int(n) => json!(n),
        Reply::Okay => json!("OK"),
        Reply::SimpleString(text) => json!(text),
        Reply::BulkString(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => json!(text),
            Err(_) => json!({"$bytes": hex(bytes)}),
        },
        Reply::Array(items) | Reply::Set(items) => Json::Array(items.iter().map(self::reply).collect()),
        other => json!(format!("{other:?}")),
    }
}

pub(crate) fn metrics(limiter: &labkit_ratelimit::Limiter) -> Json {
    let samples = limiter.metrics().into_iter().map(|sample| (sample.series(), json!(sample.value)));
    Json::Object(samples.collect::<Map<_, _>>())
}

fn hex(bytes: &[u8]) -> String {
    let digit = |n: u8| char::from_digit(u32::from(n), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
