//! Our JSON beside protobuf's canonical JSON, field by field on random messages: the same names, the same values, and
//! the differences that the documentation of the module `message` lists, each of them asserted here.
//!
//! Canonical JSON comes from `prost-reflect`, over the schema that `protox` compiles. `LABKIT_CANONICAL_STEPS` (2,000)
//! messages of all kinds together, `LABKIT_DOCUMENTS_SEED` (of the day) starts them.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod random;

use fastrand::Rng;
use labkit_ratelimit_documents::Source;
use labkit_ratelimit_documents::message::{AvailableLimiters, Document, LimiterRules, PublishRulesRequest, RateLimits};
use labkit_ratelimit_engine::Code;
use prost_reflect::prost::Message;
use prost_reflect::{
    DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor, ReflectMessage, SerializeOptions,
};
use random::Random;
use serde_json::{Map, Value as Json, json};
use std::fmt::Debug;
use std::path::Path;

const PACKAGE: &str = "gitlab.ratelimit.config.v1";

fn pool() -> DescriptorPool {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto");
    let mut compiler = protox::Compiler::new([schema.clone(), schema.join("third_party")]).expect("proto/");
    compiler
        .include_imports(true)
        .open_file(format!("{}/rate_limits.proto", PACKAGE.replace('.', "/")))
        .expect("it compiles");
    compiler.open_file(format!("{}/available_limiters.proto", PACKAGE.replace('.', "/"))).expect("it compiles");
    compiler.descriptor_pool()
}

/// A name of a field in one of its two spellings.
fn name(field: &FieldDescriptor, original: bool) -> &str {
    if original { field.name() } else { field.json_name() }
}

/// The canonical JSON of a message.
fn canonical(message: &DynamicMessage, original: bool, strings: bool) -> Json {
    let options = SerializeOptions::new().use_proto_field_name(original).stringify_64_bit_integers(strings);
    message.serialize_with_options(serde_json::value::Serializer, &options).expect("a message is JSON")
}

/// A canonical field of a list message: nothing where it is empty.
fn values<'j>(canonical: &'j Json, field: &str) -> &'j [Json] {
    canonical.get(field).and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Compares a message in canonical JSON with ours.
fn same_message(desc: &MessageDescriptor, original: bool, canonical: &Json, ours: &Json, at: &str) {
    let list = |field: &str, ours: &Json| {
        let (theirs, ours) = (values(canonical, field), ours.as_array().expect("ours is a list"));
        assert_eq!(theirs.len(), ours.len(), "{at}");
        let field = desc.get_field_by_name(field).expect("the field");
        for (i, (theirs, ours)) in theirs.iter().zip(ours).enumerate() {
            same_value(&field.kind(), original, theirs, ours, &format!("{at}[{i}]"));
        }
    };
    match desc.name() {
        // A list is bare.
        "RuleList" => list("rules", ours),
        "ScalarList" | "StringList" => list("values", ours),
        // In a list of matchers a plain value is written as its marker.
        "MatchList" => {
            let (theirs, ours) = (values(canonical, "values"), ours.as_array().expect("ours is a list"));
            assert_eq!(theirs.len(), ours.len(), "{at}");
            let field = desc.get_field_by_name("values").expect("the field");
            for (i, (theirs, ours)) in theirs.iter().zip(ours).enumerate() {
                let plain = ours.get("eq").filter(|_| theirs.get("eq").is_some());
                same_value(&field.kind(), original, theirs, plain.unwrap_or(ours), &format!("{at}[{i}]"));
            }
        }
        "Scalar" => same_scalar(canonical, ours, at),
        "MatchValue" => {
            let theirs = canonical.as_object().expect("a map");
            assert_eq!(theirs.len(), 1, "{at}");
            let (key, value) = theirs.iter().next().expect("a kind");
            let field = desc.fields().find(|field| name(field, original) == key).expect("a kind");
            let operand = match field.name() {
                // A plain value and a list are written as they are, everything else under its marker.
                "eq" | "all" => ours,
                marker => {
                    assert_eq!(ours.as_object().map(Map::len), Some(1), "{at}");
                    ours.get(marker).unwrap_or_else(|| panic!("{at}: `{marker}` is missing in {ours}"))
                }
            };
            same_value(&field.kind(), original, value, operand, &format!("{at}.{key}"));
        }
        _ => same_fields(desc, original, canonical, ours, at),
    }
}

fn same_fields(desc: &MessageDescriptor, original: bool, canonical: &Json, ours: &Json, at: &str) {
    let (theirs, ours) = (canonical.as_object().expect("a map"), ours.as_object().expect("a map"));
    for key in theirs.keys() {
        assert!(desc.fields().any(|field| name(&field, original) == key), "{at}: what is `{key}`?");
    }
    for key in ours.keys() {
        assert!(desc.get_field_by_name(key).is_some(), "{at}: what is `{key}`?");
    }
    let nothing = json!({});
    for field in desc.fields() {
        let at = format!("{at}.{}", field.name());
        let outer = ["AvailableLimiters", "RateLimits", "PublishRulesRequest"].contains(&desc.name());
        let (theirs, ours) = match (theirs.get(name(&field, original)), ours.get(field.name())) {
            (None, None) => continue,
            (Some(theirs), Some(ours)) => (theirs, ours),
            // The outer key is always written.
            (None, Some(ours)) if outer => (&nothing, ours),
            (theirs, ours) => panic!("{at}: {theirs:?} beside {ours:?}"),
        };
        if field.is_map() {
            let Kind::Message(entry) = field.kind() else { panic!("a map has entries") };
            let (theirs, ours) = (theirs.as_object().expect("a map"), ours.as_object().expect("a map"));
            assert!(theirs.len() == ours.len(), "{at}");
            for (key, theirs) in theirs {
                let ours = ours.get(key).unwrap_or_else(|| panic!("{at}: no `{key}`"));
                same_value(&entry.map_entry_value_field().kind(), original, theirs, ours, &format!("{at}.{key}"));
            }
        } else if field.is_list() {
            let (theirs, ours) = (theirs.as_array().expect("a list"), ours.as_array().expect("a list"));
            assert_eq!(theirs.len(), ours.len(), "{at}");
            for (theirs, ours) in theirs.iter().zip(ours) {
                same_value(&field.kind(), original, theirs, ours, &at);
            }
        } else {
            same_value(&field.kind(), original, theirs, ours, &at);
        }
    }
}

fn same_value(kind: &Kind, original: bool, canonical: &Json, ours: &Json, at: &str) {
    match kind {
        Kind::Message(desc) => same_message(desc, original, canonical, ours, at),
        Kind::Enum(desc) => {
            let long = canonical.as_str().expect("an enum's value is a string");
            assert!(desc.get_value_by_name(long).is_some(), "{at}: {long}");
            let prefix = format!("{}_", desc.name().to_uppercase());
            let short = long.strip_prefix(&prefix).expect("the prefix").to_lowercase();
            assert_eq!(ours, &Json::from(short), "{at}");
        }
        // Canonical JSON writes 64 bits as a string, we as a number.
        Kind::Uint64 | Kind::Int64 => {
            assert!(ours.is_number(), "{at}: {ours}");
            assert_eq!(canonical.as_str(), Some(ours.to_string().as_str()), "{at}");
        }
        Kind::Double => {
            let bits = |json: &Json| json.as_f64().expect("a number").to_bits();
            assert!(ours.is_f64() && bits(canonical) == bits(ours), "{at}: {canonical} beside {ours}");
        }
        // Strings, flags and numbers of 32 bits.
        _ => assert_eq!(canonical, ours, "{at}"),
    }
}

fn same_scalar(canonical: &Json, ours: &Json, at: &str) {
    let theirs = canonical.as_object().expect("a map");
    assert_eq!(theirs.len(), 1, "{at}: {canonical}");
    let (kind, value) = theirs.iter().next().expect("a kind");
    match kind.as_str() {
        "integer" => same_value(&Kind::Int64, true, value, ours, at),
        "number" => same_value(&Kind::Double, true, value, ours, at),
        // A text, a flag, null.
        _ => assert_eq!(value, ours, "{at}"),
    }
}

/// Ours, with everything in the spelling that canonical JSON has, so far as files may have it too: names of fields,
/// values of enums, lists of rules.
fn respelled(desc: &MessageDescriptor, ours: &Json) -> Json {
    let list = |kind: &Kind, ours: &Json| -> Json {
        let entries = ours.as_array().expect("a list").iter();
        entries.map(|ours| respelled_value(kind, ours)).collect()
    };
    match desc.name() {
        "RuleList" => json!({ "rules": list(&desc.get_field_by_name("rules").expect("rules").kind(), ours) }),
        "Scalar" | "ScalarList" | "StringList" => ours.clone(),
        "MatchValue" => match ours {
            Json::Object(pairs) => pairs
                .iter()
                .map(|(marker, operand)| {
                    let marker =
                        desc.get_field_by_name(marker).map_or(marker.clone(), |field| field.json_name().into());
                    (marker, respelled(desc, operand))
                })
                .collect(),
            Json::Array(entries) => entries.iter().map(|entry| respelled(desc, entry)).collect(),
            plain => plain.clone(),
        },
        _ => {
            let pair = |(key, ours): (&String, &Json)| {
                let field = desc.get_field_by_name(key).expect("a field");
                let value = if field.is_map() {
                    let Kind::Message(entry) = field.kind() else { panic!("a map has entries") };
                    let pairs = ours.as_object().expect("a map").iter();
                    let kind = entry.map_entry_value_field().kind();
                    pairs.map(|(key, ours)| (key.clone(), respelled_value(&kind, ours))).collect()
                } else if field.is_list() {
                    list(&field.kind(), ours)
                } else {
                    respelled_value(&field.kind(), ours)
                };
                (field.json_name().to_owned(), value)
            };
            ours.as_object().expect("a map").iter().map(pair).collect()
        }
    }
}

fn respelled_value(kind: &Kind, ours: &Json) -> Json {
    match kind {
        Kind::Message(desc) => respelled(desc, ours),
        Kind::Enum(desc) => {
            let short = ours.as_str().expect("a string");
            Json::from(format!("{}_{}", desc.name(), short).to_uppercase())
        }
        _ => ours.clone(),
    }
}

/// JSON's text, with what YAML must not hold as escapes.
fn escaped(json: &Json) -> String {
    let escape = |c: char| match c {
        '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    };
    json.to_string().chars().map(escape).collect()
}

fn parsed(text: &str) -> Json {
    serde_json::from_str(text).expect("JSON")
}

fn compare<D: Document + Random + PartialEq + Debug>(pool: &DescriptorPool, message_name: &str, seed: u64) {
    let desc = pool.get_message_by_name(&format!("{PACKAGE}.{message_name}")).expect("a message");
    let message = D::random(&mut Rng::with_seed(seed));
    let dynamic = DynamicMessage::decode(desc.clone(), message.encode_to_vec().as_slice()).expect("the same bytes");
    let ours = parsed(&message.to_json());
    let at = format!("seed {seed}: {message_name}");
    for original in [true, false] {
        same_message(&desc, original, &canonical(&dynamic, original, true), &ours, &at);
        // A canonical reader takes numbers of 64 bits as we write them.
        let with_numbers = canonical(&dynamic, original, false);
        let back = DynamicMessage::deserialize(desc.clone(), with_numbers).expect("canonical JSON");
        assert_eq!(back, dynamic, "{at}");
    }
    let respelled = escaped(&respelled(&desc, &ours));
    let read = D::read(&Source::new("respelled", respelled.as_str()));
    assert_eq!(read.as_ref(), Ok(&message), "{at}: {respelled}");
}

#[test]
fn every_field_is_as_canonical_json_has_it_or_differs_as_documented() {
    let pool = pool();
    let first = random::seed("LABKIT_DOCUMENTS_SEED").wrapping_mul(1 << 32);
    let steps = random::variable("LABKIT_CANONICAL_STEPS").unwrap_or(2_000);
    for seed in first..first + steps.div_ceil(4) {
        compare::<RateLimits>(&pool, "RateLimits", seed);
        compare::<AvailableLimiters>(&pool, "AvailableLimiters", seed);
        compare::<PublishRulesRequest>(&pool, "PublishRulesRequest", seed);
        compare::<LimiterRules>(&pool, "LimiterRules", seed);
    }
}

/// The rule that both readers are asked about, with one field changed.
fn with(field: &str, value: Json) -> Json {
    let mut rule = json!({"name": "a", "action": "ACTION_LIMIT", "limit": 10, "period_s": 60});
    rule[field] = value;
    json!({"rate_limits": {"x": {"rules": [rule]}}})
}

fn canonical_takes(document: &Json) -> Option<DynamicMessage> {
    let desc = pool().get_message_by_name(&format!("{PACKAGE}.RateLimits")).expect("a message");
    DynamicMessage::deserialize(desc, document.clone()).ok()
}

fn code(document: &Json) -> Option<Code> {
    let read = RateLimits::read(&Source::new("a", document.to_string()));
    read.err().and_then(|findings| findings.iter().next().map(|finding| finding.code))
}

#[test]
fn the_differences_are_these() {
    // What both read.
    let plain = with("limit", json!(10));
    let message = RateLimits::read(&Source::new("a", plain.to_string())).expect("a good rule");
    let theirs = canonical_takes(&plain).expect("a good rule");
    assert_eq!(theirs, DynamicMessage::decode(theirs.descriptor(), message.encode_to_vec().as_slice()).expect("bytes"));
    // Bare lists, short enums and plain match values are ours alone.
    for (ours, theirs) in [
        (json!({"rate_limits": {"x": []}}), json!({"rate_limits": {"x": {"rules": []}}})),
        (with("action", json!("limit")), plain.clone()),
        (with("match", json!({"p": 1})), with("match", json!({"p": {"eq": {"integer": "1"}}}))),
        (
            with("match", json!({"p": {"one_of": [1]}})),
            with("match", json!({"p": {"one_of": {"values": [{"integer": 1}]}}})),
        ),
    ] {
        assert!(canonical_takes(&ours).is_none() && canonical_takes(&theirs).is_some(), "{ours}");
        assert_eq!(code(&ours), None, "{ours}");
    }
    assert_eq!(code(&with("match", json!({"p": {"eq": {"integer": "1"}}}))), Some(Code::MatcherBadValue));
    assert_eq!(code(&with("match", json!({"p": {"one_of": {"values": [1]}}}))), Some(Code::MatcherBadValue));
    // Numbers in strings, numbers of enums, null for a field and `5.0` for 5 are canonical JSON's alone.
    for (field, value, code_of_ours) in [
        ("limit", json!("10"), Code::WrongType),
        ("limit", json!(10.0), Code::WrongType),
        ("limit", json!(null), Code::WrongType),
        ("final", json!(null), Code::WrongType),
        ("action", json!(1), Code::WrongType),
    ] {
        let document = with(field, value);
        assert!(canonical_takes(&document).is_some(), "{document}");
        assert_eq!(code(&document), Some(code_of_ours), "{document}");
    }
    // So are characters that YAML's streams must not hold: we write them as escapes, and read only these.
    let delete = with("description", json!("\u{7f}"));
    assert_eq!(code(&delete), Some(Code::YamlSyntax));
    let read = RateLimits::read(&Source::new("a", escaped(&delete))).expect("an escape is read");
    assert!(canonical_takes(&delete).is_some() && read.to_json().contains("\\u007f"));
    // An empty message: the outer key is written, and canonical JSON has none.
    let desc = theirs.descriptor();
    assert_eq!(canonical(&DynamicMessage::new(desc.clone()), true, true), json!({}));
    assert_eq!(RateLimits::default().to_json(), r#"{"rate_limits":{}}"#);
    // A map's keys are as they are: what looks like a field's name is none there.
    let named = with("match", json!({"periodS": 1}));
    let read = RateLimits::read(&Source::new("a", named.to_string())).expect("a good rule");
    let dynamic = DynamicMessage::decode(desc, read.encode_to_vec().as_slice()).expect("bytes");
    let lists = dynamic.get_field_by_name("rate_limits").expect("a field");
    assert!(lists.as_map().expect("a map").contains_key(&MapKey::String("x".into())));
    assert!(parsed(&read.to_json())["rate_limits"]["x"][0]["match"].get("periodS").is_some());
}
