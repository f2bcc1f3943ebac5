//! Receipts and errors that come in a request of their own, or beside a user message (EB-071, EB-074, EB-083).
//!
//! A receipt is judged by the same rules as one on the back channel. One for a message that is not ours, or is settled, is
//! logged and ignored; no signal is ever answered by a signal.

use std::sync::Arc;

use super::receive::{Stop, http, stop};
use super::{Gateway, ids, notify, outgoing};
use crate::ebms::{ErrorSignal, MessageId};
use crate::emit;
use crate::msh::conclude::{self, Conclusion};
use crate::msh::{Opened, Outcome, Reject};
use crate::pmode::ReplyPattern;
use crate::store::{At, Outgoing, StoreError, delivery, event as timeline, message, sender_log};
use crate::telemetry::event;
use crate::transport::listen::{Answer, Exchange};

/// Takes the signals of an envelope.
pub(super) async fn take(gateway: &Arc<Gateway>, exchange: &Exchange, opened: &Opened) -> Result<(), Stop> {
    if opened.messaging.pull().is_some() {
        let reject = Reject::Unsupported("pulling messages (a PullRequest signal)".to_owned());
        return Err(stop(opened, reject.into()));
    }
    if let Some(receipt) = opened.messaging.receipt() {
        receipt_of(gateway, exchange, opened, &receipt.ref_to).await?;
    }
    for signal in opened.messaging.errors() {
        error_of(gateway, exchange, opened, signal).await?;
    }
    Ok(())
}

/// The answer to signals alone: nothing (EB-096).
pub(super) fn answer() -> Answer {
    http(204, String::new(), "")
}

async fn receipt_of(
    gateway: &Arc<Gateway>,
    exchange: &Exchange,
    opened: &Opened,
    about: &MessageId,
) -> Result<(), Stop> {
    let Some(sent) = outgoing::load(gateway, about.as_str()).await? else {
        emit!(event::RECEIVE_RECEIPT, { "message.id" = %about, peer = %exchange.peer }, "a receipt for {about}, which is not known here, is ignored");
        return Ok(());
    };
    let concluded = judged(gateway, opened, &sent);
    let now = At::from(ids::now());
    if !concluded.signed && sent.leg().security.sign.is_none() && !expected(&sent) {
        let text = "an unsigned receipt in a request of its own, where none is agreed, proves nothing: only recorded";
        note(gateway, &sent.row.message, event::SEND_RECEIPT_WRONG.code, text).await?;
        emit!(event::SEND_RECEIPT_WRONG, { "message.id" = %about, peer = %exchange.peer }, "{about}: {text}");
        return Ok(());
    }
    let (row, soap) = (sent.row.clone(), opened.text.clone());
    let notes = concluded.notes.join("; ");
    let notice = notify::job(gateway, &sent.row, Outgoing::Delivered, &notes, now);
    match concluded.outcome {
        Outcome::Delivered => {
            let moved = gateway
                .store
                .write::<_, StoreError, _>(move |tx| {
                    let Some(row) = sender_log::by_message(tx, &row.message)? else { return Ok(false) };
                    let late = row.status == Outgoing::Failed.as_str();
                    let moved = sender_log::acknowledged(tx, &row, &notes, now)?;
                    if moved {
                        notice.iter().try_for_each(|notice| delivery::add(tx, notice))?;
                        message::keep_receipt(tx, &row.message, &soap, now)?;
                        let code = if late { event::SEND_LATE_RECEIPT.code } else { event::SEND_DELIVERED.code };
                        timeline::add(
                            tx,
                            &row.message,
                            now,
                            code,
                            &format!("receipt in a request of its own: {notes}"),
                        )?;
                    }
                    Ok(moved)
                })
                .await?;
            emit!(event::RECEIVE_RECEIPT, { "message.id" = %about, settled = moved }, "a receipt for {about} came in a request of its own");
        }
        other => {
            let text = format!("a receipt in a request of its own is not accepted: {other:?}");
            note(gateway, &row.message, event::SEND_RECEIPT_WRONG.code, &text).await?;
            emit!(event::SEND_RECEIPT_WRONG, { "message.id" = %about, peer = %exchange.peer }, "{about}: {text}");
        }
    }
    Ok(())
}

/// An error in a request of its own is final only when the partner signed it (EB-098).
async fn error_of(
    gateway: &Arc<Gateway>,
    exchange: &Exchange,
    opened: &Opened,
    signal: &ErrorSignal,
) -> Result<(), Stop> {
    let said = signal.errors.iter().map(|e| format!("{} {}", e.code, e.detail.as_deref().unwrap_or_default()));
    let said = said.collect::<Vec<_>>().join("; ").chars().take(1000).collect::<String>();
    let about = signal.ref_to.as_ref().map(|id| id.as_str().to_owned());
    emit!(event::RECEIVE_ERROR, { "message.id" = about.as_deref().unwrap_or(""), peer = %exchange.peer }, "a partner reports {said}");
    let Some(about) = about else { return Ok(()) };
    let Some(sent) = outgoing::load(gateway, &about).await? else { return Ok(()) };
    let concluded = judged(gateway, opened, &sent);
    let text = format!("the partner reports in a request of its own: {said}");
    let Outcome::Final { code, text: detail } = concluded.outcome else {
        return note(gateway, &sent.row.message, event::RECEIVE_ERROR.code, &text).await;
    };
    if !concluded.signed && (sent.leg().security.sign.is_some() || !expected(&sent)) {
        let text = format!("{text} (unsigned: only recorded)");
        return note(gateway, &sent.row.message, event::RECEIVE_ERROR.code, &text).await;
    }
    let now = At::from(ids::now());
    let id = sent.row.message.clone();
    let why = format!("{code} {detail}");
    let notice = notify::job(gateway, &sent.row, Outgoing::Failed, &why, now);
    gateway
        .store
        .write::<_, StoreError, _>(move |tx| {
            timeline::add(tx, &id, now, event::SEND_REFUSED.code, &text)?;
            let Some(row) = sender_log::by_message(tx, &id)? else { return Ok(()) };
            if sender_log::refused(tx, &row, &why, now)? {
                notice.iter().try_for_each(|notice| delivery::add(tx, notice))?;
            }
            Ok(())
        })
        .await?;
    Ok(())
}

/// Whether an unsigned signal about the message may come in a request of its own: agreed, and after an attempt. Anybody can
/// write one.
fn expected(sent: &outgoing::Outbound) -> bool {
    sent.leg().security.reply_pattern == ReplyPattern::Callback && sent.row.attempt_count > 0
}

fn judged(gateway: &Gateway, opened: &Opened, sent: &outgoing::Outbound) -> Conclusion {
    let bench = gateway.answer_bench(ids::now());
    tokio::task::block_in_place(|| conclude::receipt_of_request(opened, &sent.expected(), &bench))
}

async fn note(gateway: &Gateway, row: &str, code: &str, text: &str) -> Result<(), Stop> {
    let (row, code, text) = (row.to_owned(), code.to_owned(), text.to_owned());
    let now = At::from(ids::now());
    Ok(gateway.store.write::<_, StoreError, _>(move |tx| timeline::add(tx, &row, now, &code, &text)).await?)
}
