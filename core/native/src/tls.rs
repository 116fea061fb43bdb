//! TLS: whom to trust, and who we are.

use crate::error::{ConfigError, ConfigErrorKind};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::fmt;
use std::io;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// How to talk TLS. By default the system's authorities are trusted and no certificate is shown.
///
/// Certificates are always checked: there is no way to switch that off.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Tls {
    authorities: Option<Vec<u8>>,
    identity: Option<(Vec<u8>, Vec<u8>)>,
    server_name: Option<String>,
}

impl Tls {
    /// The default.
    pub fn new() -> Self {
        Self::default()
    }

    /// Trusts these authorities, PEM certificates, and no others.
    #[must_use]
    pub fn authorities(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.authorities = Some(pem.into());
        self
    }

    /// Shows this certificate (PEM, with its chain) and signs with its private key (PEM).
    #[must_use]
    pub fn identity(mut self, certificates: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Self {
        self.identity = Some((certificates.into(), key.into()));
        self
    }

    /// Expects this name in every server's certificate, instead of the host that was dialed; for sentinels
    /// and clusters that give addresses where certificates hold names.
    #[must_use]
    pub fn server_name(mut self, name: impl Into<String>) -> Self {
        self.server_name = Some(name.into());
        self
    }

    /// Reads everything, once.
    pub(crate) fn connector(&self) -> Result<Connector, ConfigError> {
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| ConfigError::caused(ConfigErrorKind::Tls, "TLS cannot be set up", error))?
            .with_root_certificates(self.roots()?);
        let config = match &self.identity {
            None => config.with_no_client_auth(),
            Some((certificates, key)) => {
                let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| {
                    ConfigError::caused(ConfigErrorKind::Tls, "the private key is no PEM key", error)
                })?;
                config.with_client_auth_cert(certificates_in(certificates)?, key).map_err(|error| {
                    ConfigError::caused(ConfigErrorKind::Tls, "certificate and private key do not go together", error)
                })?
            }
        };
        let server_name = self.server_name.clone().map(ServerName::try_from).transpose().map_err(|error| {
            ConfigError::caused(ConfigErrorKind::Tls, "server_name is neither a host name nor an IP address", error)
        })?;
        Ok(Connector { tls: TlsConnector::from(Arc::new(config)), server_name })
    }

    fn roots(&self) -> Result<RootCertStore, ConfigError> {
        let mut roots = RootCertStore::empty();
        if let Some(pem) = &self.authorities {
            for certificate in certificates_in(pem)? {
                roots.add(certificate).map_err(|error| {
                    ConfigError::caused(ConfigErrorKind::Tls, "an authority's certificate cannot be used", error)
                })?;
            }
            return Ok(roots);
        }
        let found = rustls_native_certs::load_native_certs();
        // One broken file among the system's many is no reason to trust none of them.
        roots.add_parsable_certificates(found.certs);
        if roots.is_empty() {
            let what =
                "the system has no certificates of authorities: install ca-certificates, or give Tls::authorities";
            return Err(match found.errors.into_iter().next() {
                Some(error) => ConfigError::caused(ConfigErrorKind::Tls, what, error),
                None => ConfigError::new(ConfigErrorKind::Tls, what),
            });
        }
        Ok(roots)
    }
}

fn certificates_in(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, ConfigError> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match read {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err(ConfigError::new(
            ConfigErrorKind::Tls,
            "there is no certificate: give the PEM text itself, from -----BEGIN CERTIFICATE----- on, not a path",
        )),
        Err(error) => Err(ConfigError::caused(ConfigErrorKind::Tls, "a certificate is no PEM text", error)),
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("authorities", &if self.authorities.is_some() { "given" } else { "system" })
            .field("identity", &if self.identity.is_some() { "given" } else { "none" })
            .field("server_name", &self.server_name)
            .finish()
    }
}

/// What TLS connections start from.
pub(crate) struct Connector {
    tls: TlsConnector,
    server_name: Option<ServerName<'static>>,
}

impl Connector {
    pub(crate) async fn connect(&self, host: &str, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let name = match &self.server_name {
            Some(name) => name.clone(),
            None => ServerName::try_from(host.to_owned()).map_err(io::Error::other)?,
        };
        self.tls.connect(name, stream).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_pem_is_refused_when_it_is_built() {
        for tls in [
            Tls::new().authorities("/etc/ssl/ca.pem"),
            Tls::new().authorities("-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"),
            Tls::new().authorities("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
        ] {
            assert_eq!(tls.connector().err().map(|error| error.kind()), Some(ConfigErrorKind::Tls), "{tls:?}");
        }
    }

    #[test]
    fn debug_shows_no_key() {
        let tls = Tls::new().identity("certificate", "s3cret");
        assert_eq!(format!("{tls:?}"), r#"Tls { authorities: "system", identity: "given", server_name: None }"#);
    }
}
