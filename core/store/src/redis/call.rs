//! Calls: the steps of a chain as KEYS and ARGV.

use super::script::Script;
use super::slot::slot;
use crate::keys::{Member, StoreKeys};
use labkit_ratelimit_engine::gcra::Fine;
use labkit_ratelimit_engine::{Cost, CountStep, Counting, Mode, Rules, Stop};
use std::ops::Range;

/// What the keys are spread over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Topology {
    /// One server takes all keys, also behind Sentinel: one call a check.
    #[default]
    Single,
    /// A Redis Cluster: one call for each change of slot, in chain order.
    Cluster,
}

/// One script call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The script.
    pub script: &'static Script,
    /// KEYS, all of one slot on a cluster.
    pub keys: Vec<String>,
    /// ARGV.
    pub args: Vec<String>,
    /// The steps that it runs, counted in the chain.
    pub steps: Range<usize>,
}

impl Call {
    /// The slot of its keys on a cluster.
    pub fn slot(&self) -> u16 {
        self.keys.first().map_or(0, |key| slot(key))
    }
}

/// A step with the names that it has in Redis.
pub struct ChainStep<'a> {
    /// The step.
    pub step: &'a CountStep,
    /// Its keys.
    pub keys: StoreKeys,
    /// The value that a distinct step counts.
    pub member: Option<&'a Member>,
}

/// The calls of a chain, in order.
pub fn chain_calls<'a>(
    steps: impl IntoIterator<Item = ChainStep<'a>>,
    cost: Cost,
    mode: Mode,
    topology: Topology,
) -> Vec<Call> {
    let mut chains: Vec<(u16, Chain)> = Vec::with_capacity(1);
    for (at, step) in steps.into_iter().enumerate() {
        let slot = match topology {
            Topology::Single => 0,
            Topology::Cluster => slot(&step.keys.counter),
        };
        let chain = match chains.last_mut() {
            Some((last, chain)) if *last == slot => chain,
            _ => {
                chains.push((slot, Chain::new(cost, at)));
                let Some((_, chain)) = chains.last_mut() else { continue };
                chain
            }
        };
        chain.steps.end = at + 1;
        chain.push(step, cost, mode);
    }
    chains.into_iter().map(|(_, chain)| chain.into()).collect()
}

/// A call of the chain's script while it grows.
struct Chain {
    words: String,
    members: Vec<String>,
    keys: Vec<String>,
    steps: Range<usize>,
}

impl Chain {
    fn new(cost: Cost, at: usize) -> Self {
        let mut words = String::with_capacity(128);
        words.push_str(&cost.text());
        words.push(' ');
        Self { words, members: Vec::new(), keys: Vec::new(), steps: at..at }
    }

    fn number(&mut self, number: impl Into<u64>) {
        self.words.push_str(itoa::Buffer::new().format(number.into()));
        self.words.push(' ');
    }

    fn push(&mut self, chained: ChainStep<'_>, cost: Cost, mode: Mode) {
        let step = chained.step;
        let charges = mode == Mode::Check && !cost.is_zero();
        let member = chained.member.filter(|_| mode == Mode::Check);
        let what = match (&step.counting, charges, member) {
            (Counting::Window, true, _) => 'w',
            (Counting::Window, false, _) => 'r',
            (Counting::Distinct { .. }, _, Some(_)) => 'd',
            (Counting::Distinct { .. }, _, None) => 'e',
            (Counting::Gcra(_), true, _) => 'g',
            (Counting::Gcra(_), false, _) => 'p',
        };
        let stop = match step.stop {
            // The chain was cut behind a step that always stops: there is nothing more to run.
            Stop::Never | Stop::Always => 'n',
            Stop::WhenOver => 'o',
            Stop::WhenPassed => 'p',
        };
        let ban = match (step.ban_for_s, charges) {
            (None, _) => '-',
            (Some(_), true) => 'b',
            (Some(_), false) => 'f',
        };
        self.words.extend([what, stop, ban, ' ']);
        let ban = step.ban_for_s.map(|seconds| (chained.keys.ban(), seconds));
        self.keys.push(chained.keys.counter);
        if let Some((key, seconds)) = ban {
            self.keys.push(key);
            self.number(millis(seconds));
        }
        match &step.counting {
            Counting::Window => {
                self.number(millis(step.period_s));
                self.number(step.limit);
            }
            Counting::Distinct { .. } => {
                self.number(millis(step.period_s));
                self.number(step.limit);
                self.members.extend(member.map(|member| member.as_str().to_owned()));
            }
            Counting::Gcra(rate) => {
                self.number(step.limit);
                let spans: [Fine; 2] = [rate.span(Rules::judged_cost(mode, cost)), rate.tolerance];
                for span in spans {
                    self.number(span.micros);
                    self.number(span.rest);
                }
            }
        }
    }
}

impl From<Chain> for Call {
    fn from(chain: Chain) -> Self {
        let Chain { words, members, keys, steps } = chain;
        let args = [words].into_iter().chain(members).collect();
        Self { script: Script::chain(), keys, args, steps }
    }
}

fn millis(seconds: u32) -> u64 {
    u64::from(seconds) * 1000
}

/// The calls that delete `keys`: one, or on a cluster one for each slot.
pub fn clear_calls(keys: &[StoreKeys], topology: Topology) -> Vec<Call> {
    let call = |keys: Vec<String>| Call { script: Script::clear(), keys, args: Vec::new(), steps: 0..0 };
    let both = |keys: &StoreKeys| [keys.counter.clone(), keys.ban()];
    match topology {
        _ if keys.is_empty() => Vec::new(),
        Topology::Single => vec![call(keys.iter().flat_map(both).collect())],
        Topology::Cluster => keys.iter().map(|keys| call(both(keys).into())).collect(),
    }
}
