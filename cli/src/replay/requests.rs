//! The requests of a log: of each its time, its line's number, and the properties that some rules mention.

use super::values::{ValueId, Values};
use crate::access_log::{Entry, Property};
use crate::mistake::Mistake;
use labkit_ratelimit::{Identifier, Value};

/// Every request. Of each, 24 bytes and 4 for each property are held; distinct values once.
#[derive(Debug)]
pub(crate) struct Requests {
    properties: Vec<String>,
    values: Values,
    moments: Vec<Moment>,
    cells: Vec<ValueId>,
    latest_us: u64,
    late: u64,
    furthest_us: u64,
}

#[derive(Debug)]
struct Moment {
    at_us: u64,
    line: u64,
    /// Where its properties begin among the cells.
    cells: usize,
}

/// One request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'r> {
    pub(crate) at_us: u64,
    pub(crate) line: u64,
    cells: &'r [ValueId],
    all: &'r Requests,
}

/// A request as one limiter knows it: by the properties that its own rules mention.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen<'r> {
    request: Request<'r>,
    /// For each property of the rules, its place among those that are held.
    slots: &'r [usize],
}

impl Requests {
    /// None yet, of which these properties will be held.
    pub(crate) fn new(properties: Vec<String>) -> Self {
        Self {
            properties,
            values: Values::new(),
            moments: Vec::new(),
            cells: Vec::new(),
            latest_us: 0,
            late: 0,
            furthest_us: 0,
        }
    }

    pub(crate) const fn values(&self) -> &Values {
        &self.values
    }

    /// The names of the properties that are held.
    pub(crate) fn properties(&self) -> &[String] {
        &self.properties
    }

    /// The place of a property among those that are held.
    pub(crate) fn slot(&self, name: &str) -> Option<usize> {
        self.properties.iter().position(|property| property == name)
    }

    /// Adds the request of the next line.
    pub(crate) fn push(&mut self, line: u64, entry: &Entry<'_>) -> Result<(), Mistake> {
        self.moments.push(Moment { at_us: entry.at_us, line, cells: self.cells.len() });
        for property in &entry.properties {
            self.cells.push(self.values.place(property.as_bytes())?);
        }
        if entry.at_us < self.latest_us {
            self.late += 1;
            self.furthest_us = self.furthest_us.max(self.latest_us - entry.at_us);
        }
        self.latest_us = self.latest_us.max(entry.at_us);
        Ok(())
    }

    /// Puts them in the order of time, those of one instant in the order of the log.
    pub(crate) fn sort(&mut self) {
        if self.late > 0 {
            self.moments.sort_unstable_by_key(|moment| (moment.at_us, moment.line));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.moments.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.moments.len()
    }

    /// How many lines came after one of a later time.
    pub(crate) const fn late(&self) -> u64 {
        self.late
    }

    /// By how much the latest of them, in µs.
    pub(crate) const fn furthest_us(&self) -> u64 {
        self.furthest_us
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = Request<'_>> + DoubleEndedIterator {
        self.moments.iter().map(|moment| Request {
            at_us: moment.at_us,
            line: moment.line,
            cells: &self.cells[moment.cells..moment.cells + self.properties.len()],
            all: self,
        })
    }
}

impl<'r> Request<'r> {
    /// The value of the property at this place.
    pub(crate) fn id(&self, slot: usize) -> ValueId {
        self.cells[slot]
    }

    /// As the limiter knows it whose properties stand at these places.
    pub(crate) const fn seen(self, slots: &'r [usize]) -> Seen<'r> {
        Seen { request: self, slots }
    }
}

impl Identifier for Seen<'_> {
    fn value(&self, slot: usize, _: &str) -> Value<'_> {
        self.request.all.values.get(self.request.id(self.slots[slot])).value()
    }

    fn each_name(&self, each: &mut dyn FnMut(&str)) {
        for slot in self.slots {
            if *self.request.all.values.get(self.request.id(*slot)) != Property::Absent {
                each(&self.request.all.properties[*slot]);
            }
        }
    }
}
