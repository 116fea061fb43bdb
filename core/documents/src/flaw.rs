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
            "a `:` stands here that belongs to no key: put a space behind it, or the text in quotes"
        }
        _ => return None,
    })
}

const fn about_quotes(kind: &ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::UnclosedQuotedScalar => "a quote is opened here and never closed",
        ErrorKind::DocumentIndicatorInQuotedScalar => "`---` or `...` stands within quotes: are they closed?",
        ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar => {
            "something stands behind the closing quote: within single quotes write '' for ', within double quotes \\\" for \""
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
