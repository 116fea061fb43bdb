//! What every format of a log has in common.

use super::Property;
use smallvec::SmallVec;
use std::borrow::Cow;

/// How the lines of a log are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Host, identity, user, time in brackets, request in quotes, status, bytes.
    Common,
    /// The common format, then referrer and user agent in quotes.
    Combined,
    /// A JSON object on each line.
    Json,
    /// Comma-separated values below a line that names the fields.
    Csv,
}

impl Format {
    /// As reports spell it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Common => "common",
            Self::Combined => "combined",
            Self::Json => "json",
            Self::Csv => "csv",
        }
    }
}

/// A line that was understood.
#[derive(Debug)]
pub(crate) struct Entry<'l> {
    /// When, in µs since 1970.
    pub(crate) at_us: u64,
    /// The values of the properties that were asked for, in that order.
    pub(crate) properties: SmallVec<[Property<Cow<'l, [u8]>>; 8]>,
    /// What is odd about it, and the place.
    pub(crate) odd: Option<(Oddity, Cow<'l, [u8]>)>,
}

/// What is odd about a line that is a request all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Oddity {
    /// The request line is no request: method and path are absent.
    RequestLine,
    /// The line ends inside quotes: the last field is what there is of it.
    CutOff,
}

impl Oddity {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::RequestLine => "odd_request_line",
            Self::CutOff => "cut_off",
        }
    }
}

/// Why a line could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// Longer than any request.
    TooLong,
    /// Not host, identity and user before a time in brackets.
    NoHost,
    /// No request in quotes after the time.
    NoRequest,
    /// The status is no number.
    BadStatus,
    /// The size is no number.
    BadBytes,
    /// Neither referrer nor user agent, and the combined format was asked for.
    NotCombined,
    /// No JSON object.
    NotJson,
    /// More or fewer fields than the first line names.
    FieldCount,
    /// No field holds the time.
    NoTime,
    /// The time is not understood.
    BadTime,
    /// A quote of a CSV record is not closed.
    CutOff,
    /// What was packed is damaged: neither this nor what follows can be read.
    Damaged,
}

impl Why {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::TooLong => "too_long",
            Self::NoHost => "no_host",
            Self::NoRequest => "no_request",
            Self::BadStatus => "bad_status",
            Self::BadBytes => "bad_bytes",
            Self::NotCombined => "not_combined",
            Self::NotJson => "not_json",
            Self::FieldCount => "field_count",
            Self::NoTime => "no_time",
            Self::BadTime => "bad_time",
            Self::CutOff => "cut_off",
            Self::Damaged => "damaged",
        }
    }
}

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    pub(crate) why: Why,
    /// What was not understood, in words.
    pub(crate) detail: String,
}

impl Unreadable {
    pub(crate) fn new(why: Why, detail: impl Into<String>) -> Self {
        Self { why, detail: detail.into() }
    }
}

/// A format whose requests are lines.
pub(crate) trait LineFormat {
    /// What the line, without its end, says.
    fn entry<'l>(&self, line: &'l [u8]) -> Result<Entry<'l>, Unreadable>;
}
