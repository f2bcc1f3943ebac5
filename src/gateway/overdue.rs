//! Messages whose receipt should have come in a request of its own by now: sent again under the same id, or given up.

use std::sync::Arc;

use tokio::sync::watch;

use super::{Gateway, ids};
use crate::emit;
use crate::msh::reliability::Next;
use crate::store::sender_log::{self, Sending};
use crate::store::{At, StoreError, event as timeline};
use crate::telemetry::event;

/// Looks every second until the process stops.
pub async fn run(gateway: Arc<Gateway>, mut stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        if let Err(error) = look(&gateway).await {
            emit!(event::STORE_UNAVAILABLE, {}, "overdue receipts cannot be looked for: {error}");
        }
        tokio::select! {
            () = tokio::time::sleep(std::time::Duration::from_secs(1)) => {}
            _ = stop.changed() => {}
        }
    }
}

async fn look(gateway: &Gateway) -> Result<(), StoreError> {
    let now = At::from(ids::now());
    let late = gateway.store.read::<_, StoreError, _>(move |tx| sender_log::overdue(tx, now, 100)).await?;
    for row in late {
        again_or_end(gateway, row).await?;
    }
    Ok(())
}

async fn again_or_end(gateway: &Gateway, row: Sending) -> Result<(), StoreError> {
    let plan = gateway.agreements.current().find(&row.pmode).and_then(|p| p.leg.reception.retry);
    let attempt = u32::try_from(row.attempt_count).unwrap_or(u32::MAX);
    let now = ids::now();
    let next = plan.map_or(Next::GiveUp, |plan| plan.next(attempt, row.created_at.0, now, ids::chance()));
    let at = At::from(now);
    gateway
        .store
        .write::<_, StoreError, _>(move |tx| match next {
            Next::Retry(_) => {
                timeline::add(
                    tx,
                    &row.message,
                    at,
                    event::SEND_RECEIPT_MISSING.code,
                    "no receipt in time; sent again",
                )?;
                sender_log::requeue(tx, &row.message, at).map(drop)
            }
            Next::GiveUp => {
                let text = format!("EBMS:0301 no receipt after {attempt} attempts");
                timeline::add(tx, &row.message, at, event::SEND_FAILED.code, &text)?;
                sender_log::refused(tx, &row, &text, at).map(drop)
            }
        })
        .await?;
    gateway.store.wake();
    Ok(())
}
