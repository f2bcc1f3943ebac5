//! What is sent.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use url::Url;

use super::progress::Progress;
use crate::transport::{limits::TimeOuts, tls::ClientTls};

/// A request body that can be sent again from its start.
pub trait BodySource: Send + Sync {
    /// Octets, where known: `Content-Length` then, and the chunked coding otherwise.
    fn len(&self) -> Option<u64>;

    /// Whether there is nothing to send.
    fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// The octets from the first one on.
    fn open(&self) -> BoxStream<'static, io::Result<Bytes>>;
}

impl BodySource for Bytes {
    fn len(&self) -> Option<u64> {
        Some(<[u8]>::len(self) as u64)
    }

    fn open(&self) -> BoxStream<'static, io::Result<Bytes>> {
        let octets = self.clone();
        stream::once(std::future::ready(Ok(octets))).boxed()
    }
}

/// One POST.
#[derive(Clone)]
pub struct Request {
    /// Where to; `http` or `https`.
    pub url: Url,
    /// Header fields, `Content-Type` among them. `Host` and the length are added.
    pub headers: HeaderMap,
    /// The body.
    pub body: Arc<dyn BodySource>,
    /// The partner's TLS; needed for `https`.
    pub tls: Option<ClientTls>,
    /// How long each step may take.
    pub time_outs: TimeOuts,
    /// Octets of the answer, as sent and again as decoded.
    pub max_answer: u64,
    /// Refuse addresses that are not public: for addresses that were discovered, not configured (EB-099).
    pub public_only: bool,
}

impl Request {
    /// A POST with default time-outs, an answer of up to one mebibyte, to any address.
    pub fn new(url: Url, headers: HeaderMap, body: Arc<dyn BodySource>) -> Self {
        let time_outs = TimeOuts::default();
        Self { url, headers, body, tls: None, time_outs, max_answer: 1 << 20, public_only: false }
    }
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Request")
            .field("url", &self.url.as_str())
            .field("len", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// The body as hyper takes it; notes when its last octet was taken.
pub(super) struct PostBody {
    octets: BoxStream<'static, io::Result<Bytes>>,
    left: Option<u64>,
    progress: Arc<Progress>,
}

impl PostBody {
    pub(super) fn new(source: &dyn BodySource, progress: Arc<Progress>) -> Self {
        let left = source.len();
        if left == Some(0) {
            progress.body_taken();
        }
        Self { octets: source.open(), left, progress }
    }

    fn fail(&self, error: io::Error) -> io::Error {
        let copy = io::Error::new(error.kind(), error.to_string());
        self.progress.source_failed(error);
        copy
    }
}

impl Body for PostBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        loop {
            let octets = match ready!(self.octets.poll_next_unpin(cx)) {
                Some(Ok(octets)) if octets.is_empty() => continue,
                Some(Ok(octets)) => octets,
                Some(Err(error)) => return Poll::Ready(Some(Err(self.fail(error)))),
                None if self.left.unwrap_or(0) > 0 => {
                    let short = io::Error::new(io::ErrorKind::UnexpectedEof, "the body is shorter than its length");
                    return Poll::Ready(Some(Err(self.fail(short))));
                }
                None => {
                    self.progress.body_taken();
                    return Poll::Ready(None);
                }
            };
            if let Some(left) = self.left {
                let Some(left) = left.checked_sub(octets.len() as u64) else {
                    let long = io::Error::new(io::ErrorKind::InvalidData, "the body is longer than its length");
                    return Poll::Ready(Some(Err(self.fail(long))));
                };
                self.left = Some(left);
                if left == 0 {
                    // Hyper asks no more after the last octet of a known length.
                    self.progress.body_taken();
                }
            }
            return Poll::Ready(Some(Ok(Frame::data(octets))));
        }
    }

    fn is_end_stream(&self) -> bool {
        self.left == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
