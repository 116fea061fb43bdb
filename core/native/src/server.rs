//! Which Redis to talk to.

use crate::address::{Address, REDIS_PORT, SENTINEL_PORT};
use crate::error::{ConfigError, ConfigErrorKind};
use crate::tls::Tls;
use crate::url;
use labkit_ratelimit::Topology;
use std::fmt;
use std::str::FromStr;

/// Which Redis to talk to, and as whom.
///
/// Neither `Debug` nor `Display` shows a user name or a password.
///
/// ```
/// use labkit_ratelimit_native::Server;
///
/// let single = Server::single("10.0.0.1:6379")?.password("secret").database(2);
/// let sentinel = Server::sentinel("mymaster", ["10.0.0.2", "10.0.0.3"])?.sentinel_password("secret");
/// let cluster: Server = "rediss+cluster://:secret@10.0.0.4:7000,10.0.0.5:7000".parse()?;
///
/// assert_eq!(single.to_string(), "redis://10.0.0.1:6379/2");
/// assert_eq!(sentinel.to_string(), "redis+sentinel://10.0.0.2:26379,10.0.0.3:26379/mymaster/0");
/// assert_eq!(cluster.to_string(), "rediss+cluster://10.0.0.4:7000,10.0.0.5:7000");
/// # Ok::<(), labkit_ratelimit_native::ConfigError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Server {
    pub(crate) place: Place,
    pub(crate) login: Login,
    pub(crate) sentinel_login: Login,
    pub(crate) database: u32,
    pub(crate) tls: Option<Tls>,
}

/// What stands where.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Place {
    Single(Address),
    Sentinel { master: String, sentinels: Vec<Address> },
    Cluster(Vec<Address>),
}

/// Who we are to a server.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Login {
    pub(crate) username: Option<String>,
    pub(crate) password: Option<String>,
}

impl Server {
    /// One server: `host`, `host:port`, `[ipv6]:port`, or the absolute path of a unix socket. The port is
    /// 6379 by default.
    ///
    /// # Errors
    /// [`ConfigErrorKind::Address`] where `address` is none.
    pub fn single(address: &str) -> Result<Self, ConfigError> {
        Ok(Self::at(Place::Single(Address::parse(address, REDIS_PORT)?)))
    }

    /// The master called `master` by these sentinels. Their port is 26379 by default.
    ///
    /// # Errors
    /// [`ConfigErrorKind::Address`] where one is no address or there is none, [`ConfigErrorKind::Master`]
    /// where the name is empty.
    pub fn sentinel<A: AsRef<str>>(
        master: impl Into<String>,
        sentinels: impl IntoIterator<Item = A>,
    ) -> Result<Self, ConfigError> {
        let (master, sentinels) = (master.into(), addresses(sentinels, SENTINEL_PORT)?);
        if master.is_empty() {
            return Err(ConfigError::new(
                ConfigErrorKind::Master,
                "the name of the master is missing: give the one behind `sentinel monitor`, such as mymaster",
            ));
        }
        Ok(Self::at(Place::Sentinel { master, sentinels }))
    }

    /// The cluster that these nodes belong to: one suffices, more are asked while it is down. Their port is
    /// 6379 by default.
    ///
    /// # Errors
    /// [`ConfigErrorKind::Address`] where one is no address or there is none.
    pub fn cluster<A: AsRef<str>>(nodes: impl IntoIterator<Item = A>) -> Result<Self, ConfigError> {
        Ok(Self::at(Place::Cluster(addresses(nodes, REDIS_PORT)?)))
    }

    /// Reads a URL:
    ///
    /// | | |
    /// |---|---|
    /// | one server | `redis://[[user]:password@]host[:port][/database]` |
    /// | a unix socket | `unix:///path/of/socket[?db=2&username=…&password=…]` |
    /// | Sentinel | `redis+sentinel://[…@]host[:port],host[:port]/master[/database][?sentinel_username=…&sentinel_password=…]` |
    /// | Cluster | `redis+cluster://[…@]host[:port],host[:port]` |
    ///
    /// With `rediss` in place of `redis` it is TLS. Characters with a meaning in URLs are percent-encoded. Of `user@host` the
    /// password follows with [`Self::password`]: a user without one is refused when the connection is built.
    ///
    /// # Errors
    /// What is wrong and how to mend it; the text never holds a password.
    pub fn parse(url: &str) -> Result<Self, ConfigError> {
        url::parse(url)
    }

    pub(crate) fn at(place: Place) -> Self {
        Self { place, login: Login::default(), sentinel_login: Login::default(), database: 0, tls: None }
    }

    /// The password.
    #[must_use]
    pub fn password(mut self, password: impl Into<String>) -> Self {
        self.login.password = Some(password.into());
        self
    }

    /// The user; by default the server's default user. Needs a password.
    #[must_use]
    pub fn username(mut self, username: impl Into<String>) -> Self {
        self.login.username = Some(username.into());
        self
    }

    /// The password of the sentinels, which are not asked with that of the master.
    #[must_use]
    pub fn sentinel_password(mut self, password: impl Into<String>) -> Self {
        self.sentinel_login.password = Some(password.into());
        self
    }

    /// The user at the sentinels. Needs their password.
    #[must_use]
    pub fn sentinel_username(mut self, username: impl Into<String>) -> Self {
        self.sentinel_login.username = Some(username.into());
        self
    }

    /// The number of the database, 0 by default; a cluster has no other.
    #[must_use]
    pub const fn database(mut self, number: u32) -> Self {
        self.database = number;
        self
    }

    /// Talks TLS: to the server, to every node of a cluster, to sentinels and master alike.
    #[must_use]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// What keys are spread over, as [`labkit_ratelimit::RedisOptions`] wants to know.
    pub const fn topology(&self) -> Topology {
        match self.place {
            Place::Single(_) | Place::Sentinel { .. } => Topology::Single,
            Place::Cluster(_) => Topology::Cluster,
        }
    }

    /// What no server can be.
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        if self.sentinel_login != Login::default() && !matches!(self.place, Place::Sentinel { .. }) {
            return Err(ConfigError::new(
                ConfigErrorKind::Credentials,
                "a user or password of sentinels, but no sentinel: build it with Server::sentinel, or leave them out",
            ));
        }
        self.validate_place()?;
        for login in [&self.login, &self.sentinel_login] {
            if login.username.is_some() && login.password.is_none() {
                return Err(ConfigError::new(
                    ConfigErrorKind::Credentials,
                    "a user without a password: give one, or for the default user write redis://:PASSWORD@host",
                ));
            }
        }
        Ok(())
    }

    /// What no address can be, whoever logs in.
    pub(crate) fn validate_place(&self) -> Result<(), ConfigError> {
        if self.database != 0 && matches!(self.place, Place::Cluster(_)) {
            return Err(ConfigError::new(
                ConfigErrorKind::Database,
                format!("a cluster has no database {}: leave it out", self.database),
            ));
        }
        if self.tls.is_some() && matches!(self.place, Place::Single(Address::Unix(_))) {
            return Err(ConfigError::new(ConfigErrorKind::Tls, "a unix socket has no TLS: leave it out"));
        }
        Ok(())
    }
}

fn addresses<A: AsRef<str>>(
    texts: impl IntoIterator<Item = A>,
    default_port: u16,
) -> Result<Vec<Address>, ConfigError> {
    let read = |text: A| match Address::parse(text.as_ref(), default_port)? {
        Address::Unix(path) => Err(ConfigError::new(
            ConfigErrorKind::Address,
            format!("`{}` is a unix socket: Sentinel and Cluster need host:port", path.display()),
        )),
        address @ Address::Tcp { .. } => Ok(address),
    };
    let read: Vec<Address> = texts.into_iter().map(read).collect::<Result<_, _>>()?;
    if read.is_empty() {
        return Err(ConfigError::new(ConfigErrorKind::Address, "there is no address: give one host:port at least"));
    }
    Ok(read)
}

impl FromStr for Server {
    type Err = ConfigError;

    fn from_str(url: &str) -> Result<Self, ConfigError> {
        Self::parse(url)
    }
}

/// As a URL, without user and password.
impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |addresses: &[Address]| addresses.iter().map(Address::to_string).collect::<Vec<_>>().join(",");
        let scheme = if self.tls.is_some() { "rediss" } else { "redis" };
        match &self.place {
            Place::Single(Address::Unix(path)) => write!(f, "unix://{}?db={}", path.display(), self.database),
            Place::Single(address) => write!(f, "{scheme}://{address}/{}", self.database),
            Place::Sentinel { master, sentinels, .. } => {
                write!(f, "{scheme}+sentinel://{}/{master}/{}", list(sentinels), self.database)
            }
            Place::Cluster(nodes) => write!(f, "{scheme}+cluster://{}", list(nodes)),
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({self})")
    }
}
