//! Times, as logs write them.

use super::{Unreadable, Why};
use crate::printable::excerpt;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;
use smallvec::SmallVec;
use std::borrow::Cow;

const MONTHS: [&[u8]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
/// Unix times above this are milliseconds: as seconds they lie beyond the year 5138.
const SECONDS_MAX: u64 = 100_000_000_000;

/// The time in µs since 1970: RFC 3339, the common log format's, or Unix seconds or milliseconds.
pub(crate) fn parse(text: &[u8]) -> Result<u64, Unreadable> {
    let found = unix(text).or_else(|| common(text)).or_else(|| rfc3339(text)).ok_or_else(|| {
        Unreadable::new(
            Why::BadTime,
            format!(
                "the time `{}` is neither RFC 3339, nor 17/May/2015:10:05:03 +0000, nor Unix seconds or milliseconds",
                excerpt(text)
            ),
        )
    })?;
    // A time before 1970 is none that the stores know.
    u64::try_from(found.as_microsecond())
        .map_err(|_| Unreadable::new(Why::BadTime, format!("the time `{}` is before 1970", excerpt(text))))
}

fn rfc3339(text: &[u8]) -> Option<Timestamp> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

/// `17/May/2015:10:05:03 +0000`, `17/May/2015:10:05:03.123 +0000`.
fn common(text: &[u8]) -> Option<Timestamp> {
    let (text, rest) = text.split_first_chunk::<20>()?;
    let (fraction, zone) = rest.split_last_chunk::<6>()?;
    let nanos = match fraction {
        [] => 0,
        [b'.', digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
            number(&digits.iter().copied().chain(std::iter::repeat(b'0')).take(9).collect::<SmallVec<[u8; 9]>>())?
        }
        _ => return None,
    };
    let punctuation = [(2, b'/'), (6, b'/'), (11, b':'), (14, b':'), (17, b':')];
    if zone[0] != b' ' || punctuation.iter().any(|(at, mark)| text[*at] != *mark) {
        return None;
    }
    let month = MONTHS.iter().position(|name| *name == &text[3..6])?;
    let sign = match zone[1] {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let offset = number(&zone[2..4])? * 3600 + number(&zone[4..])? * 60;
    let small = |n: i32| i8::try_from(n).ok();
    let local = DateTime::new(
        i16::try_from(number(&text[7..11])?).ok()?,
        i8::try_from(month + 1).ok()?,
        small(number(&text[..2])?)?,
        small(number(&text[12..14])?)?,
        small(number(&text[15..17])?)?,
        // A leap second is its minute's last one.
        small(number(&text[18..20])?.min(59))?,
        nanos,
    );
    Offset::from_seconds(sign * offset).ok()?.to_timestamp(local.ok()?).ok()
}

fn digits(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit())
}

/// `1.431857103e9` as `1431857103.0`: no digit is lost.
fn without_exponent(text: &str) -> Option<Cow<'_, str>> {
    let Some((mantissa, exponent)) = text.split_once(['e', 'E']) else { return Some(text.into()) };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    if !digits(whole) || !digits(fraction) || !digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)) {
        return None;
    }
    // No time has more digits; so many zeros are not written out.
    let shift: isize = exponent.parse().ok().filter(|shift| (-400..=400).contains(shift))?;
    let before = "0".repeat(usize::try_from(-shift).unwrap_or(0));
    let behind = "0".repeat(usize::try_from(shift).unwrap_or(0));
    let mut text = format!("{before}{whole}{fraction}{behind}");
    text.insert((before.len() + whole.len()).checked_add_signed(shift)?, '.');
    // One digit at least on either side of the point.
    Some(format!("0{text}0").into())
}

fn number(digits: &[u8]) -> Option<i32> {
    digits.iter().try_fold(0, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + i32::from(digit - b'0')))
}

/// `1431857103`, `1431857103.25`, `1431857103250`, `1.431857103e9`.
fn unix(text: &[u8]) -> Option<Timestamp> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let text = without_exponent(text)?;
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, "0"));
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let (units, places) = if whole > SECONDS_MAX { (1_000, 3) } else { (1_000_000, 6) };
    let below: u64 = fraction.bytes().chain(std::iter::repeat(b'0')).take(places).fold(0, |sum, digit| {
        // Digits, as was looked at above.
        sum * 10 + u64::from(digit - b'0')
    });
    let micros = whole.checked_mul(units)?.checked_add(below)?;
    Timestamp::from_microsecond(i64::try_from(micros).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_instant_in_every_spelling() {
        for text in [
            "17/May/2015:10:05:03 +0000",
            "17/May/2015:12:05:03 +0200",
            "17/May/2015:04:35:03 -0530",
            "2015-05-17T10:05:03Z",
            "2015-05-17T12:05:03+02:00",
            "2015-05-17 10:05:03.000Z",
            "17/May/2015:10:05:03.000 +0000",
            "1431857103",
            "1431857103.0",
            "1.431857103e9",
            "1.431857103E+9",
            "1431857103000000e-6",
            "14318571030e-1",
            "0.001431857103e12",
            "1.431857103e12",
            "1431857103000",
        ] {
            assert_eq!(parse(text.as_bytes()), Ok(1_431_857_103_000_000), "{text}");
        }
    }

    #[test]
    fn fractions_are_kept_to_a_microsecond() {
        for (text, expected) in [
            ("1431857103.25", 1_431_857_103_250_000),
            ("1431857103.0000019", 1_431_857_103_000_001),
            ("1431857103250.5", 1_431_857_103_250_500),
            ("2015-05-17T10:05:03.123456789Z", 1_431_857_103_123_456),
            ("1.43185710325e9", 1_431_857_103_250_000),
            ("17/May/2015:10:05:03.123 +0000", 1_431_857_103_123_000),
            ("17/May/2015:12:05:03.1234567891 +0200", 1_431_857_103_123_456),
            ("1e-3", 1_000),
            ("0e0", 0),
            ("100000000000", 100_000_000_000_000_000),
            ("100000000001", 100_000_000_001_000),
            ("0", 0),
        ] {
            assert_eq!(parse(text.as_bytes()), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_time() {
        for text in [
            "",
            "yesterday",
            "17/Mai/2015:10:05:03 +0000",
            "32/May/2015:10:05:03 +0000",
            "17/May/2015:10:05:03",
            "17/May/2015:24:05:03 +0000",
            "2015-05-17T10:05:03",
            "2015-05-17",
            "17/May/2015:10:05:03. +0000",
            "17/May/2015:10:05:03.1x +0000",
            "17/May/2015:10:05:03,123 +0000",
            "1.",
            "1e",
            "e9",
            "1.e9",
            "1e9.5",
            "1e+-9",
            "1e400",
            "1e999999999999",
            "-1e9",
            "-5",
            "1431857103.2.5",
            "99999999999999999999",
            "1969-12-31T23:59:59Z",
        ] {
            assert_eq!(parse(text.as_bytes()).map_err(|unreadable| unreadable.why), Err(Why::BadTime), "{text}");
        }
    }

    #[test]
    fn a_leap_second_is_the_last_of_its_minute() {
        assert_eq!(parse(b"30/Jun/2015:23:59:60 +0000"), parse(b"30/Jun/2015:23:59:59 +0000"));
    }
}
