//! A server that only pretends to be Redis: it greets, and then does with a script call what it is told to.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// What comes of a script call. Nothing: the connection is closed.
pub type Answer = fn(nth: usize) -> Option<&'static str>;

pub struct Pretender {
    pub url: String,
    scripts: Arc<AtomicUsize>,
}

impl Pretender {
    pub fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let url = format!("redis://{}", listener.local_addr().expect("an address"));
        let scripts = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&scripts);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let counted = Arc::clone(&counted);
                std::thread::spawn(move || serve(&stream, &counted, answer));
            }
        });
        Self { url, scripts }
    }

    /// How many EVALSHA and EVAL came.
    pub fn scripts(&self) -> usize {
        self.scripts.load(SeqCst)
    }
}

fn serve(stream: &TcpStream, scripts: &AtomicUsize, answer: Answer) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let words = read(&mut reader)?;
        let reply = match words.first()?.as_str() {
            "EVALSHA" | "EVAL" => answer(scripts.fetch_add(1, SeqCst))?,
            _ => "+OK\r\n",
        };
        let mut writer = stream;
        writer.write_all(reply.as_bytes()).ok()?;
    }
}

/// Reads one command.
fn read(reader: &mut impl BufRead) -> Option<Vec<String>> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
    let count: usize = line.trim().strip_prefix('*')?.parse().ok()?;
    let word = |_| {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let mut word = vec![0; line.trim().strip_prefix('$')?.parse::<usize>().ok()? + 2];
        reader.read_exact(&mut word).ok()?;
        word.truncate(word.len() - 2);
        String::from_utf8(word).ok()
    };
    (0..count).map(word).collect()
}
