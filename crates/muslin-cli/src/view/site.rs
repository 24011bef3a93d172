//! Who is let in, and what is where.
//!
//! ```text
//! GET    /TOKEN/                    the page; /TOKEN/… its files
//! GET    /TOKEN/api/info            what was opened
//! GET    /TOKEN/api/files/…         a file of it
//! POST   /TOKEN/api/live            begins a session
//! POST   /TOKEN/api/live/ID/call    JSON → JSON          ID/binary   JSON → bytes
//! POST   /TOKEN/api/live/ID/file?name=…   a mesh file
//! DELETE /TOKEN/api/live/ID         ends it
//! ```
//!
//! Any page of the web can make a browser send requests to this machine. It does not know the token; and `Host` and `Origin`, which it
//! cannot choose, tell it from ours, even if its name was made to mean this machine.

use serde_json::json;

use super::opened::Opened;
use super::page::Page;
use super::reply::Reply;
use super::request::Head;
use super::sessions::{Order, Sessions};
use super::target;
use super::token::Token;

/// The most bytes of a request to a session.
const MAX_CALL: u64 = 1 << 20;
/// The most bytes of a mesh file.
const MAX_FILE: u64 = 256 << 20;

/// Everything that is served.
pub(super) struct Site {
    pub(super) token: Token,
    pub(super) port: u16,
    pub(super) page: Page,
    pub(super) opened: Opened,
    pub(super) sessions: Sessions,
    pub(super) threads: usize,
}

/// What a request is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    Page(String),
    Info,
    File(String),
    Open,
    Order(String, Order),
    Close(String),
}

impl Route {
    /// What a path below the token leads to, if anything.
    fn find(path: &str, query: &str, method: &str) -> Option<Self> {
        if path.is_empty() {
            return Some(Self::Page(String::new()));
        }
        let names = target::names(path)?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Some(match names[..] {
            ["api", "info"] => Self::Info,
            ["api", "files", ..] if names.len() > 2 => Self::File(names[2..].join("/")),
            ["api", "live"] => Self::Open,
            ["api", "live", id] if method == "DELETE" => Self::Close(id.to_owned()),
            ["api", "live", id, "call"] => Self::Order(id.to_owned(), Order::Call),
            ["api", "live", id, "binary"] => Self::Order(id.to_owned(), Order::Binary),
            ["api", "live", id, "file"] => {
                let name = target::query_value(query, "name").filter(|name| !name.is_empty())?;
                Self::Order(id.to_owned(), Order::File { name })
            }
            ["api", ..] => return None,
            _ => Self::Page(names.join("/")),
        })
    }

    fn methods(&self) -> &'static str {
        match self {
            Self::Page(_) | Self::Info | Self::File(_) => "GET, HEAD",
            Self::Open | Self::Order(..) => "POST",
            Self::Close(_) => "DELETE",
        }
    }

    fn limit(&self) -> u64 {
        match self {
            Self::Order(_, Order::File { .. }) => MAX_FILE,
            Self::Open | Self::Order(..) => MAX_CALL,
            Self::Page(_) | Self::Info | Self::File(_) | Self::Close(_) => 0,
        }
    }
}

impl Site {
    /// The address of the page.
    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token.text())
    }

    /// Decides by its head whether a request may go on, and where to.
    pub(super) fn admit(&self, head: &Head) -> Result<Route, Reply> {
        let host = head.host.as_deref().filter(|host| self.is_ours(host));
        let Some(host) = host else {
            return Err(Reply::error(403, "this is served to this machine only, as 127.0.0.1 or localhost"));
        };
        if head.origin.as_deref().is_some_and(|origin| origin.strip_prefix("http://") != Some(host)) {
            return Err(Reply::error(403, "requests of other pages are not answered"));
        }
        let (token, path, query) = target::split(&head.target);
        if !self.token.is(token) {
            return Err(Reply::not_found());
        }
        let Some(path) = path else {
            // The page names its files from its folder, so the slash at the end matters.
            let reply = Reply::error(308, "the address ends with a slash");
            return Err(reply.with("Location", format!("/{}/", self.token.text())));
        };
        let route = Route::find(path, query, &head.method).ok_or_else(Reply::not_found)?;
        if !route.methods().split(", ").any(|method| method == head.method) {
            let reply = Reply::error(405, format_args!("only {} is possible here", route.methods()));
            return Err(reply.with("Allow", route.methods()));
        }
        if head.length > route.limit() {
            let message = format_args!("the body has {} bytes, but {} are the limit", head.length, route.limit());
            return Err(Reply::error(413, message));
        }
        Ok(route)
    }

    fn is_ours(&self, host: &str) -> bool {
        let (name, port) = host.split_once(':').unwrap_or((host, "80"));
        ["127.0.0.1", "localhost"].contains(&name) && port == self.port.to_string()
    }

    /// Does what an admitted request asks for.
    pub(super) fn answer(&self, route: &Route, head: &Head, body: Vec<u8>) -> Reply {
        let range = head.range.as_deref().filter(|_| !head.is_head());
        let file = |reply: Option<Reply>| match reply.map(|reply| reply.part(range)) {
            Some(Ok(reply)) => reply,
            Some(Err(_)) => Reply::error(500, "the file cannot be read"),
            None => Reply::not_found(),
        };
        match route {
            Route::Page(path) => file(self.page.file(path)),
            Route::File(path) => file(self.opened.file(path)),
            Route::Info => match self.opened.to_json() {
                Ok(opened) => {
                    let (version, page_core) = (env!("CARGO_PKG_VERSION"), self.page.has_core());
                    Reply::json(&json!({
                        "version": version, "threads": self.threads, "page_core": page_core, "opened": opened,
                    }))
                }
                Err(message) => Reply::error(500, message),
            },
            Route::Open => self.sessions.open(),
            Route::Order(id, order) => self.sessions.order(id, order, body),
            Route::Close(id) => self.sessions.close(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Site {
        Site {
            token: Token::random().unwrap(),
            port: 4567,
            page: Page::Embedded,
            opened: Opened::Scenes,
            sessions: Sessions::new(Box::new(|| unreachable!("no session is begun"))),
            threads: 1,
        }
    }

    #[test]
    fn only_this_machine_and_this_page_are_let_in() {
        let site = site();
        let admit = |host: Option<&str>, origin: Option<&str>| {
            let head = Head {
                method: "GET".into(),
                target: format!("/{}/", site.token.text()),
                host: host.map(str::to_owned),
                origin: origin.map(str::to_owned),
                ..Head::default()
            };
            site.admit(&head).map_err(|reply| reply.status)
        };
        let page = Ok(Route::Page(String::new()));
        for (host, origin) in [
            ("127.0.0.1:4567", None),
            ("localhost:4567", None),
            ("127.0.0.1:4567", Some("http://127.0.0.1:4567")),
            ("localhost:4567", Some("http://localhost:4567")),
        ] {
            assert_eq!(admit(Some(host), origin), page, "{host} {origin:?}");
        }
        for (host, origin) in [
            (None, None),
            (Some(""), None),
            (Some("127.0.0.1"), None),
            (Some("127.0.0.1:80"), None),
            (Some("127.0.0.1:4567:4567"), None),
            (Some("127.0.0.1.example.com:4567"), None),
            (Some("example.com:4567"), None),
            (Some("[::1]:4567"), None),
            (Some("127.0.0.1:4567"), Some("null")),
            (Some("127.0.0.1:4567"), Some("")),
            (Some("127.0.0.1:4567"), Some("http://localhost:4567")),
            (Some("127.0.0.1:4567"), Some("https://127.0.0.1:4567")),
            (Some("127.0.0.1:4567"), Some("http://127.0.0.1:4568")),
            (Some("127.0.0.1:4567"), Some("http://example.com")),
        ] {
            assert_eq!(admit(host, origin), Err(403), "{host:?} {origin:?}");
        }
    }

    #[test]
    fn every_path_leads_somewhere_or_nowhere() {
        let find = |path: &str| Route::find(path, "name=a%2Fb.obj", "POST");
        assert_eq!(find("assets/index.js"), Some(Route::Page("assets/index.js".into())));
        assert_eq!(find("api/files/inputs/a.obj"), Some(Route::File("inputs/a.obj".into())));
        assert_eq!(find("api/live/1/file"), Some(Route::Order("1".into(), Order::File { name: "a/b.obj".into() })));
        assert_eq!(Route::find("api/live/1", "", "DELETE"), Some(Route::Close("1".into())));
        for path in
            ["api", "api/", "api/files", "api/files/", "api/live/1", "api/live/1/other", "api/live/1/call/x", "a//b"]
        {
            assert_eq!(find(path), None, "{path}");
        }
        assert_eq!(Route::find("api/live/1/file", "", "POST"), None, "a file without a name");
    }
}
