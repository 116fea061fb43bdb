//! Where a server listens.

use crate::error::{ConfigError, ConfigErrorKind};
use std::fmt;
use std::path::PathBuf;

/// Where Redis listens unless it is told otherwise.
pub(crate) const REDIS_PORT: u16 = 6379;
/// Where Sentinel listens unless it is told otherwise.
pub(crate) const SENTINEL_PORT: u16 = 26_379;

/// Where a server listens: host and port, or the path of a unix socket.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Address {
    Tcp { host: String, port: u16 },
    Unix(PathBuf),
}

impl Address {
    /// Reads `host`, `host:port`, `[ipv6]:port` or an absolute path.
    pub(crate) fn parse(text: &str, default_port: u16) -> Result<Self, ConfigError> {
        if text.starts_with('/') {
            return Ok(Self::Unix(text.into()));
        }
        let wrong = |what: &str| {
            ConfigError::new(
                ConfigErrorKind::Address,
                format!("`{text}` {what}: write host, host:port, [ipv6]:port, or the absolute path of a socket"),
            )
        };
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, behind) = rest.split_once(']').ok_or_else(|| wrong("has no closing bracket"))?;
                let port = behind.strip_prefix(':');
                if port.is_none() && !behind.is_empty() {
                    return Err(wrong("has text behind its bracket that is no port"));
                }
                (host, port)
            }
            None => match text.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        if host.is_empty() || host.contains(|c: char| c.is_whitespace() || c == '/') {
            return Err(wrong("names no host"));
        }
        let port = match port {
            None => default_port,
            Some(port) => {
                port.parse().ok().filter(|port| *port > 0).ok_or_else(|| wrong("has no port within 1 and 65535"))?
            }
        };
        Ok(Self::Tcp { host: host.to_owned(), port })
    }

    /// Reads the address of another node as a server writes it; without a host it is that of `asked`.
    pub(crate) fn told(host: &str, port: u16, asked: &Self) -> Option<Self> {
        let host = match (host, asked) {
            ("" | "?", Self::Tcp { host, .. }) => host,
            ("" | "?", Self::Unix(_)) => return None,
            (host, _) => host,
        };
        (port > 0).then(|| Self::Tcp { host: host.to_owned(), port })
    }

    /// Reads the `host:port` of a redirection.
    pub(crate) fn redirected(text: &str, asked: &Self) -> Option<Self> {
        let (host, port) = text.rsplit_once(':')?;
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        Self::told(host, port.parse().ok()?, asked)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) => path.display().fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(host: &str, port: u16) -> Address {
        Address::Tcp { host: host.into(), port }
    }

    #[test]
    fn addresses_are_read_and_written() {
        for (text, address, written) in [
            ("redis", tcp("redis", 6379), "redis:6379"),
            ("10.0.0.1:7000", tcp("10.0.0.1", 7000), "10.0.0.1:7000"),
            ("[::1]:7000", tcp("::1", 7000), "[::1]:7000"),
            ("[::1]", tcp("::1", 6379), "[::1]:6379"),
            ("/run/redis.sock", Address::Unix("/run/redis.sock".into()), "/run/redis.sock"),
        ] {
            assert_eq!(Address::parse(text, REDIS_PORT).unwrap(), address);
            assert_eq!(address.to_string(), written);
        }
        for text in ["", ":6379", "a:0", "a:65536", "a:b", "[::1", "[::1]7000", "a b", "::1"] {
            assert_eq!(Address::parse(text, REDIS_PORT).unwrap_err().kind(), ConfigErrorKind::Address, "{text}");
        }
    }

    #[test]
    fn redirections_may_leave_the_host_out() {
        let asked = tcp("a", 1);
        assert_eq!(Address::redirected("b:2", &asked), Some(tcp("b", 2)));
        assert_eq!(Address::redirected(":2", &asked), Some(tcp("a", 2)));
        assert_eq!(Address::redirected("::1:2", &asked), Some(tcp("::1", 2)));
        assert_eq!(Address::redirected("b", &asked), None);
        assert_eq!(Address::told("?", 2, &Address::Unix("/s".into())), None);
    }
}
