//! How messages end.

use postrider::store::sender_log::{self, Ended};
use postrider::store::{Outgoing, StoreError, event, message};

use crate::fixture::{Fixture, at, both, ended, receipt};

both!(
    a_receipt_delivers_once_however_often_it_comes,
    a_late_receipt_makes_a_failed_message_delivered,
    a_repeat_by_hand_keeps_the_id,
    what_is_settled_is_not_repeated_by_hand,
    a_retry_keeps_what_earlier_attempts_met,
    an_open_message_is_always_due,
    a_wait_for_a_receipt_ends_when_it_is_overdue,
    a_receipt_is_taken_although_the_row_moved_meanwhile,
    only_a_waiting_message_is_cancelled,
    a_row_and_a_message_that_differ_are_reported,
    a_refusal_in_a_request_of_its_own_is_final,
);

fn concluded(f: &Fixture, ended: Ended, now: i64) -> bool {
    let row = f.row("row-erp-1");
    f.write(move |tx| sender_log::conclude(tx, &row, &ended, at(now)))
}

/// Submits `1` and lets it fail.
fn failed(f: &Fixture) {
    f.submitted("1", "them", at(0));
    f.claim(at(1), 10, 10);
    assert!(concluded(f, ended(Outgoing::Failed, None), 2));
    let row = f.row("row-erp-1");
    assert_eq!((row.status.as_str(), row.settled_at, row.next_attempt_at), ("failed", Some(at(2)), None));
}

// OUT-16, OUT-18, IN-27, IN-28
fn a_receipt_delivers_once_however_often_it_comes(f: &Fixture) {
    f.submitted("1", "them", at(0));
    f.claim(at(1), 10, 10);
    let stale = f.row("row-erp-1");
    let mut transitions = 0;
    for n in 0..3 {
        let row = stale.clone();
        let moved = f.write(move |tx| {
            let moved = sender_log::acknowledged(tx, &row, "", at(10 + n))?;
            message::keep_receipt(tx, &row.message, &format!("receipt {n}"), at(10 + n))?;
            if moved {
                event::add(tx, &row.message, at(10 + n), "send.delivered", "receipt")?;
            }
            Ok(moved)
        });
        transitions += usize::from(moved);
    }
    assert_eq!(transitions, 1);
    assert_eq!(f.read(|tx| event::timeline(tx, "row-erp-1")).len(), 1);
    assert_eq!(f.read(|tx| message::receipt(tx, "row-erp-1")).as_deref(), Some("receipt 0"));
    let row = f.row("row-erp-1");
    assert_eq!((row.status.as_str(), row.delivered_at, row.late), ("delivered", Some(at(10)), false));
    assert!(f.claim(at(10_000), 10, 10).is_empty());
}

// OUT-24
fn a_late_receipt_makes_a_failed_message_delivered(f: &Fixture) {
    failed(f);
    let row = f.row("row-erp-1");
    assert!(f.write(move |tx| sender_log::acknowledged(tx, &row, "", at(99))));
    let row = f.row("row-erp-1");
    assert_eq!((row.status.as_str(), row.late, row.proof.as_deref()), ("delivered", true, Some("receipt")));
    assert_eq!((row.settled_at, row.last_error.as_deref()), (Some(at(99)), None));
    assert_eq!(f.message("row-erp-1").state, "delivered");
    assert!(f.claim(at(10_000), 10, 10).is_empty());
}

// OUT-21
fn a_repeat_by_hand_keeps_the_id(f: &Fixture) {
    failed(f);
    let before = f.row("row-erp-1");
    f.write(|tx| sender_log::requeue(tx, "erp-1@example", at(50)));
    let row = f.claim(at(50), 10, 10).remove(0);
    assert_eq!((&row.message_id, &row.key, row.settled_at), (&before.message_id, &before.key, None));
    assert_eq!(row.attempt_count, before.attempt_count + 1);
    assert!(concluded(f, receipt(), 51));
    assert!(!f.row("row-erp-1").late);
}

// OUT-16
fn what_is_settled_is_not_repeated_by_hand(f: &Fixture) {
    f.submitted("1", "them", at(0));
    f.claim(at(1), 10, 10);
    let requeue =
        |f: &Fixture| f.store.write_blocking::<_, StoreError, _>(|tx| sender_log::requeue(tx, "row-erp-1", at(2)));
    assert!(matches!(requeue(f), Err(StoreError::Move { .. })), "it is being sent");
    assert!(concluded(f, receipt(), 3));
    assert!(matches!(requeue(f), Err(StoreError::Move { .. })), "it is delivered");
    let unknown = f.store.write_blocking::<_, StoreError, _>(|tx| sender_log::requeue(tx, "nothing", at(2)));
    assert!(matches!(unknown, Err(StoreError::Move { .. })), "{unknown:?}");
}

// EB-165, OUT-62
fn a_retry_keeps_what_earlier_attempts_met(f: &Fixture) {
    f.submitted("1", "them", at(0));
    f.claim(at(1), 10, 10);
    assert!(concluded(f, Ended { unanswered: true, ..ended(Outgoing::Pending, Some(at(60))) }, 2));
    f.claim(at(60), 10, 10);
    assert!(concluded(f, Ended { refused: true, ..ended(Outgoing::Pending, Some(at(120))) }, 61));
    f.claim(at(120), 10, 10);
    let row = f.row("row-erp-1");
    assert!(row.unanswered && row.refused);
    assert_eq!(row.last_error.as_deref(), Some("HTTP 503"));
}

// OUT-63: a caller that names no instant does not lose the message.
fn an_open_message_is_always_due(f: &Fixture) {
    f.submitted("1", "them", at(0));
    f.claim(at(1), 10, 10);
    assert!(concluded(f, ended(Outgoing::Pending, None), 5));
    assert_eq!(f.row("row-erp-1").next_attempt_at, Some(at(5)));
    let new = sender_log::Sending { next_attempt_at: None, ..crate::fixture::sending("erp", "2", "them", at(0)) };
    let refused = f.store.write_blocking::<_, StoreError, _>(move |tx| crate::fixture::submit(tx, &new));
    assert!(refused.is_err(), "the table holds no open row without an instant");
}

// OUT-19, OUT-63
fn a_wait_for_a_receipt_ends_when_it_is_overdue(f: &Fixture) {
    f.submitted("1", "them", at(0));
    f.claim(at(1), 10, 10);
    assert!(concluded(f, ended(Outgoing::AwaitingReceipt, Some(at(300))), 2));
    assert!(f.read(|tx| sender_log::overdue(tx, at(299), 10)).is_empty());
    assert!(f.claim(at(1000), 10, 10).is_empty(), "it is out");
    let row = f.read(|tx| sender_log::overdue(tx, at(300), 10)).remove(0);
    let again = row.clone();
    assert!(f.write(move |tx| sender_log::conclude(tx, &row, &ended(Outgoing::Pending, Some(at(400))), at(300))));
    // Two nodes find the same one: the second changes nothing.
    assert!(!f.write(move |tx| sender_log::conclude(tx, &again, &ended(Outgoing::Failed, None), at(301))));
    assert_eq!(f.claim(at(400), 10, 10).len(), 1);
}

// OUT-11: what was read before does not decide.
fn a_receipt_is_taken_although_the_row_moved_meanwhile(f: &Fixture) {
    f.submitted("1", "them", at(0));
    let read_before = f.row("row-erp-1");
    f.claim(at(1), 10, 10);
    assert!(concluded(f, ended(Outgoing::Failed, None), 2));
    assert!(f.write(move |tx| sender_log::acknowledged(tx, &read_before, "", at(3))));
    assert_eq!(f.row("row-erp-1").status, "delivered");
}

fn only_a_waiting_message_is_cancelled(f: &Fixture) {
    f.submitted("1", "them", at(0));
    f.submitted("2", "them", at(0));
    f.write(|tx| sender_log::cancel(tx, "row-erp-1", "taken back by hand", at(1)));
    assert_eq!((f.row("row-erp-1").status, f.message("row-erp-1").state), ("cancelled".into(), "cancelled".into()));
    assert_eq!(f.claim(at(2), 10, 10).len(), 1);
    let refused = f.store.write_blocking::<_, StoreError, _>(|tx| sender_log::cancel(tx, "row-erp-2", "", at(3)));
    assert!(matches!(refused, Err(StoreError::Move { .. })), "{refused:?}");
}

fn a_row_and_a_message_that_differ_are_reported(f: &Fixture) {
    f.submitted("1", "them", at(0));
    let row = f.claim(at(1), 10, 10).remove(0);
    f.sql("UPDATE message SET state = 'delivered'", "UPDATE message SET state = 'delivered'");
    let refused = f.store.write_blocking::<_, StoreError, _>(move |tx| {
        sender_log::conclude(tx, &row, &ended(Outgoing::Failed, None), at(2))
    });
    assert!(matches!(refused, Err(StoreError::Row { table: "message", .. })), "{refused:?}");
    assert_eq!(f.row("row-erp-1").status, "sending", "nothing of it stays");
}

// EB-098
fn a_refusal_in_a_request_of_its_own_is_final(f: &Fixture) {
    f.submitted("1", "them", at(0));
    f.claim(at(1), 10, 10);
    assert!(concluded(f, ended(Outgoing::AwaitingReceipt, Some(at(300))), 2));
    let row = f.row("row-erp-1");
    let again = row.clone();
    assert!(f.write(move |tx| sender_log::refused(tx, &row, "EBMS:0010", at(3))));
    assert!(!f.write(move |tx| sender_log::refused(tx, &again, "EBMS:0010", at(4))));
    let row = f.row("row-erp-1");
    assert_eq!((row.status.as_str(), row.last_error.as_deref(), row.refused), ("failed", Some("EBMS:0010"), true));
}
