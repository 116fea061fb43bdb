//! Opening connections.

use crate::address::Address;
use crate::error::ConfigError;
use crate::fault;
use crate::server::{Login, Server};
use crate::tls::Connector;
use crate::wire::Wire;
use labkit_ratelimit::Fault;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, RedisConnectionInfo, RedisResult};
use socket2::{SockRef, TcpKeepalive};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio::time::timeout;

/// How long a connection may be silent before the kernel asks whether the other end is still there, and
/// between its questions: an idle connection that broke is then replaced before a check needs it.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// Opens connections as one user.
#[derive(Clone)]
pub(crate) struct Dialer {
    login: RedisConnectionInfo,
    tls: Option<Arc<Connector>>,
    /// How long an attempt to connect, and a question about the topology, may take.
    pub(crate) patience: Duration,
}

impl Dialer {
    /// One for the server itself, and one for its sentinels.
    pub(crate) fn pair(server: &Server, patience: Duration) -> Result<(Self, Self), ConfigError> {
        let tls = server.tls.as_ref().map(|tls| tls.connector().map(Arc::new)).transpose()?;
        let dialer =
            |login: &Login, database: u32| Self { login: connection_info(login, database), tls: tls.clone(), patience };
        Ok((dialer(&server.login, server.database), dialer(&server.sentinel_login, 0)))
    }

    /// Opens a connection, logged in.
    pub(crate) async fn dial(&self, address: &Address) -> Result<Wire, Fault> {
        match timeout(self.patience, self.open(address)).await {
            Ok(opened) => opened.map_err(|error| fault::of_connection(address, &error)),
            Err(_) => {
                Err(Fault::unreachable(format!("{address}: no connection within {} ms", self.patience.as_millis())))
            }
        }
    }

    async fn open(&self, address: &Address) -> RedisResult<Wire> {
        match address {
            Address::Tcp { host, port } => {
                let stream = TcpStream::connect((host.as_str(), *port)).await?;
                stream.set_nodelay(true)?;
                let keepalive = TcpKeepalive::new().with_time(KEEPALIVE).with_interval(KEEPALIVE);
                SockRef::from(&stream).set_tcp_keepalive(&keepalive)?;
                match &self.tls {
                    None => self.log_in(address, stream).await,
                    Some(tls) => self.log_in(address, tls.connect(host, stream).await?).await,
                }
            }
            #[cfg(unix)]
            Address::Unix(path) => self.log_in(address, UnixStream::connect(path).await?).await,
            #[cfg(not(unix))]
            Address::Unix(_) => Err(std::io::Error::from(std::io::ErrorKind::Unsupported).into()),
        }
    }

    async fn log_in<S>(&self, address: &Address, stream: S) -> RedisResult<Wire>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        // The deadline of each call is ours to keep.
        let config = AsyncConnectionConfig::new().set_response_timeout(None);
        let (connection, driver) = MultiplexedConnection::new_with_config(&self.login, stream, config).await?;
        Ok(Wire::start(address.clone(), connection, driver))
    }
}

fn connection_info(login: &Login, database: u32) -> RedisConnectionInfo {
    let mut info = RedisConnectionInfo::default()
        .set_db(database.into())
        .set_lib_name(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    if let Some(username) = &login.username {
        info = info.set_username(username);
    }
    if let Some(password) = &login.password {
        info = info.set_password(password);
    }
    info
}
