//! Axes: where ticks stand, and what they say.

use crate::replay::minutes::MINUTE_US;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

/// The most ticks of an axis of counts, nought not counted.
const COUNTS: u64 = 4;
/// The most ticks of the axis of time.
const TIMES: u64 = 9;
/// From tick to tick, in minutes; beyond a day it doubles.
const STEPS: [u64; 12] = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440];

/// An axis of counts from nought: its ticks stand `step` apart, the last of them at or above the largest count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) step: u64,
    pub(super) top: u64,
}

impl Counts {
    /// The smallest step of 1, 2 or 5 times a power of ten that will do.
    pub(super) fn new(largest: u64) -> Self {
        let largest = largest.max(1);
        let decades = std::iter::successors(Some(1_u64), |decade| decade.checked_mul(10));
        let mut steps = decades.flat_map(|decade| [1, 2, 5].map(|n| decade.saturating_mul(n)));
        let step = steps.find(|step| largest.div_ceil(*step) <= COUNTS).unwrap_or(largest);
        Self { step, top: largest.div_ceil(step).saturating_mul(step) }
    }

    pub(super) fn ticks(self) -> impl Iterator<Item = u64> {
        (0..=self.top / self.step).map(move |n| n * self.step)
    }
}

/// A tick of the axis of time.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tick {
    pub(super) at_us: u64,
    /// `10:05`, or where ticks are days apart `17 May`.
    pub(super) label: String,
    /// The day below it, or the year, where it is another than at the tick before.
    pub(super) below: Option<String>,
}

/// The ticks between two instants: at whole multiples of the step in UTC.
pub(super) fn times(from_us: u64, to_us: u64) -> Vec<Tick> {
    let span = (to_us - from_us) / MINUTE_US;
    let step = STEPS.into_iter().find(|step| span / step < TIMES).unwrap_or_else(|| {
        let mut step = STEPS[STEPS.len() - 1];
        while span / step >= TIMES {
            step *= 2;
        }
        step
    });
    let step_us = step * MINUTE_US;
    let (label, below) = if step < 1_440 { ("%H:%M", "%-d %b %Y") } else { ("%-d %b", "%Y") };
    let mut ticks: Vec<Tick> = Vec::new();
    let mut said = None;
    for n in from_us.div_ceil(step_us)..=to_us / step_us {
        let at_us = n * step_us;
        let day = format(at_us, below);
        let is_new = said.as_ref() != Some(&day);
        ticks.push(Tick { at_us, label: format(at_us, label), below: is_new.then(|| day.clone()) });
        said = Some(day);
    }
    ticks
}

/// `17 May 2015 10:05`.
pub(super) fn moment(at_us: u64) -> String {
    format(at_us, "%-d %b %Y %H:%M")
}

fn format(at_us: u64, how: &str) -> String {
    let at = i64::try_from(at_us).ok().and_then(|us| Timestamp::from_microsecond(us).ok());
    let at: DateTime = Offset::UTC.to_datetime(at.unwrap_or(Timestamp::MAX));
    at.strftime(how).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        for (largest, step, top) in [
            (0, 1, 1),
            (1, 1, 1),
            (4, 1, 4),
            (5, 2, 6),
            (9, 5, 10),
            (122, 50, 150),
            (400, 100, 400),
            (4_001, 2_000, 6_000),
        ] {
            assert_eq!(Counts::new(largest), Counts { step, top }, "{largest}");
        }
        assert_eq!(Counts::new(5).ticks().collect::<Vec<_>>(), [0, 2, 4, 6]);
        assert!(Counts::new(u64::MAX).ticks().count() <= 6);
    }

    #[test]
    fn days_stand_below_hours_where_they_begin() {
        let at = |text: &str| u64::try_from(text.parse::<Timestamp>().expect("a time").as_microsecond()).expect("late");
        let said = |from: &str, to: &str| -> Vec<(String, Option<String>)> {
            times(at(from), at(to)).into_iter().map(|tick| (tick.label, tick.below)).collect()
        };
        let day = |day: &str| Some(day.to_owned());
        assert_eq!(
            said("2015-05-17T16:05:00Z", "2015-05-18T09:00:00Z"),
            [
                ("18:00".to_owned(), day("17 May 2015")),
                ("20:00".to_owned(), None),
                ("22:00".to_owned(), None),
                ("00:00".to_owned(), day("18 May 2015")),
                ("02:00".to_owned(), None),
                ("04:00".to_owned(), None),
                ("06:00".to_owned(), None),
                ("08:00".to_owned(), None),
            ]
        );
        let long = said("2015-12-30T00:00:00Z", "2016-01-02T12:00:00Z");
        assert_eq!(long.iter().filter(|(_, below)| below.is_some()).count(), 4);
        let years = said("1970-01-01T00:00:00Z", "2040-01-01T00:00:00Z");
        assert!(years.len() > 4 && years.len() < 11, "{years:?}");
        assert_eq!(years[0], ("1 Jan".to_owned(), day("1970")));
    }
}
