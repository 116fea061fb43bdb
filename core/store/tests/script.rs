//! The chain script itself, under a clock that stands still: what scenarios on a real Redis cannot come near enough to.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod server;

use labkit_ratelimit_engine::gcra::Rate;
use labkit_ratelimit_engine::{Action, Cost, CountStep, Counter, Counting, Mode, Stop};
use labkit_ratelimit_store::StoreKeys;
use labkit_ratelimit_store::redis::{Call, ChainStep, StepReply, Topology, chain_calls, read_chain};
use server::Server;

struct Frozen {
    server: Server,
    start_us: u64,
    step: CountStep,
    keys: StoreKeys,
}

impl Frozen {
    /// GCRA of `limit` per `period_s`, on a clock that stands a little ahead of the server's own.
    fn gcra(limit: u64, period_s: u32, burst: u64) -> Self {
        let mut server = Server::start();
        let start_us = (server.now_us() / 1_000_000 + 3600) * 1_000_000;
        let rate = Rate::new(limit, u64::from(period_s), burst).expect("in range");
        let counting = Counting::Gcra(rate);
        let step = CountStep {
            rule: 0,
            action: Action::Limit,
            limit,
            period_s,
            ban_for_s: None,
            counting,
            stop: Stop::WhenOver,
        };
        let keys = StoreKeys { counter: "labkit:rl:{t:r}:gcra".into() };
        Self { server, start_us, step, keys }
    }

    /// A call of `cost` at `offset` µs; gives whether it passed, what is left, and the wait in µs.
    fn call(&mut self, offset: u64, cost: f64) -> (bool, f64, u64) {
        let cost = Cost::new(cost).expect("a good cost");
        let chain = [ChainStep { step: &self.step, keys: self.keys.clone(), member: None }];
        let call = chain_calls(chain, cost, Mode::Check, Topology::Single).remove(0);
        let reply = self.server.eval_at(&call, self.start_us + offset);
        let Counting::Gcra(rate) = self.step.counting else { unreachable!() };
        match read_chain(&reply, [&self.step]).expect("a reply of the script").remove(0) {
            StepReply::Ran(reading) => match reading.counter {
                Counter::Gcra(cell) => {
                    (!cell.refused, cell.remaining(&rate.bucket), cell.wait_us(&rate, rate.span(cost)))
                }
                Counter::Window { .. } => panic!("{reading:?}"),
            },
            StepReply::Failed(fault) => panic!("{fault:?}"),
        }
    }
}

#[test]
fn case_2_a_rounded_wait_is_enough() {
    let mut limiter = Frozen::gcra(5, 1, 5);
    for left in (0..5).rev() {
        assert_eq!(limiter.call(0, 1.0).1, f64::from(left));
    }
    assert_eq!(limiter.call(0, 1.0), (false, 0.0, 200_000));
    assert!(!limiter.call(199_999, 1.0).0);
    assert_eq!(limiter.call(200_000, 1.0), (true, 0.0, 200_000));
}

#[test]
fn case_9_fast_rates_are_exact() {
    let mut fast = Frozen::gcra(6000, 1, 6000);
    for k in 0..6000 {
        assert!(fast.call(0, 1.0).0, "{k}");
    }
    assert_eq!(fast.call(0, 1.0), (false, 0.0, 167));
    let mut paced = Frozen::gcra(2000, 1, 1);
    assert!((0..2000).all(|k| paced.call(k * 500, 1.0).0));
}

#[test]
fn remainders_decide_to_the_last_third_of_a_microsecond() {
    // T is 333333 1/3 µs: three calls fill a bucket of one second to the brim, and no sooner.
    let mut limiter = Frozen::gcra(3, 1, 3);
    assert!((0..3).all(|_| limiter.call(0, 1.0).0));
    assert!(!limiter.call(0, 0.000_001).0, "1/3 µs too much");
    assert!(!limiter.call(333_333, 1.0).0, "1/3 µs too soon");
    assert!(limiter.call(333_334, 1.0).0);
}

#[test]
fn a_cell_is_there_until_its_tat_and_no_longer_than_the_millisecond_behind_it() {
    for (limit, offset) in [(3, 1), (3, 999), (7, 500), (1000, 0), (1, 250)] {
        let mut limiter = Frozen::gcra(limit, 1, limit);
        assert!(limiter.call(offset, 1.0).0);
        let tat_us = limiter.start_us + offset + 1_000_000_u64.div_ceil(limit);
        let expires_ms: u64 = limiter.server.query(&["PEXPIRETIME", &limiter.keys.counter]);
        assert!(
            expires_ms * 1000 >= tat_us && expires_ms * 1000 < tat_us + 1000,
            "{limit}: {expires_ms} ms, TAT {tat_us}"
        );
    }
}

#[test]
fn a_tat_within_a_microsecond_still_holds() {
    let mut limiter = Frozen::gcra(3, 1, 1);
    assert!(limiter.call(0, 1.0).0);
    // The TAT is 333333 1/3: at 333333 it has not come.
    assert!(!limiter.call(333_333, 1.0).0);
    assert!(limiter.call(333_334, 1.0).0);
}

#[test]
fn values_that_nobody_of_us_wrote_are_of_the_wrong_type() {
    let mut limiter = Frozen::gcra(3, 1, 3);
    let chain = [ChainStep { step: &limiter.step, keys: limiter.keys.clone(), member: None }];
    let call: Call = chain_calls(chain, Cost::ONE, Mode::Check, Topology::Single).remove(0);
    for value in ["1", "x", "1:2:3", "99999999999999999999:0:5:1", "1:99999999999999999999:3:1", "-1:0:3:1"] {
        let _: String = limiter.server.query(&["SET", &limiter.keys.counter, value]);
        let reply = limiter.server.eval_at(&call, limiter.start_us);
        match read_chain(&reply, [&limiter.step]).expect("a reply of the script").remove(0) {
            StepReply::Failed(fault) => assert!(fault.message.starts_with("WRONGTYPE"), "{value}: {fault:?}"),
            StepReply::Ran(reading) => panic!("{value}: {reading:?}"),
        }
    }
}
