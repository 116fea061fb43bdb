//! Limiters by key alone.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use labkit_ratelimit::{
    FixedWindowLimiter, GcraLimiter, GcraWindow, KeyedError, ManualClock, MemoryStore, Quota, RateLimiter,
};
use std::sync::Arc;
use std::time::Duration;

const PER_SECOND: Quota = Quota { requests: 10, window_seconds: 1 };
const PER_HOUR: Quota = Quota { requests: 100, window_seconds: 3600 };

fn stacked(clock: &Arc<ManualClock>) -> GcraLimiter {
    // Given in any order, asked from the shortest on.
    GcraLimiter::with([PER_HOUR, PER_SECOND], Arc::new(MemoryStore::default()), Arc::clone(clock)).expect("good quotas")
}

#[test]
fn ten_a_second_and_a_hundred_an_hour() {
    let clock = Arc::new(ManualClock::at_unix_seconds(1_700_000_000));
    let limiter = stacked(&clock);
    for round in 0..10 {
        for left in (0..10).rev() {
            let decision = limiter.check("key", 1.0).expect("a good cost");
            assert!(decision.allowed);
            if round < 9 {
                assert_eq!((decision.limit, decision.remaining), (10, f64::from(left)));
            }
        }
        if round < 9 {
            let refused = limiter.check("key", 1.0).expect("a good cost");
            assert_eq!(
                (refused.allowed, refused.limit, refused.retry_after),
                (false, 10, Some(Duration::from_millis(100)))
            );
        }
        clock.advance(Duration::from_secs(1));
    }
    // The hour is spent but for what ten seconds brought back: less than one.
    let refused = limiter.check("key", 1.0).expect("a good cost");
    assert_eq!((refused.allowed, refused.limit), (false, 100));
    let wait = refused.retry_after.expect("a wait helps");
    assert_eq!(wait, Duration::from_secs(26));
    clock.advance(wait);
    assert!(limiter.check("key", 1.0).expect("a good cost").allowed, "the wait was enough");
    assert!(limiter.check("another key", 1.0).expect("a good cost").allowed);
}

#[test]
fn a_quota_is_a_window_whose_burst_is_its_requests() {
    assert_eq!(GcraWindow::from(PER_SECOND), GcraWindow { quota: PER_SECOND, burst: 10 });
    let clock = Arc::new(ManualClock::at_unix_seconds(1_700_000_000));
    let limiter = GcraLimiter::with([PER_SECOND], Arc::default(), clock).expect("a good quota");
    assert!(limiter.check("key", 10.0).expect("a good cost").allowed);
    let never = limiter.check("key", 11.0).expect("a good cost");
    assert_eq!((never.allowed, never.retry_after), (false, None), "no wait helps");
}

#[test]
fn a_fixed_window_counts_refused_calls_and_ends() {
    let clock = Arc::new(ManualClock::at_unix_seconds(1_700_000_000));
    let limiter =
        FixedWindowLimiter::with(Quota { requests: 2, window_seconds: 60 }, Arc::default(), Arc::clone(&clock))
            .expect("a good quota");
    let check = |cost| limiter.check("key", cost).expect("a good cost");
    assert_eq!(check(1.0).remaining, 1.0);
    clock.advance(Duration::from_secs(25));
    assert!(check(1.0).allowed);
    let refused = check(1.0);
    assert_eq!(
        (refused.allowed, refused.retry_after, refused.reset_after),
        (false, Some(Duration::from_secs(35)), Duration::from_secs(35))
    );
    assert_eq!(check(3.0).retry_after, None, "no wait helps");
    clock.advance(Duration::from_secs(35));
    assert!(check(1.0).allowed);
}

#[test]
fn errors_are_the_caller_s_to_judge() {
    let limiter = GcraLimiter::new([PER_SECOND]).expect("a good quota");
    for cost in [-5.0, f64::NAN, f64::INFINITY] {
        let error = limiter.check("key", cost).expect_err("a bad cost");
        assert!(matches!(error, KeyedError::Cost(_)) && error.to_string().starts_with("cost must be"), "{error}");
    }
    assert_eq!(limiter.check("key", 0.0).expect("a good cost").remaining, 10.0, "nothing was taken");
}

#[test]
fn quotas_out_of_range_are_refused() {
    for (requests, window_seconds) in [(0, 1), (1, 0), (1, 31_622_401)] {
        assert!(FixedWindowLimiter::new(Quota { requests, window_seconds }).is_err());
        assert!(GcraLimiter::new([Quota { requests, window_seconds }]).is_err());
    }
    assert!(GcraLimiter::new([GcraWindow { quota: PER_HOUR, burst: 0 }]).is_err());
    assert!(GcraLimiter::new([GcraWindow { quota: PER_HOUR, burst: u64::MAX }]).is_err());
    assert!(GcraLimiter::new::<Quota>([]).is_err());
    assert!(GcraLimiter::new([PER_SECOND; 17]).is_err());
}

#[test]
fn many_threads_take_no_more_than_there_is() {
    let limiter = GcraLimiter::new([
        Quota { requests: 500, window_seconds: 3600 },
        Quota { requests: 700, window_seconds: 7200 },
    ])
    .expect("good quotas");
    let passed: usize = std::thread::scope(|scope| {
        let work = || (0..300).filter(|_| limiter.check("key", 1.0).is_ok_and(|decision| decision.allowed)).count();
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("no panic")).sum()
    });
    assert_eq!(passed, 500);
}
