//! The memory store's bounds: what is removed to make room, and what many threads see.

use labkit_ratelimit_engine::gcra::Rate;
use labkit_ratelimit_engine::{Action, Cost, CountStep, Counter, Counting, Mode, Reading, Stop, Value};
use labkit_ratelimit_store::{Evictions, Member, MemoryStore};

const T0: u64 = 1_700_000_000_000_000;
const SECOND: u64 = 1_000_000;

fn window(limit: u64, period_s: u32) -> CountStep {
    CountStep {
        rule: 0,
        action: Action::Limit,
        limit,
        period_s,
        ban_for_s: None,
        counting: Counting::Window,
        stop: Stop::WhenOver,
    }
}

fn banning(limit: u64, period_s: u32, ban_for_s: u32) -> CountStep {
    CountStep { ban_for_s: Some(ban_for_s), ..window(limit, period_s) }
}

fn charge(store: &MemoryStore, key: &str, step: &CountStep, now_us: u64) -> Reading {
    store.run(store.key_of(key.as_bytes()), step, None, Cost::ONE, Mode::Check, now_us)
}

fn count(reading: &Reading) -> f64 {
    let Counter::Window { count, .. } = reading.counter else { panic!("{reading:?}") };
    count.units()
}

fn peek(store: &MemoryStore, key: &str, step: &CountStep, now_us: u64) -> Reading {
    store.run(store.key_of(key.as_bytes()), step, None, Cost::ONE, Mode::Peek, now_us)
}

#[test]
fn never_more_than_the_maximum() {
    for max in [1, 3, 100, 10_000] {
        let store = MemoryStore::with_max_keys(max);
        for n in 0..max * 3 {
            charge(&store, &format!("key{n}"), &window(9, 3600), T0);
            assert!(store.len() <= max, "{} of {max}", store.len());
        }
        assert!(store.max_keys() <= max && store.max_keys() * 100 >= max * 99, "{} of {max}", store.max_keys());
        assert!(store.evictions().idle >= u64::try_from(max).expect("small"));
    }
}

#[test]
fn what_is_over_goes_before_what_lives() {
    let store = MemoryStore::with_max_keys(8);
    for n in 0..4 {
        charge(&store, &format!("short{n}"), &window(9, 1), T0);
        charge(&store, &format!("long{n}"), &window(9, 3600), T0);
    }
    for n in 0..4 {
        charge(&store, &format!("new{n}"), &window(9, 3600), T0 + 2 * SECOND);
    }
    assert_eq!(store.evictions(), Evictions { expired: 4, ..Evictions::default() });
    for n in 0..4 {
        assert_eq!(count(&peek(&store, &format!("long{n}"), &window(9, 3600), T0 + 2 * SECOND)), 1.0);
    }
}

#[test]
fn a_full_bucket_is_as_good_as_none() {
    let store = MemoryStore::with_max_keys(2);
    let rate = Rate::new(10, 10, 10).expect("in range");
    let gcra = CountStep { counting: Counting::Gcra(rate), ..window(10, 10) };
    charge(&store, "bucket", &gcra, T0);
    charge(&store, "window", &window(9, 3600), T0);
    charge(&store, "new", &window(9, 3600), T0 + SECOND);
    assert_eq!(store.evictions(), Evictions { expired: 1, ..Evictions::default() });
}

#[test]
fn the_longest_untouched_goes_next() {
    let store = MemoryStore::with_max_keys(4);
    for n in 0..4 {
        charge(&store, &format!("key{n}"), &window(9, 3600), T0 + n * SECOND);
    }
    // A peek is a touch.
    peek(&store, "key0", &window(9, 3600), T0 + 5 * SECOND);
    charge(&store, "new", &window(9, 3600), T0 + 6 * SECOND);
    assert_eq!(store.evictions(), Evictions { idle: 1, ..Evictions::default() });
    let now = T0 + 7 * SECOND;
    assert_eq!(count(&peek(&store, "key0", &window(9, 3600), now)), 1.0);
    assert_eq!(count(&peek(&store, "key1", &window(9, 3600), now)), 0.0);
}

#[test]
fn who_is_over_or_banned_goes_last_and_the_soonest_to_end_first() {
    let store = MemoryStore::with_max_keys(4);
    // Two keys over their limit, a window and its ban.
    for key in ["over_long", "over_short"] {
        let step = window(1, if key == "over_long" { 3600 } else { 60 });
        charge(&store, key, &step, T0);
        charge(&store, key, &step, T0);
    }
    charge(&store, "banned", &banning(1, 600, 7200), T0);
    charge(&store, "banned", &banning(1, 600, 7200), T0);
    assert_eq!(store.len(), 4);
    charge(&store, "new", &window(9, 3600), T0 + SECOND);
    assert_eq!(store.evictions(), Evictions { exceeded: 1, ..Evictions::default() });
    assert_eq!(count(&peek(&store, "over_short", &window(1, 60), T0 + SECOND)), 0.0);
    // Now the new one is idle, and goes before them.
    charge(&store, "newer", &window(9, 3600), T0 + 2 * SECOND);
    assert_eq!(store.evictions(), Evictions { idle: 1, exceeded: 1, ..Evictions::default() });
    assert!(peek(&store, "banned", &banning(1, 600, 7200), T0 + 3 * SECOND).ban_left_us.is_some());
    assert_eq!(count(&peek(&store, "over_long", &window(1, 3600), T0 + 3 * SECOND)), 2.0);
}

#[test]
fn distinct_values_count_towards_the_maximum() {
    let store = MemoryStore::with_max_keys(10);
    let distinct = CountStep { counting: Counting::Distinct { slot: 0 }, ..window(100, 3600) };
    let add = |n: u64| {
        let value = format!("value{n}");
        let member = Member::of(&Value::Text(&value));
        store.run(store.key_of(b"set"), &distinct, member.as_ref(), Cost::ONE, Mode::Check, T0)
    };
    charge(&store, "other", &window(9, 3600), T0);
    for n in 0..8 {
        assert_eq!(count(&add(n)), f64::from(u32::try_from(n + 1).expect("small")));
    }
    assert_eq!(store.len(), 10);
    assert_eq!(count(&add(8)), 9.0, "the other key makes room");
    assert_eq!(store.evictions().idle, 1);
    assert_eq!(count(&add(9)), 9.0, "the set alone fills the store: its count stands still");
    assert_eq!(count(&add(3)), 9.0, "a known value needs no room");
    assert_eq!(store.evictions().members, 1);
    assert_eq!(store.len(), 10);
    assert_eq!(store.clear(store.key_of(b"set"), labkit_ratelimit_engine::Algorithm::FixedWindow, T0), 1);
    assert!(store.is_empty());
}

#[test]
fn one_million_strangers_leave_memory_flat_and_the_refused_refused() {
    let store = MemoryStore::with_max_keys(10_000);
    let strict = window(1, 86_400);
    for n in 0..100 {
        charge(&store, &format!("over{n}"), &strict, T0);
        charge(&store, &format!("over{n}"), &strict, T0);
    }
    for n in 0..1_000_000_u64 {
        charge(&store, &format!("stranger{n}"), &window(9, 3600), T0 + n);
    }
    assert!(store.len() <= 10_000);
    let evictions = store.evictions();
    assert_eq!(evictions.exceeded, 0, "{evictions:?}");
    assert!(evictions.idle > 980_000, "{evictions:?}");
    assert!((0..100).all(|n| peek(&store, &format!("over{n}"), &strict, T0 + 2 * SECOND).is_over()));
}

#[test]
fn many_threads_on_one_key_let_exactly_the_limit_through() {
    let store = MemoryStore::default();
    let rate = Rate::new(1000, 3600, 1000).expect("in range");
    for step in [window(1000, 3600), CountStep { counting: Counting::Gcra(rate), ..window(1000, 3600) }] {
        let passed: usize = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| (0..500).filter(|_| !charge(&store, "one", &step, T0).is_over()).count()))
                .collect();
            workers.into_iter().map(|worker| worker.join().expect("no panic")).sum()
        });
        assert_eq!(passed, 1000);
    }
}

#[test]
fn keys_of_two_stores_are_no_secret_of_either() {
    // The seed is the store's own: what fills a shard of one says nothing of another.
    let (a, b) = (MemoryStore::default(), MemoryStore::default());
    assert_ne!(a.key_of(b"key"), b.key_of(b"key"));
}

#[test]
fn stacked_rates_take_from_all_or_from_none() {
    let store = MemoryStore::default();
    let rates = [Rate::new(2, 1, 2).expect("in range"), Rate::new(3, 3600, 3).expect("in range")];
    let key = store.key_of(b"stack");
    let take = |now| store.take_all(key, &rates, Cost::ONE, now).expect("two rates");
    assert!(!take(T0).reading.refused && !take(T0).reading.refused);
    let second = take(T0);
    assert!(second.reading.refused && second.level == 0, "the shortest is asked first");
    assert!(!take(T0 + SECOND).reading.refused);
    let hour = take(T0 + 2 * SECOND);
    assert!(hour.reading.refused && hour.level == 1);
    // The refused call took nothing of the first.
    assert_eq!(
        store
            .take_all(key, &rates[..1], Cost::ONE, T0 + 2 * SECOND)
            .expect("a rate")
            .reading
            .remaining(&rates[0].bucket),
        1.0
    );
}
