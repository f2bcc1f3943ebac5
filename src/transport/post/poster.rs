//! Posting.

use std::{
    error::Error as _,
    io,
    sync::{Arc, atomic::AtomicBool},
};

use http::{HeaderValue, Response, Version, header};
use hyper::body::Incoming;
use tokio::time::{Instant, sleep_until};
use url::{Position, Url};

use super::{
    Answered, Failure, PostError, Posted, Request, Step,
    address::Authority,
    connect,
    pool::{Connection, Entry, Key, Pool, PoolOptions},
    progress::Progress,
    request::PostBody,
};
use crate::transport::body::{BodyLimits, BodyReader, Coding, coding};

/// Inflated octets per octet of a gzip-coded answer; answers are bounded by `max_answer` anyway.
const MAX_RATIO: u64 = 1000;

/// Posts requests over connections that it keeps. One per process; share it by reference.
#[derive(Debug)]
pub struct Poster {
    pool: Pool,
}

impl Default for Poster {
    fn default() -> Self {
        Self::new(PoolOptions::default())
    }
}

/// A try that failed.
struct Failed {
    failure: Failure,
    fully_written: bool,
    /// The pooled connection was dead: nothing came back at all.
    dead: bool,
}

impl Poster {
    /// A poster without connections.
    pub fn new(options: PoolOptions) -> Self {
        Self { pool: Pool::new(options) }
    }

    /// Posts and reads the whole answer.
    pub async fn post(&self, request: &Request) -> Result<Posted, PostError> {
        let mut answered = self.send(request).await?;
        let max = usize::try_from(request.max_answer).unwrap_or(usize::MAX);
        let body = answered.body.collect(max).await.map_err(|error| PostError {
            url: shown(&request.url),
            failure: Failure::Body(error),
            fully_written: answered.fully_written(),
        })?;
        let fully_written = answered.fully_written();
        let Answered { status, headers, head, tls, peer, earlier_written, .. } = answered;
        Ok(Posted { status, headers, head, body, tls, peer, fully_written, earlier_written })
    }

    /// Posts and returns once the head of the answer is there: for answers that hold a pulled message.
    ///
    /// A pooled connection that was closed in the meantime costs nothing: the request goes out once more on a fresh
    /// one, if no octet came back.
    pub async fn send(&self, request: &Request) -> Result<Answered, PostError> {
        let mut earlier_written = false;
        let outcome = self.try_send(request, &mut earlier_written).await;
        outcome.map_err(|Failed { failure, fully_written, .. }| PostError {
            url: shown(&request.url),
            failure,
            fully_written: fully_written || earlier_written,
        })
    }

    async fn try_send(&self, request: &Request, earlier_written: &mut bool) -> Result<Answered, Failed> {
        let deadline = Instant::now() + request.time_outs.total;
        let authority = Authority::of(&request.url).map_err(unsent)?;
        let tls =
            if authority.secure { Some(request.tls.as_ref().ok_or_else(|| unsent(Failure::NoTls))?.id) } else { None };
        let key = Key { authority: authority.clone(), tls, public_only: request.public_only };
        let entry = self.pool.enter(key, deadline).await.map_err(unsent)?;
        if let Some(mut connection) = entry.rested().await {
            match exchange(request, &mut connection, deadline).await {
                Ok(response) => return answered(request, entry, connection, response, deadline, false),
                Err(failed) if failed.dead => *earlier_written = failed.fully_written,
                Err(failed) => return Err(failed),
            }
        }
        let mut connection = connect::open(request, &authority, deadline).await.map_err(unsent)?;
        let response = exchange(request, &mut connection, deadline).await?;
        answered(request, entry, connection, response, deadline, *earlier_written)
    }
}

fn unsent(failure: Failure) -> Failed {
    Failed { failure, fully_written: false, dead: false }
}

/// Sends the request and waits for the head of its answer, which may come while the body is still going out (FR-101).
async fn exchange(
    request: &Request,
    connection: &mut Connection,
    deadline: Instant,
) -> Result<Response<Incoming>, Failed> {
    let progress = Arc::clone(&connection.progress);
    progress.begin();
    let post = make(request, &progress).map_err(unsent)?;
    let sent = tokio::select! {
        sent = connection.sender.send_request(post) => sent,
        () = silence(&progress, request.time_outs.first_byte) => return Err(late(&progress, Step::FirstByte)),
        () = sleep_until(deadline) => return Err(late(&progress, Step::Total)),
    };
    sent.map_err(|error| failed(&progress, error))
}

/// Ends when no octet went out for so long, which after the last one means: no answer began for so long.
async fn silence(progress: &Progress, longest: std::time::Duration) {
    loop {
        let until = progress.last_moved() + longest;
        if until <= Instant::now() {
            return;
        }
        sleep_until(until).await;
    }
}

fn late(progress: &Progress, step: Step) -> Failed {
    Failed { failure: Failure::TimedOut(step), fully_written: progress.fully_written(), dead: false }
}

fn failed(progress: &Progress, error: hyper::Error) -> Failed {
    let fully_written = progress.fully_written();
    let answered = progress.is_answered();
    let failure = if let Some(error) = progress.take_source_error() {
        return Failed { failure: Failure::Source(error), fully_written, dead: false };
    } else if let Some(alert) = alert(&error) {
        Failure::Tls(alert)
    } else if error.is_parse() {
        Failure::NotHttp(error)
    } else if let Some(error) = progress.take_write_error() {
        Failure::Write(error)
    } else {
        Failure::NoAnswer(error)
    };
    Failed { failure, fully_written, dead: !answered }
}

/// In TLS 1.3 a server refuses a client certificate only after the client thinks the handshake is over.
fn alert(error: &hyper::Error) -> Option<io::Error> {
    let mut cause = error.source();
    while let Some(inner) = cause {
        let tls = inner.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if let Some(tls) = tls.and_then(|tls| tls.downcast_ref::<rustls::Error>()) {
            return Some(io::Error::new(io::ErrorKind::InvalidData, tls.clone()));
        }
        cause = inner.source();
    }
    None
}

fn make(request: &Request, progress: &Arc<Progress>) -> Result<http::Request<PostBody>, Failure> {
    let refused = |error: &dyn std::error::Error| Failure::Request(error.to_string());
    let body = PostBody::new(request.body.as_ref(), Arc::clone(progress));
    let target = request.url[Position::BeforePath..Position::AfterQuery].to_owned();
    let host = request.url[Position::BeforeHost..Position::AfterPort].to_owned();
    let host = HeaderValue::try_from(host).map_err(|error| refused(&error))?;
    let mut post = http::Request::post(target).version(Version::HTTP_11).body(body).map_err(|error| refused(&error))?;
    // In this order on the wire: Host first (RFC 9112 §3.2).
    post.headers_mut().insert(header::HOST, host);
    for (name, value) in &request.headers {
        let ours = [header::HOST, header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION];
        if !ours.contains(name) {
            post.headers_mut().append(name, value.clone());
        }
    }
    Ok(post)
}

fn answered(
    request: &Request,
    entry: Entry,
    connection: Connection,
    response: Response<Incoming>,
    deadline: Instant,
    earlier_written: bool,
) -> Result<Answered, Failed> {
    let fully_written = connection.progress.fully_written();
    let (parts, body) = response.into_parts();
    let Some(coding) = coding(&parts.headers) else {
        return Err(Failed { failure: Failure::Coding, fully_written, dead: false });
    };
    let limits = BodyLimits {
        max: request.max_answer,
        max_ratio: MAX_RATIO,
        wait: request.time_outs.total,
        until: Some(deadline),
        pace: None,
    };
    let ended = Arc::new(AtomicBool::new(false));
    let body = BodyReader::network(body, limits, coding == Coding::Gzip, Arc::clone(&ended));
    let head = connection.progress.take_head();
    let (tls, peer) = (connection.tls.clone(), connection.peer);
    let lease = entry.lease(connection, ended);
    Ok(Answered { status: parts.status, headers: parts.headers, head, body, tls, peer, lease, earlier_written })
}

/// A URL for people and logs.
fn shown(url: &Url) -> String {
    let mut url = url.clone();
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}
