//! Servers written as URLs.

use crate::address::Address;
use crate::error::{ConfigError, ConfigErrorKind};
use crate::server::{Place, Server};
use crate::tls::Tls;
use percent_encoding::percent_decode_str;

/// The parts of a URL. What they hold is not decoded yet.
struct Parts<'a> {
    user: Option<&'a str>,
    hosts: &'a str,
    path: &'a str,
    query: &'a str,
}

pub(crate) fn parse(url: &str) -> Result<Server, ConfigError> {
    let scheme = |name: &str| url.strip_prefix(name).and_then(|rest| rest.strip_prefix("://"));
    if let Some(rest) = scheme("unix").or_else(|| scheme("redis+unix")) {
        return unix(rest);
    }
    for (name, tls) in [("redis", false), ("rediss", true)] {
        let read = if let Some(rest) = scheme(name) {
            single(&Parts::split(rest)?)
        } else if let Some(rest) = scheme(&format!("{name}+sentinel")) {
            sentinel(&Parts::split(rest)?)
        } else if let Some(rest) = scheme(&format!("{name}+cluster")) {
            cluster(&Parts::split(rest)?)
        } else {
            continue;
        };
        let server = read?;
        let server = if tls { server.tls(Tls::default()) } else { server };
        server.validate_place()?;
        return Ok(server);
    }
    Err(ConfigError::new(
        ConfigErrorKind::Scheme,
        "the URL must begin with redis://, rediss://, redis+sentinel://, rediss+sentinel://, redis+cluster://, \
         rediss+cluster:// or unix://",
    ))
}

impl<'a> Parts<'a> {
    fn split(rest: &'a str) -> Result<Self, ConfigError> {
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, hosts) = match authority.rsplit_once('@') {
            Some((user, hosts)) => (Some(user), hosts),
            None => (None, authority),
        };
        // A password's `/` or `?` would have cut it in two: its halves must not get into an error.
        if path.contains('@') || query.contains('@') || rest.contains('#') || query.contains('#') {
            return Err(ConfigError::new(
                ConfigErrorKind::Credentials,
                "an `@` or `#` stands where none may: percent-encode user and password (/ is %2F, ? is %3F, # is %23, @ is %40)",
            ));
        }
        Ok(Self { user, hosts, path, query })
    }

    /// With the user and password before the `@`.
    fn log_in(&self, server: Server) -> Result<Server, ConfigError> {
        let Some(user) = self.user else { return Ok(server) };
        let (username, password) = match user.split_once(':') {
            Some((username, password)) => (username, Some(password)),
            None => (user, None),
        };
        let server = match password {
            Some(password) if !password.is_empty() => server.password(decoded(password, ConfigErrorKind::Credentials)?),
            _ => server,
        };
        if username.is_empty() {
            return Ok(server);
        }
        Ok(server.username(decoded(username, ConfigErrorKind::Credentials)?))
    }

    /// The parameters behind `?`, decoded, of which only `known` ones may be there.
    fn parameters(&self, known: &[&str]) -> Result<Vec<(&'a str, String)>, ConfigError> {
        let read = |pair: &'a str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if known.contains(&name) {
                return Ok((name, decoded(value, ConfigErrorKind::Parameter)?));
            }
            let may =
                if known.is_empty() { "there are none".to_owned() } else { format!("known: {}", known.join(", ")) };
            Err(ConfigError::new(
                ConfigErrorKind::Parameter,
                format!("a parameter behind ? is unknown here: {may}. Percent-encode ? and & in passwords"),
            ))
        };
        self.query.split('&').filter(|pair| !pair.is_empty()).map(read).collect()
    }
}

fn single(parts: &Parts<'_>) -> Result<Server, ConfigError> {
    parts.parameters(&[])?;
    if parts.hosts.contains(',') {
        return Err(ConfigError::new(
            ConfigErrorKind::Scheme,
            "several hosts: write redis+cluster:// or redis+sentinel://",
        ));
    }
    let server = parts.log_in(Server::single(parts.hosts)?)?;
    Ok(server.database(database(parts.path)?))
}

fn sentinel(parts: &Parts<'_>) -> Result<Server, ConfigError> {
    let (master, number) = parts.path.split_once('/').unwrap_or((parts.path, ""));
    let master = decoded(master, ConfigErrorKind::Master)?;
    let mut server = Server::sentinel(master, parts.hosts.split(','))?.database(database(number)?);
    for (name, value) in parts.parameters(&["sentinel_username", "sentinel_password"])? {
        server =
            if name == "sentinel_username" { server.sentinel_username(value) } else { server.sentinel_password(value) };
    }
    parts.log_in(server)
}

fn cluster(parts: &Parts<'_>) -> Result<Server, ConfigError> {
    parts.parameters(&[])?;
    let server = Server::cluster(parts.hosts.split(','))?;
    parts.log_in(server.database(database(parts.path)?))
}

fn unix(rest: &str) -> Result<Server, ConfigError> {
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    if !path.starts_with('/') {
        return Err(ConfigError::new(
            ConfigErrorKind::Address,
            "the path of a unix socket must be absolute: write unix:///path/of/socket",
        ));
    }
    let path = decoded(path, ConfigErrorKind::Address)?;
    let mut server = Server::at(Place::Single(Address::Unix(path.into())));
    let parts = Parts { user: None, hosts: "", path: "", query };
    for (name, value) in parts.parameters(&["db", "username", "password"])? {
        server = match name {
            "db" => server.database(database(&value)?),
            "username" => server.username(value),
            _ => server.password(value),
        };
    }
    server.validate_place()?;
    Ok(server)
}

fn database(text: &str) -> Result<u32, ConfigError> {
    let text = text.strip_suffix('/').unwrap_or(text);
    if text.is_empty() {
        return Ok(0);
    }
    text.parse().map_err(|_| {
        ConfigError::new(
            ConfigErrorKind::Database,
            "what stands for the database is no number: write /0 or leave it out",
        )
    })
}

fn decoded(text: &str, kind: ConfigErrorKind) -> Result<String, ConfigError> {
    let text = percent_decode_str(text).decode_utf8();
    text.map(Into::into).map_err(|_| ConfigError::new(kind, "a percent-encoded part of the URL is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Login;

    fn login(username: Option<&str>, password: Option<&str>) -> Login {
        Login { username: username.map(Into::into), password: password.map(Into::into) }
    }

    #[test]
    fn every_kind_of_server_is_read() {
        for (url, written) in [
            ("redis://h", "redis://h:6379/0"),
            ("rediss://h:1/", "rediss://h:1/0"),
            ("redis://:p@[::1]:1/3", "redis://[::1]:1/3"),
            ("unix:///run/r.sock?db=4&password=p", "unix:///run/r.sock?db=4"),
            ("redis+sentinel://a,b:2/mymaster", "redis+sentinel://a:26379,b:2/mymaster/0"),
            ("rediss+sentinel://u:p@a/my%20master/5", "rediss+sentinel://a:26379/my master/5"),
            ("redis+cluster://a:1,b:2", "redis+cluster://a:1,b:2"),
            ("rediss+cluster://a/0", "rediss+cluster://a:6379"),
        ] {
            assert_eq!(Server::parse(url).unwrap().to_string(), written, "{url}");
        }
    }

    #[test]
    fn credentials_are_decoded_and_kept_apart() {
        let server = Server::parse("redis://us%3Aer:p%40%2Fss:w@h").unwrap();
        assert!(server.login == login(Some("us:er"), Some("p@/ss:w")));
        let server = Server::parse("redis+sentinel://:m@a/n?sentinel_username=su&sentinel_password=s%26p").unwrap();
        assert!(server.login == login(None, Some("m")));
        assert!(server.sentinel_login == login(Some("su"), Some("s&p")));
    }

    #[test]
    fn nothing_shows_a_secret() {
        for url in [
            "redis://user_s3cret:s3cret@h",
            "unix:///r?password=s3cret",
            "redis+sentinel://:s3cret@a/n?sentinel_password=s3cret",
            "redis://s3cret@h",
        ] {
            let server = Server::parse(url).unwrap();
            assert!(!format!("{server} {server:?}").contains("s3cret"), "{server:?}");
        }
        for url in [
            "s3cret@h",
            "redis://:s3cret/s3cret@h",
            "redis://:a?s3cret@h",
            "redis://:a#s3cret@h",
            "redis://:s3cret@h:port",
            "redis://:s3cret@h/x",
            "redis://h?s3cret=1",
            "redis://:%ff_s3cret@h",
            "redis+cluster://:s3cret@h/7",
            "redis+sentinel://:s3cret@h",
            "unix://s3cret@h",
        ] {
            let error = Server::parse(url).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("s3cret"), "{error:?}");
        }
    }

    #[test]
    fn mistakes_are_told_apart() {
        use ConfigErrorKind as Kind;
        for (url, kind) in [
            ("", Kind::Scheme),
            ("http://h", Kind::Scheme),
            ("redis:/h", Kind::Scheme),
            ("redis://a,b", Kind::Scheme),
            ("redis://", Kind::Address),
            ("redis://h:0", Kind::Address),
            ("unix://run/r.sock", Kind::Address),
            ("redis+cluster://", Kind::Address),
            ("redis+cluster://a,", Kind::Address),
            ("redis://:p@ss/w@h", Kind::Credentials),
            ("redis://h/one", Kind::Database),
            ("redis://h/-1", Kind::Database),
            ("redis+cluster://h/1", Kind::Database),
            ("redis+sentinel://h", Kind::Master),
            ("redis+sentinel://h//0", Kind::Master),
            ("redis://h?timeout=1", Kind::Parameter),
            ("redis+sentinel://h/m?password=1", Kind::Parameter),
        ] {
            let error = Server::parse(url).unwrap_err();
            assert_eq!(error.kind(), kind, "{url}: {error}");
        }
    }

    #[test]
    fn a_password_may_follow_a_url() {
        for url in ["redis://user@h", "unix:///r?username=user"] {
            let server = Server::parse(url).unwrap();
            assert_eq!(server.validate().unwrap_err().kind(), ConfigErrorKind::Credentials, "{url}");
            assert!(server.clone().password("p").login == login(Some("user"), Some("p")), "{url}");
            assert!(server.password("p").validate().is_ok(), "{url}");
        }
        let server = Server::parse("redis+sentinel://h/m?sentinel_username=user").unwrap();
        assert!(server.validate().is_err() && server.sentinel_password("p").validate().is_ok());
    }

    #[test]
    fn what_no_server_can_be_is_refused() {
        let unix = Server::single("/run/r.sock").unwrap().tls(Tls::default());
        assert_eq!(unix.validate().unwrap_err().kind(), ConfigErrorKind::Tls);
        let sentinel = Server::sentinel("m", ["a"]).unwrap().sentinel_username("u");
        assert_eq!(sentinel.validate().unwrap_err().kind(), ConfigErrorKind::Credentials);
        let single = Server::single("a").unwrap().sentinel_password("p");
        assert_eq!(single.validate().unwrap_err().kind(), ConfigErrorKind::Credentials);
        assert_eq!(Server::cluster(["/run/r.sock"]).unwrap_err().kind(), ConfigErrorKind::Address);
        assert_eq!(Server::cluster::<&str>([]).unwrap_err().kind(), ConfigErrorKind::Address);
    }
}
