//! Messages whose receipt should have come in a request of its own by now: sent again under the same id, or given up.

use std::sync::Arc;

use time::OffsetDateTime;
use tokio::sync::watch;

use super::{Gateway, ending, ids, notify};
use crate::emit;
use crate::msh::reliability::Next;
use crate::store::sender_log::{self, Ended, Sending};
use crate::store::{At, Outgoing, StoreError, delivery, event as timeline};
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
    let (at, ended) = (At::from(now), ended(&next, attempt, now));
    let notice = notify::job(gateway, &row, ended.next, &ended.detail, at);
    let (taken, concluded) = (row.clone(), ended.clone());
    let moved = gateway
        .store
        .write::<_, StoreError, _>(move |tx| {
            // The receipt may have come since, or another node may have been here: then there is nothing to do.
            if !sender_log::conclude(tx, &taken, &concluded, at)? {
                return Ok(false);
            }
            notice.iter().try_for_each(|notice| delivery::add(tx, notice))?;
            let (code, text) = ending::line(&taken, &concluded);
            timeline::add(tx, &taken.message, at, code, &text)?;
            Ok(true)
        })
        .await?;
    if moved {
        ending::tell(&row, &ended);
        gateway.store.wake();
    }
    Ok(())
}

/// The partner may have the message (EB-165): its receipt did not come, and nothing was refused.
fn ended(next: &Next, attempt: u32, now: OffsetDateTime) -> Ended {
    let (next, detail) = match next {
        Next::Retry(_) => (Outgoing::Pending, "no receipt in time".to_owned()),
        Next::GiveUp => (Outgoing::Failed, format!("EBMS:0301 no receipt after {attempt} attempts")),
    };
    Ended {
        next,
        due: Some(At::from(now)),
        fully_written: true,
        unanswered: true,
        ..ending::failed("receipt_missing", detail)
    }
}
