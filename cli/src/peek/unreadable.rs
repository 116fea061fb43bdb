//! Keys that hold something else than their rule's count: which they are, and where the request stands under the other
//! rules.

use super::human;
use super::report::Report;
use crate::mistake::Mistake;
use crate::redis_server;
use crate::stored_limiter::StoredLimiter;
use labkit_ratelimit::LogEvent;
use labkit_ratelimit_store::StoreKeys;

/// Says so, where it is why there is no verdict: each such rule, and the standing without them.
pub(super) fn explain(stored: &StoredLimiter, events: &[LogEvent]) -> Result<Option<Mistake>, Mistake> {
    let mut unreadable = Vec::new();
    let mut found = culprit(events);
    let mut standing = Vec::new();
    while let Some(rule) = found.take().filter(|rule| !unreadable.contains(rule)) {
        unreadable.push(rule);
        let limiter = stored.without(&unreadable)?;
        let decision = limiter.peek(&stored.identity.values());
        let events = stored.logs.take();
        found = culprit(&events);
        if found.is_none() && !decision.is_error() && redis_server::reasons(&events).is_none() {
            standing = human::standing(&Report::new(&decision));
        }
    }
    if unreadable.is_empty() {
        return Ok(None);
    }
    let rules = stored.limiter.rules();
    let values = stored.identity.values();
    let facts = rules.facts(&values).map_err(|failure| Mistake::Misuse(failure.to_string()))?;
    let key = |name: &str| {
        let place = rules.counting().find(|place| rules.rule(*place).name() == name)?;
        StoreKeys::build(&rules, place, &facts).map(|keys| keys.counter)
    };
    let mut below: Vec<String> =
        unreadable.iter().map(|name| format!("`{name}`: WRONGTYPE, {}", key(name).unwrap_or_default())).collect();
    below.push("`clear` with the same request deletes such keys, and all others of the request".to_owned());
    if !standing.is_empty() {
        below.push("under the other rules, as if these were not there:".to_owned());
        below.extend(standing);
    }
    let what = format!("{}: keys hold something else than the counts of their rules", stored.redis.address);
    Ok(Some(Mistake::Explained { what, below }))
}

/// The rule whose key it is.
fn culprit(events: &[LogEvent]) -> Option<String> {
    let is_wrong_type = |event: &&LogEvent| event.error_message.as_ref().is_some_and(|said| said.contains("WRONGTYPE"));
    events.iter().find(is_wrong_type).and_then(|event| event.rule.clone())
}
