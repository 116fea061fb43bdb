//! Documents of the corpus and the examples, mutated at random: whatever comes of it is read, or told what is wrong
//! with it, at places that exist, in words of ours.
//!
//! `LABKIT_FUZZ_INPUTS` (4,000) sets of documents, or as many as `LABKIT_FUZZ_SECONDS` allow; `LABKIT_FUZZ_SEED` (of
//! the day) starts them. A failure names the seed of its input, and shows the documents.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod random;

use fastrand::Rng;
use labkit_ratelimit_documents::message::{AvailableLimiters, Document, LimiterRules, PublishRulesRequest, RateLimits};
use labkit_ratelimit_documents::{Documents, Source};
use labkit_ratelimit_engine::{Code, Finding, Findings, Rules};
use random::Random;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What one set of small documents may take, in a build without optimization, on a machine that has other work.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest document that mutation makes, in bytes.
const LONGEST: usize = 20_000;
/// Words of the libraries beneath, which no operator wrote.
const FOREIGN: [&str; 12] = [
    "serde",
    "granit",
    "Options",
    "unwrap",
    "ErrorKind",
    "ScanError",
    "Some(",
    "None",
    "mapping",
    "scalar",
    "sequence",
    "simple key",
];
/// What stands between words: YAML's indicators, and more.
const SPLICES: [&str; 44] = [
    "-",
    "- ",
    ":",
    ": ",
    "?",
    "? ",
    "[",
    "]",
    "{",
    "}",
    ",",
    "#",
    "&a ",
    "*a",
    "!",
    "!!str ",
    "|",
    ">",
    "'",
    "\"",
    "%",
    "@",
    "`",
    "~",
    "\n",
    "\r",
    "\r\n",
    "\t",
    " ",
    "  ",
    "<<: ",
    "---\n",
    "...\n",
    "\u{feff}",
    "\u{85}",
    "\0",
    "\\",
    "null",
    "-1",
    "0.5",
    "18446744073709551616",
    "\"\\ud83d\"",
    "ф",
    "👩‍👩‍👧",
];

/// A contract, if there is one, and files of operators.
#[derive(Clone, Debug, Default)]
struct Set {
    contract: Option<Vec<u8>>,
    files: Vec<Vec<u8>>,
}

impl Set {
    /// Each document with its name.
    fn sources(&self) -> Vec<(Source, &Vec<u8>)> {
        let contract = self.contract.iter().map(|bytes| (Source::new("available_limiters.yaml", bytes), bytes));
        let named = |(i, bytes)| (Source::new(format!("rate_limits.{i}.yaml"), bytes), bytes);
        contract.chain(self.files.iter().enumerate().map(named)).collect()
    }

    fn documents(&self) -> Documents {
        let contract = self.contract.is_some();
        self.sources().into_iter().enumerate().fold(Documents::new(), |documents, (i, (source, _))| {
            if contract && i == 0 { documents.available_limiters(source) } else { documents.rate_limits(source) }
        })
    }
}

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Every file below a folder, sorted.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            files(&entry, found);
        } else {
            found.push(entry);
        }
    }
}

/// What is mutated: the sets of documents of the corpus and the examples, and which of them are good.
struct Seeds {
    all: Vec<Set>,
    good: Vec<Set>,
}

impl Seeds {
    fn read() -> Self {
        let mut paths = Vec::new();
        files(&folder("tests/corpus"), &mut paths);
        files(&folder("../../examples"), &mut paths);
        let mut folders: BTreeMap<PathBuf, Set> = BTreeMap::new();
        for path in &paths {
            let bytes = fs::read(path).expect("a document");
            let set = folders.entry(path.parent().expect("a folder").to_owned()).or_default();
            match path.file_name().map(|name| name.to_string_lossy()) {
                _ if bytes.len() > LONGEST => {}
                Some(name) if name.contains("available_limiters") => set.contract = Some(bytes),
                Some(name) if name.contains("rate_limits") => set.files.push(bytes),
                _ => {}
            }
        }
        let all: Vec<Set> =
            folders.into_values().filter(|set| set.contract.is_some() || !set.files.is_empty()).collect();
        let good = all.iter().filter(|set| set.documents().read().is_ok()).cloned().collect();
        Self { all, good }
    }

    /// Any document.
    fn document(&self, random: &mut Rng) -> Vec<u8> {
        let set = &self.all[random.usize(..self.all.len())];
        let files: Vec<&Vec<u8>> = set.contract.iter().chain(&set.files).collect();
        files[random.usize(..files.len())].clone()
    }

    /// Documents that belong together, most of them changed.
    fn set(&self, random: &mut Rng) -> Set {
        let mut set = match random.u8(..8) {
            0 | 1 => self.all[random.usize(..self.all.len())].clone(),
            2 => Set { contract: None, files: vec![RateLimits::random(random).to_yaml().into_bytes()] },
            3 => Set { contract: Some(AvailableLimiters::random(random).to_yaml().into_bytes()), files: Vec::new() },
            _ => self.good[random.usize(..self.good.len())].clone(),
        };
        set.files.truncate(2);
        if random.u8(..10) == 0 {
            set.files.push(self.document(random));
        }
        for bytes in set.contract.iter_mut().chain(&mut set.files) {
            for _ in 0..random::pick(random, &[0, 0, 1, 1, 1, 2, 3, 8]) {
                let other = self.document(random);
                mutate(random, bytes, &other);
            }
        }
        set
    }
}

/// Some of a document's words: keys, values, indicators.
fn words(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut words = Vec::new();
    let mut start = 0;
    for (i, pair) in bytes.windows(2).enumerate() {
        if pair[0].is_ascii_alphanumeric() != pair[1].is_ascii_alphanumeric() {
            words.push(start..i + 1);
            start = i + 1;
        }
    }
    words.push(start..bytes.len());
    words
}

fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect()
}

/// One change.
fn mutate(random: &mut Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    let at = random.usize(..=bytes.len());
    match random.u8(..12) {
        0 if at < bytes.len() => bytes[at] ^= 1 << random.u8(..8),
        1 => bytes.truncate(at),
        2 | 3 => drop(bytes.splice(at..at, random::pick(random, &SPLICES).bytes())),
        4 => {
            let words = words(bytes);
            let word = words[random.usize(..words.len())].clone();
            let new = random::pick(random, &SPLICES);
            bytes.splice(word, new.bytes());
        }
        5 | 6 => {
            // A word in the place of another, maybe another document's: keys and values change places.
            let (words_here, words_there) = (words(bytes), words(other));
            let from = other[words_there[random.usize(..words_there.len())].clone()].to_vec();
            bytes.splice(words_here[random.usize(..words_here.len())].clone(), from);
        }
        7 | 8 => {
            let mut rows = lines(bytes);
            if rows.is_empty() {
                return;
            }
            let (row, to) = (random.usize(..rows.len()), random.usize(..rows.len()));
            match random.u8(..6) {
                0 => drop(rows.remove(row)),
                1 => rows.insert(to, rows[row].clone()),
                2 => rows.swap(row, to),
                3 => drop(rows[row].splice(0..0, b" ".repeat(random.usize(1..4)))),
                4 => drop(rows[row].splice(0..0, *b"\t")),
                _ => {
                    let spaces = rows[row].iter().take_while(|b| **b == b' ').count();
                    rows[row].drain(..random.usize(..=spaces));
                }
            }
            *bytes = rows.concat();
        }
        9 => {
            let end = random.usize(at..=bytes.len());
            let block = bytes[at..end].to_vec();
            bytes.splice(at..at, block.repeat(random.usize(1..4)));
        }
        10 => {
            let end = random.usize(at..=bytes.len()).min(at + 40);
            bytes.drain(at..end);
        }
        _ => {
            let text = random::text(random);
            bytes.splice(at..at, text.into_bytes());
        }
    }
    bytes.truncate(LONGEST);
}

/// How many characters each line has, as YAML ends lines, without a byte order mark.
fn widths(bytes: &[u8]) -> Vec<usize> {
    let text = String::from_utf8_lossy(bytes);
    let unix = text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n").replace('\r', "\n");
    unix.split('\n').map(|line| line.chars().count()).collect()
}

fn check_finding(finding: &Finding, names: &[(String, &Vec<u8>)]) -> (usize, u32, u32) {
    let location = finding.location.as_ref().unwrap_or_else(|| panic!("{finding} stands nowhere"));
    let file = names.iter().position(|(name, _)| **name == *location.file).expect("a file that was given");
    let widths = widths(names[file].1);
    let line = usize::try_from(location.line).expect("a line");
    let column = usize::try_from(location.column).expect("a column");
    assert!(line >= 1 && line <= widths.len(), "{finding}: there are {} lines", widths.len());
    assert!(column >= 1 && column <= widths[line - 1] + 1, "{finding}: the line has {} characters", widths[line - 1]);
    assert!(!finding.message.is_empty() && !finding.code.as_str().is_empty(), "{finding:?} says nothing");
    // What the file itself says is repeated in quotes.
    let own: String = finding.message.split('"').step_by(2).flat_map(|part| part.split('`').step_by(2)).collect();
    // Of a pattern its own language is spoken.
    for word in FOREIGN.iter().filter(|_| finding.code != Code::MatcherBadRegex) {
        assert!(!own.contains(word), "{finding}: who is {word:?}?");
    }
    assert!(!finding.to_string().contains(char::is_control), "{finding:?} takes one line");
    (file, location.line, location.column)
}

fn check_findings(findings: &Findings, names: &[(String, &Vec<u8>)]) {
    let places: Vec<_> = findings.iter().map(|finding| check_finding(finding, names)).collect();
    assert!(places.is_sorted(), "findings come in the order of files, lines and columns:\n{findings}");
}

/// A document that is good by itself is the same from its own YAML and JSON.
fn survives<D: Document + PartialEq + Debug>(source: &Source) {
    let name = source.name();
    match (D::read(source), D::parse(source)) {
        (Ok(read), parsed) => {
            assert_eq!(parsed.as_ref(), Ok(&read), "{name} is parsed as it is read");
            assert_eq!(D::read(&Source::new(name, read.to_yaml())).as_ref(), Ok(&read), "{name} from its YAML");
            assert_eq!(D::read(&Source::new(name, read.to_json())).as_ref(), Ok(&read), "{name} from its JSON");
        }
        (Err(findings), parsed) => {
            assert!(!findings.is_empty());
            // What can be parsed and not be read, checking finds.
            if let Ok(message) = parsed {
                assert!(!message.check().is_empty(), "{name}: nobody finds again\n{findings}");
            }
        }
    }
}

/// Whether the documents were taken.
fn check(set: &Set) -> bool {
    let sources = set.sources();
    let mut names = Vec::new();
    for (source, bytes) in &sources {
        survives::<AvailableLimiters>(source);
        survives::<RateLimits>(source);
        survives::<PublishRulesRequest>(source);
        survives::<LimiterRules>(source);
        names.push((source.name().to_owned(), *bytes));
    }
    let documents = set.documents();
    let start = Instant::now();
    let read = documents.read();
    assert!(start.elapsed() < PATIENCE, "it takes {:?}", start.elapsed());
    assert_eq!(read, documents.read(), "what is read twice is the same");
    match read {
        Ok(catalog) => {
            check_findings(catalog.warnings(), &names);
            assert!(!catalog.warnings().has_errors());
            for limiter in catalog.limiters() {
                let evaluation = limiter.evaluation().unwrap_or_default();
                let built = Rules::build(limiter.name(), &limiter.rules(), evaluation);
                assert!(built.is_ok(), "{} does not build: {:?}", limiter.name(), built.err());
            }
        }
        Err(findings) => {
            assert!(findings.has_errors(), "no error, and not taken: {findings}");
            check_findings(&findings, &names);
            return false;
        }
    }
    true
}

fn shown(set: &Set) -> String {
    let show = |bytes: &Vec<u8>| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let lines = text.split_inclusive('\n').take(100);
        lines.map(|line| format!("  {:?}\n", line.chars().take(500).collect::<String>())).collect::<Vec<_>>().concat()
    };
    let mut text = String::new();
    for bytes in set.contract.iter().chain(&set.files) {
        text.push_str("---\n");
        text.push_str(&show(bytes));
    }
    text
}

#[test]
fn whatever_is_written_is_read_or_told_what_is_wrong() {
    let seeds = Seeds::read();
    assert!(seeds.all.len() >= 150 && seeds.good.len() >= 20, "{} sets, {} good", seeds.all.len(), seeds.good.len());
    let first = random::seed("LABKIT_FUZZ_SEED").wrapping_mul(1 << 32);
    let seconds = random::variable("LABKIT_FUZZ_SECONDS").map(Duration::from_secs);
    let inputs = match seconds {
        Some(_) => u64::MAX,
        None => random::variable("LABKIT_FUZZ_INPUTS").unwrap_or(4_000),
    };
    let start = Instant::now();
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(8));
    // Each takes every so manieth input, and says how many it met and how many of these were taken.
    let part = |thread: usize| -> Result<(u64, u64), String> {
        let (mut done, mut taken) = (0, 0);
        for input in (0..inputs).skip(thread).step_by(threads) {
            if seconds.is_some_and(|seconds| start.elapsed() >= seconds) {
                break;
            }
            let set = seeds.set(&mut Rng::with_seed(first.wrapping_add(input)));
            let Ok(is_taken) = catch_unwind(AssertUnwindSafe(|| check(&set))) else {
                let again = format!("LABKIT_FUZZ_SEED={} LABKIT_FUZZ_INPUTS={}", first >> 32, input + 1);
                return Err(format!("{again}: the last of these fails:\n{}", shown(&set)));
            };
            done += 1;
            taken += u64::from(is_taken);
        }
        Ok((done, taken))
    };
    let part = &part;
    let parts: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|thread| scope.spawn(move || part(thread))).collect();
        running.into_iter().map(|thread| thread.join().expect("a thread that catches panics")).collect()
    });
    let (mut done, mut taken) = (0, 0);
    for part in parts {
        let (its_done, its_taken) = part.unwrap_or_else(|failure| panic!("{failure}"));
        done += its_done;
        taken += its_taken;
    }
    eprintln!("{done} sets of documents in {:.1?}, {taken} of them taken", start.elapsed());
    assert!(
        done < 1_000 || taken > done / 16 / 50,
        "mutation leaves too little that is right: {taken} of {}",
        done / 16
    );
}
