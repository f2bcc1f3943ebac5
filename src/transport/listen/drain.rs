//! Reading on after an early answer, so that it can be read.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::ReadBuf,
    time::{Instant, Sleep, sleep_until},
};

use crate::transport::socket::Socket;

/// Throws away what still comes.
#[derive(Debug)]
pub(super) struct Drain {
    left: u64,
    timer: Pin<Box<Sleep>>,
    scratch: Box<[u8]>,
}

impl Drain {
    pub(super) fn new(octets: u64, time: Duration) -> Self {
        let timer = Box::pin(sleep_until(Instant::now() + time));
        Self { left: octets, timer, scratch: vec![0; 64 << 10].into_boxed_slice() }
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>, socket: &mut Socket) -> Poll<io::Result<()>> {
        // A few reads, then others get their turn.
        for _ in 0..16 {
            if self.left == 0 || self.timer.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Ok(()));
            }
            let mut buf = ReadBuf::new(&mut self.scratch);
            ready!(socket.poll_read_wire(cx, &mut buf))?;
            if buf.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            self.left = self.left.saturating_sub(buf.filled().len() as u64);
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
