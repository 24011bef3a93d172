//! Long work in a thread of its own, while this one listens: to the work for news, and to Python for Ctrl-C.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

/// How long a Ctrl-C may go unheard.
const LISTEN_EVERY: Duration = Duration::from_millis(50);

/// Two numbers: what is done, and of how much or with how many failures.
pub(crate) type News = (u64, u64);

/// Does `work` without Python's lock. It may send news, which `hear` is given, and ends soon after its flag is raised: by Ctrl-C, or by an error of
/// `hear`, which is then the result.
pub(crate) fn listening<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(Arc<AtomicBool>, Sender<News>) -> T + Send,
    mut hear: impl FnMut(News) -> PyResult<()>,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, mut receiver): (Sender<News>, Receiver<News>) = channel();
    thread::scope(|scope| {
        let own = Arc::clone(&stop);
        let worker = scope.spawn(move || work(own, sender));
        let mut heard = Ok(());
        loop {
            let receiver = &mut receiver;
            let news = py.detach(move || receiver.recv_timeout(LISTEN_EVERY));
            if heard.is_ok() {
                let told = match news {
                    Ok(news) => hear(news),
                    Err(_) => Ok(()),
                };
                heard = told.and_then(|()| py.check_signals());
                stop.store(heard.is_err(), Ordering::Relaxed);
            }
            if news == Err(RecvTimeoutError::Disconnected) {
                break;
            }
        }
        let done = py.detach(|| worker.join()).unwrap_or_else(|panic| resume_unwind(panic));
        heard.map(|()| done)
    })
}
