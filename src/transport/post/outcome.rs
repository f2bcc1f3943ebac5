//! What became of a post.

use std::{
    io,
    net::{IpAddr, SocketAddr},
};

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use thiserror::Error;

use super::pool::Lease;
use crate::transport::body::{BodyError, BodyReader};

/// A post without a usable answer.
#[derive(Debug, Error)]
#[error("cannot post to {url}: {failure}")]
pub struct PostError {
    /// Where to (without user and password).
    pub url: String,
    /// Why.
    #[source]
    pub failure: Failure,
    /// The system took every octet of the request, so the partner may have it (EB-165). Counts the try on a pooled
    /// connection that proved dead, too.
    pub fully_written: bool,
}

/// A step that may take too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Waiting for one of the partner's connections to come free.
    Queue,
    /// Name resolution and TCP.
    Connect,
    /// The TLS handshake.
    Handshake,
    /// The partner takes no octets, or does not begin to answer.
    FirstByte,
    /// All of it.
    Total,
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Queue => "waiting for a free connection",
            Self::Connect => "connecting",
            Self::Handshake => "the TLS handshake",
            Self::FirstByte => "waiting for the answer",
            Self::Total => "the whole exchange",
        })
    }
}

/// Why a post failed.
#[derive(Debug, Error)]
pub enum Failure {
    /// The URL cannot be posted to.
    #[error("the URL is unusable: {0}; correct the address in the P-Mode")]
    Url(String),
    /// A header field that HTTP does not allow.
    #[error("the request cannot be made: {0}")]
    Request(String),
    /// DNS.
    #[error("{host} cannot be resolved: {source}")]
    Resolve {
        /// The name.
        host: String,
        /// What the resolver says.
        source: io::Error,
    },
    /// EB-099.
    #[error("{host} is {ip}, no public address; set `[discovery] allow_private` if that is meant")]
    NotPublic {
        /// The name.
        host: String,
        /// Its first address.
        ip: IpAddr,
    },
    /// TCP; the last address tried.
    #[error("no connection to {addr}: {source}")]
    Connect {
        /// The address.
        addr: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// The handshake; names what is wrong with the certificate.
    #[error("TLS: {0}")]
    Tls(#[source] io::Error),
    /// `https` without a TLS configuration.
    #[error("the URL is https, and no TLS is configured for this partner")]
    NoTls,
    /// Our own body cannot be read.
    #[error("the message cannot be read from the store: {0}")]
    Source(#[source] io::Error),
    /// The connection broke while the request went out, and no answer was there.
    #[error("the connection broke while sending: {0}")]
    Write(#[source] io::Error),
    /// The connection ended without an answer.
    #[error("the partner closed the connection without an answer: {0}")]
    NoAnswer(#[source] hyper::Error),
    /// What came is no HTTP.
    #[error("the answer is not readable as HTTP: {0}")]
    NotHttp(#[source] hyper::Error),
    /// A coding nobody asked for.
    #[error("the answer has a Content-Encoding other than gzip")]
    Coding,
    /// Over its time.
    #[error("{0} took too long")]
    TimedOut(Step),
    /// Over `max_answer`, cut, or otherwise unreadable.
    #[error("the answer's body: {0}")]
    Body(#[source] BodyError),
}

/// The TLS of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsInfo {
    /// As in `TLSv1_3`.
    pub protocol: String,
    /// As in `TLS13_AES_256_GCM_SHA384`.
    pub cipher: String,
    /// DER of the server's certificate.
    pub certificate: Option<Vec<u8>>,
}

/// An answer whose head is there.
#[derive(Debug)]
pub struct Answered {
    /// The status. Redirects are answers, too (EB-099).
    pub status: StatusCode,
    /// Header fields; names in lower case.
    pub headers: HeaderMap,
    /// The head as received, with its blank line: evidence.
    pub head: Bytes,
    /// The body. Read to its end, it gives the connection back.
    pub body: BodyReader,
    /// The connection's TLS.
    pub tls: Option<TlsInfo>,
    /// Who answered.
    pub peer: SocketAddr,
    pub(super) lease: Lease,
    pub(super) earlier_written: bool,
}

impl Answered {
    /// Whether the system took every octet of the request until now; `false` after an early answer (FR-101).
    pub fn fully_written(&self) -> bool {
        self.earlier_written || self.lease.progress().fully_written()
    }

    /// Whether a first try on a pooled connection was written whole and got no answer: the partner may have seen this
    /// message before (EB-165).
    pub fn earlier_written(&self) -> bool {
        self.earlier_written
    }
}

/// An answer that is there in full.
#[derive(Clone, Debug)]
pub struct Posted {
    /// The status. Redirects are answers, too (EB-099).
    pub status: StatusCode,
    /// Header fields; names in lower case.
    pub headers: HeaderMap,
    /// The head as received, with its blank line: evidence.
    pub head: Bytes,
    /// The body, its content coding undone.
    pub body: Bytes,
    /// The connection's TLS.
    pub tls: Option<TlsInfo>,
    /// Who answered.
    pub peer: SocketAddr,
    /// See [`Answered::fully_written`].
    pub fully_written: bool,
    /// See [`Answered::earlier_written`].
    pub earlier_written: bool,
}
