//! No panic leaves the library: a check that panics is decided all the same, anything else says so by its status.
#![cfg(feature = "panic-probe")]

use labkit_ratelimit_c::{
    Answer, Evaluation, NONE, Status, labkit_ratelimit_decide, labkit_ratelimit_limiter_free,
    labkit_ratelimit_limiter_metrics, labkit_ratelimit_limiter_new, labkit_ratelimit_panic_at_next_call,
    labkit_ratelimit_text_take,
};
use std::ptr;

fn taken(text: u64) -> String {
    let (mut buffer, mut len) = (vec![0; 4096], 0);
    // SAFETY: both are there, and as long as is said.
    let status = unsafe { labkit_ratelimit_text_take(text, buffer.as_mut_ptr(), buffer.len(), &raw mut len) };
    assert_eq!(status, Status::Done);
    String::from_utf8_lossy(&buffer[..len]).into_owned()
}

#[test]
fn none_leaves() {
    let config = br#"{"name": "l", "on_error": "block", "store": {"memory": {"max_keys": 10}},
        "rules": [{"name": "r", "limit": 5, "period_s": 60}]}"#;
    let (mut limiter, mut text) = (0, 0);
    // SAFETY: all of it is there, and as long as is said.
    let new = |limiter: &mut u64, text: &mut u64| unsafe {
        labkit_ratelimit_limiter_new(config.as_ptr(), config.len(), limiter, text)
    };
    labkit_ratelimit_panic_at_next_call();
    assert_eq!((new(&mut limiter, &mut text), limiter, text), (Status::Panic, 0, 0));
    assert_eq!(new(&mut limiter, &mut text), Status::Done);
    drop(taken(text));

    // SAFETY: integers and floats may be all zeroes.
    let (mut answer, mut evaluation): (Answer, Evaluation) = unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    // SAFETY: what is not there has no length.
    let mut check = |answer: &mut Answer| unsafe {
        labkit_ratelimit_decide(
            limiter,
            0,
            0,
            1.0,
            ptr::null(),
            0,
            ptr::null(),
            0,
            answer,
            &raw mut evaluation,
            1,
            ptr::null_mut(),
            0,
        )
    };
    labkit_ratelimit_panic_at_next_call();
    assert_eq!(check(&mut answer), Status::Done);
    assert_eq!((answer.verdict, answer.failure, answer.rule), (1, 9, NONE), "on_error decides");
    assert!(taken(answer.text).contains("asked for"), "and the log says what was said");
    assert_eq!((check(&mut answer), answer.verdict, answer.evaluations), (Status::Done, 0, 1), "the next one is well");

    labkit_ratelimit_panic_at_next_call();
    // SAFETY: the place is there.
    assert_eq!(unsafe { labkit_ratelimit_limiter_metrics(limiter, &raw mut text) }, Status::Panic);
    assert_eq!(labkit_ratelimit_limiter_free(limiter), Status::Done);
}
