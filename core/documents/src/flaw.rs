//! What is wrong with a text's syntax, in the words of someone who wrote the file.

use crate::source::Place;
use granit_parser::{ErrorKind, Marker, ScanError};

/// Levels of maps and lists.
pub(crate) const MAX_LEVELS: usize = 64;

/// Where the syntax ends, and why.
pub(crate) struct Flaw {
    pub(crate) at: Place,
    pub(crate) message: String,
}

impl Flaw {
    pub(crate) fn new(at: Place, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

impl From<ScanError> for Flaw {
    fn from(error: ScanError) -> Self {
        Self::new(place(*error.marker()), explain(error.kind()))
    }
}

/// Where a mark of the parser stands.
pub(crate) fn place(mark: Marker) -> Place {
    Place::new(mark.line(), mark.col() + 1)
}

pub(crate) fn too_deep() -> String {
    format!("maps and lists nest more than {MAX_LEVELS} levels deep")
}

/// YAML 1.2.2, section 5.1.
const fn is_printable(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..)
}

fn explain(kind: &ErrorKind) -> String {
    if let Some(indented) = about_indentation(kind) {
        return indented.to_owned();
    }
    if let Some(quoted) = about_quotes(kind) {
        return quoted.to_owned();
    }
    match kind {
        ErrorKind::UnclosedFlowCollection { open } => format!("`{open}` is opened here and never closed"),
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
            format!("`{open}` is open, and `{close}` does not close it")
        }
        ErrorKind::MisplacedFlowCollectionEnd => "a bracket is closed here that is not open".into(),
        ErrorKind::ExpectedFlowMappingSeparator => "a `,` or a `}` was expected".into(),
        ErrorKind::ExpectedFlowSequenceSeparator => "a `,` or a `]` was expected".into(),
        ErrorKind::UnexpectedEofFlowSequence => "the document ends before its `]`".into(),
        ErrorKind::UnexpectedEofFlowMapping | ErrorKind::UnexpectedEofImplicitFlowMapping => {
            "the document ends before its `}`".into()
        }
        ErrorKind::BlockEntryInFlowCollection => "a `-` stands between brackets: write `[a, b]`".into(),
        ErrorKind::UnexpectedEof | ErrorKind::UnexpectedEofBlockSequence | ErrorKind::UnexpectedEofBlockMapping => {
            "the document ends in the middle of a value".into()
        }
        ErrorKind::UnknownAnchor => {
            "an alias (`*name`) without its anchor (`&name`); put a text that begins with `*` in quotes".into()
        }
        ErrorKind::MissingAnchorOrAliasName => {
            "`&` and `*` begin a name: put a text that begins with one of them in quotes".into()
        }
        ErrorKind::RecursionLimitExceeded => too_deep(),
        ErrorKind::UnexpectedCharacter { character } if !is_printable(*character) => {
            let escape = u32::from(*character);
            format!("{character:?} must not stand in YAML: write \"\\u{escape:04x}\" in double quotes")
        }
        ErrorKind::UnexpectedCharacter { character } => {
            format!("no value begins with {character:?}; put it in quotes")
        }
        ErrorKind::BomInsideDocument => "a byte order mark stands in the middle of the file: remove it".into(),
        ErrorKind::CommentNotSeparated => {
            "a `#` stands right behind a value: put a space before a comment, or the value in quotes".into()
        }
        ErrorKind::CommentInterceptedScalar => "a comment stands in the middle of a text".into(),
        ErrorKind::ExpectedDocumentStart | ErrorKind::InvalidDocumentEnd | ErrorKind::ExpectedNodeContent => {
            "something stands here that belongs to nothing: is a `:` missing, or a quote?".into()
        }
        _ => about_tags_and_directives(kind).to_owned(),
    }
}

const fn about_indentation(kind: &ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabInPlainScalar
        | ErrorKind::TabAtBlockScalarStart => "a tab stands where YAML indents: use spaces",
        ErrorKind::MappingValueNotAllowed => {
            "a `: ` stands where no key can be: indent the line as its neighbours, or put the value in quotes"
        }
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => "a `: ` is missing behind this key",
        ErrorKind::ExpectedBlockMappingKey => "a key was expected: indent the line as the other keys of its map",
        ErrorKind::ExpectedBlockSequenceEntry => "a `-` was expected: indent the line as the other fields of its rule",
        ErrorKind::InvalidIndentation
        | ErrorKind::InvalidBlockScalarIndent
        | ErrorKind::InvalidFlowScalarIndent
        | ErrorKind::InvalidQuotedScalarIndent => "the line is indented too little or too much",
        ErrorKind::BlockSequenceEntryNotAllowed => "a `- ` stands where no list can begin: give it a line of its own",
        ErrorKind::MappingKeyNotAllowed => "a `? ` stands where no key can be; put it in quotes",
        ErrorKind::InvalidBlockEntryWhitespace
        | ErrorKind::InvalidMappingValueWhitespace
        | ErrorKind::ExpectedWhitespace => "a space is missing here, or it is a tab",
        ErrorKind::FlowMappingValueAdjacentCollection | ErrorKind::InvalidColonPlacement => {
            "a `:` stands here that belongs to no key: is a bracket before it not closed, or a quote missing?"
        }
        _ => return None,
    })
}

const fn about_quotes(kind: &ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::UnclosedQuotedScalar => "a quote is opened here and never closed",
        ErrorKind::DocumentIndicatorInQuotedScalar => "`---` or `...` stands within quotes: are they closed?",
        ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar => {
            "something stands behind the closing quote: is a comma missing? Within single quotes write '' for ', within double quotes \\\" for \""
        }
        ErrorKind::UnknownQuotedScalarEscape
        | ErrorKind::InvalidQuotedScalarHexEscape
        | ErrorKind::InvalidUnicodeEscape => {
            "`\\` begins an escape in double quotes, and this is none: write `\\\\`, or use single quotes"
        }
        ErrorKind::InvalidLowSurrogateHexEscape
        | ErrorKind::InvalidLowSurrogate
        | ErrorKind::MissingLowSurrogate
        | ErrorKind::UnpairedLowSurrogate => "half of a character stands here: `\\ud800` to `\\udfff` come in pairs",
        ErrorKind::PlainScalarStartsWithDashFlowIndicator | ErrorKind::UnexpectedEndOfPlainScalar => {
            "no text without quotes begins so: put it in quotes"
        }
        ErrorKind::ZeroBlockScalarIndent | ErrorKind::InvalidBlockScalarHeader => {
            "behind `|` or `>` the text begins on the next line"
        }
        _ => return None,
    })
}

const fn about_tags_and_directives(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::ExpectedTagBang
        | ErrorKind::UndeclaredTagHandle
        | ErrorKind::InvalidGlobalTagCharacter
        | ErrorKind::InvalidTagTerminator
        | ErrorKind::MissingTagUri
        | ErrorKind::UnclosedVerbatimTag
        | ErrorKind::InvalidTagEscape
        | ErrorKind::InvalidTagUtf8LeadingByte
        | ErrorKind::InvalidTagUtf8TrailingByte
        | ErrorKind::InvalidTagUtf8 => "`!` begins a tag, and this is none: put a text that begins with `!` in quotes",
        ErrorKind::DuplicateVersionDirective
        | ErrorKind::UnsupportedYamlMajorVersion
        | ErrorKind::DuplicateTagDirective
        | ErrorKind::MissingDocumentEndBeforeDirective
        | ErrorKind::ExpectedTagDirectiveBang
        | ErrorKind::InvalidDirectiveTerminator
        | ErrorKind::DirectiveDisallowed
        | ErrorKind::MissingYamlVersionSeparator
        | ErrorKind::MissingDirectiveName
        | ErrorKind::InvalidDirectiveName
        | ErrorKind::DirectiveByteLimitExceeded { .. }
        | ErrorKind::TooManyReservedDirectiveParams { .. }
        | ErrorKind::YamlVersionTooLong
        | ErrorKind::MissingYamlVersion
        | ErrorKind::InvalidTagDirectiveTerminator => {
            "a line that begins with `%` is a directive, and documents need none: remove it, or put the text in quotes"
        }
        _ => "this is no YAML",
    }
}

#[cfg(test)]
mod tests {
    use crate::source::Source;
    use crate::yaml::parse;

    /// Where the syntax of a text ends, and what is said of it.
    fn flaw(text: &str) -> (u32, u32, String) {
        let Err(finding) = parse(&Source::new("f", text)) else { panic!("good YAML: {text:?}") };
        let at = finding.location.expect("a place");
        (at.line, at.column, finding.message)
    }

    #[test]
    fn operators_mistakes_in_words_of_theirs() {
        let mut wrong = Vec::new();
        for (text, line, column, words) in [
            ("a:\n\t- x\n", 2, 2, "use spaces"),
            ("a: \"x\n\nb: 1\n", 1, 4, "never closed"),
            ("a: [1, 2\nb: 1\n", 2, 2, "bracket before it not closed"),
            ("a: [1, 2\n", 1, 4, "`[` is opened here and never closed"),
            ("a: [1, 2}\n", 1, 4, "`}` does not close it"),
            ("a: ]\n", 1, 4, "that is not open"),
            ("a: {b: 1 c: 2}\n", 1, 11, "a `,` or a `}`"),
            ("a: {\"b\": 1 \"c\": 2}\n", 1, 15, "a `,` or a `}`"),
            ("a: [\"b\" \"c\"]\n", 1, 9, "is a comma missing"),
            ("a: *\n", 1, 4, "`&` and `*` begin a name"),
            ("a: *.example.com\n", 1, 4, "in quotes"),
            ("a: @user\n", 1, 4, "no value begins with '@'"),
            ("a: %d\n", 1, 4, "no value begins with '%'"),
            ("a: b: c\n", 1, 5, "put the value in quotes"),
            ("a: 1\n  b: 2\n", 2, 4, "indent the line as its neighbours"),
            ("a:\n  - x\n  y: 1\n", 3, 3, "a `-` was expected"),
            ("a:\n  b: 1\n c: 2\n", 3, 2, "a key was expected"),
            ("a: 1\nb\nc: 2\n", 2, 1, "a `: ` is missing behind this key"),
            ("a: \"\\d+\"\n", 1, 4, "use single quotes"),
            ("a: \"x\" y\n", 1, 8, "behind the closing quote"),
            ("a: 'it's'\n", 1, 8, "write '' for '"),
            ("a: \"\\ud83d\"\n", 1, 4, "half of a character"),
            ("a: !<x b\n", 1, 4, "`!` begins a tag"),
            ("a: - b\n", 1, 4, "give it a line of its own"),
            ("a: \"x\"#c\n", 1, 7, "put a space before a comment"),
            ("%FOO\na: 1\n", 2, 1, "belongs to nothing"),
            ("a: x\u{7f}\n", 1, 4, "write \"\\u007f\" in double quotes"),
            ("---\na: 1\n---\nb: 2\n", 3, 1, "a second document"),
            ("[a: 1]: 2\n", 1, 1, "a key is a text"),
            ("? {a: 1}\n: 2\n", 1, 3, "a key is a text"),
            ("a: !foo b\n", 1, 4, "the tag `!foo`"),
            ("a: !!int x\n", 1, 4, "`!!int` does not fit"),
            ("a: &x [*x]\n", 1, 8, "inside the value that it names"),
        ] {
            let (at_line, at_column, message) = flaw(text);
            if (at_line, at_column) != (line, column) || !message.contains(words) {
                wrong.push(format!("{text:?} at {at_line}:{at_column}: {message}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn keys_are_short_and_nesting_is_shallow() {
        let key = |n: usize| format!("{{\"{}\": 1}}", "ф".repeat(n));
        assert!(parse(&Source::new("f", key(256))).is_ok());
        assert!(flaw(&key(257)).2.contains("longer than 256 characters"));
        let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(parse(&Source::new("f", nested(64))).is_ok());
        assert!(flaw(&nested(65)).2.contains("64 levels"));
        assert!(flaw(&format!("a: &x {}\nb: [[*x]]\n", nested(63))).2.contains("64 levels"));
    }
}
