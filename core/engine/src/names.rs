//! What may be a name: rules, limiters, properties.

/// The longest name of a rule, of a property, and of a limiter in documents.
pub const NAME_MAX: usize = 64;

fn lower(b: u8) -> bool {
    b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'
}

/// `^[a-z0-9_]{1,64}$`.
pub fn is_rule_name(name: &str) -> bool {
    name.len() <= NAME_MAX && is_limiter_name(name)
}

/// `^[a-z0-9_]+$`: in code a limiter's name has no cap (wire).
pub fn is_limiter_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(lower)
}

/// `^[A-Za-z_][A-Za-z0-9_]{0,63}$`.
pub fn is_property_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    name.len() <= NAME_MAX
        && bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// The known name that is nearest to a mistyped one, if any is near: at most a third of its letters
/// differ (Levenshtein 1966).
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        // Who leaves out the unit is near too.
        .map(|name| (distance(typed, name).min(distance(typed, name.trim_end_matches("_s"))), name))
        .filter(|(far, name)| *far <= name.len().max(3) / 3)
        .min()
        .map(|(_, name)| name)
}

fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(NAME_MAX * 2).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = if x == *y { diagonal } else { 1 + diagonal.min(above).min(row[j]) };
            diagonal = above;
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_the_contract_says() {
        assert!(is_rule_name("per_user_2") && !is_rule_name("") && !is_rule_name("Per") && !is_rule_name("a-b"));
        assert!(is_rule_name(&"a".repeat(64)) && !is_rule_name(&"a".repeat(65)) && is_limiter_name(&"a".repeat(65)));
        assert!(
            is_property_name("_Aa9") && !is_property_name("9a") && !is_property_name("a\n") && !is_property_name("é")
        );
    }

    #[test]
    fn the_nearest_name_is_near() {
        let known = ["limit", "period_s", "characteristics"];
        assert_eq!(nearest("limt", known), Some("limit"));
        assert_eq!(nearest("period", known), Some("period_s"));
        assert_eq!(nearest("perid", known), Some("period_s"));
        assert_eq!(nearest("zebra", known), None);
    }
}
