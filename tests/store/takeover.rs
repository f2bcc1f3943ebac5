//! Owners that vanish: leases, fences, boots, and the lock on the file.

use std::sync::mpsc::channel;
use std::time::Duration;

use postrider::store::sender_log::{self, Sending};
use postrider::store::{At, Outgoing, Store, StoreError, StoreOptions, delivery};

use crate::fixture::{Fixture, Place, at, both, claim, ended, offers, receipt};

both!(
    a_lapsed_row_is_taken_over_and_its_old_owner_is_discarded,
    a_stale_owners_receipt_is_accepted,
    a_lease_that_is_renewed_is_not_taken_over,
    a_lapsed_offer_is_taken_over_and_its_old_owner_is_discarded,
    rows_of_an_earlier_boot_are_taken_up_at_start,
    a_node_that_is_renamed_takes_up_its_rows_on_sqlite,
);

/// Lets every lease run out; gives the instant to claim at.
fn lapse(f: &Fixture) -> At {
    f.sql(
        "SELECT 1",
        "UPDATE sender_log SET lease_until = clock_timestamp() - interval '1 second' WHERE lease_until IS NOT NULL; \
         UPDATE delivery SET lease_until = clock_timestamp() - interval '1 second' WHERE lease_until IS NOT NULL",
    );
    at(3 * 3600)
}

/// The row before and after the takeover.
fn taken_over(f: &Fixture) -> (Sending, Sending, At) {
    f.submitted("1", "them", at(0));
    let old = f.claim(at(1), 10, 10).remove(0);
    assert!(f.claim(at(2), 10, 10).is_empty(), "it is held");
    let now = lapse(f);
    let new = f.claim(now, 10, 10).remove(0);
    assert_eq!((new.fence, new.attempt_count, new.unanswered), (old.fence + 1, 2, true));
    assert_eq!(new.message_id, old.message_id);
    (old, new, now)
}

// OUT-10, OUT-11, IN-32
fn a_lapsed_row_is_taken_over_and_its_old_owner_is_discarded(f: &Fixture) {
    let (old, new, now) = taken_over(f);
    for next in [Outgoing::Failed, Outgoing::Pending, Outgoing::AwaitingReceipt] {
        let old = old.clone();
        assert!(!f.write(move |tx| sender_log::conclude(tx, &old, &ended(next, Some(now)), now)), "{next}");
    }
    // A duplicate answer is no receipt.
    let (late, said) = (old.clone(), sender_log::Ended { proof: Some("none"), ..receipt() });
    assert!(!f.write(move |tx| sender_log::conclude(tx, &late, &said, now)));
    assert_eq!(f.row(&new.message).status, "sending");
    assert!(f.write(move |tx| sender_log::conclude(tx, &new, &receipt(), now)));
    assert_eq!(f.message(&old.message).state, "delivered");
}

// OUT-11
fn a_stale_owners_receipt_is_accepted(f: &Fixture) {
    let (old, new, now) = taken_over(f);
    let late = old.clone();
    assert!(f.write(move |tx| sender_log::conclude(tx, &late, &receipt(), now)));
    let row = f.row(&old.message);
    assert_eq!((row.status.as_str(), row.proof.as_deref()), ("delivered", Some("receipt")));
    // Whatever the new owner brings changes nothing.
    for said in [receipt(), ended(Outgoing::Failed, None), ended(Outgoing::Pending, Some(now))] {
        let new = new.clone();
        assert!(!f.write(move |tx| sender_log::conclude(tx, &new, &said, now)));
    }
    assert_eq!(f.row(&old.message), row);
}

fn a_lease_that_is_renewed_is_not_taken_over(f: &Fixture) {
    f.submitted("1", "them", at(0));
    f.received("m", &["erp"], at(0));
    let (row, job) = (f.claim(at(1), 10, 10).remove(0), offers(&f.store, at(1), 10, 10).remove(0));
    let now = lapse(f);
    let (mine, offer) = (row.clone(), job.clone());
    assert!(f.write(move |tx| Ok(sender_log::renew(tx, &mine, now)? && delivery::renew(tx, &offer, now)?)));
    assert!(f.claim(now, 10, 10).is_empty());
    assert!(offers(&f.store, now, 10, 10).is_empty());
    let (stale, gone) = (Sending { fence: row.fence - 1, ..row }, delivery::Job { fence: job.fence - 1, ..job });
    assert!(f.write(move |tx| Ok(!sender_log::renew(tx, &stale, now)? && !delivery::renew(tx, &gone, now)?)));
}

// IN-32
fn a_lapsed_offer_is_taken_over_and_its_old_owner_is_discarded(f: &Fixture) {
    f.received("m", &["erp"], at(0));
    let old = offers(&f.store, at(1), 10, 10).remove(0);
    assert!(offers(&f.store, at(2), 10, 10).is_empty());
    let now = lapse(f);
    let new = offers(&f.store, now, 10, 10).remove(0);
    assert_eq!((new.fence, new.attempts, &new.delivery_key), (old.fence + 1, 2, &old.delivery_key));
    let late = old.clone();
    assert!(!f.write(move |tx| delivery::settle(tx, &late, now)));
    assert!(!f.write(move |tx| delivery::put_off(tx, &old, "late", None, now)));
    assert_eq!(f.message("m").state, "delivering");
    assert!(f.write(move |tx| delivery::settle(tx, &new, now)));
    assert_eq!(f.message("m").state, "delivered");
}

fn release(store: &Store, now: At) -> (usize, usize) {
    let (node, boot) = (store.node().to_owned(), store.boot().to_owned());
    store
        .write_blocking::<_, StoreError, _>(move |tx| {
            Ok((sender_log::release(tx, &node, &boot, now)?, delivery::release(tx, &node, &boot, now)?))
        })
        .expect("a release")
}

// OUT-09, OUT-29
fn rows_of_an_earlier_boot_are_taken_up_at_start(f: &Fixture) {
    f.submitted("1", "them", at(0));
    f.received("m", &["erp"], at(0));
    let before = f.claim(at(1), 10, 10).remove(0);
    offers(&f.store, at(1), 10, 10);
    assert_eq!(release(&f.store, at(2)), (0, 0), "they are of this boot");
    if !f.store.is_sqlite() {
        assert_eq!(release(&f.node("b"), at(2)), (0, 0), "they are of another node");
        let again = f.node("a");
        assert_eq!(release(&again, at(2)), (1, 1));
        after(f, &again, &before);
    }
}

fn after(f: &Fixture, again: &Store, before: &Sending) {
    assert_eq!((f.message(&before.message).state, f.message("m").state), ("pending".into(), "received".into()));
    let row = claim(again, at(3), 10, 10).remove(0);
    assert_eq!((row.message_id.as_str(), row.attempt_count), (before.message_id.as_str(), 2));
    assert!(row.unanswered, "whether it was written is not known");
    assert_eq!(offers(again, at(3), 10, 10).len(), 1);
}

// OUT-29
fn a_node_that_is_renamed_takes_up_its_rows_on_sqlite(f: &Fixture) {
    if !f.store.is_sqlite() {
        return;
    }
    // By the file itself: the fixture's store has its own.
    let dir = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite:{}", dir.path().join("store.db").display());
    let store = Store::open(&StoreOptions { url: url.clone(), ..f.options.clone() }).expect("a store");
    store.migrate().expect("its tables");
    let f = Fixture {
        store,
        options: StoreOptions { url, node: "renamed".to_owned(), ..f.options.clone() },
        place: Place::Sqlite(dir),
    };
    f.submitted("1", "them", at(0));
    f.received("m", &["erp"], at(0));
    let before = f.claim(at(1), 10, 10).remove(0);
    offers(&f.store, at(1), 10, 10);
    let f = f.restarted();
    assert_eq!(f.store.node(), "renamed");
    assert_eq!(release(&f.store, at(2)), (1, 1));
    after(&f, &f.store, &before);
}

// OUT-29
#[test]
fn a_second_store_on_the_same_file_is_refused_until_the_first_is_gone() {
    let f = Fixture::sqlite();
    let refused = Store::open(&f.options);
    assert!(matches!(refused, Err(StoreError::InUse(_))), "{refused:?}");
    // The last job is finished before the file is free.
    let (begun, waits) = channel();
    let job = f.store.clone();
    let thread = std::thread::spawn(move || {
        job.write_blocking::<_, StoreError, _>(move |_| {
            let _ = begun.send(());
            std::thread::sleep(Duration::from_millis(200));
            Ok(())
        })
    });
    waits.recv().expect("a job");
    assert!(matches!(Store::open(&f.options), Err(StoreError::InUse(_))));
    thread.join().expect("a thread").expect("a transaction");
    let options = f.options.clone();
    let Fixture { store, place, .. } = f;
    drop(store);
    Store::open(&options).expect("the file is free");
    drop(place);
}
