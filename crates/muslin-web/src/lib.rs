//! Muslin for the browser: [`Live`] behind a handful of functions that take and give bytes.
//!
//! ```text
//! muslin_alloc(length) → place                                    room for what is handed over; each of the below takes it back
//! muslin_start(threads)                                           before anything else; threads = those that wait in muslin_thread, or 1
//! muslin_put_file(name, length, bytes, length) → 1, or 0 if that is too much
//! muslin_call(request, length) → [place, length] of the reply     UTF-8; valid until the next call
//! muslin_binary(request, length) → [place, length] of the buffer  likewise
//! muslin_thread()                                                 with threads: runs what a team hands out, and never returns
//! ```
//!
//! That is all there is to cross the border, so no generator of bindings is used: its command-line tool would have to be built, in exactly
//! the right version, by everybody who builds the page. The module imports `muslin.now` (ms) and `muslin.panicked` (a message, just before
//! it traps), and with threads `env.memory`.
//!
//! **Threads** are workers that share the memory. Each begins in [`muslin_thread`] and waits for work before the first team asks for it: a
//! worker that is started while its parent waits inside WebAssembly may never come to life.
#![allow(unsafe_code, reason = "the border of a WebAssembly module is raw memory")]

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, PoisonError};

use muslin::parallel::{Team, TeamError};
use muslin_live::Live;

/// What the page provides.
mod page {
    #[cfg(target_family = "wasm")]
    #[link(wasm_import_module = "muslin")]
    unsafe extern "C" {
        /// Milliseconds since some moment.
        pub(crate) safe fn now() -> f64;
        /// Takes the message of a panic: UTF-8 in the memory of the module.
        pub(crate) safe fn panicked(message: *const u8, length: usize);
    }

    /// Elsewhere the crate is only checked.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn now() -> f64 {
        0.0
    }

    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn panicked(_: *const u8, _: usize) {}
}

/// What a module may take for a simulation, in bytes: the whole is limited to 2 GiB where memory is shared, and a scene that is replaced is there
/// beside its successor for a moment.
const MOST_MEMORY: usize = 900_000_000;

static LIVE: Mutex<Option<Live>> = Mutex::new(None);

/// Where the last answer is: its place and its length.
static ANSWER: Mutex<(Vec<u8>, [usize; 2])> = Mutex::new((Vec::new(), [0; 2]));

type Work = Box<dyn FnOnce() + Send>;

/// What waits for a thread.
static QUEUE: (Mutex<VecDeque<Work>>, Condvar) = (Mutex::new(VecDeque::new()), Condvar::new());

/// Bytes that the page may fill and then hand over.
#[unsafe(no_mangle)]
pub extern "C" fn muslin_alloc(length: usize) -> *mut u8 {
    Box::into_raw(vec![0_u8; length].into_boxed_slice()).cast()
}

/// Takes back what `muslin_alloc` gave.
///
/// # Safety
/// `place` must be from `muslin_alloc(length)`, and is gone afterwards.
unsafe fn taken(place: *mut u8, length: usize) -> Vec<u8> {
    // SAFETY: a boxed slice of this length was made into this pointer, by the caller's promise.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(place, length)) }.into_vec()
}

/// Makes the one simulation of this module, on this many threads.
#[unsafe(no_mangle)]
pub extern "C" fn muslin_start(threads: usize) {
    std::panic::set_hook(Box::new(|panic| {
        let message = panic.to_string();
        page::panicked(message.as_ptr(), message.len());
    }));
    let live =
        Live::new(PathBuf::new(), Box::new(team), || 1e-3 * page::now(), threads).with_limit(|| Some(MOST_MEMORY));
    *LIVE.lock().unwrap_or_else(PoisonError::into_inner) = Some(live);
}

fn team(threads: usize) -> Result<Team, TeamError> {
    Team::on_threads(threads, |work| {
        QUEUE.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(work);
        QUEUE.1.notify_one();
    })
}

/// What a worker with a memory in common does.
#[unsafe(no_mangle)]
pub extern "C" fn muslin_thread() {
    loop {
        let mut queue = QUEUE.0.lock().unwrap_or_else(PoisonError::into_inner);
        let work = loop {
            match queue.pop_front() {
                Some(work) => break work,
                None => queue = QUEUE.1.wait(queue).unwrap_or_else(PoisonError::into_inner),
            }
        };
        drop(queue);
        work();
    }
}

/// Keeps a file that a scene names: 1, or 0 if that is too much.
///
/// # Safety
/// Both places must be from `muslin_alloc` with these lengths, and are gone afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn muslin_put_file(name: *mut u8, name_length: usize, bytes: *mut u8, length: usize) -> u32 {
    // SAFETY: by the caller's promise.
    let (name, bytes) = unsafe { (taken(name, name_length), taken(bytes, length)) };
    let kept = with_live(|live| live.put_file(&String::from_utf8_lossy(&name), bytes));
    u32::from(matches!(kept, Some(Ok(()))))
}

/// Answers a request with JSON.
///
/// # Safety
/// The place must be from `muslin_alloc(length)`, and is gone afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn muslin_call(request: *mut u8, length: usize) -> *const usize {
    // SAFETY: by the caller's promise.
    let request = unsafe { taken(request, length) };
    answer(|live| live.call(&String::from_utf8_lossy(&request)).into_bytes())
}

/// Answers a request with a buffer.
///
/// # Safety
/// The place must be from `muslin_alloc(length)`, and is gone afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn muslin_binary(request: *mut u8, length: usize) -> *const usize {
    // SAFETY: by the caller's promise.
    let request = unsafe { taken(request, length) };
    answer(|live| live.binary(&String::from_utf8_lossy(&request)))
}

fn with_live<T>(run: impl FnOnce(&mut Live) -> T) -> Option<T> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner).as_mut().map(run)
}

/// Keeps the answer until the next one, and says where it is.
fn answer(run: impl FnOnce(&mut Live) -> Vec<u8>) -> *const usize {
    let bytes = with_live(run).unwrap_or_default();
    let mut answer = ANSWER.lock().unwrap_or_else(PoisonError::into_inner);
    answer.1 = [bytes.as_ptr() as usize, bytes.len()];
    answer.0 = bytes;
    answer.1.as_ptr()
}
