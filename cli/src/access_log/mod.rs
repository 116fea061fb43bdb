//! Access logs: opening one, knowing its format, and understanding its lines.

mod common;
mod detection;
mod format;
mod json_lines;
mod lines;
mod noticed;
mod property;
mod reading;
mod rows;
mod source;
mod table;
mod time;
mod unpacking;

pub(crate) use detection::{LINES_TRIED, detect};
pub(crate) use format::{Entry, Format, LineFormat, Oddity, Unreadable, Why};
pub(crate) use json_lines::property as json_property;
pub(crate) use noticed::Noticed;
pub(crate) use property::Property;
pub(crate) use reading::{Notes, Wanted, read};
pub(crate) use source::Source;
