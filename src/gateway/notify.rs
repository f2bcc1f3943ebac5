//! Tells the producer what became of its message, as the P-Mode's flags say (AS4 §5.1: `…NotifyProducer`).
//!
//! The timeline, the API and the log always know; a producer that has a webhook of its own name gets a call, which is a
//! delivery of its own: at least once, with the same key.

use std::sync::Arc;

use super::{Gateway, ids};
use crate::emit;
use crate::store::sender_log::{Ended, Sending};
use crate::store::{At, Incoming, Outgoing, StoreError, delivery};
use crate::telemetry::event;

/// Queues the notification.
pub(super) async fn producer(gateway: &Arc<Gateway>, row: &Sending, ended: &Ended) {
    let set = gateway.agreements.current();
    let Some(errors) = set.find(&row.pmode).map(|p| p.leg.errors.clone()) else { return };
    let wanted = match ended.next {
        Outgoing::Failed if ended.detail.starts_with("EBMS:0301") => errors.notify_missing_receipt,
        Outgoing::Failed => errors.notify_producer,
        _ => true,
    };
    if !wanted || !gateway.backends.contains_key(&row.producer) {
        return;
    }
    let now = At::from(ids::now());
    let job = delivery::Job {
        id: ids::row(),
        message: row.message.clone(),
        backend: row.producer.clone(),
        delivery_key: format!("{}-{}", ended.next.as_str(), row.message),
        state: Incoming::Received.as_str().to_owned(),
        attempts: 0,
        created_at: now,
        next_at: Some(now),
        lease_owner: None,
        lease_until: None,
        fence: 0,
        boot_id: None,
        last_error: None,
        settled_at: None,
    };
    if let Err(error) = gateway.store.write::<_, StoreError, _>(move |tx| delivery::add(tx, &job)).await {
        emit!(event::STORE_UNAVAILABLE, {}, "a notification could not be queued: {error}");
    }
}
