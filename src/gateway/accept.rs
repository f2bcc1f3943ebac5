//! The one transaction of an arrival: inbox row, message, payload references, reply, delivery jobs (IN-50, IN-51).

use bytes::Bytes;
use time::OffsetDateTime;

use super::receive::{Stop, http, stop};
use super::spool::SpooledPart;
use super::{Gateway, header, ids, rows};
use crate::emit;
use crate::msh::judge::{Admitted, Refused};
use crate::msh::reply::Reply;
use crate::msh::{Opened, Reject, payload_hash};
use crate::store::inbox::{Accepted, Received, StoredReply};
use crate::store::payload::Hold;
use crate::store::{At, Incoming, StoreError, delivery, event as timeline, exchange as exchanges, inbox, message};
use crate::telemetry::{event, metrics};
use crate::transport::listen::{Answer, Exchange};

/// A message that is accepted, not yet stored.
pub(super) struct Arrival {
    pub(super) opened: Opened,
    pub(super) admitted: Admitted,
    pub(super) parts: Vec<SpooledPart>,
    pub(super) heads: Vec<Bytes>,
    pub(super) answer: Reply,
    /// When the certificate that signed the answer ends.
    pub(super) answer_until: Option<OffsetDateTime>,
    pub(super) note: Option<String>,
    pub(super) now: OffsetDateTime,
}

/// Stores an arrival and gives the answer: this one's, or that of the first.
pub(super) async fn arrival(gateway: &Gateway, exchange: &Exchange, arrival: Arrival) -> Result<Answer, Stop> {
    let begun = std::time::Instant::now();
    let hash = payload_hash(arrival.parts.iter().map(|p| (p.checked.size, &p.checked.content_sha256)));
    let row = ids::row();
    let key = key(&arrival, &row, &hash);
    let answer = stored(&arrival, &key);
    let parts = rows::parts(&row, &arrival.parts, &arrival.admitted.message);
    let test = arrival.admitted.message.is_test();
    let jobs = if test { Vec::new() } else { jobs(&arrival, &key, &row) };
    let state = if jobs.is_empty() { Incoming::Delivered } else { Incoming::Received };
    let new = rows::received(&arrival, &row, state, &hash);
    let story = story(&arrival, exchange);
    let at = At::from(arrival.now);
    let record = rows::exchange_in(exchange, &arrival, &row, at);
    let holds: Vec<_> = arrival.parts.iter().filter_map(|p| p.stored.hold().cloned()).collect();
    let (key_again, stored_key) = (key.clone(), key.clone());
    let accepted: Accepted = gateway
        .store
        .write::<_, StoreError, _>(move |tx| {
            let accepted = inbox::accept(tx, &stored_key, &answer, |tx| {
                message::insert(tx, &new, &parts)?;
                for job in &jobs {
                    delivery::add(tx, job)?;
                }
                for (code, text) in &story {
                    timeline::add(tx, &new.id, at, code, text)?;
                }
                exchanges::record(tx, &record)
            })?;
            repeated(tx, &accepted, &stored_key, &record, at)?;
            // Repeats are in an exchange's record, too: it is rebuilt from their payloads.
            if !matches!(accepted, Accepted::OtherContent { .. }) {
                holds.iter().for_each(Hold::keep);
            }
            Ok(accepted)
        })
        .await?;
    metrics::receive_seconds("store").record(begun.elapsed().as_secs_f64());
    tell(&arrival, &accepted, exchange);
    gateway.store.wake();
    match accepted {
        Accepted::First | Accepted::Repacked => {
            Ok(http(arrival.answer.status, arrival.answer.content_type, arrival.answer.body))
        }
        Accepted::Same(stored) => {
            Ok(http(u16::try_from(stored.status).unwrap_or(200), stored.content_type, stored.body))
        }
        Accepted::OtherContent { first, .. } => {
            let agreed = Some((arrival.admitted.pmode.clone(), arrival.admitted.leg));
            let reject = Reject::OtherContent { first, now: key_again.payload_hash };
            Err(stop(&arrival.opened, Refused { reject, agreed }))
        }
    }
}

fn key(arrival: &Arrival, row: &str, hash: &str) -> Received {
    let (admitted, message) = (&arrival.admitted, &arrival.admitted.message);
    let leg = admitted.leg();
    let parties = format!("{}>{}", ids_of(&message.from), ids_of(&message.to));
    // Without duplicate detection each arrival is its own: the P-Mode asked for that.
    let source =
        if leg.reception.detect_duplicates { admitted.source.clone() } else { format!("{}#{row}", admitted.source) };
    let service = typed(&message.service.value, message.service.kind.as_deref());
    let digest_set = match &admitted.verified {
        Some(verified) => rows::digest_set(&verified.references),
        None => rows::sha256(&[hash, &service, &message.action, &parties]),
    };
    let now = At::from(arrival.now);
    Received {
        source,
        message_id: message.message_id.as_str().to_owned(),
        event_type: "as4.user_message".to_owned(),
        received_at: now,
        processed_at: None,
        result: None,
        payload_hash: hash.to_owned(),
        digest_set,
        service,
        action: message.action.clone(),
        parties,
        partner: header::name(&message.from),
        signer: admitted.verified.as_ref().map(|v| v.signer.subject().to_owned()),
        pmode: admitted.pmode.id.clone(),
        pmode_revision: admitted.pmode.revision.clone(),
        protocol: "as4".to_owned(),
        correlation: message.ref_to.as_ref().map(|id| id.as_str().to_owned()),
        message: Some(row.to_owned()),
        duplicate_count: 0,
        last_seen_at: None,
        expires_at: At(now
            .0
            .saturating_add(time::Duration::try_from(leg.reception.window).unwrap_or(time::Duration::MAX))),
    }
}

fn ids_of(party: &crate::ebms::Party) -> String {
    let mut ids: Vec<_> = party.ids.iter().map(ToString::to_string).collect();
    ids.sort();
    ids.join("+")
}

fn typed(value: &str, kind: Option<&str>) -> String {
    kind.map_or_else(|| value.to_owned(), |kind| format!("{kind}:{value}"))
}

fn stored(arrival: &Arrival, key: &Received) -> StoredReply {
    StoredReply {
        source: key.source.clone(),
        message_id: key.message_id.clone(),
        digest_set: key.digest_set.clone(),
        status: arrival.answer.status.into(),
        content_type: arrival.answer.content_type.clone(),
        body: arrival.answer.body.clone().into_bytes(),
        created_at: key.received_at,
        valid_until: arrival.answer_until.map(At),
    }
}

/// One job for each backend that the P-Mode names; the key is the same on every repetition, on any node.
fn jobs(arrival: &Arrival, key: &Received, row: &str) -> Vec<delivery::Job> {
    let delivery_key = rows::sha256(&[&key.source, &key.message_id]).split_off("sha256:".len())[..32].to_owned();
    arrival
        .admitted
        .leg()
        .deliver
        .iter()
        .map(|target| delivery::Job::new(ids::row(), row, &target.backend, delivery_key.clone(), key.received_at))
        .collect()
}

/// The first lines of the message's timeline.
fn story(arrival: &Arrival, exchange: &Exchange) -> Vec<(String, String)> {
    let admitted = &arrival.admitted;
    let mut text = format!("received from {} by P-Mode `{}`", exchange.peer, admitted.pmode.id);
    if let Some(verified) = &admitted.verified {
        text += &format!(
            ", signed by {} ({}), {} digests agree",
            verified.signer.subject(),
            verified.algorithm.uri().rsplit('#').next().unwrap_or_default(),
            verified.references.len()
        );
    }
    if admitted.parts.iter().any(|p| p.key.is_some()) {
        text += ", decrypted";
    }
    let mut lines = vec![(event::RECEIVE_ACCEPTED.code.to_owned(), text)];
    let notes = arrival.parts.iter().filter_map(|p| p.checked.note.clone()).chain(arrival.note.clone());
    lines.extend(notes.map(|note| ("receive.note".to_owned(), note)));
    if admitted.message.is_test() {
        lines.push(("receive.note".to_owned(), "test service: answered, not delivered".to_owned()));
    }
    lines
}

/// What a repeat leaves behind: a line on the first message, and the exchange.
fn repeated(
    tx: &mut crate::store::Tx<'_>,
    accepted: &Accepted,
    key: &Received,
    record: &exchanges::Exchange,
    at: At,
) -> Result<(), StoreError> {
    let (code, text) = match accepted {
        Accepted::First => return Ok(()),
        Accepted::Same(_) => (event::RECEIVE_DUPLICATE.code, "came again: answered with the stored receipt".to_owned()),
        Accepted::Repacked => {
            (event::RECEIVE_DUPLICATE.code, "came again, packed anew: a new receipt, no effect".to_owned())
        }
        Accepted::OtherContent { first, .. } => (
            event::PAYLOAD_MISMATCH.code,
            format!("its id came with other content: first {first}, then {}", key.payload_hash),
        ),
    };
    let Some(first) = inbox::message_of(tx, &key.source, &key.message_id)? else { return Ok(()) };
    timeline::add(tx, &first, at, code, &text)?;
    if matches!(accepted, Accepted::OtherContent { .. }) {
        return Ok(());
    }
    let again = exchanges::Exchange { verdict: "duplicate".to_owned(), message: Some(first), ..record.clone() };
    exchanges::record(tx, &again)
}

fn tell(arrival: &Arrival, accepted: &Accepted, exchange: &Exchange) {
    let message = &arrival.admitted.message;
    let (id, partner, pmode) = (&message.message_id, header::name(&message.from), arrival.admitted.pmode.id.clone());
    match accepted {
        Accepted::First => {
            metrics::messages_total("in", &partner, &pmode, "accepted").increment(1);
            emit!(event::RECEIVE_ACCEPTED, { "message.id" = %id, partner, pmode, "exchange.id" = %exchange.id }, "{id} received from `{partner}`");
        }
        Accepted::Same(_) | Accepted::Repacked => {
            metrics::duplicates_total(&partner).increment(1);
            emit!(event::RECEIVE_DUPLICATE, { "message.id" = %id, partner, pmode, "exchange.id" = %exchange.id }, "{id} came again from `{partner}`; answered, no effect");
        }
        Accepted::OtherContent { first, .. } => {
            emit!(event::PAYLOAD_MISMATCH, { "message.id" = %id, partner, pmode, "exchange.id" = %exchange.id }, "{id} came again from `{partner}` with other content; first {first}");
        }
    }
}
