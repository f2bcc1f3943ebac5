//! One request and its answer.

use std::{future::Future, net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, Version, header};
use uuid::Uuid;

use crate::transport::{body::BodyError, body::BodyReader};

/// Takes the requests of a listener.
pub trait Endpoint: Send + Sync + 'static {
    /// Answers one request. Runs on the connection's task: long computations belong on a blocking thread. The peer's
    /// leaving does not stop it unless the body was still being read.
    fn exchange(&self, exchange: Exchange) -> impl Future<Output = Answer> + Send;

    /// A request was refused before it became an exchange: for metrics and logs.
    fn refused(&self, refusal: &Refusal) {
        let _ = refusal;
    }
}

/// Several listeners may share one endpoint.
impl<E: Endpoint> Endpoint for Arc<E> {
    fn exchange(&self, exchange: Exchange) -> impl Future<Output = Answer> + Send {
        E::exchange(self, exchange)
    }

    fn refused(&self, refusal: &Refusal) {
        E::refused(self, refusal);
    }
}

/// A request that passed the listener's own rules.
#[derive(Debug)]
pub struct Exchange {
    /// Names this exchange everywhere.
    pub id: Uuid,
    /// Who sent it: the peer of the connection, or who a trusted proxy says it was.
    pub peer: SocketAddr,
    /// The address it came to.
    pub local: SocketAddr,
    /// Whether it came over TLS, to us or to the trusted proxy.
    pub secure: bool,
    /// The DER of the client certificate, checked against the configured authorities by us or by the trusted proxy.
    pub client_certificate: Option<Vec<u8>>,
    /// The request line and header fields.
    pub head: RequestHead,
    /// The body. Read it to its end, or the connection closes after the answer.
    pub body: BodyReader,
}

/// The request line and header fields.
#[derive(Clone, Debug)]
pub struct RequestHead {
    /// Always POST within an exchange.
    pub method: Method,
    /// As sent.
    pub target: String,
    /// The target's path.
    pub path: String,
    /// HTTP/1.0 or HTTP/1.1.
    pub version: Version,
    /// Header fields; names in lower case.
    pub headers: HeaderMap,
    /// The head as received, with its blank line: evidence.
    pub octets: Bytes,
}

impl RequestHead {
    /// The `Content-Type` field, where it is readable text.
    pub fn content_type(&self) -> Option<&str> {
        self.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok())
    }
}

/// What is sent back.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The media type of the body.
    pub content_type: Option<String>,
    /// The body.
    pub body: Bytes,
    /// Further header fields.
    pub headers: HeaderMap,
    /// When to come again (with 503).
    pub retry_after: Option<Duration>,
}

impl Answer {
    /// An answer without a body.
    pub fn empty(status: StatusCode) -> Self {
        Self { status, content_type: None, body: Bytes::new(), headers: HeaderMap::new(), retry_after: None }
    }

    /// An answer with a body of the given media type.
    pub fn new(status: StatusCode, content_type: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self { content_type: Some(content_type.into()), body: body.into(), ..Self::empty(status) }
    }

    /// One line for people.
    pub fn text(status: StatusCode, line: &str) -> Self {
        Self::new(status, "text/plain; charset=utf-8", format!("{line}\n"))
    }

    /// 503: nothing is wrong with the request, come again (FR-129).
    pub fn unavailable(line: &str, retry_after: Duration) -> Self {
        Self { retry_after: Some(retry_after), ..Self::text(StatusCode::SERVICE_UNAVAILABLE, line) }
    }
}

impl From<&BodyError> for Answer {
    fn from(error: &BodyError) -> Self {
        Self::text(StatusCode::from_u16(error.status()).unwrap_or(StatusCode::BAD_REQUEST), &error.to_string())
    }
}

/// A request that the listener answered itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Who sent it.
    pub peer: SocketAddr,
    /// The status it was answered with.
    pub status: StatusCode,
    /// Why, in one line.
    pub reason: String,
}
