//! Matchers as they are written, in any language, and their compilation.

use crate::finding::{Code, Finding};
use crate::host::PatternId;
use crate::matcher::{Matcher, OneOf, network};
use crate::value::Scalar;
use regex::Regex;

/// A matcher as it was written: a tree of scalars, marker maps and lists. Compiling it checks it.
#[derive(Clone, Debug, PartialEq)]
pub enum MatcherSpec {
    /// A plain value.
    Scalar(Scalar),
    /// A value that no property can equal (NaN, a host's odd object); the words name it.
    BadScalar(String),
    /// A pattern object of the host.
    Pattern(PatternId),
    /// A map: one marker and its operand.
    Map(Vec<(String, Self)>),
    /// A list of matchers, or the operand of `one_of`, `none_of`, `cidr`.
    List(Vec<Self>),
}

impl MatcherSpec {
    /// Levels of maps and lists that a matcher may have.
    pub const MAX_DEPTH: usize = 8;
    /// The markers, in their canonical spelling.
    pub const MARKERS: [&'static str; 9] = ["eq", "ne", "regex", "nre", "one_of", "none_of", "not", "prefix", "cidr"];

    /// `{marker: operand}`.
    pub fn marker(name: impl Into<String>, operand: impl Into<Self>) -> Self {
        Self::Map(vec![(name.into(), operand.into())])
    }

    /// `{eq: value}`.
    pub fn eq(value: impl Into<Scalar>) -> Self {
        Self::Scalar(value.into())
    }

    /// `{regex: pattern}`.
    pub fn regex(pattern: impl Into<String>) -> Self {
        Self::marker("regex", pattern.into())
    }

    /// `{prefix: text}`.
    pub fn prefix(text: impl Into<String>) -> Self {
        Self::marker("prefix", text.into())
    }

    /// `{one_of: values}`.
    pub fn one_of<T: Into<Scalar>>(values: impl IntoIterator<Item = T>) -> Self {
        Self::marker("one_of", Self::List(values.into_iter().map(|v| Self::Scalar(v.into())).collect()))
    }

    /// `{cidr: networks}`.
    pub fn cidr<T: Into<String>>(networks: impl IntoIterator<Item = T>) -> Self {
        Self::marker("cidr", Self::List(networks.into_iter().map(|v| Self::from(v.into())).collect()))
    }

    /// `{not: self}`.
    ///
    /// ```
    /// use labkit_ratelimit_engine::MatcherSpec;
    /// assert_eq!(MatcherSpec::prefix("/api/").negated(), MatcherSpec::marker("not", MatcherSpec::prefix("/api/")));
    /// ```
    #[must_use]
    pub fn negated(self) -> Self {
        Self::marker("not", self)
    }

    /// All of `entries` hold.
    pub fn all(entries: impl IntoIterator<Item = Self>) -> Self {
        Self::List(entries.into_iter().collect())
    }

    /// How deep it nests, counted no further than one level too deep.
    fn too_deep(&self, levels: usize) -> bool {
        match self {
            Self::Map(pairs) => levels == 0 || pairs.iter().any(|(_, operand)| operand.too_deep(levels - 1)),
            Self::List(entries) => levels == 0 || entries.iter().any(|entry| entry.too_deep(levels - 1)),
            _ => false,
        }
    }

    /// Compiles it; `path` is where it stands.
    pub(crate) fn compile(&self, path: &str) -> Result<Matcher, Vec<Finding>> {
        if self.too_deep(Self::MAX_DEPTH) {
            return Err(one(Code::MatcherTooDeep, path, "nests more than 8 levels deep"));
        }
        self.build(path)
    }

    fn build(&self, path: &str) -> Result<Matcher, Vec<Finding>> {
        match self {
            Self::Scalar(scalar) => Ok(Matcher::Eq(scalar.clone())),
            Self::BadScalar(what) => Err(one(Code::MatcherBadValue, path, format!("{what} is no value of a property"))),
            Self::Pattern(id) => Ok(Matcher::Host(*id)),
            Self::Map(pairs) => match pairs.as_slice() {
                [(marker, operand)] => build_marker(marker, operand, path),
                [] => Err(one(Code::MatcherUnknownMarker, path, "an empty map is no matcher")),
                [(first, _), (second, _), ..] => {
                    Err(one(Code::MatcherTwoMarkers, path, format!("holds both `{first}` and `{second}`")))
                }
            },
            Self::List(entries) => build_all(entries, path),
        }
    }

    fn kind(&self) -> &str {
        match self {
            Self::Scalar(Scalar::Null) => "null",
            Self::Scalar(Scalar::Bool(_)) => "a boolean",
            Self::Scalar(Scalar::Int(_) | Scalar::Float(_)) => "a number",
            Self::Scalar(Scalar::Text(_)) => "a string",
            Self::Scalar(Scalar::Bytes(_)) => "bytes",
            Self::BadScalar(what) => what,
            Self::Pattern(_) => "a pattern object",
            Self::Map(_) => "a map",
            Self::List(_) => "a list",
        }
    }
}

impl<T: Into<Scalar>> From<T> for MatcherSpec {
    fn from(scalar: T) -> Self {
        Self::Scalar(scalar.into())
    }
}

fn one(code: Code, path: &str, message: impl Into<String>) -> Vec<Finding> {
    vec![Finding::new(code, path, message)]
}

fn build_all(entries: &[MatcherSpec], path: &str) -> Result<Matcher, Vec<Finding>> {
    if entries.is_empty() {
        return Err(one(Code::MatcherEmptyList, path, "an empty list of matchers"));
    }
    let bare = |entry: &MatcherSpec| !matches!(entry, MatcherSpec::Map(_) | MatcherSpec::Pattern(_));
    if let Some(at) = entries.iter().position(bare) {
        let message = format!("{} in a list of matchers", entries[at].kind());
        return Err(one(Code::MatcherBareList, &format!("{path}[{at}]"), message));
    }
    let built: Vec<_> = entries.iter().enumerate().map(|(i, entry)| entry.build(&format!("{path}[{i}]"))).collect();
    let mut findings = Vec::new();
    let mut matchers = Vec::new();
    for entry in built {
        match entry {
            Ok(matcher) => matchers.push(matcher),
            Err(found) => findings.extend(found),
        }
    }
    // The host is asked last.
    matchers.sort_by_key(Matcher::asks_host);
    if findings.is_empty() { Ok(Matcher::All(matchers.into())) } else { Err(findings) }
}

fn build_marker(marker: &str, operand: &MatcherSpec, path: &str) -> Result<Matcher, Vec<Finding>> {
    let below = format!("{path}.{marker}");
    let not = |matcher| Matcher::Not(Box::new(matcher));
    match marker {
        "eq" => equal(marker, operand, &below),
        "ne" => equal(marker, operand, &below).map(not),
        "regex" | "re" => pattern(marker, operand, &below),
        "nre" => pattern(marker, operand, &below).map(not),
        "one_of" | "oneOf" => members(marker, operand, &below).map(|m| Matcher::OneOf(OneOf::new(m))),
        "none_of" | "noneOf" => match members(marker, operand, &below)? {
            none if none.is_empty() => Err(one(Code::MatcherEmptyList, &below, "an empty `none_of`")),
            some => Ok(not(Matcher::OneOf(OneOf::new(some)))),
        },
        "not" => operand.build(&below).map(not),
        "prefix" => match operand {
            MatcherSpec::Scalar(Scalar::Text(text)) => Ok(Matcher::Prefix(text.as_str().into())),
            other => Err(bad(marker, "a string", other, &below)),
        },
        "cidr" => networks(marker, operand, &below),
        unknown => {
            let hint = crate::names::nearest(unknown, MatcherSpec::MARKERS)
                .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            Err(one(Code::MatcherUnknownMarker, path, format!("`{unknown}` is no marker{hint}")))
        }
    }
}

fn bad(marker: &str, wanted: &str, got: &MatcherSpec, path: &str) -> Vec<Finding> {
    one(Code::MatcherBadValue, path, format!("`{marker}` takes {wanted}, not {}", got.kind()))
}

fn equal(marker: &str, operand: &MatcherSpec, path: &str) -> Result<Matcher, Vec<Finding>> {
    match operand {
        MatcherSpec::Scalar(scalar) => Ok(Matcher::Eq(scalar.clone())),
        other => Err(bad(marker, "a string, a number, a boolean or null", other, path)),
    }
}

fn pattern(marker: &str, operand: &MatcherSpec, path: &str) -> Result<Matcher, Vec<Finding>> {
    match operand {
        MatcherSpec::Pattern(id) => Ok(Matcher::Host(*id)),
        MatcherSpec::Scalar(Scalar::Text(text)) => Regex::new(text)
            .map(Matcher::Regex)
            .map_err(|error| one(Code::MatcherBadRegex, path, explain(text, &error))),
        other => Err(bad(marker, "a pattern in a string", other, path)),
    }
}

/// Names the construct that the syntax lacks, on one line.
fn explain(text: &str, error: &regex::Error) -> String {
    let reason = match error {
        regex::Error::CompiledTooBig(bytes) => format!("the compiled pattern is larger than {bytes} bytes"),
        other => {
            let said = other.to_string();
            said.lines().last().map_or(said.clone(), |line| line.trim_start_matches("error: ").to_owned())
        }
    };
    format!("`{text}` does not compile: {reason}")
}

fn members(marker: &str, operand: &MatcherSpec, path: &str) -> Result<Vec<Scalar>, Vec<Finding>> {
    let MatcherSpec::List(entries) = operand else {
        return Err(bad(marker, "a list of values", operand, path));
    };
    let mut scalars = Vec::with_capacity(entries.len());
    let mut findings = Vec::new();
    for (i, entry) in entries.iter().enumerate() {
        match entry {
            MatcherSpec::Scalar(scalar) => scalars.push(scalar.clone()),
            other => findings.extend(bad(marker, "plain values", other, &format!("{path}[{i}]"))),
        }
    }
    if findings.is_empty() { Ok(scalars) } else { Err(findings) }
}

fn networks(marker: &str, operand: &MatcherSpec, path: &str) -> Result<Matcher, Vec<Finding>> {
    let (entries, listed) = match operand {
        MatcherSpec::List(entries) => (entries.as_slice(), true),
        single => (std::slice::from_ref(single), false),
    };
    let mut found = Vec::new();
    let mut findings = Vec::new();
    for (i, entry) in entries.iter().enumerate() {
        let at = if listed { format!("{path}[{i}]") } else { path.to_owned() };
        match entry {
            MatcherSpec::Scalar(Scalar::Text(text)) => match network(text) {
                Some(net) => found.push(net),
                None => findings.extend(one(Code::MatcherBadCidr, &at, format!("`{text}` is no network"))),
            },
            other => findings.extend(bad(marker, "a network or a list of them", other, &at)),
        }
    }
    if findings.is_empty() { Ok(Matcher::Cidr(found.into())) } else { Err(findings) }
}
