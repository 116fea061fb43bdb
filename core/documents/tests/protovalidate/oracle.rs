//! protovalidate's own engine, in Go: `proto/oracle`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

/// A step of a message path.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub(crate) enum Step {
    /// A field.
    Field(String),
    /// A place in a list.
    Index(u64),
    /// A key of a map.
    Key { key: String },
}

/// What the engine says is wrong.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub(crate) struct Violation {
    pub(crate) rule_id: String,
    pub(crate) path: Vec<Step>,
    /// The value, where it is an integer.
    #[serde(default)]
    pub(crate) value: String,
}

#[derive(Deserialize)]
struct Answer {
    violations: Vec<Violation>,
}

/// The engine, with the schema.
pub(crate) struct Oracle {
    program: PathBuf,
    schema: PathBuf,
    room: PathBuf,
}

impl Oracle {
    /// Builds it, for a test of this name; quick where nothing has changed.
    pub(crate) fn build(test: &str) -> Self {
        let proto = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto");
        let room = Path::new(env!("CARGO_TARGET_TMPDIR")).join("protovalidate").join(test);
        fs::create_dir_all(&room).expect("the target folder can be written");
        let program = room.join(format!("oracle{}", env::consts::EXE_SUFFIX));
        let built = Command::new("go")
            .args(["build", "-mod=readonly", "-buildvcs=false", "-o"])
            .arg(&program)
            .arg(".")
            .current_dir(proto.join("oracle"))
            .output()
            .expect("Go builds proto/oracle: put `go` on PATH");
        assert!(built.status.success(), "go build: {}", String::from_utf8_lossy(&built.stderr));
        let schema = room.join("schema.binpb");
        fs::write(&schema, descriptors(&proto)).expect("the target folder can be written");
        Self { program, schema, room }
    }

    /// What is wrong with each message, in the same order. A message is the name of its type and its bytes.
    pub(crate) fn judge(&self, messages: &[(&str, Vec<u8>)]) -> Vec<Vec<Violation>> {
        let lines: Vec<String> = messages
            .iter()
            .map(|(name, bytes)| {
                let line = serde_json::json!({
                    "type": format!("gitlab.ratelimit.config.v1.{name}"),
                    "message": STANDARD.encode(bytes),
                });
                format!("{line}\n")
            })
            .collect();
        let input = self.room.join("messages.jsonl");
        fs::write(&input, lines.concat()).expect("the target folder can be written");
        let judged = Command::new(&self.program)
            .arg(&self.schema)
            .stdin(Stdio::from(File::open(input).expect("it was written")))
            .output()
            .expect("it was built");
        assert!(judged.status.success(), "{}", String::from_utf8_lossy(&judged.stderr));
        let answers: Vec<Vec<Violation>> = serde_json::Deserializer::from_slice(&judged.stdout)
            .into_iter::<Answer>()
            .map(|answer| {
                let mut violations = answer.expect("an answer").violations;
                // Go goes through a map in any order.
                violations.sort_by_key(|violation| format!("{violation:?}"));
                violations
            })
            .collect();
        assert_eq!(answers.len(), messages.len(), "an answer for each message");
        answers
    }
}

/// The schema with its annotations, as a `FileDescriptorSet`.
fn descriptors(proto: &Path) -> Vec<u8> {
    let folder = Path::new("gitlab/ratelimit/config/v1");
    let listed = fs::read_dir(proto.join(folder)).expect("proto/");
    let files: Vec<PathBuf> = listed.map(|entry| folder.join(entry.expect("an entry").file_name())).collect();
    let mut compiler = protox::Compiler::new([proto.to_owned(), proto.join("third_party")]).expect("proto/ is there");
    compiler.include_imports(true).open_files(files).expect("proto/ compiles");
    // Not by way of prost's own types: those drop the annotations.
    compiler.encode_file_descriptor_set()
}
