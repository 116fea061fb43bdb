//! The scripts stay within what Redis 6.2 has.

use labkit_ratelimit_store::redis::Script;

/// Every word in quotes that a script hands to Redis, with the version that brought it.
/// Source: the page of each command in the Redis documentation ("Available since", "History").
const WORDS: [(&str, (u8, u8)); 13] = [
    ("DEL", (1, 0)),
    ("GET", (1, 0)),
    ("INCRBY", (1, 0)),
    ("INCRBYFLOAT", (2, 6)),
    ("KEEPTTL", (6, 0)),
    ("PEXPIRE", (2, 6)),
    ("PTTL", (2, 6)),
    ("PX", (2, 6)),
    ("PXAT", (6, 2)),
    ("SADD", (1, 0)),
    ("SCARD", (1, 0)),
    ("SET", (1, 0)),
    ("TIME", (2, 6)),
];

/// The words in capitals between single quotes.
fn words(source: &str) -> impl Iterator<Item = &str> {
    let code = source.lines().map(|line| line.split("--").next().unwrap_or_default());
    code.flat_map(|line| line.split('\'').skip(1).step_by(2))
        .filter(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase()))
}

#[test]
fn no_script_asks_for_more_than_redis_6_2() {
    for script in [Script::chain(), Script::clear()] {
        let source = script.source();
        assert!(!source.starts_with("#!"), "flags of a script came with Redis 7.0");
        // What the `redis` object has in 6.2 and scripts use; `acl_check_cmd`, `REDIS_VERSION` and others came with 7.0.
        for member in source.split("redis.").skip(1) {
            let name: String = member.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            assert!(
                ["call", "pcall", "error_reply", "status_reply", "sha1hex"].contains(&name.as_str()),
                "redis.{name}"
            );
        }
        // So that the words below are all there are.
        for line in source.lines().map(|line| line.split("--").next().unwrap_or_default()) {
            assert!(!line.contains('"') && !line.contains("[["), "a text in other quotes: {line}");
            for call in line.split("call(").skip(1) {
                let is_plain =
                    call.strip_prefix('\'').is_some_and(|word| word.starts_with(|c: char| c.is_ascii_uppercase()));
                assert!(is_plain, "a command that is no plain word in capitals: {line}");
            }
        }
        let called: Vec<&str> = words(source).collect();
        assert!(!called.is_empty(), "no command was found: this test does not read the script any more");
        for word in called {
            let since = WORDS.iter().find(|(known, _)| *known == word).map(|(_, since)| *since);
            assert!(since.is_some_and(|since| since <= (6, 2)), "{word}: look up since when Redis has it");
        }
    }
}

#[test]
fn the_reader_sees_a_newer_word() {
    let newer = "local call = redis.pcall\n-- 'LMPOP' in a comment\ncall('PEXPIRE', k, 5, 'NX')";
    assert_eq!(words(newer).collect::<Vec<_>>(), ["PEXPIRE", "NX"]);
    assert!(WORDS.iter().all(|(word, _)| *word != "NX"));
}
