//! The ways of counting that a rule may name.

/// How a rule counts calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// A window that the first charge starts.
    #[default]
    FixedWindow,
    /// The generic cell rate algorithm: see [`crate::gcra`].
    Gcra,
}

impl Algorithm {
    /// Every algorithm.
    pub const ALL: [Self; 2] = [Self::FixedWindow, Self::Gcra];

    /// As rules spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FixedWindow => "fixed_window",
            Self::Gcra => "gcra",
        }
    }

    /// From its spelling.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.as_str() == text)
    }
}
