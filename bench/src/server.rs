//! A Redis of our own, on a free port of this machine, gone when it is dropped.

use redis::IntoConnectionInfo as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{io, thread};

pub(crate) struct Server {
    process: Child,
    port: u16,
}

impl Server {
    /// Starts it and waits until it answers.
    pub(crate) fn start() -> io::Result<Self> {
        // Asked for and given back: nobody else takes it in the meantime but by bad luck.
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let process = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            .stdout(Stdio::null())
            .spawn()?;
        let server = Self { process, port };
        for _ in 0..200 {
            if server.socket().is_ok() {
                return Ok(server);
            }
            thread::sleep(Duration::from_millis(25));
        }
        Err(io::Error::new(io::ErrorKind::TimedOut, "redis-server does not answer"))
    }

    /// Where it listens, on the loopback address.
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn connect(&self) -> redis::RedisResult<redis::Connection> {
        redis::Client::open((String::from("127.0.0.1"), self.port).into_connection_info()?)?.get_connection()
    }

    fn socket(&self) -> io::Result<TcpStream> {
        TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))
    }

    /// The commands that clients send while `work` runs, as MONITOR tells them; what scripts call is left out.
    pub(crate) fn commands_of_clients(&self, work: impl FnOnce()) -> io::Result<Vec<String>> {
        const END: &str = "the end of what is watched";
        let mut socket = self.socket()?;
        socket.set_read_timeout(Some(Duration::from_secs(5)))?;
        socket.write_all(b"MONITOR\r\n")?;
        let mut lines = BufReader::new(socket).lines();
        lines.next().transpose()?;
        work();
        self.socket()?.write_all(format!("PING \"{END}\"\r\n").as_bytes())?;
        let mut commands = Vec::new();
        for line in lines {
            let line = line?;
            if line.contains(END) {
                break;
            }
            if !line.contains(" lua] ") {
                commands.push(line);
            }
        }
        Ok(commands)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone already; there is nothing to save.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
