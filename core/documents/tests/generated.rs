//! The types of `src/generated` are those of `proto/`.
//!
//! After a change of `proto/`: `LABKIT_REGENERATE=1 cargo test -p labkit-ratelimit-documents --test generated`.

#![expect(clippy::expect_used, reason = "a test falls over what must be there")]

use std::path::{Path, PathBuf};
use std::{env, fs};

const PACKAGE: &str = "gitlab.ratelimit.config.v1";

fn schema() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto")
}

/// Every schema file of the package, relative to `proto/`.
fn files() -> Vec<PathBuf> {
    let folder = Path::new("gitlab/ratelimit/config/v1");
    let listed = fs::read_dir(schema().join(folder)).expect("proto/");
    let mut files: Vec<PathBuf> = listed.map(|entry| folder.join(entry.expect("an entry").file_name())).collect();
    files.sort();
    files
}

fn generated() -> String {
    let mut compiler = protox::Compiler::new([schema(), schema().join("third_party")]).expect("proto/ is there");
    compiler.include_source_info(true).include_imports(true).open_files(files()).expect("proto/ compiles");
    let mut set = compiler.file_descriptor_set();
    // The annotations are read by engines of protovalidate, not by this library.
    set.file.retain(|file| file.package() == PACKAGE);
    let mut config = prost_build::Config::new();
    config.btree_map(["."]);
    let requests =
        set.file.into_iter().map(|file| (prost_build::Module::from_protobuf_package_name(PACKAGE), file)).collect();
    let modules = config.generate(requests).expect("prost generates");
    modules.into_values().next().expect("one module")
}

#[test]
fn the_types_are_those_of_the_schema() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/generated").join(format!("{PACKAGE}.rs"));
    let generated = generated();
    if env::var_os("LABKIT_REGENERATE").is_some() {
        fs::write(&path, &generated).expect("src/generated can be written");
    }
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == generated,
        "src/generated is older than proto/: run with LABKIT_REGENERATE=1"
    );
}
