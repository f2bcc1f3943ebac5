//! How far one request got.

use std::{
    io,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use tokio::time::Instant;

/// An answer's head that is longer is no evidence worth keeping.
const MAX_HEAD: usize = 64 << 10;

/// What socket, body and poster tell each other about the request that runs on a connection.
#[derive(Debug)]
pub(super) struct Progress {
    /// Hyper has every octet of the body.
    body_taken: AtomicBool,
    /// The system has every octet of the request.
    written: AtomicBool,
    rest: Mutex<Rest>,
}

#[derive(Debug)]
struct Rest {
    moved: Instant,
    /// The answer's head up to its blank line.
    head: Vec<u8>,
    head_whole: bool,
    write_error: Option<io::Error>,
    source_error: Option<io::Error>,
}

impl Rest {
    fn new() -> Self {
        Self { moved: Instant::now(), head: Vec::new(), head_whole: false, write_error: None, source_error: None }
    }
}

impl Default for Progress {
    fn default() -> Self {
        let (body_taken, written) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { body_taken, written, rest: Mutex::new(Rest::new()) }
    }
}

impl Progress {
    /// The next request on this connection begins.
    pub(super) fn begin(&self) {
        self.body_taken.store(false, Ordering::Release);
        self.written.store(false, Ordering::Release);
        *self.rest() = Rest::new();
    }

    pub(super) fn body_taken(&self) {
        self.body_taken.store(true, Ordering::Release);
    }

    /// Hyper's buffer was empty and the socket took everything.
    pub(super) fn flushed(&self) {
        if self.body_taken.load(Ordering::Acquire) && !self.written.swap(true, Ordering::AcqRel) {
            self.rest().moved = Instant::now();
        }
    }

    /// Whether the system took every octet of the request: the partner may have it.
    pub(super) fn fully_written(&self) -> bool {
        self.written.load(Ordering::Acquire)
    }

    pub(super) fn moved(&self) {
        self.rest().moved = Instant::now();
    }

    /// When an octet last went out, or the request began.
    pub(super) fn last_moved(&self) -> Instant {
        self.rest().moved
    }

    pub(super) fn write_failed(&self, error: io::Error) {
        self.rest().write_error.get_or_insert(error);
    }

    pub(super) fn source_failed(&self, error: io::Error) {
        self.rest().source_error.get_or_insert(error);
    }

    pub(super) fn take_write_error(&self) -> Option<io::Error> {
        self.rest().write_error.take()
    }

    pub(super) fn take_source_error(&self) -> Option<io::Error> {
        self.rest().source_error.take()
    }

    /// Notes octets of the answer; interim answers (1xx) leave no trace.
    pub(super) fn received(&self, octets: &[u8]) {
        let mut rest = self.rest();
        if rest.head_whole || octets.is_empty() {
            return;
        }
        rest.head.extend_from_slice(octets);
        while let Some(end) = memchr::memmem::find(&rest.head, b"\r\n\r\n").map(|at| at + 4) {
            if rest.head.starts_with(b"HTTP/1.1 1") || rest.head.starts_with(b"HTTP/1.0 1") {
                rest.head.drain(..end);
                continue;
            }
            rest.head.truncate(end);
            rest.head_whole = true;
            return;
        }
        rest.head_whole = rest.head.len() > MAX_HEAD;
    }

    /// Whether any octet of a final answer came.
    pub(super) fn is_answered(&self) -> bool {
        let rest = self.rest();
        rest.head_whole || !rest.head.is_empty()
    }

    pub(super) fn take_head(&self) -> Bytes {
        std::mem::take(&mut self.rest().head).into()
    }

    fn rest(&self) -> MutexGuard<'_, Rest> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_flush_after_the_last_octet_counts() {
        let progress = Progress::default();
        progress.flushed();
        assert!(!progress.fully_written());
        progress.body_taken();
        assert!(!progress.fully_written());
        progress.flushed();
        assert!(progress.fully_written());
        progress.begin();
        assert!(!progress.fully_written());
    }

    #[test]
    fn the_head_is_cut_at_its_blank_line_and_interim_answers_are_left_out() {
        let progress = Progress::default();
        for octet in b"HTTP/1.1 100 Continue\r\n\r\n" {
            progress.received(std::slice::from_ref(octet));
        }
        assert!(!progress.is_answered());
        progress.received(b"HTTP/1.1 102 P\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nC: d");
        assert!(progress.is_answered());
        progress.received(b"\r\n\r\nbody");
        progress.received(b"more");
        assert_eq!(progress.take_head(), "HTTP/1.1 200 OK\r\nC: d\r\n\r\n");
    }
}
