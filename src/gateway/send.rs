//! Sends what is due: claims rows of the sender log, makes one attempt each, and writes down what came of it.
//!
//! Every attempt carries the same id and the same signature, whoever makes it and whatever happened before; only the
//! encryption is new. What an answer means is decided in [`crate::msh::outcome`], when to try again in
//! [`crate::msh::reliability`].

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderValue};
use tokio::sync::{Semaphore, watch};
use url::Url;

use super::body::AttemptBody;
use super::outgoing::{self, Outbound};
use super::{Gateway, ending, ids, notify};
use crate::emit;
use crate::msh::package::{Sealed, seal};
use crate::msh::{FramedPart, frame};
use crate::store::sender_log::{self, Ended, Sending};
use crate::store::{At, StoreError, delivery, event as timeline, exchange as exchanges, message};
use crate::telemetry::{event, metrics};
use crate::transport::limits::TimeOuts;
use crate::transport::post::{Posted, Request};

/// Octets that encryption adds to a part: IV and tag.
const SEAL: u64 = 28;

/// Works until the process stops.
pub async fn run(gateway: Arc<Gateway>, mut stop: watch::Receiver<bool>) {
    let slots = Arc::new(Semaphore::new(gateway.workers.total));
    let mut due = gateway.store.watch();
    while !*stop.borrow() {
        let free = i64::try_from(slots.available_permits()).unwrap_or(i64::MAX);
        let claimed = if free > 0 { claim(&gateway, free).await } else { Vec::new() };
        let idle = claimed.is_empty();
        for row in claimed {
            let (gateway, slots) = (Arc::clone(&gateway), Arc::clone(&slots));
            tokio::spawn(async move {
                let Ok(_slot) = slots.acquire().await else { return };
                attempt(&gateway, row).await;
                gateway.store.wake();
            });
        }
        if idle {
            tokio::select! {
                () = due.wait() => {}
                () = tokio::time::sleep(gateway.workers.poll) => {}
                _ = stop.changed() => {}
            }
        } else {
            tokio::task::yield_now().await;
        }
    }
    // Attempts in flight end, or their rows are taken up at the next start.
    let all = u32::try_from(gateway.workers.total).unwrap_or(u32::MAX);
    let _ = tokio::time::timeout(gateway.workers.grace, slots.acquire_many(all)).await;
}

async fn claim(gateway: &Gateway, free: i64) -> Vec<Sending> {
    let (node, boot) = (gateway.store.node().to_owned(), gateway.store.boot().to_owned());
    let (now, per_partner) = (At::from(ids::now()), gateway.workers.per_partner);
    let claimed = gateway
        .store
        .write::<_, StoreError, _>(move |tx| sender_log::claim(tx, &node, &boot, now, free, per_partner))
        .await;
    claimed.unwrap_or_else(|error| {
        metrics::store_errors_total("claim").increment(1);
        emit!(event::STORE_UNAVAILABLE, {}, "the sender log cannot be read: {error}");
        Vec::new()
    })
}

/// One attempt, from the row to the row.
async fn attempt(gateway: &Arc<Gateway>, claimed: Sending) {
    let begun = Instant::now();
    let (ended, exchange) = match outgoing::load(gateway, &claimed.message).await {
        Ok(Some(out)) => try_once(gateway, &out, &claimed).await,
        Ok(None) => {
            let why = format!("its P-Mode `{}` is not loaded; add it again and resend the message", claimed.pmode);
            (ending::failed("refused", why), None)
        }
        // The row stays claimed and is taken up again: nothing was sent.
        Err(error) => {
            emit!(event::STORE_UNAVAILABLE, {}, "{} cannot be read: {error}", claimed.message_id);
            return;
        }
    };
    metrics::attempts_total(&claimed.partner, ended.outcome).increment(1);
    metrics::send_seconds("all").record(begun.elapsed().as_secs_f64());
    write_down(gateway, &claimed, ended, exchange).await;
}

async fn try_once(
    gateway: &Arc<Gateway>,
    out: &Outbound,
    claimed: &Sending,
) -> (Ended, Option<(exchanges::Exchange, Option<String>)>) {
    let request = match tokio::task::block_in_place(|| request(gateway, out)) {
        Ok(request) => request,
        // Nothing was put on the wire: what is missing may be there at the next attempt.
        Err(why) => return (ending::retry(out, claimed, "not_sent", why), None),
    };
    let (request, soap) = request;
    emit!(event::SEND_ATTEMPT, { "message.id" = claimed.message_id, partner = claimed.partner, attempt = claimed.attempt_count }, "{} attempt {}", claimed.message_id, claimed.attempt_count);
    let started = At::from(ids::now());
    match gateway.poster.post(&request).await {
        Ok(posted) => {
            let (ended, receipt) = ending::answered(gateway, out, claimed, &posted);
            (ended, Some((row(out, started, &soap, request.url.as_str(), Some(&posted)), receipt)))
        }
        Err(error) => {
            let ended = ending::retry(out, claimed, "unreachable", error.to_string());
            let row = row(out, started, &soap, request.url.as_str(), None);
            (Ended { fully_written: error.fully_written, unanswered: error.fully_written, ..ended }, Some((row, None)))
        }
    }
}

/// The request of one attempt, sealed anew.
fn request(gateway: &Gateway, out: &Outbound) -> Result<(Request, String), String> {
    let leg = out.leg();
    let address = leg.protocol.address.as_deref().ok_or("its P-Mode has no Protocol/Address")?;
    let url = Url::parse(address).map_err(|e| format!("Protocol/Address `{address}`: {e}"))?;
    let now = ids::now();
    let recipient = out.pmode.responder.encryption_at(now).map(|pinned| &*pinned.certificate);
    let sealed = seal(&out.package, leg, &out.out_parts(), recipient, &ids::word()).map_err(|e| e.to_string())?;
    let Sealed { soap, key } = sealed;
    let parts: Vec<FramedPart> = out
        .parts
        .iter()
        .map(|part| {
            let length = u64::try_from(part.stored_size).unwrap_or(0);
            let (content_type, length) = match &key {
                Some(_) => ("application/octet-stream".to_owned(), length + SEAL),
                None => (part.media_type.clone(), length),
            };
            FramedPart { content_id: part.content_id.clone(), content_type, file_name: part.file_name.clone(), length }
        })
        .collect();
    let framed = frame(&soap, leg.protocol.soap, leg.protocol.framing, &parts, &out.boundary, &out.root_id)
        .map_err(|e| e.to_string())?;
    let mut headers = HeaderMap::new();
    let content_type = HeaderValue::from_str(&framed.content_type).map_err(|e| e.to_string())?;
    headers.insert(http::header::CONTENT_TYPE, content_type);
    if leg.protocol.soap == crate::pmode::SoapVersion::Soap11 {
        headers.insert("SOAPAction", HeaderValue::from_static("\"\""));
    }
    let body = AttemptBody { framed, parts: out.parts.clone(), key, store: gateway.payloads.clone() };
    let mut request = Request::new(url, headers, Arc::new(body));
    request.tls = gateway.client_tls(&out.pmode).map_err(|e| e.to_string())?;
    request.time_outs = TimeOuts {
        first_byte: leg.protocol.timeout,
        total: leg.protocol.timeout.max(Duration::from_secs(1)),
        ..TimeOuts::default()
    };
    Ok((request, soap))
}

fn row(out: &Outbound, at: At, soap: &str, url: &str, posted: Option<&Posted>) -> exchanges::Exchange {
    exchanges::Exchange {
        id: ids::row(),
        at,
        direction: "out".to_owned(),
        verdict: "sent".to_owned(),
        message: Some(out.row.message.clone()),
        message_id: Some(out.row.message_id.clone()),
        partner: Some(out.row.partner.clone()),
        peer: posted.map_or_else(|| url.to_owned(), |p| p.peer.to_string()),
        code: None,
        reason: None,
        request_head: format!("POST {url}").into_bytes(),
        soap: soap.to_owned(),
        mime: "{}".to_owned(),
        raw: None,
        raw_size: 0,
        answer_status: posted.map(|p| p.status.as_u16().into()),
        answer_head: posted.map(|p| p.head.to_vec()),
        answer: posted.map(|p| p.body.to_vec()),
    }
}

/// Attempt, state, receipt, timeline, exchange and notification: one transaction, tried until it holds. A crash before it leaves a
/// claimed row, whose retry is harmless (OUT-61).
async fn write_down(
    gateway: &Arc<Gateway>,
    claimed: &Sending,
    ended: Ended,
    exchange: Option<(exchanges::Exchange, Option<String>)>,
) {
    let (code, text) = ending::line(claimed, &ended);
    let mut wait = Duration::from_millis(100);
    loop {
        let (row, ended_now, exchange, text) = (claimed.clone(), ended.clone(), exchange.clone(), text.clone());
        let now = At::from(ids::now());
        let notice = notify::job(gateway, claimed, ended.next, &ended.detail, now);
        let written = gateway
            .store
            .write::<_, StoreError, _>(move |tx| {
                if let Some((exchange, _)) = &exchange {
                    exchanges::record(tx, exchange)?;
                }
                let moved = sender_log::conclude(tx, &row, &ended_now, now)?;
                if moved && ended_now.proof == Some("receipt") {
                    let soap = exchange.as_ref().and_then(|(_, soap)| soap.as_deref()).unwrap_or_default();
                    message::keep_receipt(tx, &row.message, soap, now)?;
                }
                if let Some(notice) = notice.as_ref().filter(|_| moved) {
                    delivery::add(tx, notice)?;
                }
                timeline::add(tx, &row.message, now, code, &text)?;
                Ok(moved)
            })
            .await;
        match written {
            Ok(true) => return ending::tell(claimed, &ended),
            // Somebody else concluded it meanwhile, and told.
            Ok(false) => return,
            Err(error) => {
                metrics::store_errors_total("conclude").increment(1);
                emit!(
                    event::STORE_UNAVAILABLE,
                    {},
                    "{}: the attempt's outcome cannot be written: {error}",
                    claimed.message_id
                );
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(Duration::from_secs(30));
            }
        }
    }
}
