//! Numbers and times, as people read them.

use std::cmp::Ordering;

/// `10,000`.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 request`, `10,000 requests`.
pub(crate) fn some(n: u64, what: &str) -> String {
    format!("{} {what}{}", count(n), if n == 1 { "" } else { "s" })
}

/// `2`, `2.05`: a mean, its third place and those behind it cut off.
pub(crate) fn mean(sum: u64, of: u64) -> String {
    let hundredths = u128::from(sum) * 100 / u128::from(of.max(1));
    let (whole, rest) = (u64::try_from(hundredths / 100).unwrap_or(u64::MAX), hundredths % 100);
    if rest == 0 { count(whole) } else { format!("{}.{rest:02}", count(whole)) }
}

/// `+12`, `-1,024`, `=`.
pub(crate) fn change(from: u64, to: u64) -> String {
    match to.cmp(&from) {
        Ordering::Greater => format!("+{}", count(to - from)),
        Ordering::Less => format!("-{}", count(from - to)),
        Ordering::Equal => "=".to_owned(),
    }
}

/// `6.9 %`, cut off: what is not all is never `100.0 %`.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    let permille = u128::from(part) * 1000 / u128::from(whole.max(1));
    format!("{}.{} %", permille / 10, permille % 10)
}

/// A period in its largest whole unit: `90 s`, `1 h`.
pub(crate) fn period(seconds: u64) -> String {
    for (unit, name) in [(86_400, "d"), (3_600, "h"), (60, "min")] {
        if seconds > 0 && seconds.is_multiple_of(unit) {
            return format!("{} {name}", count(seconds / unit));
        }
    }
    format!("{} s", count(seconds))
}

/// `59 s`, `0.25 s`, `2 h 5 min`.
pub(crate) fn seconds(seconds: f64) -> String {
    let whole = std::time::Duration::try_from_secs_f64(seconds).map_or(u64::MAX, |duration| duration.as_secs());
    match whole {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", whole / 60, whole % 60),
        3_600..86_400 => format!("{} h {} min", whole / 3_600, whole % 3_600 / 60),
        _ => format!("{} d {} h", count(whole / 86_400), whole % 86_400 / 3_600),
    }
}

/// `2015-05-17 10:05:03` of an RFC 3339 time in UTC; fractions of a second are left out.
pub(crate) fn moment(rfc3339: &str) -> String {
    rfc3339.chars().take("2015-05-17T10:05:03".len()).map(|c| if c == 'T' { ' ' } else { c }).collect()
}

/// Moments of one log: without the year, where they all have the same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments {
    skipped: usize,
}

impl Moments {
    pub(crate) fn between(from: Option<&str>, to: Option<&str>) -> Self {
        let year = |at: Option<&str>| at.and_then(|at| at.split('-').next()).map(str::to_owned);
        Self { skipped: if year(from) == year(to) { "2015-".len() } else { 0 } }
    }

    /// `05-17 10:05:03`, or with its year.
    pub(crate) fn show(self, rfc3339: &str) -> String {
        moment(rfc3339).chars().skip(self.skipped).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0, 1, 2_000].map(|n| some(n, "rule")), ["0 rules", "1 rule", "2,000 rules"]);
        assert_eq!([(4, 2), (123, 60), (1, 3_000)].map(|(sum, of)| mean(sum, of)), ["2", "2.05", "0"]);
        assert_eq!([(5, 17), (1_024, 0), (3, 3)].map(|(a, b)| change(a, b)), ["+12", "-1,024", "="]);
        assert_eq!([(0, 0), (1, 3), (999_999, 1_000_000)].map(|(a, b)| percent(a, b)), ["0.0 %", "33.3 %", "99.9 %"]);
    }

    #[test]
    fn times() {
        assert_eq!([1, 90, 60, 7_200, 86_400, 31_622_400].map(period), ["1 s", "90 s", "1 min", "2 h", "1 d", "366 d"]);
        assert_eq!(
            [0.25, 59.0, 125.0, 7_500.5, 90_000.0].map(seconds),
            ["0.25 s", "59 s", "2 min 5 s", "2 h 5 min", "1 d 1 h"]
        );
        assert_eq!(moment("2015-05-17T10:05:03.25Z"), "2015-05-17 10:05:03");
        let (one, other) = ("2015-05-17T10:05:03Z", "2016-01-01T00:00:00Z");
        assert_eq!(Moments::between(Some(one), Some(one)).show(one), "05-17 10:05:03");
        assert_eq!(Moments::between(Some(one), Some(other)).show(one), "2015-05-17 10:05:03");
    }
}
