//! `muslin view`: a server for one person, with a page, the files of what was opened, and simulations to play with.
//!
//! ```text
//! TcpListener ─→ connection (a thread each) ─→ request ─→ site ─→ page      the embedded files
//!                                                           ├───→ opened    a scene's meshes, a run's files
//!                                                           └───→ sessions  simulations, each behind its lock
//! ```
//!
//! It speaks HTTP/1.1 over the standard library's sockets. A framework (axum on tokio) would double what has to be built for a
//! dozen requests a second by one browser, whose work is not waiting but simulating; `httparse` does the part that is easy to get wrong.
//!
//! It listens on 127.0.0.1 only, below a random path; see `site` for who is let in.

mod browser;
mod connection;
mod disk;
mod opened;
mod page;
mod range;
mod reply;
mod request;
mod run_folder;
mod sessions;
mod site;
mod target;
mod token;

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use muslin::parallel::Team;
use muslin_live::Live;

pub(crate) use opened::{Opened, OpenedScene};
pub(crate) use run_folder::RunFolder;

use page::Page;
use sessions::{Engine, MakeEngine, Sessions};
use site::Site;
use token::Token;

use crate::clock;
use crate::console::reason;
use crate::failure::Failure;
use crate::memory;
use crate::session::Interrupt;

/// Connections at once. A browser has six; a session that waits for its turn has one.
const MAX_CONNECTIONS: usize = 128;
/// How long Ctrl-C may go unnoticed.
const TICK: Duration = Duration::from_millis(50);
/// Between two looks for sessions that nobody uses.
const SWEEP: Duration = Duration::from_secs(30);

/// A server that listens, and has not answered yet.
pub(crate) struct Server {
    listener: TcpListener,
    site: Arc<Site>,
}

impl Server {
    /// Listens on a port of this machine, or on a free one. `page` is a folder to be served instead of the page in the program.
    pub(crate) fn listen(
        port: Option<u16>,
        page: Option<&PathBuf>,
        opened: Opened,
        threads: usize,
    ) -> Result<Self, Failure> {
        let page = Page::new(page)?;
        let cannot = |error: io::Error| {
            let remedy = match error.kind() {
                io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied => "; choose another --port, or none",
                _ => "",
            };
            Failure::Failed(format!("cannot listen on 127.0.0.1:{}: {}{remedy}", port.unwrap_or(0), reason(&error)))
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).map_err(cannot)?;
        let port = listener.local_addr().map_err(cannot)?.port();
        let sessions = Sessions::new(make_engine(&opened, threads));
        let site = Site { token: Token::random()?, port, page, opened, sessions, threads };
        Ok(Self { listener, site: Arc::new(site) })
    }

    pub(crate) fn address(&self) -> String {
        self.site.address()
    }

    pub(crate) fn port(&self) -> u16 {
        self.site.port
    }

    /// Shows the page in a browser; false if there is none.
    pub(crate) fn open_browser(&self) -> bool {
        browser::open(&self.address())
    }

    /// Serves until it is interrupted. What is under way then ends with the process.
    pub(crate) fn serve(self, interrupt: &Interrupt) {
        let site = Arc::clone(&self.site);
        thread::spawn(move || accept(&self.listener, &self.site));
        let mut swept = Instant::now();
        while !interrupt.is_raised() {
            thread::sleep(TICK);
            if swept.elapsed() > SWEEP {
                swept = Instant::now();
                site.sessions.forget_idle(swept);
            }
        }
    }
}

/// Gives each connection a thread, as long as there are not too many.
fn accept(listener: &TcpListener, site: &Arc<Site>) {
    let count = Arc::new(AtomicUsize::new(0));
    loop {
        let Ok((stream, _)) = listener.accept() else {
            thread::sleep(TICK); // out of handles, most likely: some will be closed
            continue;
        };
        let place = Counted::new(&count);
        if count.load(Ordering::Relaxed) > MAX_CONNECTIONS {
            connection::turn_away(stream);
            continue;
        }
        let site = Arc::clone(site);
        // Without a thread, the connection is dropped, and the browser tries again.
        thread::Builder::new()
            .spawn(move || {
                connection::serve(stream, &site);
                drop(place);
            })
            .ok();
    }
}

/// One of the connections, however it ends.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Engine for Live {
    fn put_file(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), String> {
        self.put_file(name, bytes)
    }

    fn call(&mut self, request: &str) -> String {
        self.call(request)
    }

    fn binary(&mut self, request: &str) -> Vec<u8> {
        self.binary(request)
    }
}

/// Makes simulations that know the meshes of what was opened, each with threads of its own.
fn make_engine(opened: &Opened, threads: usize) -> MakeEngine {
    let (folder, named) = (opened.folder(), opened.named());
    let files: Vec<(String, &'static [u8])> = opened.embedded().map(|(name, bytes)| (name.to_owned(), bytes)).collect();
    Box::new(move || {
        let mut live = Live::new(folder.clone(), Box::new(Team::new), clock::seconds, threads)
            .with_limit(memory::available)
            .confined(named.clone());
        for (name, bytes) in &files {
            // They are part of the program, and few.
            let _ = live.put_file(name, bytes.to_vec());
        }
        Box::new(live)
    })
}
