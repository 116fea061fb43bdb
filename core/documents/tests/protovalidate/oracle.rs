//! protovalidate's own engine, in Go: `proto/oracle`.

use crate::message::Message;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const PACKAGE: &str = "gitlab.ratelimit.config.v1";
const PROGRAM: &str = "oracle";
const SCHEMA: &str = "schema.binpb";

/// A step of a message path.
#[derive(Debug, Deserialize)]
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
#[derive(Debug, Deserialize)]
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

/// What is wrong with each message, in the same order. `test` names the caller, and what it leaves in the target folder.
pub(crate) fn judge(test: &str, messages: &[Message]) -> Vec<Vec<Violation>> {
    let room = room();
    let input = room.join(format!("{test}.jsonl"));
    let lines: Vec<String> = messages.iter().map(line).collect();
    fs::write(&input, lines.concat()).expect("the target folder can be written");
    let judged = Command::new(room.join(PROGRAM))
        .arg(room.join(SCHEMA))
        .stdin(File::open(input).expect("it was written"))
        .output()
        .expect("it was built");
    assert!(judged.status.success(), "{}", String::from_utf8_lossy(&judged.stderr));
    let answers = serde_json::Deserializer::from_slice(&judged.stdout).into_iter::<Answer>();
    let answers: Vec<_> = answers.map(|answer| answer.expect("an answer").violations).collect();
    assert_eq!(answers.len(), messages.len(), "an answer for each message");
    answers
}

fn line(message: &Message) -> String {
    let (name, bytes) = message.encoded();
    let line = serde_json::json!({"type": format!("{PACKAGE}.{name}"), "message": STANDARD.encode(bytes)});
    format!("{line}\n")
}

/// The folder with the program and the schema, made once for all tests.
fn room() -> &'static Path {
    static ROOM: OnceLock<PathBuf> = OnceLock::new();
    ROOM.get_or_init(|| {
        let room = Path::new(env!("CARGO_TARGET_TMPDIR")).join("protovalidate");
        fs::create_dir_all(&room).expect("the target folder can be written");
        let proto = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto");
        let built = Command::new("go")
            .args(["build", "-mod=readonly", "-buildvcs=false", "-o"])
            .arg(room.join(PROGRAM))
            .arg(".")
            .current_dir(proto.join("oracle"))
            .output()
            .expect("Go builds proto/oracle: put `go` on PATH");
        assert!(built.status.success(), "go build: {}", String::from_utf8_lossy(&built.stderr));
        fs::write(room.join(SCHEMA), descriptors(&proto)).expect("the target folder can be written");
        room
    })
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
