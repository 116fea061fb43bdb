//! Minutes put together, so that any log fits into one picture.

use crate::replay::minutes::{MINUTE_US, Minute, Minutes};

/// The most bars side by side: each keeps several pixels.
const MOST: u64 = 120;
/// The fewest, so that the bars of a short log are no walls.
const FEWEST: u64 = 12;
/// How many minutes one holds; beyond a day it doubles.
const WIDTHS: [u64; 8] = [1, 5, 15, 60, 180, 360, 720, 1_440];

/// All of them, from the first with a request to the last, without a gap.
#[derive(Debug)]
pub(crate) struct Buckets {
    /// How many minutes each of them is long.
    pub(super) minutes: u64,
    pub(super) all: Vec<Bucket>,
}

/// Some minutes; they begin at a whole multiple of their length in UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bucket {
    pub(super) from_us: u64,
    /// All that is in it.
    pub(super) all: Counted,
    /// The most that a minute of it has, of each.
    pub(super) busiest: Counted,
}

/// Requests, and those of them that were refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) requests: u64,
    pub(super) refused_a: u64,
    pub(super) refused_b: u64,
}

impl Buckets {
    /// Of the minutes under A, and those under B where there are any.
    pub(crate) fn new(a: &Minutes, b: Option<&Minutes>) -> Self {
        let ends = a.all().first().zip(a.all().last()).map(|(first, last)| (first.from_us, last.from_us));
        let (first, last) = ends.unwrap_or_default();
        let minutes = width(first / MINUTE_US, last / MINUTE_US);
        let width_us = minutes * MINUTE_US;
        let begins = first / width_us;
        let count = (last / width_us - begins + 1).max(FEWEST);
        let empty = |at| Bucket { from_us: (begins + at) * width_us, ..Bucket::default() };
        let mut all: Vec<Bucket> = (0..count).map(empty).collect();
        let place = |minute: &Minute| usize::try_from(minute.from_us / width_us - begins).unwrap_or(usize::MAX);
        for minute in a.all() {
            let bucket = &mut all[place(minute)];
            bucket.all.requests += minute.requests;
            bucket.all.refused_a += minute.refused;
            bucket.busiest.requests = bucket.busiest.requests.max(minute.requests);
            bucket.busiest.refused_a = bucket.busiest.refused_a.max(minute.refused);
        }
        for minute in b.into_iter().flat_map(Minutes::all) {
            let bucket = &mut all[place(minute)];
            bucket.all.refused_b += minute.refused;
            bucket.busiest.refused_b = bucket.busiest.refused_b.max(minute.refused);
        }
        Self { minutes, all }
    }

    pub(super) const fn width_us(&self) -> u64 {
        self.minutes * MINUTE_US
    }

    /// Where the first begins and the last ends, in µs.
    pub(super) fn span_us(&self) -> (u64, u64) {
        let from = self.all.first().map_or(0, |bucket| bucket.from_us);
        (from, self.all.last().map_or(0, |bucket| bucket.from_us + self.width_us()))
    }

    /// How long each is, in words: `minute`, `15 minutes`, `2 days`.
    pub(super) fn unit(&self) -> String {
        let length = self.length();
        length.strip_prefix("1 ").map_or_else(|| length.clone(), str::to_owned)
    }

    /// The same with its number: `1 minute`.
    pub(super) fn length(&self) -> String {
        let (n, unit) = match self.minutes {
            n if n.is_multiple_of(1_440) => (n / 1_440, "day"),
            n if n.is_multiple_of(60) => (n / 60, "hour"),
            n => (n, "minute"),
        };
        format!("{n} {unit}{}", if n == 1 { "" } else { "s" })
    }
}

/// The shortest that leaves few enough of them; first and last minute are counted from 1970.
fn width(first: u64, last: u64) -> u64 {
    let fits = |width: &u64| last / width - first / width < MOST;
    WIDTHS.into_iter().find(fits).unwrap_or_else(|| {
        let mut width = WIDTHS[WIDTHS.len() - 1];
        while !fits(&width) {
            width *= 2;
        }
        width
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buckets(minutes: &[u64]) -> Buckets {
        let (mut a, mut b) = (Minutes::default(), Minutes::default());
        for minute in minutes {
            a.add(minute * MINUTE_US, true);
            b.add(minute * MINUTE_US, minute % 2 == 0);
        }
        Buckets::new(&a, Some(&b))
    }

    #[test]
    fn there_are_never_too_many_and_none_is_lost() {
        for (last, unit) in [
            (0, "minute"),
            (119, "minute"),
            (120, "5 minutes"),
            (600, "15 minutes"),
            (1_799, "15 minutes"),
            (1_800, "hour"),
            (7_200, "3 hours"),
            (100_000, "day"),
            (200_000, "2 days"),
            // 1970 to 2040.
            (36_816_480, "256 days"),
        ] {
            let minutes: Vec<u64> = if last == 0 { vec![0] } else { vec![0, last / 2, last] };
            let buckets = buckets(&minutes);
            assert_eq!(buckets.unit(), unit, "{last}");
            assert!((FEWEST..=MOST).contains(&u64::try_from(buckets.all.len()).expect("few")), "{last}");
            let sum = |count: fn(&Counted) -> u64| buckets.all.iter().map(|bucket| count(&bucket.all)).sum::<u64>();
            assert_eq!(sum(|all| all.requests), u64::try_from(minutes.len()).expect("few"));
            assert_eq!(sum(|all| all.refused_a), sum(|all| all.requests));
            let even = minutes.iter().filter(|minute| *minute % 2 == 0).count();
            assert_eq!(sum(|all| all.refused_b), u64::try_from(even).expect("few"));
        }
    }

    #[test]
    fn the_busiest_minute_of_each_is_known() {
        let buckets = buckets(&[0, 1, 1, 1, 2, 2, 300]);
        let counted = |requests, refused_a, refused_b| Counted { requests, refused_a, refused_b };
        assert_eq!(buckets.minutes, 5);
        assert_eq!((buckets.all[0].all, buckets.all[0].busiest), (counted(6, 6, 3), counted(3, 3, 2)));
    }

    #[test]
    fn they_begin_at_whole_multiples() {
        let buckets = buckets(&[63, 300]);
        assert_eq!((buckets.minutes, buckets.all[0].from_us), (5, 60 * MINUTE_US));
        assert_eq!(buckets.span_us(), (60 * MINUTE_US, 305 * MINUTE_US));
    }
}
