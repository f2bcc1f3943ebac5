//! The socket of a post as hyper sees it.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::progress::Progress;
use crate::transport::socket::Socket;

/// Counts what goes out and notes what comes in.
#[derive(Debug)]
pub(super) struct Line {
    socket: Socket,
    progress: Arc<Progress>,
    /// The peer takes no more octets; it may still have answered (FR-101).
    deaf: bool,
}

impl Line {
    pub(super) fn new(socket: Socket, progress: Arc<Progress>) -> Self {
        Self { socket, progress, deaf: false }
    }

    /// A failed write would make hyper drop an answer that lies in the receive buffer. So writing only stops, and what
    /// reading finds, an answer or the end, decides.
    fn poll_writing<T>(
        &mut self,
        cx: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut Socket>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if self.deaf {
            return Poll::Pending;
        }
        match write(Pin::new(&mut self.socket), cx) {
            Poll::Ready(Err(error)) => {
                self.progress.write_failed(error);
                self.deaf = true;
                // The reading side must be looked at once more.
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            other => other,
        }
    }
}

impl AsyncRead for Line {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let line = self.get_mut();
        let before = buf.filled().len();
        let outcome = Pin::new(&mut line.socket).poll_read(cx, buf);
        line.progress.received(buf.filled().get(before..).unwrap_or_default());
        outcome
    }
}

impl AsyncWrite for Line {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, octets: &[u8]) -> Poll<io::Result<usize>> {
        let line = self.get_mut();
        let outcome = line.poll_writing(cx, |socket, cx| socket.poll_write(cx, octets));
        if outcome.is_ready() {
            line.progress.moved();
        }
        outcome
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let line = self.get_mut();
        let outcome = line.poll_writing(cx, |socket, cx| socket.poll_write_vectored(cx, slices));
        if outcome.is_ready() {
            line.progress.moved();
        }
        outcome
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let line = self.get_mut();
        let outcome = line.poll_writing(cx, Socket::poll_flush);
        if matches!(outcome, Poll::Ready(Ok(()))) {
            line.progress.flushed();
        }
        outcome
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let line = self.get_mut();
        if line.deaf { Poll::Ready(Ok(())) } else { Pin::new(&mut line.socket).poll_shutdown(cx) }
    }
}
