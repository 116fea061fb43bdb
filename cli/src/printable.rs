//! Text of unknown origin, made fit for a terminal.

/// The most characters of a value that are shown.
const SHOWN: usize = 60;

/// The value on one line, without anything that a terminal would act on, cut to a readable length.
pub(crate) fn excerpt(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let mut shown = String::new();
    for (at, c) in text.chars().enumerate() {
        if at == SHOWN {
            shown.push('…');
            break;
        }
        if is_safe(c) { shown.push(c) } else { shown.extend(c.escape_default()) }
    }
    shown
}

/// All of the text on one line, without anything that a terminal would act on.
pub(crate) fn line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_safe(c) { shown.push(c) } else { shown.extend(c.escape_default()) }
    }
    shown
}

/// Neither a control character, nor one that changes the direction or the joining of what follows, nor one that no XML
/// may hold.
pub(crate) fn is_safe(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_not_spoken_to() {
        assert_eq!(excerpt(b"a\x1b[31mb\r\n\"c\""), "a\\u{1b}[31mb\\r\\n\"c\"");
        assert_eq!(excerpt("\u{202e}é".as_bytes()), "\\u{202e}é");
        assert_eq!(excerpt(&[0xff]), "\u{fffd}");
        assert_eq!(excerpt(&[b'x'; 100]), format!("{}…", "x".repeat(60)));
    }
}
