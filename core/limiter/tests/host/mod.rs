//! A host that runs no call: the tests hand over what a server might have said.
#![allow(dead_code, reason = "each test file is a program of its own")]

use labkit_ratelimit::{
    CallOptions, Decision, Limiter, LogRecorder, ManualClock, Mode, OnError, Pending, Planned, RedisOptions, RuleSpec,
    Store, Topology, Value,
};
use std::sync::Arc;

pub(crate) const USER: [(&str, Value<'static>); 1] = [("user", Value::Text("u1"))];

pub(crate) fn rules() -> [RuleSpec; 3] {
    [
        RuleSpec::limit("per_user", 2, 60).characteristics(["user"]),
        RuleSpec::limit("banning", 5, 60).characteristics(["user"]).ban_for_s(600),
        RuleSpec::gcra("paced", 1, 10).characteristics(["user"]),
    ]
}

pub(crate) fn planned(topology: Topology, on_error: OnError, log: &Arc<LogRecorder>) -> Limiter {
    Limiter::builder("lim")
        .rules(rules())
        .store(Store::Planned(RedisOptions { topology, ..RedisOptions::default() }))
        .on_error(on_error)
        .logger(Arc::clone(log))
        .clock(ManualClock::at_unix_seconds(1_700_000_000))
        .build()
        .expect("good rules")
}

pub(crate) fn limiter(topology: Topology) -> Limiter {
    planned(topology, OnError::Allow, &Arc::default())
}

pub(crate) fn call(planned: Planned) -> Pending {
    match planned {
        Planned::Call(pending) => pending,
        Planned::Done(decision) => panic!("decided without a call: {decision:?}"),
    }
}

pub(crate) fn done(planned: Planned) -> Decision {
    match planned {
        Planned::Done(decision) => decision,
        Planned::Call(pending) => panic!("another call: {:?}", pending.call()),
    }
}

pub(crate) fn begin(limiter: &Limiter) -> Pending {
    call(limiter.plan(&USER, CallOptions::default(), Mode::Check))
}
