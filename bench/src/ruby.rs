//! What the Ruby gem costs, as `ruby/measure.rb` tells it.

use crate::report::{Report, Target};
use crate::server::Server;
use serde_json::Value;
use std::error::Error;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

const SECTION: &str = "ruby";
const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// Builds the gem's native half, and measures. Gives the versions that it was measured with.
pub(crate) fn gem(rounds: usize, report: &mut Report) -> Result<Vec<String>, Box<dyn Error>> {
    let rakefile = Path::new(HERE).join("../ruby/Rakefile");
    run(Command::new("rake").args([
        "--quiet".as_ref(),
        "--rakefile".as_ref(),
        rakefile.as_os_str(),
        "compile".as_ref(),
    ]))?;
    let server = Server::start()?;
    let script = Path::new(HERE).join("ruby/measure.rb");
    let numbers = [server.port().to_string(), rounds.to_string()];
    let told = run(Command::new("ruby").arg(script).args(numbers.iter().map(OsStr::new)))?;
    add(&serde_json::from_slice(&told)?, report)
}

/// Runs it, and gives what it prints.
fn run(command: &mut Command) -> io::Result<Vec<u8>> {
    let output = command.stderr(Stdio::inherit()).output()?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(io::Error::other(format!("{} failed: {}", command.get_program().display(), output.status)))
    }
}

/// Adds its rows.
fn add(told: &Value, report: &mut Report) -> Result<Vec<String>, Box<dyn Error>> {
    let strange = || io::Error::new(io::ErrorKind::InvalidData, format!("no rows of measure.rb: {told}"));
    for row in told["rows"].as_array().ok_or_else(strange)? {
        let text = |name: &str| row[name].as_str().ok_or_else(strange);
        let unit = ["µs", "ns", "×"].into_iter().find(|unit| row["unit"] == *unit).ok_or_else(strange)?;
        let value = row["value"].as_f64().ok_or_else(strange)?;
        report.add(SECTION, text("what")?, value, unit, target(&row["target"]).ok_or_else(strange)?);
    }
    let versions = told["versions"].as_array().ok_or_else(strange)?;
    Ok(versions.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

fn target(told: &Value) -> Option<Target> {
    if told.is_null() {
        return Some(Target::None);
    }
    let most = told["at_most"].as_f64().map(Target::AtMost);
    most.or_else(|| told["at_least"].as_f64().map(Target::AtLeast))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rows_of_the_script_have_their_targets() {
        let mut report = Report::default();
        let row = |value: f64, target: Value| json!({ "what": "a", "value": value, "unit": "×", "target": target });
        let told =
            json!({ "versions": ["Ruby 3"], "rows": [row(1.2, json!({ "at_most": 1.3 })), row(9.0, Value::Null)] });
        assert_eq!(add(&told, &mut report).ok(), Some(vec!["Ruby 3".to_owned()]));
        assert!(!report.is_missed());
        let told = json!({ "versions": [], "rows": [row(19.0, json!({ "at_least": 20 }))] });
        assert!(add(&told, &mut report).is_ok());
        assert!(report.is_missed());
    }

    #[test]
    fn a_target_that_is_not_known_is_no_row() {
        let row = json!({ "what": "a", "value": 1.0, "unit": "×", "target": { "about": 1 } });
        assert!(add(&json!({ "versions": [], "rows": [row] }), &mut Report::default()).is_err());
        assert!(add(&json!({}), &mut Report::default()).is_err());
    }
}
