//! Which document a file is.

use crate::drafts::{AVAILABLE_LIMITERS, RATE_LIMITS};
use crate::path;
use crate::reading::outer_entry;
use crate::source::Source;
use crate::tree::{Node, Tree};
use crate::yaml;
use labkit_ratelimit_engine::names;

/// Which document a file is, told by the file alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DocumentKind {
    /// The contract of an application.
    AvailableLimiters,
    /// Rules of operators.
    RateLimits,
}

impl Source {
    /// Which document it is: its outer key says so. A file that has none, or that cannot be parsed, is what its name
    /// says: `available_limiters*.yaml`, `.yml` or `.json` is a contract. Everything else is a `rate_limits` document.
    ///
    /// ```
    /// use labkit_ratelimit_documents::{DocumentKind, Source};
    /// let contract = Source::new("contract.yaml", "available_limiters: {}");
    /// assert_eq!(contract.kind(), DocumentKind::AvailableLimiters);
    /// ```
    pub fn kind(&self) -> DocumentKind {
        let written = yaml::parse(self).ok().and_then(|parsed| outer_key(&parsed.root));
        written.unwrap_or_else(|| named(self.name()))
    }
}

/// What the outer key says, also one that is nearly right.
fn outer_key(root: &Node) -> Option<DocumentKind> {
    if outer_entry(root, AVAILABLE_LIMITERS).is_some() {
        return Some(DocumentKind::AvailableLimiters);
    }
    if outer_entry(root, RATE_LIMITS).is_some() {
        return Some(DocumentKind::RateLimits);
    }
    let Some([only]) = root.as_map() else { return None };
    let is_misspelt = matches!(only.value.tree, Tree::Map(_))
        && names::nearest(&path::snake(&only.key), [AVAILABLE_LIMITERS]).is_some();
    is_misspelt.then_some(DocumentKind::AvailableLimiters)
}

fn named(name: &str) -> DocumentKind {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let is_document = |rest: &str| [".yaml", ".yml", ".json"].iter().any(|end| rest.ends_with(end));
    match file.strip_prefix(AVAILABLE_LIMITERS) {
        Some(rest) if is_document(rest) => DocumentKind::AvailableLimiters,
        _ => DocumentKind::RateLimits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outer_key_says_it_whatever_the_name() {
        let kind = |name: &str, text: &str| Source::new(name, text).kind();
        for text in [
            "available_limiters: {a: {}}",
            "{\"availableLimiters\": {}}",
            "availble_limiters: {a: {}}",
            "available_limiters:",
        ] {
            assert_eq!(kind("rate_limits.yaml", text), DocumentKind::AvailableLimiters, "{text}");
        }
        for text in ["rate_limits: {}", "rateLimits: {}"] {
            assert_eq!(kind("available_limiters.yaml", text), DocumentKind::RateLimits, "{text}");
        }
    }

    #[test]
    fn the_name_says_it_where_the_text_does_not() {
        for text in ["web: []", "", "web: [", "- x"] {
            for name in ["available_limiters.yaml", "a/b/available_limiters.v2.yml", "c:\\available_limiters.json"] {
                assert_eq!(Source::new(name, text).kind(), DocumentKind::AvailableLimiters, "{name}: {text}");
            }
            for name in ["rate_limits.yaml", "standard input", "available_limiters.txt", "available_limiters/x.yaml"] {
                assert_eq!(Source::new(name, text).kind(), DocumentKind::RateLimits, "{name}: {text}");
            }
        }
    }
}
