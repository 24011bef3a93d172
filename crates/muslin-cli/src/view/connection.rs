//! One connection: requests one after the other, each with limits of size and time.
//!
//! A head must be there 5 s after its first byte, a body in the time that 1 MiB/s takes and 20 s more, and a client must take a
//! piece of a reply within a minute; only somebody who knows the address gets a reply that long. Whoever is slow on purpose holds a
//! thread, and a program of this machine that means harm can hold all of them; no page of a browser can, which is let in or turned away at once.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use super::reply::Reply;
use super::request::{Head, MAX_HEAD};
use super::site::Site;

/// Between two requests.
const IDLE: Duration = Duration::from_secs(30);
const HEAD: Duration = Duration::from_secs(5);
const BODY: Duration = Duration::from_secs(20);
const WRITE: Duration = Duration::from_secs(60);
/// The slowest that a body may come, in bytes a second.
const RATE: u64 = 1 << 20;
/// What is read and forgotten of a request that was refused: a connection that is closed on unread bytes is reset, and the
/// client may never see why.
const LINGER_BYTES: usize = 64 << 20;
const LINGER: Duration = Duration::from_secs(2);

/// Serves requests until the client leaves, or has to.
pub(super) fn serve(stream: TcpStream, site: &Site) {
    let set = stream.set_nodelay(true).and_then(|()| stream.set_write_timeout(Some(WRITE)));
    let mut connection = Connection { stream, unread: Vec::new() };
    if set.is_ok() {
        while connection.exchange(site).unwrap_or(false) {}
    }
}

/// Turns a client away, for there are too many.
pub(super) fn turn_away(mut stream: TcpStream) {
    // A new connection has room for so little: it cannot block. If it fails, the client is gone.
    let reply = Reply::error(503, "there are too many connections; close some tabs");
    reply.send(&mut stream, false, false).ok();
}

struct Connection {
    stream: TcpStream,
    /// What came after the last request.
    unread: Vec<u8>,
}

impl Connection {
    /// Answers one request. False if there will be no other.
    fn exchange(&mut self, site: &Site) -> io::Result<bool> {
        let head = match self.head()? {
            None => return Ok(false),
            Some(Ok(head)) => head,
            Some(Err(refusal)) => return self.refuse(refusal, false),
        };
        let route = match site.admit(&head) {
            Ok(route) => route,
            Err(refusal) if head.length > 0 => return self.refuse(refusal, head.is_head()),
            Err(refusal) => {
                refusal.send(&mut self.stream, head.is_head(), head.stays)?;
                return Ok(head.stays);
            }
        };
        let body = match self.body(&head)? {
            Ok(body) => body,
            Err(refusal) => return self.refuse(refusal, false),
        };
        site.answer(&route, &head, body).send(&mut self.stream, head.is_head(), head.stays)?;
        Ok(head.stays)
    }

    /// The next head; `None` if the client has left, or says nothing for too long.
    fn head(&mut self) -> io::Result<Option<Result<Head, Reply>>> {
        let mut deadline = None;
        loop {
            if !self.unread.is_empty() {
                match Head::parse(&self.unread) {
                    Ok(None) => {}
                    Ok(Some((head, size))) => {
                        self.unread.drain(..size);
                        return Ok(Some(Ok(head)));
                    }
                    Err(refusal) => return Ok(Some(Err(refusal))),
                }
                deadline.get_or_insert_with(|| Instant::now() + HEAD);
            }
            let until = deadline.unwrap_or_else(|| Instant::now() + IDLE);
            match self.read(MAX_HEAD, until) {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(error) if is_late(&error) && deadline.is_some() => {
                    return Ok(Some(Err(Reply::error(408, "the request did not come in time"))));
                }
                Err(error) if is_late(&error) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    fn body(&mut self, head: &Head) -> io::Result<Result<Vec<u8>, Reply>> {
        // The limit of the route has been checked; memory is taken only as bytes arrive.
        let Ok(length) = usize::try_from(head.length) else {
            return Ok(Err(Reply::error(413, "the body is too large")));
        };
        if head.expects_continue && self.unread.len() < length {
            self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let deadline = Instant::now() + BODY + Duration::from_secs(head.length / RATE);
        while self.unread.len() < length {
            match self.read((length - self.unread.len()).min(1 << 20), deadline) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) if is_late(&error) => {
                    return Ok(Err(Reply::error(408, "the body did not come in time")));
                }
                Err(error) => return Err(error),
            }
        }
        let rest = self.unread.split_off(length);
        Ok(Ok(std::mem::replace(&mut self.unread, rest)))
    }

    /// Appends what comes next, at most `most` bytes, before a deadline.
    fn read(&mut self, most: usize, deadline: Instant) -> io::Result<usize> {
        let before = self.unread.len();
        self.unread.resize(before + most, 0);
        let count = loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break Err(io::ErrorKind::TimedOut.into());
            }
            match self.stream.set_read_timeout(Some(left)).and_then(|()| self.stream.read(&mut self.unread[before..])) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.unread.truncate(before + *count.as_ref().unwrap_or(&0));
        count
    }

    /// Answers what is not read to its end, and closes.
    fn refuse(&mut self, reply: Reply, only_head: bool) -> io::Result<bool> {
        reply.send(&mut self.stream, only_head, false)?;
        self.stream.shutdown(Shutdown::Write)?;
        let deadline = Instant::now() + LINGER;
        let mut forgotten = 0;
        while forgotten < LINGER_BYTES {
            self.unread.clear();
            match self.read(1 << 16, deadline)? {
                0 => break,
                count => forgotten += count,
            }
        }
        Ok(false)
    }
}

/// A read that ran into its time limit: systems differ in the word for it.
fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}
