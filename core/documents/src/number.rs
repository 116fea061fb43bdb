//! Numbers of rules.

use crate::rule::{HostValues, Reader};
use crate::tree::{Node, Tree};
use labkit_ratelimit_engine::{Code, NumberSpec};

impl<H: HostValues> Reader<'_, H> {
    /// A whole number. One that is not is reported here, and not again when the rule is built.
    pub(crate) fn number(&mut self, field: &str, value: &Node) -> NumberSpec {
        let is_hosts = H::EXISTS && matches!(value.tree, Tree::Map(_));
        if let Some(spec) = if is_hosts { self.host.number(&value.to_json()) } else { None } {
            return spec;
        }
        match &value.tree {
            Tree::Int(n) => NumberSpec::Int(*n),
            Tree::Huge(digits) => {
                self.find(beyond(field, digits.starts_with('-')), field, format!("{field} is {value}"));
                NumberSpec::Reported
            }
            Tree::Text(text) if text.trim().parse::<f64>().is_ok() => {
                self.find(
                    Code::WrongType,
                    field,
                    format!("{field} takes a whole number, not {value}: write it without quotes and leading zeros"),
                );
                NumberSpec::Reported
            }
            _ => {
                self.find(Code::WrongType, field, format!("{field} takes a whole number, not {value}"));
                NumberSpec::Reported
            }
        }
    }
}

/// What is wrong with an integer beyond all bounds.
fn beyond(field: &str, is_negative: bool) -> Code {
    match (field, is_negative) {
        ("limit", true) => Code::LimitBelowOne,
        ("period_s", true) => Code::PeriodBelowOne,
        ("burst", true) => Code::BurstBelowOne,
        ("ban_for_s", true) => Code::BanBelowOne,
        ("period_s", false) => Code::PeriodAboveMax,
        _ => Code::WrongType,
    }
}

#[cfg(test)]
mod tests {
    use crate::message::{Document, RateLimits};
    use crate::source::Source;
    use labkit_ratelimit_engine::Code;

    #[test]
    fn what_is_no_whole_number_is_named() {
        for (written, code, words) in [
            ("\"10\"", Code::WrongType, "not the string \"10\": write it without quotes"),
            ("010", Code::WrongType, "without quotes and leading zeros"),
            ("1_000", Code::WrongType, "not the string \"1_000\""),
            ("10k", Code::WrongType, "not the string \"10k\""),
            ("5.0", Code::WrongType, "not 5.0"),
            ("1e3", Code::WrongType, "not 1000.0"),
            (".inf", Code::WrongType, "not inf"),
            ("true", Code::WrongType, "not true"),
            ("", Code::WrongType, "not null"),
            ("[5]", Code::WrongType, "not a list"),
            ("{n: 5}", Code::WrongType, "not a map"),
            ("-1", Code::LimitBelowOne, "-1"),
            ("0", Code::LimitBelowOne, "0"),
            ("18446744073709551616", Code::WrongType, "18446744073709551616"),
        ] {
            let text = format!("a:\n  - name: a\n    action: limit\n    period_s: 1\n    limit: {written}\n");
            let findings = RateLimits::read(&Source::new("f", text)).expect_err("no limit");
            let found: Vec<_> = findings.iter().map(|finding| (finding.code, finding.path.as_str())).collect();
            assert_eq!(found, [(code, "rate_limits.a[0].limit")], "{written}");
            let message = &findings.iter().next().expect("one").message;
            assert!(message.contains(words), "{written}: {message}");
        }
        let digits = "9".repeat(60);
        let text =
            format!("a: [{{name: a, action: limit, period_s: {digits}, limit: -{digits}, ban_for_s: {digits}}}]");
        let findings = RateLimits::read(&Source::new("f", text)).expect_err("no numbers");
        let found: Vec<_> = findings.iter().map(|finding| (finding.code, finding.message.clone())).collect();
        let expected = [
            (Code::PeriodAboveMax, format!("period_s is {digits}")),
            (Code::LimitBelowOne, format!("limit is -{digits}")),
            (Code::WrongType, format!("ban_for_s is {digits}")),
        ];
        assert_eq!(found, expected);
    }
}
