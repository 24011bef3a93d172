//! Simulations that pages hold: each behind a lock of its own, so that a long step of one keeps no other waiting.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;

use super::reply::{BYTES, Body, Reply};
use super::token::Token;

/// The most sessions at once.
pub(super) const MAX_SESSIONS: usize = 8;
/// A session without a request for so long is given up: its page is gone.
pub(super) const MAX_IDLE: Duration = Duration::from_secs(15 * 60);

/// Where all sessions are taken, one without a request for so long makes room. A tab that was closed leaves its session to a reload that
/// never comes; a page that was only paused begins its scene again.
pub(super) const MAKES_ROOM: Duration = Duration::from_secs(60);

/// What a session does with requests.
pub(super) trait Engine: Send {
    fn put_file(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), String>;
    fn call(&mut self, request: &str) -> String;
    fn binary(&mut self, request: &str) -> Vec<u8>;
}

/// Makes the engine of a new session.
pub(super) type MakeEngine = Box<dyn Fn() -> Box<dyn Engine> + Send + Sync>;

/// All sessions by their ids.
pub(super) struct Sessions {
    make: MakeEngine,
    all: Mutex<BTreeMap<String, Arc<Session>>>,
}

struct Session {
    /// None once it has panicked: what it holds may be half changed.
    engine: Mutex<Option<Box<dyn Engine>>>,
    last_used: Mutex<Instant>,
    /// Whether it was closed while a request was waiting for it.
    closed: AtomicBool,
}

/// What a request wants of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Call,
    Binary,
    File { name: String },
}

impl Sessions {
    pub(super) fn new(make: MakeEngine) -> Self {
        Self { make, all: Mutex::default() }
    }

    /// Begins a session.
    pub(super) fn open(&self) -> Reply {
        self.open_at(Instant::now())
    }

    fn open_at(&self, now: Instant) -> Reply {
        self.forget_idle(now);
        let Ok(id) = Token::random() else { return Reply::error(500, "the system gives no random numbers") };
        let mut all = locked(&self.all);
        let _given_up = if all.len() < MAX_SESSIONS { None } else { longest_unused(&mut all, now) };
        if all.len() >= MAX_SESSIONS {
            return Reply::error(
                503,
                format_args!("{MAX_SESSIONS} sessions are open already; close a tab, or try again in a minute"),
            );
        }
        let session = Session {
            engine: Mutex::new(Some((self.make)())),
            last_used: Mutex::new(now),
            closed: AtomicBool::new(false),
        };
        all.insert(id.text().to_owned(), Arc::new(session));
        drop(all);
        Reply::json(&json!({ "id": id.text() }))
    }

    /// Ends a session. A step that it is in is finished, and seen by nobody.
    pub(super) fn close(&self, id: &str) -> Reply {
        let closed = locked(&self.all).remove(id); // in a statement of its own: nobody waits while it is dropped
        match closed {
            Some(session) => {
                session.closed.store(true, Ordering::Relaxed);
                Reply::json(&json!({}))
            }
            None => gone(),
        }
    }

    /// Hands a request to its session, after those before it.
    pub(super) fn order(&self, id: &str, order: &Order, body: Vec<u8>) -> Reply {
        let Some(session) = locked(&self.all).get(id).map(Arc::clone) else { return gone() };
        session.touch();
        let reply = session.order(order, body);
        session.touch();
        match reply {
            Done::Reply(reply) => reply,
            Done::Gone => gone(),
            Done::Panicked => {
                locked(&self.all).remove(id);
                Reply::error(500, "the session failed, which is a mistake in muslin; it has ended")
            }
        }
    }

    /// Gives up the sessions that nobody has used for a while.
    pub(super) fn forget_idle(&self, now: Instant) {
        let is_used = |session: &Arc<Session>| idle(session, now).is_none_or(|idle| idle < MAX_IDLE);
        // Dropped only after the lock is given back: a large simulation takes a moment to go.
        let mut all = locked(&self.all);
        let idle: Vec<String> = all.iter().filter(|(_, session)| !is_used(session)).map(|(id, _)| id.clone()).collect();
        let _given_up: Vec<_> = idle.iter().filter_map(|id| all.remove(id)).collect();
        drop(all);
    }
}

/// How long nobody has asked it anything; `None` while it works or somebody waits for it, who has a handle too.
fn idle(session: &Arc<Session>, now: Instant) -> Option<Duration> {
    (Arc::strong_count(session) == 1).then(|| now.saturating_duration_since(*locked(&session.last_used)))
}

/// Takes out the session that was not used for the longest time, if that is long enough.
fn longest_unused(all: &mut BTreeMap<String, Arc<Session>>, now: Instant) -> Option<Arc<Session>> {
    let idle = all.iter().filter_map(|(id, session)| Some((idle(session, now)?, id)));
    let (unused, id) = idle.max()?;
    let id = id.clone();
    (unused >= MAKES_ROOM).then(|| all.remove(&id))?
}

/// How an order ended.
enum Done {
    Reply(Reply),
    Gone,
    Panicked,
}

impl Session {
    fn touch(&self) {
        *locked(&self.last_used) = Instant::now();
    }

    fn order(&self, order: &Order, body: Vec<u8>) -> Done {
        let mut slot = locked(&self.engine);
        let Some(engine) = slot.as_mut().filter(|_| !self.closed.load(Ordering::Relaxed)) else { return Done::Gone };
        let outcome = catch_unwind(AssertUnwindSafe(|| obey(engine.as_mut(), order, body)));
        outcome.map_or_else(
            |_| {
                let broken = slot.take();
                catch_unwind(AssertUnwindSafe(|| drop(broken))).ok(); // it may panic again
                Done::Panicked
            },
            Done::Reply,
        )
    }
}

fn obey(engine: &mut dyn Engine, order: &Order, body: Vec<u8>) -> Reply {
    if let Order::File { name } = order {
        return match engine.put_file(name, body) {
            Ok(()) => Reply::json(&json!({})),
            Err(message) => Reply::error(413, &message),
        };
    }
    let Ok(request) = String::from_utf8(body) else { return Reply::error(400, "the request is not UTF-8 text") };
    match order {
        Order::Binary => Reply::new(BYTES, Body::Bytes(engine.binary(&request).into())),
        _ => Reply::json_text(engine.call(&request)),
    }
}

fn gone() -> Reply {
    Reply::error(404, "there is no such session; it was closed, or nobody used it for a while")
}

/// Nothing panics while it holds one of these locks, and what they guard would be whole if it did.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::thread;

    use serde_json::Value;

    use super::*;

    /// Says back what it is told; "wait" waits until it is told to go on, "panic" panics.
    struct Echo {
        go_on: Receiver<()>,
        began: Sender<()>,
    }

    impl Engine for Echo {
        fn put_file(&mut self, _name: &str, _bytes: Vec<u8>) -> Result<(), String> {
            Ok(())
        }

        fn call(&mut self, request: &str) -> String {
            match request {
                "wait" => {
                    self.began.send(()).unwrap();
                    self.go_on.recv().unwrap();
                }
                "panic" => panic!("as asked for"),
                _ => {}
            }
            request.to_owned()
        }

        fn binary(&mut self, request: &str) -> Vec<u8> {
            request.as_bytes().to_vec()
        }
    }

    /// Sessions, what lets the first of them go on, and what tells that it waits.
    fn sessions() -> (Sessions, Sender<()>, Receiver<()>) {
        let (go_on, receiver) = channel();
        let (began, is_waiting) = channel();
        let first = Mutex::new(Some(receiver));
        let make = move || -> Box<dyn Engine> {
            let go_on = first.lock().unwrap().take().unwrap_or_else(|| channel().1);
            Box::new(Echo { go_on, began: began.clone() })
        };
        (Sessions::new(Box::new(make)), go_on, is_waiting)
    }

    fn text(reply: Reply) -> (u16, String) {
        let Body::Bytes(bytes) = reply.body else { panic!("no bytes") };
        (reply.status, String::from_utf8(bytes.into_owned()).unwrap())
    }

    fn open(sessions: &Sessions) -> String {
        let (status, reply) = text(sessions.open());
        assert_eq!(status, 200, "{reply}");
        serde_json::from_str::<Value>(&reply).unwrap()["id"].as_str().unwrap().to_owned()
    }

    fn call(sessions: &Sessions, id: &str, request: &str) -> (u16, String) {
        text(sessions.order(id, &Order::Call, request.as_bytes().to_vec()))
    }

    #[test]
    fn there_is_a_limit_and_room_again() {
        let (sessions, _go_on, _waits) = sessions();
        let ids: Vec<String> = (0..MAX_SESSIONS).map(|_| open(&sessions)).collect();
        assert_eq!(sessions.open().status, 503);
        assert_eq!(sessions.close(&ids[3]).status, 200);
        assert_eq!(sessions.close(&ids[3]).status, 404);
        assert_eq!(call(&sessions, &ids[3], "x").0, 404);
        open(&sessions);
        assert_eq!(call(&sessions, &ids[4], "x"), (200, "x".to_owned()));
        assert_eq!(sessions.order(&ids[4], &Order::Call, vec![0xff]).status, 400);
    }

    #[test]
    fn the_session_that_was_not_used_for_the_longest_time_makes_room() {
        let (sessions, _go_on, _waits) = sessions();
        let ids: Vec<String> = (0..MAX_SESSIONS).map(|_| open(&sessions)).collect();
        call(&sessions, &ids[0], "x");
        assert_eq!(sessions.open_at(Instant::now() + MAKES_ROOM / 2).status, 503, "all were used a moment ago");
        assert_eq!(sessions.open_at(Instant::now() + MAKES_ROOM).status, 200);
        assert_eq!(call(&sessions, &ids[1], "x").0, 404, "this one made room");
        assert!(ids.iter().filter(|id| **id != ids[1]).all(|id| call(&sessions, id, "x").0 == 200));
    }

    #[test]
    fn a_busy_session_keeps_no_other_waiting() {
        let (sessions, go_on, waits) = sessions();
        let (busy, other) = (open(&sessions), open(&sessions));
        thread::scope(|scope| {
            let waiting = scope.spawn(|| call(&sessions, &busy, "wait"));
            waits.recv().unwrap();
            let behind = scope.spawn(|| call(&sessions, &busy, "behind"));
            assert_eq!(call(&sessions, &other, "x"), (200, "x".to_owned()));
            assert!(!behind.is_finished(), "it waits its turn");
            sessions.forget_idle(Instant::now() + 2 * MAX_IDLE);
            go_on.send(()).unwrap();
            assert_eq!(waiting.join().unwrap(), (200, "wait".to_owned()), "not idle, however long it takes");
            assert_eq!(behind.join().unwrap(), (200, "behind".to_owned()));
        });
        assert_eq!(call(&sessions, &other, "x").0, 404, "that one was idle");
    }

    #[test]
    fn a_session_can_be_closed_while_it_is_busy() {
        let (sessions, go_on, waits) = sessions();
        let busy = open(&sessions);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| call(&sessions, &busy, "wait"));
            waits.recv().unwrap();
            assert_eq!(sessions.close(&busy).status, 200);
            assert_eq!(call(&sessions, &busy, "x").0, 404);
            go_on.send(()).unwrap();
            assert_eq!(waiting.join().unwrap().0, 200);
        });
    }

    #[test]
    fn a_panic_ends_one_session_and_nothing_else() {
        let (sessions, _go_on, _waits) = sessions();
        let (bad, other) = (open(&sessions), open(&sessions));
        let (status, message) = call(&sessions, &bad, "panic");
        assert_eq!(status, 500);
        assert!(message.contains("message"), "{message}");
        assert_eq!(call(&sessions, &bad, "x").0, 404);
        assert_eq!(call(&sessions, &other, "x").0, 200);
    }

    #[test]
    fn idle_sessions_are_given_up() {
        let (sessions, _go_on, _waits) = sessions();
        let id = open(&sessions);
        sessions.forget_idle(Instant::now() + MAX_IDLE / 2);
        assert_eq!(call(&sessions, &id, "x").0, 200);
        sessions.forget_idle(Instant::now() + MAX_IDLE + Duration::from_secs(1));
        assert_eq!(call(&sessions, &id, "x").0, 404);
    }
}
