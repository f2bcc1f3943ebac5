//! Answers a request that became no message: an error signal or a fault, and a record of it that says why.

use std::sync::Arc;

use super::receive::http;
use super::{Gateway, ids};
use crate::ebms::MessageId;
use crate::emit;
use crate::msh::{Reject, reply};
use crate::pmode::{LegNumber, PMode};
use crate::store::{At, StoreError, exchange as exchanges};
use crate::telemetry::{event, metrics};
use crate::transport::listen::{Answer, Exchange};
use crate::wire::soap::Version;
use crate::wire::visible;

/// A refused request.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) reject: Reject,
    pub(super) about: Option<MessageId>,
    pub(super) partner: Option<String>,
    pub(super) version: Version,
    pub(super) agreed: Option<(Arc<PMode>, LegNumber)>,
    pub(super) soap: String,
    /// Not when it holds receipts and errors alone (EB-072, EB-089).
    pub(super) answerable: bool,
}

impl Refusal {
    /// Of a request whose envelope was not even found.
    pub(super) fn unread(reject: Reject) -> Self {
        Self {
            reject,
            about: None,
            partner: None,
            version: Version::Soap12,
            agreed: None,
            soap: String::new(),
            answerable: true,
        }
    }
}

/// Makes the answer and keeps the record.
pub(super) async fn answer(gateway: &Gateway, exchange: &Exchange, raw: Vec<u8>, refusal: Refusal) -> Answer {
    let now = ids::now();
    let code = refusal.reject.code();
    let id = refusal.about.as_ref().map_or("a message", MessageId::as_str).to_owned();
    metrics::rejected_total(refusal.reject.label()).increment(1);
    metrics::errors_total("out", code.as_str(), "receive").increment(1);
    let partner = refusal.partner.clone().unwrap_or_default();
    // It quotes what was refused, and that may be anything.
    let reason = visible(&refusal.reject.to_string()).into_owned();
    emit!(event::RECEIVE_REJECTED, { "message.id" = %id, partner, code = code.as_str(), peer = %exchange.peer, "exchange.id" = %exchange.id },
        "{id} from {} refused with {}: {reason}", exchange.peer, code.as_str());
    let reply = if refusal.answerable { signal(gateway, &refusal, now) } else { None };
    let row = exchanges::Exchange {
        id: exchange.id.simple().to_string(),
        at: At::from(now),
        direction: "in".to_owned(),
        verdict: "rejected".to_owned(),
        message: None,
        message_id: refusal.about.as_ref().map(|id| id.as_str().to_owned()),
        partner: refusal.partner.clone(),
        peer: exchange.peer.ip().to_string(),
        code: Some(code.as_str().to_owned()),
        reason: Some(reason),
        request_head: exchange.head.octets.to_vec(),
        soap: refusal.soap.clone(),
        mime: "{}".to_owned(),
        raw_size: super::rows::signed(raw.len() as u64),
        raw: Some(raw),
        answer_status: Some(reply.as_ref().map_or(204, |r| r.status).into()),
        answer_head: None,
        answer: reply.as_ref().map(|r| r.body.clone().into_bytes()),
    };
    let quota = gateway.quota;
    // The answer does not depend on the record: the first error is the one that counts (FR-136).
    if let Err(error) =
        gateway.store.write::<_, StoreError, _>(move |tx| exchanges::record_refused(tx, &row, quota)).await
    {
        metrics::store_errors_total("refuse").increment(1);
        emit!(event::STORE_UNAVAILABLE, {}, "a refused exchange could not be recorded: {error}");
    }
    match reply {
        Some(reply) => http(reply.status, reply.content_type, reply.body),
        None => http(204, String::new(), ""),
    }
}

/// The error signal, signed as the P-Mode of the refused message asks (EB-088).
fn signal(gateway: &Gateway, refusal: &Refusal, now: time::OffsetDateTime) -> Option<reply::Reply> {
    let leg = refusal.agreed.as_ref().and_then(|(pmode, leg)| pmode.leg(*leg));
    let parties = gateway.parties.load();
    let us = refusal.agreed.as_ref().and_then(|(pmode, leg)| parties.with_id(&pmode.receiver(*leg).ids));
    let key = us.and_then(|p| p.signing_key(now)).map(|k| &**k as &dyn crate::wss::Signer);
    let ids = ids::envelope(&gateway.host);
    let about = refusal.about.as_ref();
    reply::error(&refusal.reject, about, refusal.version, leg, key, &ids, now)
        .or_else(|_| reply::error(&refusal.reject, about, refusal.version, None, None, &ids, now))
        .ok()
}
