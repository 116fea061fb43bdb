//! One `redis-server` process.

use super::{eventually, free_port};
use redis::{Commands, Connection, FromRedisValue};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Stands for a free port among arguments.
pub const FREE_PORT: &str = "FREE_PORT";

/// A running `redis-server`, killed when it is dropped.
pub struct RedisServer {
    child: Child,
    pub port: u16,
    folder: Folder,
    password: Option<String>,
    extra: Vec<String>,
}

/// A folder that goes with its owner.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        let path = std::env::temp_dir().join(format!("labkit-ratelimit-{}-{}", std::process::id(), free_port()));
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl RedisServer {
    pub fn start() -> Self {
        Self::with(&[])
    }

    /// With more arguments, and the password behind a `--requirepass` among them.
    pub fn with(extra: &[&str]) -> Self {
        Self::at(free_port(), Folder::new(), extra.iter().map(|arg| (*arg).to_owned()).collect())
    }

    fn at(port: u16, folder: Folder, extra: Vec<String>) -> Self {
        let password = extra.iter().position(|arg| arg == "--requirepass").map(|at| extra[at + 1].clone());
        let mut server = Self { child: spawn(port, &folder, &extra), port, folder, password, extra };
        // Somebody else may have taken the port in between.
        while !server.is_up() {
            server.port = free_port();
            server.child = spawn(server.port, &server.folder, &server.extra);
        }
        server
    }

    /// A sentinel that watches `master` as `mymaster`.
    pub fn sentinel(master: &Self, password: &str) -> Self {
        let folder = Folder::new();
        let mut lines = vec![
            format!("sentinel monitor mymaster 127.0.0.1 {} 1", master.port),
            "sentinel down-after-milliseconds mymaster 2000".into(),
            "sentinel failover-timeout mymaster 5000".into(),
            format!("requirepass {password}"),
        ];
        if let Some(password) = &master.password {
            lines.push(format!("sentinel auth-pass mymaster {password}"));
        }
        let file = folder.file("sentinel.conf");
        fs::write(&file, lines.join("\n")).expect("a configuration");
        let extra = vec![file, "--sentinel".into(), "--requirepass".into(), password.into()];
        Self::at(free_port(), folder, extra)
    }

    /// Waits until it answers, or has ended.
    fn is_up(&mut self) -> bool {
        let mut ended = false;
        eventually("redis-server answers", || {
            let answer = self.try_connect().map(|mut connection| redis::cmd("PING").query::<String>(&mut connection));
            ended = self.child.try_wait().expect("a child").is_some();
            // While it loads, it is there as well.
            let answers = match answer {
                Ok(Ok(_)) => true,
                Ok(Err(error)) => error.code() == Some("LOADING"),
                Err(_) => false,
            };
            ended || answers
        });
        !ended
    }

    fn try_connect(&self) -> redis::RedisResult<Connection> {
        let password = self.password.as_ref().map(|password| format!(":{password}@")).unwrap_or_default();
        redis::Client::open(format!("redis://{password}127.0.0.1:{}", self.port))?.get_connection()
    }

    pub fn connect(&self) -> Connection {
        self.try_connect().expect("a connection")
    }

    /// Runs one command.
    pub fn run<T: FromRedisValue>(&self, command: &str) -> T {
        self.try_run(command).unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    pub fn try_run<T: FromRedisValue>(&self, command: &str) -> redis::RedisResult<T> {
        let mut words = command.split(' ');
        let mut cmd = redis::cmd(words.next().expect("a word"));
        words.for_each(|word| {
            cmd.arg(word);
        });
        cmd.query(&mut self.try_connect()?)
    }

    /// Whether `INFO replication` says it now; a server whose role changes drops its clients, and says nothing then.
    pub fn replicates(&self, text: &str) -> bool {
        self.try_run::<String>("INFO replication").is_ok_and(|info| info.contains(text))
    }

    /// How often a command was called since the last `CONFIG RESETSTAT`.
    pub fn calls(&self, command: &str) -> u64 {
        let info: String = self.run("INFO commandstats");
        let line = info.lines().find_map(|line| line.strip_prefix(&format!("cmdstat_{command}:calls=")));
        line.and_then(|line| line.split(',').next()).map_or(0, |calls| calls.parse().expect("a number"))
    }

    pub fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = self.connect().keys("*").expect("keys");
        keys.sort();
        keys
    }

    pub fn url(&self) -> String {
        let password = self.password.as_ref().map(|password| format!(":{password}@")).unwrap_or_default();
        format!("redis://{password}127.0.0.1:{}", self.port)
    }

    pub fn file(&self, name: &str) -> String {
        self.folder.file(name)
    }

    /// Kills it, as if its machine had lost power.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts it again where it was, with more arguments.
    pub fn restart(&mut self, extra: &[&str]) {
        self.kill();
        let extra: Vec<String> = self.extra.iter().cloned().chain(extra.iter().map(|arg| (*arg).to_owned())).collect();
        self.child = spawn(self.port, &self.folder, &extra);
        assert!(self.is_up(), "it does not start again");
    }
}

fn spawn(port: u16, folder: &Folder, extra: &[String]) -> Child {
    // A configuration file comes first.
    let (file, extra) = extra.split_at(usize::from(extra.first().is_some_and(|arg| !arg.starts_with('-'))));
    let sentinel = extra.iter().any(|arg| arg == "--sentinel");
    let mut command = Command::new("redis-server");
    command.args(file).args(["--port", &port.to_string(), "--bind", "127.0.0.1"]);
    command.args(["--dir", &folder.path().display().to_string()]);
    if !sentinel {
        command.args(["--save", "", "--appendonly", "no", "--enable-debug-command", "yes"]);
    }
    let extra = extra.iter().map(|arg| if arg == FREE_PORT { free_port().to_string() } else { arg.clone() });
    command.args(extra).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("redis-server must be installed: apt-get install redis-server (7.0 or later)")
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}
