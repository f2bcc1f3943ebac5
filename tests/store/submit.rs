//! Submitting: a key is fixed once, with its payload.

use postrider::store::sender_log::{self, Sending, Submitted};
use postrider::store::{Direction, StoreError, message};

use crate::fixture::{Fixture, at, both, row, sending, submit};

both!(
    a_key_submitted_twice_is_one_message,
    a_key_with_another_payload_is_a_conflict,
    two_producers_may_have_the_same_key,
    a_submission_that_fails_leaves_no_key,
    two_submissions_of_one_key_at_once_are_one_message,
    a_message_id_that_is_taken_is_refused_whole,
    what_is_frozen_comes_back_as_it_was,
);

// OUT-03, OUT-25, OUT-26
fn a_key_submitted_twice_is_one_message(f: &Fixture) {
    let first = f.submitted("send-1-to-them", "them", at(0));
    let again = Sending { message_id: "fresh@example".to_owned(), message: "fresh".to_owned(), ..first.clone() };
    let found = f.write(move |tx| submit(tx, &again));
    assert_eq!(found, Submitted::Same(Box::new(first)));
    assert!(f.read(|tx| message::find(tx, "fresh")).is_none());
}

// OUT-13, OUT-25
fn a_key_with_another_payload_is_a_conflict(f: &Fixture) {
    let first = f.submitted("send-1-to-them", "them", at(0));
    let other = Sending {
        payload_hash: "sha256:q".to_owned(),
        message_id: "fresh@example".to_owned(),
        message: "fresh".to_owned(),
        ..first.clone()
    };
    assert_eq!(f.write(move |tx| submit(tx, &other)), Submitted::OtherPayload(Box::new(first.clone())));
    assert_eq!(f.row(&first.message), first);
}

// OUT-06
fn two_producers_may_have_the_same_key(f: &Fixture) {
    for producer in ["erp", "shop"] {
        let new = sending(producer, "send-1-to-them", "them", at(0));
        assert_eq!(f.write(move |tx| submit(tx, &new)), Submitted::New);
    }
    assert_eq!(f.claim(at(1), 10, 10).len(), 2);
}

// OUT-07
fn a_submission_that_fails_leaves_no_key(f: &Fixture) {
    let new = sending("erp", "1", "them", at(0));
    let again = new.clone();
    let failed = f.store.write_blocking::<_, StoreError, _>(move |tx| {
        sender_log::submit(tx, &again, |tx| {
            message::insert(tx, &row("x", Direction::Out, "pending", "them", at(0)), &[])?;
            Err(StoreError::Closed)
        })
    });
    assert!(matches!(failed, Err(StoreError::Closed)), "{failed:?}");
    assert!(f.read(|tx| sender_log::by_key(tx, "erp", "1")).is_none());
    assert!(f.read(|tx| message::find(tx, "x")).is_none());
    assert_eq!(f.write(move |tx| submit(tx, &new)), Submitted::New);
}

// OUT-25
fn two_submissions_of_one_key_at_once_are_one_message(f: &Fixture) {
    let tries: Vec<_> = (0..8)
        .map(|n| {
            let store = f.store.clone();
            std::thread::spawn(move || {
                let new = Sending {
                    message_id: format!("{n}@example"),
                    message: n.to_string(),
                    ..sending("erp", "1", "them", at(0))
                };
                store.write_blocking::<_, StoreError, _>(move |tx| submit(tx, &new)).expect("a transaction")
            })
        })
        .collect();
    let done: Vec<_> = tries.into_iter().map(|t| t.join().expect("a thread")).collect();
    assert_eq!(done.iter().filter(|s| **s == Submitted::New).count(), 1);
    assert_eq!(done.iter().filter(|s| matches!(s, Submitted::Same(_))).count(), 7);
}

// OUT-08: the statement that fails takes the transaction with it on PostgreSQL; the next one is not harmed.
fn a_message_id_that_is_taken_is_refused_whole(f: &Fixture) {
    let first = f.submitted("1", "them", at(0));
    let other = Sending { key: "2".to_owned(), message: "fresh".to_owned(), ..first.clone() };
    let refused = f.store.write_blocking::<_, StoreError, _>(move |tx| submit(tx, &other));
    assert!(matches!(refused, Err(StoreError::Query(_))), "{refused:?}");
    assert!(f.read(|tx| sender_log::by_key(tx, "erp", "2")).is_none());
    f.submitted("3", "them", at(0));
}

// EB-161
fn what_is_frozen_comes_back_as_it_was(f: &Fixture) {
    let frozen = sender_log::Package {
        message: "m".to_owned(),
        envelope: "<S12:Envelope>ä\r\n</S12:Envelope>".to_owned(),
        blocks: "<ds:Signature/>".to_owned(),
        refs: "[]".to_owned(),
        boundary: "b".to_owned(),
        root_id: "root@example".to_owned(),
        recipient: "{}".to_owned(),
    };
    let new = frozen.clone();
    f.write(move |tx| sender_log::freeze(tx, &new));
    assert_eq!(f.read(|tx| sender_log::frozen(tx, "m")), Some(frozen));
    assert_eq!(f.read(|tx| sender_log::frozen(tx, "n")), None);
}
