//! Samples: what metrics say, as a host takes it.

use std::fmt;

/// The type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SampleKind {
    /// Only grows.
    Counter,
    /// The last value; across processes the largest.
    Gauge,
}

/// One series and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The metric's full name.
    pub name: String,
    /// Its type.
    pub kind: SampleKind,
    /// Label names and values, sorted by name.
    pub labels: Vec<(&'static str, String)>,
    /// The value.
    pub value: u64,
}

impl Sample {
    pub(crate) fn counter(metric: &str, labels: Vec<(&'static str, String)>, value: u64) -> Self {
        Self { name: format!("gitlab_labkit_rate_limiter_{metric}"), kind: SampleKind::Counter, labels, value }
    }

    /// The series as Prometheus' text format writes it, without its value.
    pub fn series(&self) -> String {
        let escape = |text: &str| text.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
        let labels: Vec<String> =
            self.labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escape(value))).collect();
        format!("{}{{{}}}", self.name, labels.join(","))
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.series(), self.value)
    }
}
