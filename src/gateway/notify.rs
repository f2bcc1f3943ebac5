//! Tells the producer what became of its message, as the P-Mode's flags say (AS4 §5.1: `…NotifyProducer`).
//!
//! The timeline, the API and the log always know; a producer that has a webhook of its own name gets a call, which is a
//! delivery of its own: at least once, with the same key.

use super::{Gateway, ids};
use crate::store::sender_log::Sending;
use crate::store::{At, Incoming, Outgoing, delivery};

/// The notification of a message's end, where one is wanted: to be added in the transaction that ends it.
pub(super) fn job(gateway: &Gateway, row: &Sending, next: Outgoing, detail: &str, now: At) -> Option<delivery::Job> {
    let set = gateway.agreements.current();
    let errors = set.find(&row.pmode)?.leg.errors.clone();
    let wanted = match next {
        Outgoing::Failed if detail.starts_with("EBMS:0301") => errors.notify_missing_receipt,
        Outgoing::Failed => errors.notify_producer,
        Outgoing::Delivered => true,
        Outgoing::Pending | Outgoing::Sending | Outgoing::AwaitingReceipt | Outgoing::Cancelled => false,
    };
    if !wanted || !gateway.backends.contains_key(&row.producer) {
        return None;
    }
    Some(delivery::Job {
        id: ids::row(),
        message: row.message.clone(),
        backend: row.producer.clone(),
        delivery_key: format!("{}-{}", next.as_str(), row.message),
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
    })
}
