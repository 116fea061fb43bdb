//! The build hash: of everything that the library is made from, so that whoever links it can tell which one it has.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// What the library is made from, seen from the repository's root. `go/internal/native` reads the same, and `ci/go-release`.
const SOURCES: [&str; 7] =
    ["Cargo.lock", "Cargo.toml", "bindings/c", "core/documents", "core/engine", "core/limiter", "core/store"];

fn main() -> io::Result<()> {
    let root = PathBuf::from("../..");
    let mut files = Vec::new();
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", root.join(source).display());
        collect(&root, Path::new(source), &mut files)?;
    }
    files.sort();
    let mut hash = Sha256::new();
    for name in files {
        let content = fs::read(root.join(&name))?;
        hash.update(format!("{name}\0{}\0", content.len()));
        hash.update(content);
    }
    // Wrong on purpose is another library.
    for feature in ["SABOTAGE", "PANIC_PROBE"] {
        if env::var_os(format!("CARGO_FEATURE_{feature}")).is_some() {
            hash.update(feature);
        }
    }
    let mut hex = String::with_capacity(64);
    for byte in hash.finalize() {
        // Writing to a String does not fail.
        let _ = write!(hex, "{byte:02x}");
    }
    println!("cargo::rustc-env=LABKIT_RATELIMIT_BUILD={hex}");
    Ok(())
}

/// The Rust, Lua and TOML files of a folder, by names with `/`; tests are not in the library.
fn collect(root: &Path, at: &Path, files: &mut Vec<String>) -> io::Result<()> {
    let name = at.to_string_lossy().replace('\\', "/");
    let path = root.join(at);
    if path.is_file() {
        if ["rs", "lua", "toml", "lock"].iter().any(|end| at.extension().is_some_and(|own| own == *end)) {
            files.push(name);
        }
        return Ok(());
    }
    if at.ends_with("tests") || at.ends_with("examples") {
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        collect(root, &at.join(entry?.file_name()), files)?;
    }
    Ok(())
}
