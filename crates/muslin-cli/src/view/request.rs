//! The head of a request of HTTP/1.1 [RFC 9112]: what of it matters here, and what is refused.
//!
//! `httparse` finds the lines; this decides what they mean. Refused are, beside what is no HTTP: bodies without a length
//! (`Transfer-Encoding`), two lengths, two hosts, targets that are no path, and heads over 16 KiB.

use httparse::{EMPTY_HEADER, Error, Status};

use super::reply::Reply;

/// The most bytes of a head.
pub(super) const MAX_HEAD: usize = 16 * 1024;
const MAX_HEADERS: usize = 64;

/// What a request says before its body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) method: String,
    /// Path and query, as they were sent.
    pub(super) target: String,
    pub(super) host: Option<String>,
    pub(super) origin: Option<String>,
    pub(super) range: Option<String>,
    /// Bytes of the body.
    pub(super) length: u64,
    /// The body comes only after a `100 Continue`.
    pub(super) expects_continue: bool,
    /// Whether another request may follow on the connection.
    pub(super) stays: bool,
}

impl Head {
    /// Reads a head at the start of `bytes`, and says how long it is; `None` as long as it is not whole.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, Reply> {
        let mut headers = [EMPTY_HEADER; MAX_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let size = match request.parse(&bytes[..bytes.len().min(MAX_HEAD)]) {
            Ok(Status::Complete(size)) => size,
            Ok(Status::Partial) if bytes.len() >= MAX_HEAD => return Err(too_large()),
            Ok(Status::Partial) => return Ok(None),
            Err(Error::TooManyHeaders) => return Err(too_large()),
            Err(Error::Version) => return Err(Reply::error(505, "only HTTP/1.1 is spoken here")),
            Err(_) => return Err(Reply::error(400, "this is no request of HTTP/1.1")),
        };
        let mut head = Self {
            method: request.method.unwrap_or_default().to_owned(),
            target: request.path.unwrap_or_default().to_owned(),
            stays: request.version == Some(1),
            ..Self::default()
        };
        if !head.target.starts_with('/') {
            return Err(Reply::error(400, "the target of a request must be a path"));
        }
        let mut length = None;
        let mut if_range = false;
        for header in request.headers.iter() {
            let value = String::from_utf8_lossy(header.value); // what is no text is no length and no host either
            let value = value.trim();
            match header.name.to_ascii_lowercase().as_str() {
                "host" => set_once(&mut head.host, value, "Host")?,
                "origin" => set_once(&mut head.origin, value, "Origin")?,
                "range" => set_once(&mut head.range, value, "Range")?,
                // There is no validator that it could name, so it never matches.
                "if-range" => if_range = true,
                "content-length" => set_once(&mut length, value, "Content-Length")?,
                "transfer-encoding" => {
                    return Err(Reply::error(501, "bodies must have a Content-Length and no Transfer-Encoding"));
                }
                "expect" => head.expects_continue = value.eq_ignore_ascii_case("100-continue"),
                "connection" if value.split(',').any(|option| option.trim().eq_ignore_ascii_case("close")) => {
                    head.stays = false;
                }
                _ => {}
            }
        }
        if if_range {
            head.range = None;
        }
        if let Some(length) = length {
            let digits = length.bytes().all(|digit| digit.is_ascii_digit()); // no sign, which `parse` would take
            let parsed = length.parse().ok().filter(|_| digits);
            head.length = parsed.ok_or_else(|| Reply::error(400, "Content-Length is no number"))?;
        }
        Ok(Some((head, size)))
    }

    /// Whether only the head of the reply is wanted.
    pub(super) fn is_head(&self) -> bool {
        self.method == "HEAD"
    }
}

fn too_large() -> Reply {
    Reply::error(431, "the head of the request is larger than 16 KiB or has more than 64 headers")
}

/// Two of these would be two requests to whoever reads the other.
fn set_once(slot: &mut Option<String>, value: &str, name: &str) -> Result<(), Reply> {
    match slot.replace(value.to_owned()) {
        None => Ok(()),
        Some(_) => Err(Reply::error(400, format_args!("{name} is there twice"))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::{any, proptest};

    use super::*;

    fn parse(text: &str) -> Result<Option<(Head, usize)>, u16> {
        Head::parse(text.as_bytes()).map_err(|reply| reply.status)
    }

    fn refused(text: &str) -> u16 {
        parse(text).expect_err(text)
    }

    #[test]
    fn what_matters_is_read() {
        let text = "\r\nPOST /a/b?c=d HTTP/1.1\r\nhost: localhost:1\r\nORIGIN: http://x\r\nContent-Length: 12\r\n\
                    Expect: 100-Continue\r\nRange:  bytes=1-2 \r\nX-Other: y\r\n\r\nrest";
        let (head, size) = parse(text).unwrap().unwrap();
        assert_eq!(&text[size..], "rest");
        let expected = Head {
            method: "POST".into(),
            target: "/a/b?c=d".into(),
            host: Some("localhost:1".into()),
            origin: Some("http://x".into()),
            range: Some("bytes=1-2".into()),
            length: 12,
            expects_continue: true,
            stays: true,
        };
        assert_eq!(head, expected);
        for end in 0..size {
            assert_eq!(parse(&text[..end]), Ok(None), "cut off after {end}");
        }
        let stays = |text: &str| parse(text).unwrap().unwrap().0.stays;
        assert!(!stays("GET / HTTP/1.0\r\n\r\n"), "1.0 is closed");
        assert!(!stays("GET / HTTP/1.1\r\nConnection: upgrade, Close\r\n\r\n"), "as asked for");
        assert_eq!(parse("GET / HTTP/1.1\r\nRange: bytes=0-1\r\nIf-Range: x\r\n\r\n").unwrap().unwrap().0.range, None);
    }

    #[test]
    fn what_is_dangerous_is_refused() {
        for (lines, status) in [
            ("Transfer-Encoding: chunked", 501),
            ("Content-Length: 1\r\nTransfer-Encoding: chunked", 501),
            ("Content-Length: 1\r\nContent-Length: 1", 400),
            ("Content-Length: +1", 400),
            ("Content-Length: -1", 400),
            ("Content-Length: 1, 1", 400),
            ("Content-Length: 99999999999999999999", 400),
            ("Host: a\r\nHost: b", 400),
            ("Host : a", 400),
            ("no colon", 400),
        ] {
            assert_eq!(refused(&format!("POST / HTTP/1.1\r\n{lines}\r\n\r\n")), status, "{lines}");
        }
        let binary = b"POST / HTTP/1.1\r\nContent-Length: 1\xff\r\n\r\n";
        assert_eq!(Head::parse(binary).expect_err("no number").status, 400);
        assert_eq!(refused("GET http://127.0.0.1/ HTTP/1.1\r\n\r\n"), 400);
        assert_eq!(refused("GET * HTTP/1.1\r\n\r\n"), 400);
        assert_eq!(refused("GET / HTTP/2.0\r\n\r\n"), 505);
        assert_eq!(refused("\u{16}\u{3}\u{1}\u{2}"), 400, "TLS");
        assert_eq!(refused(&format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(MAX_HEAD))), 431);
        assert_eq!(refused(&format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(MAX_HEADERS + 1))), 431);
    }

    proptest! {
        #[test]
        fn no_bytes_are_a_surprise(bytes in vec(any::<u8>(), 0..600)) {
            Head::parse(&bytes).ok();
        }

        #[test]
        fn no_damage_is_a_surprise(damage in vec((0_usize..120, any::<u8>()), 0..6), end in 0_usize..120) {
            let mut bytes = b"POST /t/api/live HTTP/1.1\r\nHost: localhost:1\r\nContent-Length: 12\r\nRange: bytes=1-2\r\n\
                              Expect: 100-continue\r\n\r\n".to_vec();
            for (at, byte) in damage {
                if let Some(place) = bytes.get_mut(at) {
                    *place = byte;
                }
            }
            bytes.truncate(end);
            if let Ok(Some((head, size))) = Head::parse(&bytes) {
                assert!(size <= bytes.len() && head.target.starts_with('/'), "{head:?}");
            }
        }
    }
}
