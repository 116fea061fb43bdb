//! TLS, with certificates made for the test.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

mod support;

use labkit_ratelimit_native::{NativeRedis, Server, Tls};
use std::fs;
use std::process::{Command, Stdio};
use std::sync::Arc;
use support::free_port;
use support::limiters::{PATIENCE, PerIp};
use support::server::{Folder, RedisServer};

const IP: &str = "198.18.0.1";

/// An authority, and a certificate of it for `name.test` and its key.
struct Certificates(Folder);

impl Certificates {
    fn new() -> Self {
        let folder = Folder::new();
        let ec = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2";
        openssl(&folder, &format!("{ec} -keyout ca.key -out ca.pem -subj /CN=ca"));
        let signed = format!("{ec} -CA ca.pem -CAkey ca.key -keyout key.pem -out cert.pem -subj /CN=name");
        openssl(&folder, &format!("{signed} -addext subjectAltName=DNS:name.test -addext basicConstraints=CA:FALSE"));
        Self(folder)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.file(name)).expect("a certificate")
    }
}

fn openssl(folder: &Folder, arguments: &str) {
    let mut command = Command::new("openssl");
    command.args(arguments.split(' ')).current_dir(folder.path()).stdin(Stdio::null());
    let output = command.output().expect("openssl must be installed: apt-get install openssl (3.0 or later)");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn per_ip(port: u16, tls: Tls) -> PerIp {
    let server: Server = format!("rediss://127.0.0.1:{port}").parse().unwrap();
    PerIp::new(Arc::new(NativeRedis::new(server.tls(tls)).unwrap()), 10, PATIENCE)
}

#[test]
fn both_sides_show_certificates_and_wrong_ones_are_refused() {
    let certificates = Certificates::new();
    let (file, port) = (|name| certificates.0.file(name), free_port());
    let _server = RedisServer::with(&[
        "--tls-port",
        &port.to_string(),
        "--tls-cert-file",
        &file("cert.pem"),
        "--tls-key-file",
        &file("key.pem"),
        "--tls-ca-cert-file",
        &file("ca.pem"),
    ]);
    let trusting = Tls::new().authorities(certificates.read("ca.pem"));
    let known = trusting.clone().identity(certificates.read("cert.pem"), certificates.read("key.pem"));
    assert_eq!(per_ip(port, known.clone().server_name("name.test")).remaining(IP), Some(9.0));

    for (tls, why) in [
        (known.clone(), "a certificate for another name"),
        (Tls::new().server_name("name.test"), "an authority that the system does not know"),
        (trusting.server_name("name.test"), "no certificate to show"),
    ] {
        let per_ip = per_ip(port, tls);
        assert_eq!(per_ip.remaining(IP), None, "{why}");
        assert!(per_ip.logged()[0].contains("ConnectionError"), "{why}");
    }
}
