//! What is wrong with a rule: stable codes, the path of the field, and how to mend it.

use std::fmt;
use std::sync::Arc;

macro_rules! codes {
    ($($variant:ident $text:literal $mend:literal),* $(,)?) => {
        /// A stable code for one kind of mistake, the same in every language and in documents.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = concat!("`", $text, "`: ", $mend)] $variant),*
        }

        impl Code {
            /// Every code, in the order of the table in the docs.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The code as logs, reports and other languages spell it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            /// How to mend it, in one sentence.
            pub const fn mend(self) -> &'static str {
                match self { $(Self::$variant => $mend),* }
            }
        }
    };
}

codes! {
    LimitBelowOne "limit_below_one" "Give a limit of 1 or more. No rule of a file refuses everything; in code, a callable that returns 0 does.",
    PeriodBelowOne "period_below_one" "Give a period of at least 1 second.",
    PeriodAboveMax "period_above_max" "Give a period of at most 31622400 seconds (366 days).",
    BanBelowOne "ban_below_one" "Give a ban of at least 1 second, or leave ban_for_s out.",
    BurstBelowOne "burst_below_one" "Give a burst of 1 or more, or leave it out: it then follows the limit.",
    LimitRequiresThreshold "limit_requires_threshold" "A rule that counts needs both limit and period_s.",
    BanExcludesCountDistinct "ban_excludes_count_distinct" "Drop ban_for_s or count_distinct: distinct counts cannot ban.",
    BanRequiresThreshold "ban_requires_threshold" "A ban starts when a limit is crossed: give limit and period_s, or drop ban_for_s.",
    BurstRequiresGcra "burst_requires_gcra" "Set `algorithm: gcra`, or drop burst.",
    GcraExcludesCountDistinct "gcra_excludes_count_distinct" "Drop `algorithm: gcra` or count_distinct.",
    GcraOutOfRange "gcra_out_of_range" "Keep limit x period_s within 2^53 and burst x period_s / limit within 31622400 seconds.",
    NameMissing "name_missing" "Give the rule a name.",
    NameInvalid "name_invalid" "Use 1 to 64 of a-z, 0-9 and _ (a limiter built in code may be longer).",
    DuplicateRuleName "duplicate_rule_name" "Rename one of the rules: a name is the rule's identity and part of its counter's key.",
    PropertyInvalid "property_invalid" "Start a property name with a letter or _, then letters, digits and _, 64 at most.",
    DuplicateCharacteristic "duplicate_characteristic" "Name each characteristic once.",
    DistinctInCharacteristics "distinct_in_characteristics" "Take the counted property out of the characteristics: keyed by itself it can only ever be 1.",
    ActionMissing "action_missing" "Write `action: limit` (or warn, log, skip).",
    ActionUnknown "action_unknown" "Use limit, warn, log or skip.",
    AlgorithmUnknown "algorithm_unknown" "Use fixed_window or gcra.",
    UnknownField "unknown_field" "Remove the field or correct its spelling.",
    WrongType "wrong_type" "Give a value of the type that the field takes.",
    MatcherBareList "matcher_bare_list" "Write `{one_of: [...]}` for one of several values, or a list of matchers such as `[{regex: \".\"}, {ne: \"x\"}]`.",
    MatcherEmptyList "matcher_empty_list" "Put something in the list, or remove the matcher.",
    MatcherTooDeep "matcher_too_deep" "Nest matchers at most 8 levels deep.",
    MatcherTwoMarkers "matcher_two_markers" "Write one marker a map; several conditions are a list of maps.",
    MatcherUnknownMarker "matcher_unknown_marker" "Use one of eq, ne, regex, nre, one_of, none_of, not, prefix, cidr.",
    MatcherBadRegex "matcher_bad_regex" "Use the syntax of Rust's regex crate: no look-around, no back-references.",
    MatcherBadCidr "matcher_bad_cidr" "Write a network such as 10.0.0.0/8 or 2001:db8::/32, or one address.",
    MatcherBadValue "matcher_bad_value" "Give the marker a value of the kind that it takes.",
    OptionInvalid "option_invalid" "Use one of the values that the option names.",
    SkipTakesNoNumbers "skip_takes_no_numbers" "Remove limit, period_s, burst and ban_for_s: a skip rule counts nothing.",
    UnknownLimiter "unknown_limiter" "Name a limiter of available_limiters.yaml.",
    UnknownProperty "unknown_property" "Name a property that the limiter offers.",
    SkipNotAllowed "skip_not_allowed" "Add the rule's name to the limiter's allowed_skip_rules.",
    DescriptionMissing "description_missing" "Say in one sentence what the limiter guards.",
    DistinctChangeNeedsNewName "distinct_change_needs_new_name" "Give the rule a new name: the old counter is of another type.",
    YamlSyntax "yaml_syntax" "Correct the YAML or JSON at the place named.",
    NotUtf8 "not_utf8" "Save the file as UTF-8.",
    MergeKey "merge_key" "Write the fields out: merge keys (<<) are not part of YAML 1.2.",
    DuplicateKey "duplicate_key" "Write each key of a map once.",
    DocumentTooLarge "document_too_large" "Keep a document within 10 MiB.",
    RuleUnreachable "rule_unreachable" "Move the rule before the one that ends the chain, or remove one of them.",
    DefaultShadowed "default_shadowed" "Nothing, where the rule is to stand in the default's place; else give it a name of its own.",
    LimitLoweredTenfold "limit_lowered_tenfold" "Check the number; try the rule on a log with `replay --against` before it goes live.",
}

impl Code {
    /// How grave it is, unless the place says otherwise.
    pub const fn severity(self) -> Severity {
        match self {
            Self::RuleUnreachable | Self::DefaultShadowed | Self::LimitLoweredTenfold => Severity::Warning,
            _ => Severity::Error,
        }
    }
}

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// What was given cannot be used.
    Error,
    /// It can, but may not do what was meant.
    Warning,
}

impl Severity {
    /// As reports spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where in a file something stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// The file, as its reader calls it.
    pub file: Arc<str>,
    /// The line; the first is 1.
    pub line: u32,
    /// The column in characters; the first is 1.
    pub column: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One mistake in what was given.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The stable code.
    pub code: Code,
    /// The field, relative to what is built: `limit` for a rule, `rules[0].limit` for a limiter.
    pub path: String,
    /// What is wrong, with the value.
    pub message: String,
    /// How grave it is.
    pub severity: Severity,
    /// Where it stands, if it was read from a document.
    pub location: Option<Location>,
}

impl Finding {
    /// A finding at `path`.
    pub fn new(code: Code, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code, path: path.into(), message: message.into(), severity: code.severity(), location: None }
    }

    /// The same finding as a warning.
    #[must_use]
    pub fn as_warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// The same finding, at a place of a document.
    #[must_use]
    pub fn at(mut self, location: Location) -> Self {
        self.location = Some(location);
        self
    }

    /// The same finding below `parent`: `limit` becomes `rules[0].limit`.
    #[must_use]
    pub fn below(mut self, parent: &str) -> Self {
        self.path = match (parent.is_empty(), self.path.is_empty()) {
            (true, _) => self.path,
            (false, true) => parent.to_owned(),
            (false, false) => format!("{parent}.{}", self.path),
        };
        self
    }

    /// How to mend it.
    pub const fn mend(&self) -> &'static str {
        self.code.mend()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(location) = &self.location {
            write!(f, "{location}: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", OneLine(&self.path))?;
        }
        write!(f, "{} [{}]. {}", OneLine(&self.message), self.code, self.mend())
    }
}

/// A text whose control characters are escaped: keys of a document may hold any.
struct OneLine<'t>(&'t str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            if c.is_control() { write!(f, "{}", c.escape_default())? } else { write!(f, "{c}")? }
        }
        Ok(())
    }
}

/// Everything that is wrong with what was given, all at once. Never empty when returned as an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings(Vec<Finding>);

impl Findings {
    /// Adds one.
    pub fn push(&mut self, finding: Finding) {
        self.0.push(finding);
    }

    /// Adds one at `path`.
    pub(crate) fn add(&mut self, code: Code, path: impl Into<String>, message: impl Into<String>) {
        self.push(Finding::new(code, path, message));
    }

    /// Takes over all of `others`, below `parent`.
    pub fn extend_below(&mut self, parent: &str, others: Self) {
        self.0.extend(others.0.into_iter().map(|finding| finding.below(parent)));
    }

    /// Some finding is an error, not only a warning.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The findings in the order of what was read.
    pub fn iter(&self) -> std::slice::Iter<'_, Finding> {
        self.0.iter()
    }

    /// `value`, or the findings if there are any.
    ///
    /// # Errors
    /// Itself, when it is not empty.
    pub fn or<T>(self, value: T) -> Result<T, Self> {
        if self.0.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl FromIterator<Finding> for Findings {
    fn from_iter<T: IntoIterator<Item = Finding>>(findings: T) -> Self {
        Self(findings.into_iter().collect())
    }
}

impl Extend<Finding> for Findings {
    fn extend<T: IntoIterator<Item = Finding>>(&mut self, findings: T) {
        self.0.extend(findings);
    }
}

impl<'a> IntoIterator for &'a Findings {
    type Item = &'a Finding;
    type IntoIter = std::slice::Iter<'a, Finding>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl IntoIterator for Findings {
    type Item = Finding;
    type IntoIter = std::vec::IntoIter<Finding>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, finding) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{finding}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Findings {}
