//! What a plain scalar is: the core schema of YAML 1.2, where `yes`, `on` and dates are strings.
//!
//! Source: YAML 1.2.2, section 10.3.2. A number with leading zeros is a string too: to some it is octal, to
//! others it is not.

use crate::tree::Tree;

/// The value of a plain scalar.
pub(crate) fn plain(text: &str) -> Tree {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Tree::Null,
        "true" | "True" | "TRUE" => Tree::Bool(true),
        "false" | "False" | "FALSE" => Tree::Bool(false),
        ".nan" | ".NaN" | ".NAN" => Tree::Float(f64::NAN),
        _ => number(text).unwrap_or_else(|| Tree::Text(text.to_owned())),
    }
}

fn number(text: &str) -> Option<Tree> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    match unsigned {
        ".inf" | ".Inf" | ".INF" if text.starts_with('-') => return Some(Tree::Float(f64::NEG_INFINITY)),
        ".inf" | ".Inf" | ".INF" => return Some(Tree::Float(f64::INFINITY)),
        _ => {}
    }
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            return in_base(digits, radix);
        }
    }
    let mut rest = unsigned.bytes().peekable();
    let mut digits = 0;
    while rest.next_if(u8::is_ascii_digit).is_some() {
        digits += 1;
    }
    if digits > 1 && unsigned.starts_with('0') {
        return None;
    }
    if digits > 0 && rest.peek().is_none() {
        return Some(integer(text));
    }
    let mut fraction = 0;
    if rest.next_if_eq(&b'.').is_some() {
        while rest.next_if(u8::is_ascii_digit).is_some() {
            fraction += 1;
        }
    }
    if digits + fraction == 0 {
        return None;
    }
    if rest.next_if(|b| matches!(b, b'e' | b'E')).is_some() {
        rest.next_if(|b| matches!(b, b'+' | b'-'));
        rest.next_if(u8::is_ascii_digit)?;
        while rest.next_if(u8::is_ascii_digit).is_some() {}
    }
    if rest.next().is_some() { None } else { text.parse().ok().map(Tree::Float) }
}

/// Decimal, signed.
fn integer(text: &str) -> Tree {
    text.parse().map_or_else(|_| Tree::Huge(text.trim_start_matches('+').to_owned()), Tree::Int)
}

/// Octal or hexadecimal, without a sign. Beyond 128 bits it is no number of ours: a text.
fn in_base(digits: &str, radix: u32) -> Option<Tree> {
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    i128::from_str_radix(digits, radix).ok().map(Tree::Int)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_schema() {
        for text in [
            "yes",
            "no",
            "on",
            "off",
            "2001-01-01",
            "010",
            "-01",
            "01.5",
            "1_000",
            "0o8",
            "0x",
            "-0x1",
            "+",
            "-",
            ".",
            "e3",
            "1e",
            "1e+",
            "1.2.3",
            "nil",
            "nULL",
            "12a",
            "1 2",
            "0b1",
            "１",
        ] {
            assert_eq!(plain(text), Tree::Text(text.into()), "{text}");
        }
        for (text, n) in [
            ("0", 0),
            ("-0", 0),
            ("+5", 5),
            ("-12", -12),
            ("0o17", 15),
            ("0xfF", 255),
            ("18446744073709551616", 1 << 64),
        ] {
            assert_eq!(plain(text), Tree::Int(n), "{text}");
        }
        for (text, f) in [
            ("1.0", 1.0),
            ("5.", 5.0),
            (".5", 0.5),
            ("-.5", -0.5),
            ("1e3", 1000.0),
            ("0.25", 0.25),
            ("1E-2", 0.01),
            ("-.INF", f64::NEG_INFINITY),
        ] {
            assert_eq!(plain(text), Tree::Float(f), "{text}");
        }
        let digits = "9".repeat(60);
        assert_eq!(plain(&format!("+{digits}")), Tree::Huge(digits.clone()));
        assert_eq!(plain(&format!("-{digits}")), Tree::Huge(format!("-{digits}")));
        for text in ["", "~", "NULL"] {
            assert_eq!(plain(text), Tree::Null);
        }
        assert!(matches!(plain(".nan"), Tree::Float(f) if f.is_nan()));
    }
}
