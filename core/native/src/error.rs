//! A server that cannot be talked to as it is described.

use std::error::Error;
use std::fmt;

/// What is wrong with the description of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConfigErrorKind {
    /// The URL does not begin with a scheme of ours.
    Scheme,
    /// An address is not `host`, `host:port` or the path of a socket, or there is none.
    Address,
    /// A user name, a password, or how they are written.
    Credentials,
    /// The number of the database.
    Database,
    /// The name of the master that Sentinel watches.
    Master,
    /// A parameter behind `?` in a URL, or a setting of [`crate::Builder`].
    Parameter,
    /// Certificates, keys, or TLS where there can be none.
    Tls,
}

/// Why a server cannot be talked to as it is described, and how to mend it. Never holds a password.
#[derive(Debug)]
pub struct ConfigError {
    kind: ConfigErrorKind,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl ConfigError {
    pub(crate) fn new(kind: ConfigErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    pub(crate) fn caused(
        kind: ConfigErrorKind,
        message: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self { source: Some(source.into()), ..Self::new(kind, message) }
    }

    /// What is wrong.
    pub const fn kind(&self) -> ConfigErrorKind {
        self.kind
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ConfigError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| -> &(dyn Error + 'static) { source })
    }
}
