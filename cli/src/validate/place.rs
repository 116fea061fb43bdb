//! The path of a file, as GitHub and GitLab find it: from the root of the repository, where commands run.

use crate::inputs::STANDARD_INPUT;
use labkit_ratelimit_engine::Finding;
use std::env;
use std::path::{Component, Path, PathBuf};

/// The file of a finding, if it has one. Standard input has no path: it is called what such a document is called.
pub(super) fn file_of(finding: &Finding) -> Option<String> {
    let file = &*finding.location.as_ref()?.file;
    if file != STANDARD_INPUT {
        return Some(from_here(Path::new(file)));
    }
    let is_contract = finding.path.starts_with("available_limiters");
    Some(if is_contract { "available_limiters.yaml" } else { "rate_limits.yaml" }.to_owned())
}

/// The path without detours; below the working directory, from there.
fn from_here(path: &Path) -> String {
    let short = below(&env::current_dir().unwrap_or_default(), path);
    short.display().to_string()
}

fn below(here: &Path, path: &Path) -> PathBuf {
    let plain = plain(path);
    if plain.is_relative() {
        return plain;
    }
    let real = path.canonicalize().ok();
    let inside = |path: &Path| path.strip_prefix(here).map(Path::to_owned).ok();
    inside(&plain).or_else(|| real.as_deref().and_then(inside)).unwrap_or(plain)
}

/// Without `.`, doubled slashes, and names that `..` takes back.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match (part, plain.components().next_back()) {
            (Component::CurDir, _) | (Component::ParentDir, Some(Component::RootDir)) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => {
                plain.pop();
            }
            _ => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use labkit_ratelimit_engine::{Code, Location};

    #[test]
    fn paths_have_no_detours() {
        let here = Path::new("/repo");
        for (path, expected) in [
            ("a.yaml", "a.yaml"),
            (".//a.yaml", "a.yaml"),
            ("././a/./b.yaml", "a/b.yaml"),
            ("a/../b.yaml", "b.yaml"),
            ("../a.yaml", "../a.yaml"),
            ("../../a.yaml", "../../a.yaml"),
            ("/repo/a//b.yaml", "a/b.yaml"),
            ("/repo/x/../b.yaml", "b.yaml"),
            ("/other/b.yaml", "/other/b.yaml"),
            ("/../b.yaml", "/b.yaml"),
        ] {
            assert_eq!(below(here, Path::new(path)), Path::new(expected), "{path}");
        }
    }

    #[test]
    fn standard_input_has_the_name_of_its_kind() {
        let finding = |path: &str, file: &str| {
            let location = Location { file: file.into(), line: 1, column: 1 };
            file_of(&Finding::new(Code::YamlSyntax, path, "m").at(location))
        };
        assert_eq!(finding("available_limiters.web", STANDARD_INPUT).as_deref(), Some("available_limiters.yaml"));
        assert_eq!(finding("", STANDARD_INPUT).as_deref(), Some("rate_limits.yaml"));
        assert_eq!(finding("available_limiters.web", "./a.yaml").as_deref(), Some("a.yaml"));
        assert_eq!(file_of(&Finding::new(Code::YamlSyntax, "", "m")), None);
    }
}
