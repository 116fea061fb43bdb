//! What a check costs a Redis server, beside the plainest script that counts.

use crate::report::{Beside, Report, Target};
use crate::rounds::{Case, interleave};
use crate::server::Server;
use labkit_ratelimit::{CallOptions, Fault, Limiter, Mode, Planned, Script};
use labkit_ratelimit_bench::{by_user, planned, planned_gcra, users};
use redis::{Connection, RedisResult, cmd};
use std::cell::RefCell;
use std::error::Error;

/// Counts one call: nothing but what a counter needs.
const REFERENCE: &str = "\
local count = redis.call('INCRBYFLOAT', KEYS[1], ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  left = ARGV[2]
end
return {count, left}";

const SECTION: &str = "redis";
const USERS: u32 = 1000;
const CALLS: usize = 3000;

/// A check as a host runs it: plan, its own `EVALSHA`, settle.
fn check(limiter: &Limiter, connection: &mut Connection, key: &str) {
    let identifier = by_user(key);
    let mut planned = limiter.plan(&identifier, CallOptions::default(), Mode::Check);
    loop {
        match planned {
            Planned::Done(decision) => {
                assert!(decision.is_allowed() && !decision.is_error());
                return;
            }
            Planned::Call(pending) => {
                let call = pending.call();
                let reply: RedisResult<Vec<u8>> = cmd("EVALSHA")
                    .arg(call.script.digest())
                    .arg(call.keys.len())
                    .arg(&call.keys)
                    .arg(&call.args)
                    .query(connection);
                planned = limiter.settle(pending, reply.map_err(|error| Fault::new("RedisError", error.to_string())));
            }
        }
    }
}

fn reference(digest: &str, connection: &mut Connection, key: &str) {
    let name = format!("labkit:rl:{{bench:reference:user:{key}}}");
    let reply: RedisResult<(String, i64)> =
        cmd("EVALSHA").arg(digest).arg(1).arg(name).arg("1").arg(3_600_000).query(connection);
    assert!(reply.is_ok(), "{reply:?}");
}

/// µs of the server for each `EVALSHA` since the last reset.
fn evalsha(connection: &mut Connection) -> RedisResult<f64> {
    let info: String = cmd("INFO").arg("commandstats").query(connection)?;
    Ok(usec_of_evalsha(&info))
}

fn usec_of_evalsha(info: &str) -> f64 {
    let line = info.lines().find_map(|line| line.strip_prefix("cmdstat_evalsha:")).unwrap_or_default();
    let field = |name| {
        let value = line.split(',').find_map(|part: &str| part.strip_prefix(name)?.strip_prefix('='));
        value.and_then(|value| value.parse().ok()).unwrap_or(f64::NAN)
    };
    field("usec") / field("calls")
}

/// A round: `call` for users in turn, between two looks at the server's statistics.
fn case<'a>(
    connection: &'a RefCell<Connection>,
    keys: &'a [String],
    call: impl Fn(&mut Connection, &str) + 'a,
) -> Case<'a> {
    Box::new(move || {
        let connection = &mut connection.borrow_mut();
        let reset: RedisResult<()> = cmd("CONFIG").arg("RESETSTAT").query(connection);
        for key in keys.iter().cycle().take(CALLS) {
            call(connection, key);
        }
        reset.and_then(|()| evalsha(connection)).unwrap_or(f64::NAN)
    })
}

pub(crate) fn beside_a_plain_script(rounds: usize, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let server = Server::start()?;
    let mut connection = server.connect()?;
    let load = |connection: &mut Connection, source: &str| -> RedisResult<String> {
        cmd("SCRIPT").arg("LOAD").arg(source).query(connection)
    };
    let digest = load(&mut connection, REFERENCE)?;
    load(&mut connection, Script::chain().source())?;
    let (one, three, ten, gcra) = (planned(1), planned(3), planned(10), planned_gcra());
    let keys = users(USERS);
    let connection = RefCell::new(connection);
    let run = |limiter| case(&connection, &keys, move |connection, key| check(limiter, connection, key));
    let plain = case(&connection, &keys, |connection, key| reference(&digest, connection, key));
    // The round that warms up makes every key.
    let measured = interleave(rounds, [plain, run(&one), run(&three), run(&ten), run(&gcra)]);
    let ratio = |case| measured.ratio(case, 0);
    report.add(SECTION, "plain script, one counter", measured.median(0), "µs", Target::None);
    report.add(SECTION, "check of 1 rule", measured.median(1), "µs", Target::None);
    report.add(SECTION, "check of 3 rules", measured.median(2), "µs", Target::None);
    report.add(SECTION, "check of 10 rules", measured.median(3), "µs", Target::None);
    report.add(SECTION, "check of 1 GCRA rule", measured.median(4), "µs", Target::None);
    report.add(SECTION, "1 rule / plain script", ratio(1), "×", Target::None);
    report.add(SECTION, "3 rules / plain script", ratio(2), "×", Target::AtMost(2.5));
    report.add(SECTION, "3 rules / 3 plain scripts", ratio(2) / 3.0, "×", Target::Below(0.9));
    let times = 3.0 * measured.ratio(0, 2);
    let (what, peer) = ("check of 3 rules, time of the server", "3 plain scripts that count");
    report.beside("Rust", Beside::new("Redis", what, peer, times));
    report.add(SECTION, "10 rules / 10 plain scripts", ratio(3) / 10.0, "×", Target::None);
    report.add(SECTION, "1 GCRA rule / plain script", ratio(4), "×", Target::None);

    for (rules, limiter) in [(1, &one), (3, &three), (10, &ten)] {
        let connection = &mut connection.borrow_mut();
        let commands = server.commands_of_clients(|| check(limiter, connection, &keys[0]))?;
        let calls = commands.iter().filter(|line| line.contains("] \"EVALSHA\" ")).count();
        let others = commands.len() - calls;
        let count = |n: usize| u32::try_from(n).map_or(f64::MAX, f64::from);
        report.add(SECTION, format!("EVALSHA a check of {rules}"), count(calls), "", Target::Exactly(1.0));
        report.add(SECTION, format!("other commands a check of {rules}"), count(others), "", Target::Exactly(0.0));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_read_by_command() {
        let info = "cmdstat_evalsha:calls=4,usec=10,usec_per_call=2.50\r\ncmdstat_get:calls=1,usec=1\r\n";
        assert!((usec_of_evalsha(info) - 2.5).abs() < f64::EPSILON);
        assert!(usec_of_evalsha("").is_nan());
    }
}
