//! One connection: requests one after the other, each answered before the next is read.

use std::{
    convert::Infallible,
    net::SocketAddr,
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use futures_util::FutureExt;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::sync::watch;
use uuid::Uuid;

use super::{
    Answer, Endpoint, Exchange, Refusal, RequestHead,
    framing::{HeadFault, Length},
    proxy::Forwarded,
    rules,
    wire::{Head, Turn, Wire},
};
use crate::transport::{
    body::{BodyLimits, BodyReader, Coding, Pace, coding},
    limits::Limits,
};

/// What every connection of a listener shares.
#[derive(Debug)]
pub(super) struct Setting<E> {
    pub(super) endpoint: E,
    pub(super) paths: Vec<String>,
    pub(super) limits: Arc<Limits>,
    pub(super) proxy: Option<super::ProxyTrust>,
}

/// What is known of the connection itself.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    pub(super) peer: SocketAddr,
    pub(super) local: SocketAddr,
    pub(super) secure: bool,
    pub(super) client_certificate: Option<Vec<u8>>,
}

/// Serves a connection until either side has enough.
pub(super) async fn serve<E: Endpoint>(
    setting: Arc<Setting<E>>,
    wire: Wire,
    turn: Arc<Turn>,
    ends: Ends,
    mut shutdown: watch::Receiver<bool>,
) {
    let ends = Arc::new(ends);
    let limits = Arc::clone(&setting.limits);
    let service = service_fn(move |request| {
        let (setting, turn, ends) = (Arc::clone(&setting), Arc::clone(&turn), Arc::clone(&ends));
        async move {
            let response = take(&setting, &turn, &ends, request).await;
            turn.answered();
            Ok::<_, Infallible>(response)
        }
    });
    let connection = http1::Builder::new()
        .half_close(true)
        .max_headers(limits.max_headers)
        .max_header_size(limits.max_head)
        .serve_connection(TokioIo::new(wire), service);
    let mut connection = std::pin::pin!(connection);
    let outcome = tokio::select! {
        outcome = connection.as_mut() => outcome,
        () = asked(&mut shutdown) => {
            connection.as_mut().graceful_shutdown();
            connection.as_mut().await
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(%error, "connection ended");
    }
}

/// Waits until shutdown is asked, or nobody is left who could ask.
pub(super) async fn asked(shutdown: &mut watch::Receiver<bool>) {
    let _ = shutdown.wait_for(|down| *down).await;
}

async fn take<E: Endpoint>(
    setting: &Setting<E>,
    turn: &Turn,
    ends: &Ends,
    request: Request<Incoming>,
) -> Response<Full<Bytes>> {
    let head = match turn.take_head() {
        Some(Ok(head)) => head,
        Some(Err(fault)) => return refuse_head(setting, ends, fault),
        // Hyper found a request where the screen saw none.
        None => return refuse_head(setting, ends, HeadFault::Unreadable(httparse::Error::Token)),
    };
    let (answer, read_to_end) = exchange(setting, ends, head, request).await;
    respond(answer, !(read_to_end && turn.is_complete()))
}

/// The answer, and whether the body was read to its end.
async fn exchange<E: Endpoint>(
    setting: &Setting<E>,
    ends: &Ends,
    Head { octets, length }: Head,
    request: Request<Incoming>,
) -> (Answer, bool) {
    let (parts, body) = request.into_parts();
    let head = RequestHead {
        method: parts.method,
        target: parts.uri.to_string(),
        path: parts.uri.path().to_owned(),
        version: parts.version,
        headers: parts.headers,
        octets,
    };
    let seen = Forwarded::see(setting.proxy.as_ref(), ends, &head.headers);
    if let Some(answer) = rules::refuse(&head, length, &setting.paths, setting.limits.max_message) {
        let reason = String::from_utf8_lossy(answer.body.trim_ascii()).into_owned();
        setting.endpoint.refused(&Refusal { peer: seen.peer, status: answer.status, reason });
        // Without a body there is nothing left to read, and the connection can stay.
        return (answer, length == Length::Known(0));
    }
    let gzip = coding(&head.headers) == Some(Coding::Gzip);
    let ended = Arc::new(AtomicBool::new(false));
    let body = BodyReader::network(body, body_limits(&setting.limits), gzip, Arc::clone(&ended));
    let exchange = Exchange {
        id: Uuid::now_v7(),
        peer: seen.peer,
        local: ends.local,
        secure: seen.secure,
        client_certificate: seen.client_certificate,
        head,
        body,
    };
    let answer = AssertUnwindSafe(setting.endpoint.exchange(exchange)).catch_unwind().await.unwrap_or_else(|_panic| {
        tracing::error!(peer = %seen.peer, "an exchange panicked; the peer is asked to come again");
        Answer::text(StatusCode::INTERNAL_SERVER_ERROR, "This message could not be processed. Send it again later.")
    });
    (answer, ended.load(Ordering::Acquire))
}

fn refuse_head<E: Endpoint>(setting: &Setting<E>, ends: &Ends, fault: HeadFault) -> Response<Full<Bytes>> {
    let status = StatusCode::from_u16(fault.status()).unwrap_or(StatusCode::BAD_REQUEST);
    let reason = fault.to_string();
    let answer = Answer::text(status, &reason);
    setting.endpoint.refused(&Refusal { peer: ends.peer, status, reason });
    respond(answer, true)
}

fn body_limits(limits: &Limits) -> BodyLimits {
    BodyLimits {
        max: limits.max_message,
        max_ratio: limits.max_ratio,
        wait: limits.total_time,
        until: None,
        pace: Some(Pace { min_rate: limits.min_rate, grace: limits.rate_grace }),
    }
}

fn respond(answer: Answer, close: bool) -> Response<Full<Bytes>> {
    let Answer { status, content_type, body, headers, retry_after } = answer;
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    let fields = response.headers_mut();
    if let Some(value) = content_type.and_then(|value| HeaderValue::try_from(value).ok()) {
        fields.insert(header::CONTENT_TYPE, value);
    }
    if let Some(wait) = retry_after {
        fields.insert(header::RETRY_AFTER, HeaderValue::from(wait.as_secs().max(1)));
    }
    if close {
        fields.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}
