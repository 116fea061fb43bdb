//! Interleaved rounds: every case once a round, in turning order, so that a noisy neighbour meets all alike.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// One thing to measure: gives its cost, in whatever unit.
pub(crate) type Case<'a> = Box<dyn FnMut() -> f64 + 'a>;

/// What each case gave in each round.
pub(crate) struct Rounds(Vec<Vec<f64>>);

/// Runs every case once to warm up, then `rounds` times.
pub(crate) fn interleave<const N: usize>(rounds: usize, mut cases: [Case<'_>; N]) -> Rounds {
    for case in &mut cases {
        case();
    }
    let mut measured = vec![Vec::with_capacity(rounds); N];
    for round in 0..rounds {
        for turn in 0..N {
            let at = (round + turn) % N;
            measured[at].push(cases[at]());
        }
    }
    Rounds(measured)
}

impl Rounds {
    /// The median of one case.
    pub(crate) fn median(&self, case: usize) -> f64 {
        median(self.0[case].clone())
    }

    /// The median of the rounds' ratios of one case to another.
    pub(crate) fn ratio(&self, case: usize, to: usize) -> f64 {
        median(self.0[case].iter().zip(&self.0[to]).map(|(a, b)| a / b).collect())
    }
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) }
}

/// The processor's time of this thread: what others do on the machine counts less than in wall time.
pub(crate) fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    let part = |n: i64| u64::try_from(n).unwrap_or(0);
    Duration::new(part(now.tv_sec), u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// Nanoseconds of processor time that `work` takes for each of `calls`.
pub(crate) fn ns_per_call(calls: u32, work: impl FnOnce()) -> f64 {
    let start = cpu_time();
    work();
    nanos(cpu_time().saturating_sub(start)) / f64::from(calls)
}

pub(crate) fn nanos(time: Duration) -> f64 {
    time.as_secs_f64() * 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_in_the_middle() {
        assert!((median(vec![3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!((median(vec![4.0, 1.0]) - 2.5).abs() < f64::EPSILON);
    }

    #[test]
    fn every_case_runs_once_a_round_and_once_before() {
        let (mut first, mut second) = (0, 0);
        let count = |n: &mut i32| {
            *n += 1;
            f64::from(*n)
        };
        let rounds = interleave(3, [Box::new(|| count(&mut first)), Box::new(|| 2.0 * count(&mut second))]);
        assert!((rounds.median(0) - 3.0).abs() < f64::EPSILON);
        assert!((rounds.ratio(1, 0) - 2.0).abs() < f64::EPSILON);
    }
}
