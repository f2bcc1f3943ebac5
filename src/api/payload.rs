//! `GET /api/v1/messages/{id}/payloads/{position}`: a payload, inflated while it is sent.

use std::io::Read;

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderValue, Uri, header};
use axum::response::Response;
use futures_util::stream;
use tokio::sync::mpsc;

use super::problem::Problem;
use super::state::Shared;
use super::{lookup, show};
use crate::backend::OpenPart;
use crate::gateway::deliver::opener;
use crate::store::message;
use crate::wire::mime::content_disposition;

const CHUNK: usize = 64 << 10;

pub(super) async fn payload(
    State(api): State<Shared>,
    Path((id, position)): Path<(String, i32)>,
    uri: Uri,
) -> Result<Response, Problem> {
    let direction = show::direction(&uri)?;
    let part = api
        .gateway
        .store
        .read::<_, Problem, _>(move |tx| {
            let message = lookup::message(tx, &id, direction)?;
            let parts = message::parts(tx, &message.id)?;
            let count = parts.len();
            parts.into_iter().find(|part| part.position == position).ok_or_else(|| {
                let last = count.saturating_sub(1);
                Problem::not_found(format!("{} has {count} payloads, from 0 to {last}", message.message_id))
            })
        })
        .await?;
    let name = part.file_name.clone().unwrap_or_else(|| format!("part-{}", part.position));
    let (kind, size) = (part.payload_type.clone(), part.size);
    let open = opener(api.gateway.payloads.clone(), part);
    let first = tokio::task::spawn_blocking(move || open().map(|_| open)).await;
    let open = match first {
        Ok(Ok(open)) => open,
        Ok(Err(e)) => return Err(Problem::new(410, "payload.gone", format!("the payload is not there any more: {e}"))),
        Err(e) => return Err(Problem::new(500, "payload.unreadable", e.to_string())),
    };
    let mut response = download(&kind, &name, Body::from_stream(octets(open)));
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(size));
    Ok(response)
}

/// Reads on a blocking thread, a little ahead.
fn octets(open: OpenPart) -> impl futures_util::Stream<Item = std::io::Result<Bytes>> {
    let (send, receive) = mpsc::channel::<std::io::Result<Bytes>>(2);
    tokio::task::spawn_blocking(move || {
        let mut payload = match open() {
            Ok(payload) => payload,
            Err(error) => return drop(send.blocking_send(Err(error))),
        };
        loop {
            let mut chunk = Vec::with_capacity(CHUNK);
            let read = payload.by_ref().take(CHUNK as u64).read_to_end(&mut chunk);
            let last = read.is_err() || chunk.is_empty();
            let chunk = read.map(|_| Bytes::from(chunk));
            // A failure ends the answer short of its length: the caller sees that it is not whole.
            if matches!(&chunk, Ok(octets) if octets.is_empty()) || send.blocking_send(chunk).is_err() || last {
                return;
            }
        }
    });
    stream::unfold(receive, |mut receive| async move { receive.recv().await.map(|chunk| (chunk, receive)) })
}

/// An answer to be saved, never shown: partners choose the octets, their media type and the name.
pub(super) fn download(kind: &str, name: &str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    let kind = HeaderValue::from_str(kind).unwrap_or(HeaderValue::from_static("application/octet-stream"));
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, kind);
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'"));
    if let Ok(disposition) = HeaderValue::from_str(&content_disposition(name)) {
        headers.insert(header::CONTENT_DISPOSITION, disposition);
    }
    response
}
