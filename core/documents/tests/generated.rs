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

/// The package as `protox` compiles it.
fn compiled() -> prost_types::FileDescriptorSet {
    let mut compiler = protox::Compiler::new([schema(), schema().join("third_party")]).expect("proto/ is there");
    compiler.include_source_info(true).include_imports(true).open_files(files()).expect("proto/ compiles");
    let mut set = compiler.file_descriptor_set();
    // The annotations are read by engines of protovalidate, not by this library.
    set.file.retain(|file| file.package() == PACKAGE);
    set
}

fn generated() -> String {
    let mut config = prost_build::Config::new();
    config.btree_map(["."]);
    let requests = compiled()
        .file
        .into_iter()
        .map(|file| (prost_build::Module::from_protobuf_package_name(PACKAGE), file))
        .collect();
    let modules = config.generate(requests).expect("prost generates");
    modules.into_values().next().expect("one module")
}

/// The numbers of fields and of enums' values. Stored documents and clients hold them: they never change.
const NUMBERS: &[(&str, &[(&str, i32)])] = &[
    ("AvailableLimiters", &[("available_limiters", 1)]),
    (
        "LimiterSpec",
        &[
            ("description", 1),
            ("available_properties", 2),
            ("default_rules", 3),
            ("allowed_skip_rules", 4),
            ("evaluation", 5),
        ],
    ),
    (
        "DefaultRule",
        &[
            ("characteristics", 1),
            ("limit", 2),
            ("period_s", 3),
            ("action", 4),
            ("ban_for_s", 5),
            ("name", 6),
            ("match", 7),
            ("description", 8),
            ("count_distinct", 9),
            ("algorithm", 10),
            ("burst", 11),
            ("final", 12),
            ("overrides", 13),
        ],
    ),
    (
        "Rule",
        &[
            ("description", 1),
            ("action", 2),
            ("characteristics", 3),
            ("match", 4),
            ("limit", 5),
            ("period_s", 6),
            ("count_distinct", 7),
            ("ban_for_s", 8),
            ("name", 9),
            ("algorithm", 10),
            ("burst", 11),
            ("final", 12),
            ("overrides", 13),
        ],
    ),
    ("Override", &[("match", 1), ("limit", 2), ("period_s", 3), ("burst", 4), ("ban_for_s", 5)]),
    (
        "MatchValue",
        &[
            ("eq", 1),
            ("regex", 2),
            ("one_of", 3),
            ("ne", 4),
            ("nre", 5),
            ("none_of", 6),
            ("not", 7),
            ("prefix", 8),
            ("cidr", 9),
            ("all", 10),
        ],
    ),
    ("Scalar", &[("null", 1), ("text", 2), ("integer", 3), ("number", 4), ("boolean", 5)]),
    ("ScalarList", &[("values", 1)]),
    ("StringList", &[("values", 1)]),
    ("MatchList", &[("values", 1)]),
    ("RateLimits", &[("rate_limits", 1)]),
    ("RuleList", &[("rules", 1)]),
    ("LimiterRules", &[("file_rules", 1), ("published_rules", 2), ("default_rules", 3)]),
    ("PublishRulesRequest", &[("rate_limits", 1)]),
    (
        "Action",
        &[("ACTION_UNSPECIFIED", 0), ("ACTION_LIMIT", 1), ("ACTION_LOG", 2), ("ACTION_SKIP", 3), ("ACTION_WARN", 4)],
    ),
    ("Algorithm", &[("ALGORITHM_UNSPECIFIED", 0), ("ALGORITHM_FIXED_WINDOW", 1), ("ALGORITHM_GCRA", 2)]),
    ("Evaluation", &[("EVALUATION_UNSPECIFIED", 0), ("EVALUATION_FIRST_BLOCK", 1), ("EVALUATION_ALL", 2)]),
];

#[test]
fn numbers_never_change() {
    let set = compiled();
    let mut found: Vec<(String, Vec<(String, i32)>)> = Vec::new();
    for file in set.file {
        for message in file.message_type {
            let fields = message.field.iter().map(|field| (field.name().to_owned(), field.number())).collect();
            found.push((message.name().to_owned(), fields));
        }
        for enumeration in file.enum_type {
            let values = enumeration.value.iter().map(|value| (value.name().to_owned(), value.number())).collect();
            found.push((enumeration.name().to_owned(), values));
        }
    }
    let owned = |fields: &[(&str, i32)]| fields.iter().map(|(name, number)| ((*name).to_owned(), *number)).collect();
    let mut expected: Vec<(String, Vec<(String, i32)>)> =
        NUMBERS.iter().map(|(name, fields)| ((*name).to_owned(), owned(fields))).collect();
    found.sort();
    expected.sort();
    for list in [&mut found, &mut expected] {
        for (_, fields) in list {
            fields.sort_by_key(|(_, number)| *number);
        }
    }
    assert_eq!(found, expected);
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
