//! The rules document of a command, and the one limiter of it that is asked for.

use crate::mistake::Mistake;
use labkit_ratelimit::{Code, Finding, Findings};
use labkit_ratelimit_documents::{DocumentLimiter, read_rate_limits};
use std::fs;
use std::path::Path;

/// Reads the document and gives the limiter called `name`, or the only one.
pub(crate) fn limiter_of(path: &Path, name: Option<&str>) -> Result<DocumentLimiter, Mistake> {
    let file = path.display().to_string();
    let bytes = fs::read(path).map_err(|error| Mistake::unreadable(&file, &error))?;
    let limiters = read(bytes).map_err(|findings| Mistake::Findings { file: file.clone(), findings })?;
    choose(limiters, name).map_err(|what| Mistake::Misuse(format!("{file} {what}")))
}

fn read(bytes: Vec<u8>) -> Result<Vec<DocumentLimiter>, Findings> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let mut findings = Findings::default();
        let at = error.utf8_error().valid_up_to();
        findings.push(Finding::new(Code::NotUtf8, "", format!("byte {} is not UTF-8", at + 1)));
        findings
    })?;
    read_rate_limits(&text)
}

fn choose(mut limiters: Vec<DocumentLimiter>, name: Option<&str>) -> Result<DocumentLimiter, String> {
    let names = || limiters.iter().map(|limiter| limiter.name.as_str()).collect::<Vec<_>>().join(", ");
    let at = match (name, limiters.len()) {
        (_, 0) => return Err("holds no limiter".into()),
        (Some(name), _) => limiters
            .iter()
            .position(|limiter| limiter.name == name)
            .ok_or_else(|| format!("holds no limiter `{name}`; it holds {}", names()))?,
        (None, 1) => 0,
        (None, _) => return Err(format!("holds several limiters; choose one with --limiter: {}", names())),
    };
    Ok(limiters.swap_remove(at))
}
