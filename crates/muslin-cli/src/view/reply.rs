//! Replies, and the headers that every one of them has.
//!
//! The page runs WebAssembly on several threads, which browsers allow only to pages that are isolated from all others
//! (`Cross-Origin-Opener-Policy`, `Cross-Origin-Embedder-Policy`). The rest keeps other pages from reading or framing
//! what is here, and the page from loading anything from elsewhere.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use serde_json::{Value, json};

use super::range::Part;

/// What the page may do: load its own files, compile WebAssembly, and show pictures and films that it has made itself.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; \
    style-src 'self'; font-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; manifest-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// What anything else may do if a browser is led to open it as a page: nothing.
const SEALED_POLICY: &str = "default-src 'none'; frame-ancestors 'none'; sandbox";

pub(super) const JSON: &str = "application/json";
pub(super) const BYTES: &str = "application/octet-stream";

/// A reply that can be sent.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: Body,
    content_type: &'static str,
    policy: &'static str,
    /// Beside those that every reply has.
    headers: Vec<(&'static str, String)>,
}

/// What a reply brings.
#[derive(Debug)]
pub(super) enum Body {
    Bytes(Cow<'static, [u8]>),
    /// So many bytes from where the file stands.
    File(File, u64),
}

impl Body {
    pub(super) fn length(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File(_, length) => *length,
        }
    }
}

impl Reply {
    pub(super) fn new(content_type: &'static str, body: Body) -> Self {
        Self { status: 200, body, content_type, policy: SEALED_POLICY, headers: Vec::new() }
    }

    pub(super) fn json(value: &Value) -> Self {
        Self::json_text(value.to_string())
    }

    /// Text that is JSON already.
    pub(super) fn json_text(text: String) -> Self {
        Self::new(JSON, Body::Bytes(text.into_bytes().into()))
    }

    /// Why there is no other reply.
    pub(super) fn error(status: u16, message: impl Display) -> Self {
        Self { status, ..Self::json(&json!({ "message": message.to_string() })) }
    }

    /// The same for a wrong token and for what is not there, so that nobody learns which.
    pub(super) fn not_found() -> Self {
        Self::error(404, "there is nothing here")
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Under the policy of the page.
    pub(super) fn for_page(mut self) -> Self {
        self.policy = PAGE_POLICY;
        self
    }

    /// The part of the body that was asked for.
    pub(super) fn part(mut self, range: Option<&str>) -> io::Result<Self> {
        let length = self.body.length();
        self.headers.push(("Accept-Ranges", "bytes".to_owned()));
        match Part::new(range, length) {
            Part::Whole => Ok(self),
            Part::Nothing => {
                let reply = Self::error(416, format_args!("there are only {length} bytes"));
                Ok(reply.with("Content-Range", format!("bytes */{length}")))
            }
            Part::Bytes(range) => {
                self.status = 206;
                let content_range = format!("bytes {}-{}/{length}", range.start, range.end - 1);
                self.headers.push(("Content-Range", content_range));
                self.body = match self.body {
                    // A range within bytes in memory fits their indices.
                    Body::Bytes(bytes) => Body::Bytes(bytes[range.start as usize..range.end as usize].to_vec().into()),
                    Body::File(mut file, _) => {
                        file.seek(SeekFrom::Start(range.start))?;
                        Body::File(file, range.end - range.start)
                    }
                };
                Ok(self)
            }
        }
    }

    /// Sends the reply, or only its head.
    pub(super) fn send(self, stream: &mut impl Write, only_head: bool, stays: bool) -> io::Result<()> {
        let mut head = self.head(stays).into_bytes();
        match self.body {
            _ if only_head => stream.write_all(&head),
            // In one piece, so that a small reply is one packet.
            Body::Bytes(bytes) if bytes.len() <= SMALL => {
                head.extend_from_slice(&bytes);
                stream.write_all(&head)
            }
            Body::Bytes(bytes) => {
                stream.write_all(&head)?;
                bytes.chunks(PIECE).try_for_each(|piece| stream.write_all(piece))
            }
            Body::File(file, length) => {
                stream.write_all(&head)?;
                send_file(file, length, stream)
            }
        }
    }

    fn head(&self, stays: bool) -> String {
        let mut head = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nContent-Security-Policy: {}\r\n\
             Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Embedder-Policy: require-corp\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\nX-Content-Type-Options: nosniff\r\n\
             Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: {}\r\n",
            self.status,
            reason(self.status),
            self.content_type,
            self.body.length(),
            self.policy,
            if stays { "keep-alive" } else { "close" },
        );
        for (name, value) in &self.headers {
            write!(head, "{name}: {value}\r\n").ok(); // to memory, which does not fail
        }
        head.push_str("\r\n");
        head
    }
}

const SMALL: usize = 16 * 1024;
/// What is written at once: the time limit of a write holds for each.
const PIECE: usize = 256 * 1024;

/// A file that has become shorter since its length was told ends the connection: there is no other way to say so.
fn send_file(file: File, length: u64, stream: &mut impl Write) -> io::Result<()> {
    let mut file = file.take(length);
    let mut piece = vec![0; PIECE.min(usize::try_from(length).unwrap_or(PIECE))];
    while file.limit() > 0 {
        let count = file.read(&mut piece)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        stream.write_all(&piece[..count])?;
    }
    Ok(())
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        206 => "Partial Content",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Content Too Large",
        416 => "Range Not Satisfiable",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}

/// What kind of file a name says it is. What is served beside the page is never a page or a program.
pub(super) fn content_type(name: &str, of_page: bool) -> &'static str {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    match extension.as_str() {
        "html" if of_page => "text/html; charset=utf-8",
        "js" | "mjs" if of_page => "text/javascript; charset=utf-8",
        "css" if of_page => "text/css; charset=utf-8",
        "svg" if of_page => "image/svg+xml",
        "wasm" if of_page => "application/wasm",
        "webmanifest" if of_page => "application/manifest+json",
        "ico" if of_page => "image/x-icon",
        "woff2" if of_page => "font/woff2",
        "json" | "map" => JSON,
        "toml" | "txt" | "md" | "obj" | "ply" | "usda" => "text/plain; charset=utf-8",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "mp4" => "video/mp4",
        "glb" => "model/gltf-binary",
        _ => BYTES,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(reply: Reply, only_head: bool) -> (String, Vec<u8>) {
        let mut bytes = Vec::new();
        reply.send(&mut bytes, only_head, true).unwrap();
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
        (String::from_utf8(bytes[..end].to_vec()).unwrap(), bytes[end..].to_vec())
    }

    #[test]
    fn a_part_says_which_it_is() {
        let of = |range| Reply::new(BYTES, Body::Bytes(Cow::Borrowed(b"0123456789"))).part(range).unwrap();
        let (head, body) = sent(of(Some("bytes=2-4")), false);
        assert!(head.starts_with("HTTP/1.1 206 Partial Content\r\n"), "{head}");
        assert!(head.contains("Content-Range: bytes 2-4/10\r\n") && head.contains("Content-Length: 3\r\n"), "{head}");
        assert_eq!(body, b"234");
        let (head, _) = sent(of(Some("bytes=10-")), false);
        assert!(head.starts_with("HTTP/1.1 416 ") && head.contains("Content-Range: bytes */10\r\n"), "{head}");
        let (head, body) = sent(of(None), true);
        assert!(head.contains("Content-Length: 10\r\n") && body.is_empty(), "{head}");
    }

    #[test]
    fn a_file_that_shrinks_is_an_error() {
        let path = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(path.path(), b"four").unwrap();
        let reply = Reply::new(BYTES, Body::File(File::open(path.path()).unwrap(), 9));
        assert!(reply.send(&mut Vec::new(), false, true).is_err());
    }

    #[test]
    fn results_are_never_programs() {
        for name in ["a.html", "a.js", "a.svg", "a.wasm", "a.css", "a.HTML", "a"] {
            assert_eq!(content_type(name, false), BYTES, "{name}");
        }
        assert_eq!(content_type("muslin.wasm", true), "application/wasm");
        assert_eq!(content_type("assets/index.js", true), "text/javascript; charset=utf-8");
    }
}
