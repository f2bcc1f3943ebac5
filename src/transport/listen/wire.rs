//! The socket as hyper sees it: screened, timed, and never beyond the end of the request that runs.
//!
//! Each head is judged before hyper gets it. A head that is refused never reaches hyper; a stand-in does, so that the
//! refusal is answered in the ordinary way. Octets behind a request are held back until its answer is on its way: what
//! was hidden behind a refused request is thrown away with the connection.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};

use bytes::{Bytes, BytesMut};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep_until},
};

use super::{
    drain::Drain,
    framing::{Framing, HeadFault, Length, Screened, screen},
    slots::Slot,
};
use crate::transport::{limits::Limits, socket::Socket};

const STAND_IN: &[u8] = b"POST / HTTP/1.1\r\nconnection: close\r\n\r\n";
const READ_AT_ONCE: usize = 16 << 10;

/// A head that passed.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) octets: Bytes,
    pub(super) length: Length,
}

/// What the socket and the service of one connection tell each other.
#[derive(Debug, Default)]
pub(super) struct Turn {
    head: Mutex<Option<Result<Head, HeadFault>>>,
    /// The whole request left the socket.
    complete: AtomicBool,
    /// The answer is made: the next head may come.
    answered: AtomicBool,
}

impl Turn {
    /// The head of the request that hyper just passed on.
    pub(super) fn take_head(&self) -> Option<Result<Head, HeadFault>> {
        self.head.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether every octet of the request arrived.
    pub(super) fn is_complete(&self) -> bool {
        self.complete.load(Ordering::Acquire)
    }

    pub(super) fn answered(&self) {
        self.answered.store(true, Ordering::Release);
    }

    fn begin(&self, head: Result<Head, HeadFault>, complete: bool) {
        self.complete.store(complete, Ordering::Release);
        self.answered.store(false, Ordering::Release);
        *self.head.lock().unwrap_or_else(PoisonError::into_inner) = Some(head);
    }
}

#[derive(Debug)]
enum Phase {
    /// Waiting for a head, or in the midst of one.
    Head,
    /// The head is judged and partly handed out; then the body follows.
    Handing(Bytes, Framing),
    Body(Framing),
    /// The request is over; the next one waits for the answer.
    Complete,
    /// Nothing from this peer is believed any more.
    Refused,
}

#[derive(Debug)]
pub(super) struct Wire {
    socket: Socket,
    turn: Arc<Turn>,
    slot: Arc<Slot>,
    limits: Arc<Limits>,
    held: BytesMut,
    phase: Phase,
    /// When the head must be there, or the next one begun.
    head_timer: Pin<Box<Sleep>>,
    /// Runs while the peer takes no octets.
    write_timer: Option<Pin<Box<Sleep>>>,
    drain: Option<Drain>,
    between_requests: bool,
}

impl Wire {
    pub(super) fn new(socket: Socket, turn: Arc<Turn>, slot: Arc<Slot>, limits: Arc<Limits>) -> Self {
        let head_timer = Box::pin(sleep_until(Instant::now() + limits.header_time));
        Self {
            socket,
            turn,
            slot,
            limits,
            held: BytesMut::new(),
            phase: Phase::Head,
            head_timer,
            write_timer: None,
            drain: None,
            between_requests: false,
        }
    }

    /// Goes on until a head is judged, the peer is gone or its time is over (`None`).
    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<Phase>>> {
        loop {
            let screened = match screen(&self.held, self.limits.max_head, self.limits.max_headers) {
                Ok(Screened::Partial) => match self.poll_more(cx) {
                    Poll::Ready(Ok(true)) => continue,
                    Poll::Ready(Ok(false)) => return Poll::Ready(Ok(None)),
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Pending if self.head_timer.as_mut().poll(cx).is_pending() => return Poll::Pending,
                    Poll::Pending if self.held.is_empty() => return Poll::Ready(Ok(None)),
                    Poll::Pending => Err(HeadFault::TooSlow),
                },
                Ok(Screened::Head(end, length)) => Ok((end, length)),
                Err(fault) => Err(fault),
            };
            if !self.slot.take() {
                return Poll::Ready(Ok(None));
            }
            return Poll::Ready(Ok(Some(self.judged(screened))));
        }
    }

    fn judged(&mut self, screened: Result<(usize, Length), HeadFault>) -> Phase {
        match screened {
            Ok((end, length)) => {
                let octets = self.held.split_to(end).freeze();
                let framing = Framing::new(length);
                self.turn.begin(Ok(Head { octets: octets.clone(), length }), framing.is_complete());
                Phase::Handing(octets, framing)
            }
            Err(fault) => {
                self.turn.begin(Err(fault), false);
                self.held.clear();
                Phase::Refused
            }
        }
    }

    /// Reads more of a head; `false` at the end of the stream.
    fn poll_more(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        let fresh = self.held.is_empty();
        self.held.reserve(READ_AT_ONCE);
        let count = ready!(std::pin::pin!(self.socket.read_buf(&mut self.held)).poll(cx))?;
        if fresh && self.between_requests && count > 0 {
            self.head_timer.as_mut().reset(Instant::now() + self.limits.header_time);
        }
        Poll::Ready(Ok(count > 0))
    }

    fn poll_body(&mut self, cx: &mut Context<'_>, mut framing: Framing, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        if self.held.is_empty() {
            match Pin::new(&mut self.socket).poll_read(cx, buf) {
                Poll::Ready(Ok(())) => {}
                other => {
                    self.phase = Phase::Body(framing);
                    return other;
                }
            }
            let octets = buf.filled().get(before..).unwrap_or_default();
            let taken = count(&mut framing, octets)?;
            if let Some(behind) = octets.get(taken..) {
                self.held.extend_from_slice(behind);
            }
            buf.set_filled(before + taken);
        } else {
            let most = self.held.len().min(buf.remaining());
            let taken = count(&mut framing, self.held.get(..most).unwrap_or_default())?;
            buf.put_slice(&self.held.split_to(taken));
        }
        self.settle(framing);
        Poll::Ready(Ok(()))
    }

    fn settle(&mut self, framing: Framing) {
        self.phase = if framing.is_complete() {
            self.turn.complete.store(true, Ordering::Release);
            Phase::Complete
        } else {
            Phase::Body(framing)
        };
    }

    fn poll_writing<T>(
        &mut self,
        cx: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut Socket>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        match write(Pin::new(&mut self.socket), cx) {
            Poll::Ready(outcome) => {
                self.write_timer = None;
                Poll::Ready(outcome)
            }
            Poll::Pending => {
                let until = Instant::now() + self.limits.write_time;
                let timer = self.write_timer.get_or_insert_with(|| Box::pin(sleep_until(until)));
                ready!(timer.as_mut().poll(cx));
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the peer does not read its answer")))
            }
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        loop {
            match std::mem::replace(&mut wire.phase, Phase::Refused) {
                Phase::Head => match wire.poll_head(cx) {
                    Poll::Ready(Ok(Some(Phase::Refused))) => {
                        buf.put_slice(STAND_IN.get(..buf.remaining()).unwrap_or(STAND_IN));
                        return Poll::Ready(Ok(()));
                    }
                    Poll::Ready(Ok(Some(phase))) => wire.phase = phase,
                    Poll::Ready(Ok(None)) => return Poll::Ready(Ok(())),
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Pending => {
                        wire.phase = Phase::Head;
                        return Poll::Pending;
                    }
                },
                Phase::Handing(mut octets, framing) => {
                    buf.put_slice(&octets.split_to(octets.len().min(buf.remaining())));
                    if octets.is_empty() {
                        wire.settle(framing);
                    } else {
                        wire.phase = Phase::Handing(octets, framing);
                    }
                    return Poll::Ready(Ok(()));
                }
                Phase::Body(framing) => return wire.poll_body(cx, framing, buf),
                Phase::Complete if wire.turn.answered.load(Ordering::Acquire) => {
                    wire.slot.leave();
                    wire.between_requests = true;
                    let rest = if wire.held.is_empty() { wire.limits.idle_time } else { wire.limits.header_time };
                    wire.head_timer.as_mut().reset(Instant::now() + rest);
                    wire.phase = Phase::Head;
                }
                // Hyper reads on where we saw the end: one of us is wrong, and nobody else shall pay for it.
                Phase::Complete => return Poll::Ready(Err(io::ErrorKind::InvalidData.into())),
                Phase::Refused => return Poll::Ready(Ok(())),
            }
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, octets: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().poll_writing(cx, |socket, cx| socket.poll_write(cx, octets))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().poll_writing(cx, |socket, cx| socket.poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll_writing(cx, Socket::poll_flush)
    }

    /// Closes the sending half and reads on for a while, until the peer closes too: a socket closed with unread octets
    /// resets the connection, and the reset overtakes the answer (RFC 9112 §9.6, FR-101).
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        if wire.drain.is_none() {
            ready!(wire.poll_writing(cx, Socket::poll_shutdown))?;
            if matches!(wire.phase, Phase::Head) {
                return Poll::Ready(Ok(()));
            }
            // Whoever needs the slot may end this.
            wire.slot.leave();
        }
        let limits = &wire.limits;
        let drain = wire.drain.get_or_insert_with(|| Drain::new(limits.drain_octets, limits.drain_time));
        drain.poll(cx, &mut wire.socket)
    }
}

fn count(framing: &mut Framing, octets: &[u8]) -> io::Result<usize> {
    framing.advance(octets).map_err(|fault| io::Error::new(io::ErrorKind::InvalidData, fault))
}
