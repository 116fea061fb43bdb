//! The engine's arithmetic in memory and the Lua script on a real Redis, through the same random timelines.
//!
//! Time passes by ageing Redis' state; the memory store is told Redis' own clock, read by the script itself
//! for GCRA, which must then agree to the last 1/limit µs. Windows are compared in count and verdict exactly,
//! in time to what the clock reads around the call.
//!
//! `LABKIT_PROPERTY_STEPS` (100,000) calls are compared, `LABKIT_PROPERTY_SEED` (of the day) starts them.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod server;

use labkit_ratelimit_engine::gcra::Rate;
use labkit_ratelimit_engine::{Action, Cost, CountStep, Counter, Counting, Mode, Reading, Stop, Value};
use labkit_ratelimit_store::redis::{ChainStep, StepReply, Topology, chain_calls, read_chain};
use labkit_ratelimit_store::{Member, MemoryStore, StoreKeys};
use server::Server;
use std::collections::BTreeMap;

const CALLS_A_TIMELINE: usize = 40;
/// How far a window's end in Redis (whole ms, and set a little later) may be from ours, in µs.
const TOLERANCE_US: u64 = 30_000;
const AGE: &str = include_str!("../../../spec-tests/age.lua");

/// Which way time goes, beside its own pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    /// Whole seconds pass.
    Forward,
    /// The clock is set back by whole seconds. What expired stays expired in Redis, so nothing may expire:
    /// every emission interval is 10 s or more, and a call costs nothing or 1 and more.
    Back,
}

/// A rule whose numbers change now and then, as callables' do.
struct Rule {
    gcra: bool,
    distinct: bool,
    bans: bool,
    unit: f64,
    step: CountStep,
}

fn pick<T: Copy>(random: &mut fastrand::Rng, from: &[T]) -> T {
    from[random.usize(..from.len())]
}

impl Rule {
    fn new(random: &mut fastrand::Rng, place: u32, flow: Flow) -> Self {
        let kind = random.u8(..10);
        let mut rule = Self {
            gcra: kind >= 6,
            distinct: kind < 2,
            bans: kind >= 2 && random.u8(..3) == 0,
            // Most counts are small; some come near 2^53 millionths.
            unit: pick(random, &[1.0, 1.0, 1.0, 0.000_001, 200_000_000.0]),
            step: CountStep {
                rule: place,
                action: Action::Limit,
                limit: 1,
                period_s: 1,
                ban_for_s: None,
                counting: Counting::Window,
                stop: pick(random, &[Stop::Never, Stop::WhenOver, Stop::WhenOver, Stop::WhenPassed]),
            },
        };
        rule.renumber(random, flow);
        rule
    }

    fn renumber(&mut self, random: &mut fastrand::Rng, flow: Flow) {
        let step = &mut self.step;
        step.period_s = match flow {
            Flow::Forward => pick(random, &[1, 2, 3, 7, 10, 60, 3600, 86_400, 31_622_400]),
            Flow::Back => pick(random, &[60, 3600, 86_400]),
        };
        step.limit = match random.u8(..12) {
            _ if flow == Flow::Back => random.u64(1..=6),
            0 => 0,
            1 => random.u64(1..=(1 << 53) / u64::from(step.period_s)),
            2 => pick(random, &[3, 7, 997, 1_000_003, 6000]),
            _ => random.u64(1..=12),
        };
        step.ban_for_s = self.bans.then(|| pick(random, &[1, 2, 5, 30, u32::MAX]));
        step.counting = match (self.gcra, self.distinct) {
            (true, _) => {
                let limit = step.limit;
                let burst = pick(random, &[1, 2, 5, limit.max(1), limit.saturating_mul(3).max(1)]);
                let rate = |burst| Rate::new(limit, u64::from(step.period_s), burst);
                Counting::Gcra(rate(burst).or_else(|_| rate(1)).expect("a burst of 1 fits"))
            }
            (false, true) => Counting::Distinct { slot: 0 },
            (false, false) => Counting::Window,
        };
    }

    fn cost(&self, random: &mut fastrand::Rng, flow: Flow) -> Cost {
        let cost = match random.u8(..8) {
            _ if flow == Flow::Back => pick(random, &[0.0, 1.0, 1.0, 2.5]),
            0 => 0.0,
            1 | 2 => random.f64() * 3.0 * self.unit,
            3 => 0.1,
            4 => self.unit,
            5 => {
                f64::from(u32::try_from(self.step.limit.min(1_000_000_000)).expect("at most 10^9")) * random.f64() * 1.2
            }
            _ => 1.0,
        };
        // Forty of them stay below 2^53 millionths.
        Cost::new(cost.min(220_000_000.0)).expect("a good cost")
    }
}

struct Timeline<'a> {
    server: &'a mut Server,
    memory: MemoryStore,
    aged_us: i64,
    history: Vec<String>,
}

/// One comparable form of a reading: times relative to its clock.
#[derive(Debug, PartialEq)]
struct Compared {
    exact: String,
    windows_us: Vec<u64>,
}

fn compared(reading: &Reading) -> Compared {
    let mut windows_us = Vec::new();
    let exact = match &reading.counter {
        Counter::Window { count, left_us, over } => {
            windows_us.extend(left_us);
            format!("count {count:?} over {over} missing {}", left_us.is_none())
        }
        Counter::Gcra(cell) => {
            let (tat, now) = (cell.tat.micros - cell.clock_us, cell.now_us - cell.clock_us);
            format!("tat {tat} + {} now {now} refused {}", cell.tat.rest, cell.refused)
        }
    };
    let exact = format!("{exact} banned {}", reading.ban_left_us.is_some());
    windows_us.extend(reading.ban_left_us);
    Compared { exact, windows_us }
}

impl Timeline<'_> {
    /// One call on both stores; gives whether it could be compared (the machine was not asleep in between).
    fn call(&mut self, rules: &[&Rule], keys: &[StoreKeys], member: &Member, cost: Cost, mode: Mode) -> bool {
        let members: Vec<_> = rules.iter().map(|rule| rule.distinct.then_some(member)).collect();
        let chain: Vec<_> = rules
            .iter()
            .zip(keys.iter().cloned())
            .zip(&members)
            .map(|((rule, keys), member)| ChainStep { step: &rule.step, keys, member: *member })
            .collect();
        let calls = chain_calls(chain, cost, mode, Topology::Single);
        let [call] = calls.as_slice() else { panic!("one call on a single Redis, not {}", calls.len()) };
        let (before_us, reply, after_us) = self.server.run(call);
        // Of a call that the machine held up nobody knows when it ran.
        if after_us - before_us >= TOLERANCE_US / 3 {
            return false;
        }
        let steps: Vec<&CountStep> = rules.iter().map(|rule| &rule.step).collect();
        let replies = read_chain(&reply, steps.iter().copied()).expect("a reply of the script");
        let read: Vec<Reading> = replies
            .iter()
            .map(|reply| match reply {
                StepReply::Ran(reading) => *reading,
                StepReply::Failed(fault) => panic!("{fault:?}\n{}", self.history.join("\n")),
            })
            .collect();
        let clock_us = read
            .iter()
            .find_map(|reading| if let Counter::Gcra(cell) = &reading.counter { Some(cell.clock_us) } else { None });
        let now_us = clock_us.unwrap_or(before_us).checked_add_signed(self.aged_us).expect("a time after 1970");
        self.history.push(format!(
            "{mode:?} cost {} of {steps:?} at {now_us} -> {}",
            cost.text(),
            String::from_utf8_lossy(&reply)
        ));
        let mut own = Vec::new();
        for ((rule, keys), member) in rules.iter().zip(keys).zip(&members) {
            let key = self.memory.key_of(keys.counter.as_bytes());
            let reading = self.memory.run(key, &rule.step, *member, cost, mode, now_us);
            own.push(reading);
            if rule.step.stop.at(reading.is_over()) {
                break;
            }
        }
        let (theirs, ours): (Vec<_>, Vec<_>) =
            (read.iter().map(compared).collect(), own.iter().map(compared).collect());
        let exact = |side: &[Compared]| side.iter().map(|c| c.exact.clone()).collect::<Vec<_>>();
        assert_eq!(exact(&theirs), exact(&ours), "Redis and memory differ after\n{}", self.history.join("\n"));
        for (a, b) in theirs.iter().zip(&ours).flat_map(|(a, b)| a.windows_us.iter().zip(&b.windows_us)) {
            assert!(a.abs_diff(*b) <= TOLERANCE_US, "{a} and {b} µs left after\n{}", self.history.join("\n"));
        }
        true
    }

    /// Lets whole seconds pass, or sets the clock back by them.
    fn age(&mut self, seconds: i64, keys: &[StoreKeys]) {
        self.history.push(format!("{seconds} s pass"));
        let us = seconds * 1_000_000;
        self.aged_us += us;
        for key in keys.iter().flat_map(|keys| [keys.counter.clone(), keys.ban()]) {
            self.server.eval(AGE, &key, us);
        }
    }
}

fn timeline(server: &mut Server, seed: u64) -> usize {
    let mut random = fastrand::Rng::with_seed(seed);
    server.flush();
    let flow = if random.u8(..5) == 0 { Flow::Back } else { Flow::Forward };
    let mut rules: Vec<Rule> = (0..random.u32(1..=4)).map(|place| Rule::new(&mut random, place, flow)).collect();
    let identities = random.usize(1..=3);
    let keys = |identity: usize, rules: &[Rule]| -> Vec<StoreKeys> {
        let one = |(place, rule): (usize, &Rule)| {
            let base = format!("labkit:rl:{{p:r{place}:u:{identity}}}");
            StoreKeys { counter: if rule.gcra { base + ":gcra" } else { base } }
        };
        rules.iter().enumerate().map(one).collect()
    };
    let all: Vec<StoreKeys> = (0..identities).flat_map(|identity| keys(identity, &rules)).collect();
    let mut time = Timeline {
        server,
        memory: MemoryStore::with_max_keys(10_000),
        aged_us: 0,
        history: vec![format!("seed {seed}")],
    };
    for done in 0..CALLS_A_TIMELINE {
        match random.u8(..10) {
            0 | 1 if flow == Flow::Back => time.age(pick(&mut random, &[-1, -3, -100]), &all),
            0 | 1 => time.age(pick(&mut random, &[1, 1, 2, 3, 5, 7, 30, 60, 3600, 100_000]), &all),
            2 => {
                let at = random.usize(..rules.len());
                rules[at].renumber(&mut random, flow);
            }
            _ => {}
        }
        let identity = random.usize(..identities);
        let cost = rules[0].cost(&mut random, flow);
        let mode = if random.u8(..4) == 0 { Mode::Peek } else { Mode::Check };
        let word = format!("v{}", random.u8(..6));
        let member = Member::of(&Value::Text(&word)).expect("a member");
        let chain: Vec<&Rule> = rules.iter().collect();
        if !time.call(&chain, &keys(identity, &rules), &member, cost, mode) {
            return done;
        }
    }
    CALLS_A_TIMELINE
}

/// Sums are exact up to 2^53 millionths, where Redis' own are not: above 2^32 units, over many additions.
#[test]
fn large_sums_are_exact() {
    let mut server = Server::start();
    let memory = MemoryStore::with_max_keys(10);
    let keys = StoreKeys { counter: "labkit:rl:{p:r}".into() };
    let mut rule = Rule::new(&mut fastrand::Rng::with_seed(0), 0, Flow::Forward);
    rule.step =
        CountStep { limit: 8_000_000_000, period_s: 3600, ban_for_s: None, counting: Counting::Window, ..rule.step };
    let costs = [4_294_967_295.9, 2_000_000_000.123_457]
        .into_iter()
        .chain((0..4000).map(|n| f64::from(n % 7) / 10.0 + 0.000_001));
    let mut exact = 0;
    for cost in costs {
        let cost = Cost::new(cost).expect("a good cost");
        exact += cost.millionths().whole();
        let chain = [ChainStep { step: &rule.step, keys: keys.clone(), member: None }];
        let calls = chain_calls(chain, cost, Mode::Check, Topology::Single);
        let (now_us, reply, _) = server.run(&calls[0]);
        let ran = read_chain(&reply, [&rule.step]).expect("a reply of the script");
        let own = memory.run(memory.key_of(b"k"), &rule.step, None, cost, Mode::Check, now_us);
        let StepReply::Ran(theirs) = &ran[0] else { panic!("{ran:?}") };
        for reading in [theirs, &own] {
            let Counter::Window { count, .. } = reading.counter else { panic!("{reading:?}") };
            assert_eq!(count.whole(), exact, "{}", String::from_utf8_lossy(&reply));
        }
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a whole number"))
}

#[test]
fn redis_and_memory_agree_on_random_timelines() {
    let steps = usize::try_from(setting("LABKIT_PROPERTY_STEPS", 100_000)).expect("a number of steps");
    let day =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs() / 86_400;
    let first = setting("LABKIT_PROPERTY_SEED", day * 1_000_000);
    let mut server = Server::start();
    let (mut compared, mut seed, mut kinds) = (0, first, BTreeMap::<&str, usize>::new());
    while compared < steps {
        let done = timeline(&mut server, seed);
        *kinds.entry(if done == CALLS_A_TIMELINE { "whole" } else { "cut short by a slow machine" }).or_default() += 1;
        compared += done;
        seed += 1;
    }
    println!("{compared} calls compared in timelines {first}..{seed}, {kinds:?}, 0 differences");
    let whole = kinds.get("whole").copied().unwrap_or_default();
    assert!(
        whole * 2 > usize::try_from(seed - first).expect("few timelines"),
        "most timelines must come to their end: {kinds:?}"
    );
}
