//! The common log format, and the combined one that adds referrer and user agent.
//!
//! `198.18.0.2 - alice [17/May/2015:10:05:03 +0000] "GET /a?b HTTP/1.1" 200 512 "-" "curl/8"`

use super::{Entry, LineFormat, Oddity, Property, Unreadable, Why, time};
use crate::printable::excerpt;
use std::borrow::Cow;
use std::net::IpAddr;

/// What stands behind the first seven fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// Not looked at.
    Ignored,
    /// Referrer and user agent, if they are there.
    Optional,
    /// Referrer and user agent.
    Required,
}

#[derive(Clone, Copy, Debug)]
enum Field {
    Ip,
    User,
    Method,
    Path,
    Status,
    Bytes,
    Referrer,
    UserAgent,
}

/// Reads lines of the common and combined formats.
#[derive(Debug)]
pub(super) struct Common {
    fields: Vec<Option<Field>>,
    tail: Tail,
}

impl Common {
    pub(super) fn new(properties: &[String], tail: Tail) -> Self {
        let field = |name: &String| match name.as_str() {
            "ip" => Some(Field::Ip),
            "user" => Some(Field::User),
            "method" => Some(Field::Method),
            "path" => Some(Field::Path),
            "status" => Some(Field::Status),
            "bytes" => Some(Field::Bytes),
            "referrer" => Some(Field::Referrer),
            "user_agent" => Some(Field::UserAgent),
            _ => None,
        };
        Self { fields: properties.iter().map(field).collect(), tail }
    }
}

impl LineFormat for Common {
    fn entry<'l>(&self, line: &'l [u8]) -> Result<Entry<'l>, Unreadable> {
        let parts = Parts::of(line, self.tail)?;
        let value = |field: &Option<Field>| match field {
            None => Property::Absent,
            Some(Field::Ip) => text(parts.host),
            Some(Field::User) => text(parts.user),
            Some(Field::Method) => parts.method.map_or(Property::Absent, text),
            Some(Field::Path) => parts.path.map_or(Property::Absent, text),
            Some(Field::Status) => parts.status.map_or(Property::Absent, Property::Integer),
            Some(Field::Bytes) => parts.bytes.map_or(Property::Absent, Property::Integer),
            Some(Field::Referrer) => parts.referrer.map_or(Property::Absent, text),
            Some(Field::UserAgent) => parts.user_agent.map_or(Property::Absent, text),
        };
        Ok(Entry { at_us: parts.at_us, properties: self.fields.iter().map(value).collect(), odd: parts.odd })
    }
}

/// The value of a field: `-` is absent.
fn text(raw: &[u8]) -> Property<Cow<'_, [u8]>> {
    if raw == b"-" { Property::Absent } else { Property::Text(unescaped(raw)) }
}

#[derive(Debug, Default)]
struct Parts<'l> {
    at_us: u64,
    host: &'l [u8],
    user: &'l [u8],
    method: Option<&'l [u8]>,
    path: Option<&'l [u8]>,
    status: Option<i64>,
    bytes: Option<i64>,
    referrer: Option<&'l [u8]>,
    user_agent: Option<&'l [u8]>,
    odd: Option<(Oddity, Cow<'l, [u8]>)>,
}

impl<'l> Parts<'l> {
    fn of(line: &'l [u8], tail: Tail) -> Result<Self, Unreadable> {
        let mut parts = Self::default();
        let (head, rest) = split_at_mark(line, b" [").ok_or_else(|| no_host("there is no time in brackets", line))?;
        (parts.host, parts.user) = host_and_user(head).ok_or_else(|| {
            no_host("before the time stand not just host, identity and user (`-` where there is none)", line)
        })?;
        let (when, rest) = split_at_mark(rest, b"]")
            .ok_or_else(|| Unreadable::new(Why::BadTime, "the bracket before the time is not closed"))?;
        parts.at_us = time::parse(when)?;
        let Some(Quoted { text: request, closed: true, rest }) = quoted(rest) else {
            return Err(Unreadable::new(Why::NoRequest, "after the time stands no request in quotes"));
        };
        parts.take_request(request);
        let mut words = rest.trim_ascii_start().splitn(3, |b| *b == b' ');
        parts.status = integer(words.next(), Why::BadStatus, "status")?;
        parts.bytes = integer(words.next(), Why::BadBytes, "size")?;
        if tail != Tail::Ignored {
            parts.take_tail(words.next().unwrap_or_default());
        }
        if tail == Tail::Required && parts.referrer.is_none() {
            return Err(Unreadable::new(Why::NotCombined, "there is neither a referrer nor a user agent"));
        }
        Ok(parts)
    }

    fn take_request(&mut self, request: &'l [u8]) {
        if request == b"-" {
            return;
        }
        if let Some((method, target)) = method_and_target(request) {
            self.method = Some(method);
            self.path = target.split(|b| *b == b'?').next();
        } else {
            self.odd = Some((Oddity::RequestLine, Cow::Borrowed(request)));
        }
    }

    fn take_tail(&mut self, rest: &'l [u8]) {
        let Some(referrer) = quoted(rest) else { return };
        self.referrer = Some(referrer.text);
        let last = quoted(referrer.rest);
        self.user_agent = last.as_ref().map(|quoted| quoted.text);
        let last = last.unwrap_or(referrer);
        if !last.closed {
            self.odd = Some((Oddity::CutOff, Cow::Borrowed(last.text)));
        }
    }
}

fn no_host(what: &str, line: &[u8]) -> Unreadable {
    Unreadable::new(Why::NoHost, format!("{what}: `{}`", excerpt(line)))
}

fn split_at_mark<'l>(text: &'l [u8], mark: &[u8]) -> Option<(&'l [u8], &'l [u8])> {
    let at = text.windows(mark.len()).position(|window| window == mark)?;
    Some((&text[..at], &text[at + mark.len()..]))
}

/// Host and user. The name of a virtual host may stand before them; a user's name may hold spaces.
fn host_and_user(head: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut words = head.splitn(3, |b| *b == b' ');
    let (host, identity, user) = (words.next()?, words.next()?, words.next()?);
    if host.is_empty() || user.is_empty() || host.ends_with(b",") {
        return None;
    }
    let is_ip = std::str::from_utf8(identity).is_ok_and(|text| text.parse::<IpAddr>().is_ok());
    match user.iter().position(|b| *b == b' ') {
        Some(at) if is_ip => Some((identity, &user[at + 1..])),
        _ => Some((host, user)),
    }
}

struct Quoted<'l> {
    text: &'l [u8],
    closed: bool,
    rest: &'l [u8],
}

/// The text in quotes that comes next; a backslash escapes what follows it.
fn quoted(text: &[u8]) -> Option<Quoted<'_>> {
    let text = text.trim_ascii_start().strip_prefix(b"\"")?;
    let mut escaped = false;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(Quoted { text: &text[..at], closed: true, rest: &text[at + 1..] }),
            _ => {}
        }
    }
    Some(Quoted { text, closed: false, rest: b"" })
}

/// Method and target of `GET /a HTTP/1.1`, or of `GET /a` as HTTP/0.9 has it.
fn method_and_target(request: &[u8]) -> Option<(&[u8], &[u8])> {
    let (method, rest) = split_at_mark(request, b" ")?;
    let is_token = |b: &u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(b);
    if method.is_empty() || !method.iter().all(is_token) {
        return None;
    }
    let version = rest.windows(6).rposition(|window| window == b" HTTP/");
    match version {
        Some(at) => Some((method, &rest[..at])).filter(|(_, target)| !target.trim_ascii().is_empty()),
        None => rest.starts_with(b"/").then_some((method, rest)),
    }
}

fn integer(word: Option<&[u8]>, why: Why, what: &str) -> Result<Option<i64>, Unreadable> {
    let word = word.unwrap_or_default();
    if word == b"-" {
        return Ok(None);
    }
    let digits = Some(word).filter(|word| word.iter().all(u8::is_ascii_digit));
    let number = digits.and_then(|word| std::str::from_utf8(word).ok()?.parse().ok());
    number.map(Some).ok_or_else(|| {
        Unreadable::new(why, format!("the {what} `{}` is neither a whole number nor `-`", excerpt(word)))
    })
}

/// Undoes what servers do to quotes, backslashes and bytes that do not print.
fn unescaped(raw: &[u8]) -> Cow<'_, [u8]> {
    if !raw.contains(&b'\\') {
        return Cow::Borrowed(raw);
    }
    let mut text = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((byte, after)) = rest.split_first() {
        let (taken, left) = match (byte, after) {
            (b'\\', [b'x', high, low, left @ ..]) => match (nibble(*high), nibble(*low)) {
                (Some(high), Some(low)) => (high << 4 | low, left),
                _ => (*byte, after),
            },
            (b'\\', [mark @ (b'"' | b'\\'), left @ ..]) => (*mark, left),
            (b'\\', [b'n', left @ ..]) => (b'\n', left),
            (b'\\', [b'r', left @ ..]) => (b'\r', left),
            (b'\\', [b't', left @ ..]) => (b'\t', left),
            (b'\\', [b'b', left @ ..]) => (0x08, left),
            (b'\\', [b'v', left @ ..]) => (0x0b, left),
            _ => (*byte, after),
        };
        text.push(taken);
        rest = left;
    }
    Cow::Owned(text)
}

fn nibble(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|n| u8::try_from(n).ok())
}

#[cfg(test)]
mod tests;
