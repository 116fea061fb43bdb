//! One script call as commands.

use labkit_ratelimit::{Call, Script};
use redis::{Arg, Cmd};

/// One script call. It is sent by digest; the text goes along only where the server does not know it.
pub(crate) struct Request {
    by_digest: Cmd,
    script: &'static Script,
    /// The slot of its keys, should there be a cluster.
    pub(crate) slot: u16,
}

impl Request {
    pub(crate) fn new(call: &Call) -> Self {
        let mut by_digest = redis::cmd("EVALSHA");
        by_digest.arg(call.script.digest()).arg(call.keys.len()).arg(&call.keys).arg(&call.args);
        Self { by_digest, script: call.script, slot: call.slot() }
    }

    pub(crate) const fn by_digest(&self) -> &Cmd {
        &self.by_digest
    }

    pub(crate) fn by_source(&self) -> Cmd {
        let mut by_source = redis::cmd("EVAL");
        by_source.arg(self.script.source());
        for arg in self.by_digest.args_iter().skip(2) {
            if let Arg::Simple(arg) = arg {
                by_source.arg(arg);
            }
        }
        by_source
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(cmd: &Cmd) -> Vec<String> {
        let word = |arg: Arg<&[u8]>| match arg {
            Arg::Simple(arg) => String::from_utf8_lossy(arg).into_owned(),
            _ => unreachable!("no cursor"),
        };
        cmd.args_iter().map(word).collect()
    }

    #[test]
    fn it_is_the_same_call_by_digest_and_by_source() {
        let script = Script::clear();
        let call = Call {
            script,
            keys: vec!["{a}".into(), "{a}:ban".into()],
            args: vec!["1".into(), String::new()],
            steps: 0..0,
        };
        let request = Request::new(&call);
        assert_eq!(words(request.by_digest()), ["EVALSHA", script.digest(), "2", "{a}", "{a}:ban", "1", ""]);
        assert_eq!(words(&request.by_source()), ["EVAL", script.source(), "2", "{a}", "{a}:ban", "1", ""]);
    }
}
