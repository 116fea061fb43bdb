//! A section of the page, and its examples.

use labkit_ratelimit_documents::{Documents, Source};
use labkit_ratelimit_engine::{Code, Severity};
use std::fmt::Write;

/// What a code means: cause, example, mend.
pub(crate) struct Section {
    pub(crate) code: Code,
    /// What is wrong, without a full stop.
    pub(crate) cause: &'static str,
    /// Where it is found in the example; empty where it is of the whole file.
    pub(crate) path: &'static str,
    /// What is found besides, as the one does not come without the other.
    pub(crate) beside: &'static [(Code, &'static str)],
    pub(crate) wrong: Example,
    /// What there is to say beyond the mend of the code; may be empty.
    more: &'static str,
    pub(crate) mended: Example,
}

/// What is read.
pub(crate) enum Example {
    /// Rules of the limiter `sign_in` in a `rate_limits` file.
    Rules(&'static str),
    /// A `rate_limits` file.
    RateLimits(&'static str),
    /// An `available_limiters` file.
    AvailableLimiters(&'static str),
    /// An `available_limiters` file, and a `rate_limits` file for it.
    Both(&'static str, &'static str),
    /// A `rate_limits` file that a page cannot show: words for it, and its bytes.
    Told(&'static str, fn() -> Vec<u8>),
}

impl Section {
    pub(crate) const fn new(
        code: Code,
        cause: &'static str,
        path: &'static str,
        wrong: Example,
        mended: Example,
    ) -> Self {
        Self { code, cause, path, beside: &[], wrong, more: "", mended }
    }

    /// The same, with more to say on how to mend it.
    pub(crate) const fn more(self, more: &'static str) -> Self {
        Self { more, ..self }
    }

    /// The same, where these are found too.
    pub(crate) const fn beside(self, beside: &'static [(Code, &'static str)]) -> Self {
        Self { beside, ..self }
    }

    /// Appends it to the page.
    pub(crate) fn write(&self, severity: Severity, page: &mut String) {
        let code = self.code;
        let kind = match severity {
            Severity::Warning => " A warning: the file is taken all the same.",
            Severity::Error => "",
        };
        write!(page, "\n## {code}\n\n{}.{kind}\n\n{}\n", self.cause, self.wrong.shown()).expect("text");
        match self.path {
            "" => page.push_str("Found in the file as a whole"),
            path => write!(page, "Found at `{path}`").expect("text"),
        }
        for (other, path) in self.beside {
            write!(page, ", with [{other}](#{other}) at `{path}`").expect("text");
        }
        write!(page, ".\n\n**Mend.** {}", code.mend()).expect("text");
        if !self.more.is_empty() {
            write!(page, " {}", self.more).expect("text");
        }
        write!(page, "\n\n{}", self.mended.shown_after(&self.wrong)).expect("text");
    }
}

impl Example {
    /// The files, as an application would give them.
    pub(crate) fn documents(&self) -> Documents {
        let documents = Documents::new();
        match self {
            Self::Rules(text) => documents.rate_limits(rate_limits(within_sign_in(text))),
            Self::RateLimits(text) => documents.rate_limits(rate_limits(file(text))),
            Self::AvailableLimiters(text) => documents.available_limiters(available_limiters(text)),
            Self::Both(available, text) => {
                documents.available_limiters(available_limiters(available)).rate_limits(rate_limits(file(text)))
            }
            Self::Told(_, bytes) => documents.rate_limits(rate_limits(bytes())),
        }
    }

    /// The paragraphs that show it.
    fn shown(&self) -> String {
        match self {
            Self::Rules(text) | Self::RateLimits(text) | Self::AvailableLimiters(text) => block(text),
            Self::Both(available, text) => format!("{}\n{}", block(available), block(text)),
            Self::Told(words, _) => format!("{words}.\n"),
        }
    }

    /// The paragraphs that show it to whoever has just seen `other`: the same contract is not shown again.
    fn shown_after(&self, other: &Self) -> String {
        match (self, other) {
            (Self::Both(available, text), Self::Both(seen, _)) if available == seen => block(text),
            _ => self.shown(),
        }
    }
}

fn block(text: &str) -> String {
    format!("```yaml\n{}```\n", file(text))
}

fn available_limiters(text: &str) -> Source {
    Source::new("available_limiters.yaml", file(text))
}

fn rate_limits(bytes: impl AsRef<[u8]>) -> Source {
    Source::new("rate_limits.yaml", bytes)
}

/// The text of a file: in the sections it begins on a line of its own.
fn file(text: &str) -> &str {
    text.trim_start_matches('\n')
}

/// The file that holds these rules.
fn within_sign_in(rules: &str) -> String {
    file(rules).lines().fold("rate_limits:\n  sign_in:\n".to_owned(), |document, line| document + "    " + line + "\n")
}
