//! A client for `muslin view` that does what browsers do, and what they never would.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::muslin::{Place, signal};

/// A program that serves.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) port: u16,
    pub(crate) token: String,
}

/// A reply as it came.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// Names in lower case.
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    pub(crate) fn json(&self) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {text}"))
    }
}

impl Server {
    /// Starts `muslin view WORDS --json` and waits until it listens.
    pub(crate) fn start(place: &Place, words: &str) -> Self {
        let mut command = place.command(&format!("view {words} --no-browser --json"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let mut line = String::new();
        let out = child.stdout.as_mut().expect("an output");
        BufReader::new(out).read_line(&mut line).expect("a line");
        if line.is_empty() {
            let mut error = String::new();
            child.stderr.take().expect("an output").read_to_string(&mut error).expect("text");
            panic!("muslin view {words}: {error}");
        }
        let told: Value = serde_json::from_str(&line).expect("one object");
        let port = u16::try_from(told["port"].as_u64().expect("a port")).expect("a port");
        let address = told["address"].as_str().expect("an address");
        let token = address.strip_prefix(&format!("http://127.0.0.1:{port}/")).and_then(|rest| rest.strip_suffix('/'));
        Self { child, port, token: token.expect("an address with a token").to_owned() }
    }

    pub(crate) fn connect(&self) -> Client {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).expect("a connection");
        // Only for a server that hangs.
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a limit");
        Client { reader: BufReader::new(stream) }
    }

    /// A request as a browser sends it, on a connection that stays.
    pub(crate) fn request(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
        let (token, port, length) = (&self.token, self.port, body.len());
        let mut request = format!(
            "{method} /{token}/{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {length}\r\n{headers}\r\n"
        )
        .into_bytes();
        request.extend_from_slice(body);
        request
    }

    /// Sends a request on a connection of its own.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Reply {
        let mut client = self.connect();
        client.write(&self.request(method, path, headers, body));
        client.reply(method == "HEAD")
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send("GET", path, "", b"")
    }

    pub(crate) fn post(&self, path: &str, body: impl AsRef<[u8]>) -> Reply {
        self.send("POST", path, "", body.as_ref())
    }

    /// Sends exactly this.
    pub(crate) fn raw(&self, request: impl AsRef<[u8]>) -> Reply {
        let mut client = self.connect();
        client.write(request.as_ref());
        client.reply(false)
    }

    /// Begins a session and gives the path of its requests.
    pub(crate) fn session(&self) -> String {
        let reply = self.post("api/live", "");
        assert_eq!(reply.status, 200, "{}", reply.json());
        format!("api/live/{}", reply.json()["id"].as_str().expect("an id"))
    }

    /// What a session answers.
    pub(crate) fn call(&self, session: &str, request: &Value) -> Value {
        let reply = self.post(&format!("{session}/call"), request.to_string());
        assert_eq!((reply.status, reply.header("content-type")), (200, "application/json"), "{request}");
        reply.json()
    }

    /// Ends it by Ctrl-C and gives the exit code.
    pub(crate) fn stop(mut self) -> Option<i32> {
        signal(&self.child, "INT");
        self.child.wait().expect("an end").code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // After a test that failed, nobody else would.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// One connection.
pub(crate) struct Client {
    reader: BufReader<TcpStream>,
}

impl Client {
    /// The server may have refused and closed before all of it was sent.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.reader.get_mut().write_all(bytes).ok();
    }

    /// Reads one reply; that to a HEAD request has no body.
    pub(crate) fn reply(&mut self, is_head: bool) -> Reply {
        let status = self.line();
        let status = status.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).expect("a status line");
        let status: u16 = status.parse().expect("a status");
        let mut headers = Vec::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(": ") else { break };
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        let mut reply = Reply { status, headers, body: Vec::new() };
        if !is_head && status != 100 {
            let length: usize = reply.header("content-length").parse().expect("a length");
            reply.body = vec![0; length];
            self.reader.read_exact(&mut reply.body).expect("the whole body");
        }
        reply
    }

    /// Whether the server has closed the connection, once it has.
    pub(crate) fn is_closed(&mut self) -> bool {
        matches!(self.reader.read(&mut [0; 1]), Ok(0) | Err(_))
    }

    /// Whether something of a reply is there.
    pub(crate) fn has_something(&mut self) -> bool {
        let stream = self.reader.get_ref();
        stream.set_nonblocking(true).expect("a setting");
        let count = stream.peek(&mut [0; 1]);
        stream.set_nonblocking(false).expect("a setting");
        count.is_ok()
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).expect("a line");
        assert!(line.ends_with("\r\n"), "a whole line: {line:?}");
        line.trim_end().to_owned()
    }
}
