//! Progress on standard error, where that is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};

/// A bar over bytes, or over what `unit` says; invisible where nobody looks at it.
pub(crate) fn bar(doing: &str, length: Option<u64>, template: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style).with_message(doing.to_owned())
}

/// For bytes that are read.
pub(crate) const BYTES: &str = "{msg} [{bar:24}] {bytes} of {total_bytes}, {eta} left";
/// For requests that are decided.
pub(crate) const REQUESTS: &str = "{msg} [{bar:24}] {human_pos} of {human_len}, {eta} left";
