//! `clear`: counters and bans of one request deleted, on a Redis.

mod arguments;
mod deletion;

pub(crate) use arguments::Arguments;

use crate::mistake::Mistake;
use crate::output::{self, OutputFormat};
use crate::printable;
use crate::words::some;
use console::style;
use deletion::Deletion;
use serde::Serialize;
use std::io::{self, BufRead, IsTerminal, Write};

/// What was done.
#[derive(Debug, Serialize)]
struct Report<'r> {
    limiter: &'r str,
    deleted: usize,
    keys: &'r [String],
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Mistake> {
    let stored = arguments.stored.read()?;
    let mut deletion = Deletion::plan(&stored)?;
    if !arguments.yes {
        confirm(&deletion, &stored.redis.address)?;
    }
    let done = deletion.run(&stored.redis);
    let keys = deletion.deleted();
    if let Err(why) = done {
        let so_far = match keys {
            [] => "; nothing was deleted".to_owned(),
            keys => format!("; deleted before: {}", keys.join(", ")),
        };
        return Err(stored.redis.failed(&format!("{why}{so_far}")));
    }
    let limiter = stored.limiter.name();
    output::write(|out| match arguments.format {
        OutputFormat::Human => {
            let deleted = some(u64::try_from(keys.len()).unwrap_or(u64::MAX), "key");
            writeln!(out, "{}: {deleted} deleted", style(limiter).bold())?;
            keys.iter().try_for_each(|key| writeln!(out, "  {}", printable::line(key)))
        }
        OutputFormat::Json => {
            serde_json::to_writer_pretty(&mut *out, &Report { limiter, deleted: keys.len(), keys })?;
            writeln!(out)
        }
    })
}

/// Asks whether it is meant. Where nobody can be asked, it must have been said.
fn confirm(deletion: &Deletion, address: &str) -> Result<(), Mistake> {
    let (stdin, mut stderr) = (io::stdin(), io::stderr());
    if !stdin.is_terminal() || !stderr.is_terminal() {
        return Err(Mistake::Misuse("clear lifts bans, and nobody can be asked here: give --yes".into()));
    }
    let mut answer = String::new();
    let asked = writeln!(stderr, "These keys are deleted, as far as they are there, on {address}:")
        .and_then(|()| deletion.keys().try_for_each(|key| writeln!(stderr, "  {}", printable::line(key))))
        .and_then(|()| write!(stderr, "Delete them? [y/N] "))
        .and_then(|()| stderr.flush())
        .and_then(|()| stdin.lock().read_line(&mut answer));
    asked.map_err(|error| Mistake::unreadable("the answer", &error))?;
    if matches!(answer.trim(), "y" | "Y" | "yes") {
        return Ok(());
    }
    Err(Mistake::Misuse("nothing was deleted".into()))
}
