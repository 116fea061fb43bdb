//! Matchers: what a rule asks of one property (semantics section 3).

use crate::host::{Host, HostError, PatternId};
use crate::value::{Scalar, Scratch, Value};
use ipnet::IpNet;
use regex::Regex;
use std::collections::HashSet;
use std::net::{IpAddr, Ipv6Addr};

/// A compiled matcher.
#[derive(Clone, Debug)]
pub(crate) enum Matcher {
    Eq(Scalar),
    OneOf(OneOf),
    Regex(Regex),
    Prefix(Box<str>),
    Cidr(Box<[IpNet]>),
    Not(Box<Self>),
    All(Box<[Self]>),
    Host(PatternId),
}

impl Matcher {
    /// The verdict of everything that costs no question to the host; `None` where it hangs on one.
    pub(crate) fn cheap(&self, value: &Value<'_>) -> Option<bool> {
        match self {
            Self::Host(_) => None,
            Self::Not(inner) => inner.cheap(value).map(|held| !held),
            Self::All(entries) => {
                let mut hangs = false;
                for entry in entries {
                    match entry.cheap(value) {
                        // One that fails settles it, whatever the host would say of the others.
                        Some(false) => return Some(false),
                        Some(true) => {}
                        None => hangs = true,
                    }
                }
                (!hangs).then_some(true)
            }
            Self::Eq(scalar) => Some(scalar.equals(value)),
            Self::OneOf(members) => Some(members.contains(value)),
            Self::Regex(pattern) => Some(match value {
                Value::Null => pattern.is_match(""),
                Value::Bytes(_) => false,
                Value::Text(text) => pattern.is_match(text),
                other => other.utf8(&mut Scratch::default()).is_some_and(|text| pattern.is_match(text)),
            }),
            Self::Prefix(prefix) => Some(match value {
                Value::Text(text) => text.starts_with(&**prefix),
                other => other.utf8(&mut Scratch::default()).is_some_and(|text| text.starts_with(&**prefix)),
            }),
            Self::Cidr(networks) => Some(match value {
                Value::Text(text) => inside(networks, text),
                // No number, boolean or null is an address.
                _ => false,
            }),
        }
    }

    /// The verdict, the host asked where it must be.
    pub(crate) fn holds(&self, value: &Value<'_>, host: &dyn Host) -> Result<bool, HostError> {
        if let Some(settled) = self.cheap(value) {
            return Ok(settled);
        }
        match self {
            Self::Host(_) if matches!(value, Value::Bytes(_)) => Ok(false),
            Self::Host(pattern) => host.matches(*pattern, *value),
            Self::Not(inner) => inner.holds(value, host).map(|held| !held),
            Self::All(entries) => {
                for entry in entries {
                    if !entry.holds(value, host)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            // Every other matcher has a cheap verdict.
            _ => Ok(false),
        }
    }

    /// Whether the host is ever asked.
    pub(crate) fn asks_host(&self) -> bool {
        match self {
            Self::Host(_) => true,
            Self::Not(inner) => inner.asks_host(),
            Self::All(entries) => entries.iter().any(Self::asks_host),
            _ => false,
        }
    }
}

/// The members of a `one_of`. Many texts are looked up, few are compared.
#[derive(Clone, Debug)]
pub(crate) struct OneOf {
    texts: HashSet<Box<str>>,
    others: Box<[Scalar]>,
}

impl OneOf {
    /// Where looking up a text beats comparing it with each member.
    const FEW: usize = 8;

    pub(crate) fn new(members: Vec<Scalar>) -> Self {
        if members.len() <= Self::FEW {
            return Self { texts: HashSet::new(), others: members.into() };
        }
        let mut texts = HashSet::new();
        let mut others = Vec::new();
        for member in members {
            match member {
                Scalar::Text(text) => drop(texts.insert(text.into_boxed_str())),
                other => others.push(other),
            }
        }
        Self { texts, others: others.into() }
    }

    fn contains(&self, value: &Value<'_>) -> bool {
        if let (Value::Text(text), false) = (value, self.texts.is_empty()) {
            return self.texts.contains(*text);
        }
        self.others.iter().any(|member| member.equals(value))
    }
}

/// An address inside one of the networks; an IPv4-mapped address counts as IPv4.
fn inside(networks: &[IpNet], text: &str) -> bool {
    let Ok(address) = text.parse::<IpAddr>() else { return false };
    let address = address.to_canonical();
    networks.iter().any(|network| network.contains(&address))
}

/// A network from its text: host bits masked, no length means one address, a mapped network of at
/// least 96 bits counts as its IPv4 network.
pub(crate) fn network(text: &str) -> Option<IpNet> {
    // `ipnet`'s own parser is laxer than the standard library's: it takes `010.0.0.0/8`, whose octets others read as
    // octal, and a `::` that stands for nothing. What is no address alone is none with a length.
    let network = match text.split_once('/') {
        Some((address, length)) => IpNet::new(address.parse().ok()?, prefix_length(length)?).ok()?,
        None => IpNet::from(text.parse::<IpAddr>().ok()?),
    };
    let unmapped = match network {
        IpNet::V6(v6) if v6.prefix_len() >= 96 => {
            mapped(v6.addr()).and_then(|address| IpNet::new(address, v6.prefix_len() - 96).ok())
        }
        _ => None,
    };
    Some(unmapped.unwrap_or(network).trunc())
}

/// Decimal, without leading zeros.
fn prefix_length(text: &str) -> Option<u8> {
    let plain = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|_| plain)
}

fn mapped(address: Ipv6Addr) -> Option<IpAddr> {
    address.to_ipv4_mapped().map(IpAddr::V4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_masked_and_unmapped() {
        for (text, expected) in [
            ("10.1.2.3/8", "10.0.0.0/8"),
            ("10.1.2.3", "10.1.2.3/32"),
            ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
            ("::ffff:0:0/96", "0.0.0.0/0"),
            ("2001:db8::1/32", "2001:db8::/32"),
            ("::1", "::1/128"),
        ] {
            assert_eq!(network(text).expect(text).to_string(), expected);
        }
        for text in ["10.0.0.0/33", "fe80::1%eth0", "", "x", "10.0.0/8", "10.0.0.0/", "10.0.0.0/+8", "::/129", "/8"] {
            assert!(network(text).is_none(), "{text}");
        }
        for text in ["010.0.0.0", "010.0.0.0/8", "10.0.0.0/08", "::1/00", "1:2:3:4::5:6:7:8/64", "1:2:3:4::5:6:7:8"] {
            assert!(network(text).is_none(), "{text}");
        }
    }
}
