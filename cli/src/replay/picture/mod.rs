//! The picture: requests and refusals over time, one SVG or HTML file that needs no other.
//!
//! Both kinds are written as XML by one writer, which escapes every text. Lengths are whole tenths of a pixel, so that
//! equal counts give equal bars everywhere.

mod buckets;
mod chart;
mod markup;
mod page;
mod scale;

pub(super) use buckets::Buckets;

use super::report::{DocumentsReport, Report};
use crate::printable::excerpt;
use markup::Markup;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The file that is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
}

/// What its name's ending asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Svg,
    Html,
}

impl Picture {
    /// Takes the value of the option.
    pub(super) fn parse(path: &str) -> Result<Self, String> {
        let path = PathBuf::from(path);
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        let kind = match ending.as_deref() {
            Some("svg") => Kind::Svg,
            Some("html") => Kind::Html,
            _ => return Err("the name ends neither in .svg nor in .html".to_owned()),
        };
        Ok(Self { path, kind })
    }
}

/// Writes the file.
pub(super) fn write(out: &mut dyn Write, kind: Kind, report: &Report, buckets: &Buckets) -> io::Result<()> {
    let mut markup = Markup::new(out);
    let names = Names::new(report);
    match kind {
        Kind::Svg => chart::write(&mut markup, report, buckets, &names),
        Kind::Html => page::write(&mut markup, report, buckets, &names),
    }
}

/// The files, as the picture names them.
#[derive(Debug)]
struct Names {
    log: String,
    a: String,
    b: Option<String>,
}

impl Names {
    fn new(report: &Report) -> Self {
        let (a, b) = (&report.documents, report.against.as_ref().map(|against| &against.documents));
        let log = last(&report.log.file);
        // What both have is no news.
        let is_other_contract = b.is_some_and(|b| b.available_file != a.available_file);
        let named = |documents: &DocumentsReport, named: fn(&str) -> String| {
            let all = if is_other_contract { documents.words(named) } else { documents.rules_in_words(named) };
            end(&all)
        };
        let (short_a, short_b) = (named(a, last), b.map(|b| named(b, last)));
        // `old/rules.yaml` and `new/rules.yaml` are told apart by their folders.
        match b {
            Some(b) if Some(&short_a) == short_b.as_ref() => {
                Self { log, a: named(a, str::to_owned), b: Some(named(b, str::to_owned)) }
            }
            _ => Self { log, a: short_a, b: short_b },
        }
    }
}

/// The file's own name.
fn last(path: &str) -> String {
    Path::new(path).file_name().map_or_else(|| end(path), |name| end(&name.to_string_lossy()))
}

/// The end of a long path, which tells more than its beginning.
fn end(path: &str) -> String {
    const SHOWN: usize = 50;
    let length = path.chars().count();
    let shown: String = path.chars().skip(length.saturating_sub(SHOWN)).collect();
    excerpt(if length > SHOWN { format!("…{shown}") } else { shown }.as_bytes())
}
