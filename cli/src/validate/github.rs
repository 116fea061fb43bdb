//! Findings as workflow commands, which GitHub shows as annotations on the lines.

use super::place;
use super::verdict::Verdict;
use crate::printable;
use labkit_ratelimit_engine::{Finding, Severity};
use std::io::{self, Write};

pub(super) fn write(out: &mut dyn Write, verdict: &Verdict) -> io::Result<()> {
    for finding in &verdict.findings {
        writeln!(out, "{}", command(finding))?;
    }
    Ok(())
}

/// `::error file=a.yaml,line=1,col=2,title=code::message`.
fn command(finding: &Finding) -> String {
    let name = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut properties = Vec::new();
    let mut place = String::new();
    if let Some((at, file)) = finding.location.as_ref().zip(place::file_of(finding)) {
        properties.push(format!("file={},line={},col={}", property(&file), at.line, at.column));
        // GitHub makes annotations of the first few only. The others are lines of the job's log.
        place = format!("{at}: ");
    }
    properties.push(format!("title={}", property(finding.code.as_str())));
    let at = if finding.path.is_empty() { String::new() } else { format!("{}: ", finding.path) };
    let message = format!("{place}{at}{}. {}", finding.message, finding.mend());
    format!("::{name} {}::{}", properties.join(","), escaped(&message))
}

/// Nothing that would end the command's line, or that a terminal would act on.
fn escaped(text: &str) -> String {
    printable::line(text).replace('%', "%25")
}

/// Also what would end a property.
fn property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use labkit_ratelimit_documents::{Documents, Source};
    use labkit_ratelimit_engine::Code;

    #[test]
    fn nothing_in_a_name_or_a_message_ends_a_command() {
        let source = Source::new("./a,b:100%\r.yaml", "rate_limits: {\"x%\\n::error::y\\u001b[31m\\u202e\": 1}");
        let findings = Documents::new().rate_limits(source).read().expect_err("no list of rules");
        let all: Vec<String> = findings.iter().map(command).collect();
        assert!(!all.is_empty());
        for line in all {
            assert!(line.starts_with("::error file=a%2Cb%3A100%25\\r.yaml,line=1,col="), "{line}");
            assert!(!line.contains(|c: char| !printable::is_safe(c)), "{line}");
            assert!(line.contains("rate_limits.x%25\\n"), "{line}");
        }
    }

    #[test]
    fn a_warning_without_a_place() {
        let finding = Finding::new(Code::RuleUnreachable, "", "never runs");
        let expected = format!("::warning title=rule_unreachable::never runs. {}", Code::RuleUnreachable.mend());
        assert_eq!(command(&finding), expected);
    }
}
