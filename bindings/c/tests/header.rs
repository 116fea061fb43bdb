//! The header that is checked in is the one that cbindgen writes. `LABKIT_REGENERATE=1` writes it.

use std::env;
use std::fs;
use std::path::Path;

#[test]
fn the_header_is_that_of_the_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_root_or_default(root);
    let mut written = Vec::new();
    let builder = cbindgen::Builder::new().with_config(config).with_src(root.join("src/lib.rs"));
    builder.generate().unwrap().write(&mut written);
    let written = String::from_utf8(written).unwrap();
    let header = root.join("include/labkit_ratelimit.h");
    if env::var_os("LABKIT_REGENERATE").is_some() {
        fs::write(&header, &written).unwrap();
    }
    assert!(fs::read_to_string(&header).unwrap_or_default() == written, "run with LABKIT_REGENERATE=1");
}
