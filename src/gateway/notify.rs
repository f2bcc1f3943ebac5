//! Tells the producer what became of its message, as the P-Mode's flags say (AS4 §5.1: `…NotifyProducer`).
//!
//! The timeline, the API and the log always know; a producer that has a webhook of its own name gets a call, which is a
//! delivery of its own: at least once, with the same key.

use super::{Gateway, ids};
use crate::store::sender_log::Sending;
use crate::store::{At, Outgoing, delivery};

/// The notification of a message's end, where one is wanted: to be added in the transaction that ends it.
pub(super) fn job(gateway: &Gateway, row: &Sending, next: Outgoing, detail: &str, now: At) -> Option<delivery::Job> {
    // Most producers have no backend of their own, and most attempts end nothing.
    if !gateway.backends.contains_key(&row.producer) {
        return None;
    }
    let set = gateway.agreements.current();
    let errors = &set.find(&row.pmode)?.leg.errors;
    let wanted = match next {
        Outgoing::Failed if detail.starts_with("EBMS:0301") => errors.notify_missing_receipt,
        Outgoing::Failed => errors.notify_producer,
        Outgoing::Delivered => true,
        Outgoing::Pending | Outgoing::Sending | Outgoing::AwaitingReceipt | Outgoing::Cancelled => false,
    };
    wanted.then(|| {
        let key = format!("{}-{}", next.as_str(), row.message);
        delivery::Job::new(ids::row(), &row.message, &row.producer, key, now)
    })
}
