//! Delivery jobs: offered at least once, with the same key.

use std::sync::mpsc::channel;
use std::time::Duration;

use postrider::store::{StoreError, delivery, inbox};

use crate::fixture::{Fixture, at, both, offers, received, reply};

both!(
    a_message_is_delivered_when_every_backend_has_it,
    an_offer_that_is_put_off_comes_again_with_the_same_key,
    a_parked_message_waits_for_a_person,
    a_parked_job_keeps_its_message_failed_until_it_is_offered_again,
    a_dead_backend_does_not_fill_the_claim,
    two_jobs_that_end_at_once_deliver_the_message,
);

// IN-30
fn a_message_is_delivered_when_every_backend_has_it(f: &Fixture) {
    let key = inbox::Received { message: Some("m".to_owned()), ..received("s", "1", "p", "d") };
    let (new, answer) = (key.clone(), reply(&key, "receipt"));
    f.write(move |tx| inbox::accept(tx, &new, &answer, |_| Ok::<_, StoreError>(())));
    f.received("m", &["erp", "archive"], at(0));
    let jobs = offers(&f.store, at(1), 10, 10);
    assert_eq!(jobs.len(), 2);
    assert_eq!(f.message("m").state, "delivering");
    for (n, job) in jobs.into_iter().enumerate() {
        let again = job.clone();
        assert!(f.write(move |tx| delivery::settle(tx, &job, at(2))));
        assert!(!f.write(move |tx| delivery::settle(tx, &again, at(3))), "once");
        assert_eq!(f.message("m").state, if n == 0 { "delivering" } else { "delivered" });
    }
    let row = f.write(move |tx| inbox::once(tx, &key, |_| Err::<(), _>(StoreError::Closed)));
    let inbox::Once::Again(row) = row else { panic!("the key is there") };
    assert_eq!((row.processed_at, row.result.as_deref()), (Some(at(2)), Some("delivered")));
    assert!(offers(&f.store, at(1000), 10, 10).is_empty());
}

// OUT-51, IN-33
fn an_offer_that_is_put_off_comes_again_with_the_same_key(f: &Fixture) {
    f.received("m", &["erp"], at(0));
    for n in 1..=3 {
        let job = offers(&f.store, at(n * 100), 10, 10).remove(0);
        assert_eq!((job.attempts, job.delivery_key.as_str()), (i32::try_from(n).expect("few"), "key-m"));
        let due = Some(at(n * 100 + 50));
        assert!(f.write(move |tx| delivery::put_off(tx, &job, "connection refused", due, at(n * 100 + 1))));
        assert!(offers(&f.store, at(n * 100 + 49), 10, 10).is_empty());
        let message = f.message("m");
        assert_eq!((message.state.as_str(), message.error.as_deref()), ("received", Some("connection refused")));
    }
    assert_eq!(f.read(delivery::next_due), Some(at(350)));
}

fn park(f: &Fixture, now: i64) {
    let job = offers(&f.store, at(now), 1, 1).remove(0);
    assert!(f.write(move |tx| delivery::put_off(tx, &job, "HTTP 400", None, at(now + 1))));
}

// IN-33
fn a_parked_message_waits_for_a_person(f: &Fixture) {
    f.received("m", &["erp"], at(0));
    park(f, 1);
    let message = f.message("m");
    assert_eq!((message.state.as_str(), message.error.as_deref()), ("failed", Some("HTTP 400")));
    assert!(offers(&f.store, at(10_000), 10, 10).is_empty());
    assert_eq!(f.write(|tx| delivery::redeliver(tx, "m", at(20))), 1);
    assert_eq!(f.write(|tx| delivery::redeliver(tx, "m", at(20))), 0, "it is offered again already");
    let job = offers(&f.store, at(20), 10, 10).remove(0);
    assert_eq!(job.delivery_key, "key-m");
    assert!(f.write(move |tx| delivery::settle(tx, &job, at(21))));
    assert_eq!(f.message("m").state, "delivered");
    assert_eq!(f.write(|tx| delivery::redeliver(tx, "m", at(30))), 0);
}

fn a_parked_job_keeps_its_message_failed_until_it_is_offered_again(f: &Fixture) {
    f.received("m", &["erp", "archive"], at(0));
    park(f, 1);
    let other = offers(&f.store, at(3), 10, 10).remove(0);
    assert_eq!(f.message("m").state, "failed");
    assert!(f.write(move |tx| delivery::settle(tx, &other, at(4))));
    let message = f.message("m");
    assert_eq!((message.state.as_str(), message.error.as_deref()), ("failed", Some("HTTP 400")));
    f.write(|tx| delivery::redeliver(tx, "m", at(20)));
    let job = offers(&f.store, at(20), 10, 10).remove(0);
    assert!(f.write(move |tx| delivery::settle(tx, &job, at(21))));
    assert_eq!(f.message("m").state, "delivered");
    let states: Vec<_> = f.read(|tx| delivery::of_message(tx, "m")).into_iter().map(|job| job.state).collect();
    assert_eq!(states, ["delivered", "delivered"]);
}

fn a_dead_backend_does_not_fill_the_claim(f: &Fixture) {
    for n in 0..10 {
        f.received(&format!("dead{n}"), &["dead"], at(n));
    }
    f.received("live", &["live"], at(50));
    let backends: Vec<_> = offers(&f.store, at(100), 5, 2).into_iter().map(|job| job.backend).collect();
    assert_eq!(backends, ["dead", "dead", "live"]);
}

/// Each of them sees the other one open until it commits.
fn two_jobs_that_end_at_once_deliver_the_message(f: &Fixture) {
    f.received("m", &["erp", "archive"], at(0));
    let mut jobs = offers(&f.store, at(1), 10, 10);
    let (second, first) = (jobs.remove(1), jobs.remove(0));
    let (settled, waits) = channel();
    let store = f.store.clone();
    let thread = std::thread::spawn(move || {
        store.write_blocking::<_, StoreError, _>(move |tx| {
            let done = delivery::settle(tx, &first, at(2))?;
            let _ = settled.send(());
            std::thread::sleep(Duration::from_millis(200));
            Ok(done)
        })
    });
    waits.recv().expect("the first is settled");
    assert!(f.write(move |tx| delivery::settle(tx, &second, at(2))));
    assert!(thread.join().expect("a thread").expect("a transaction"));
    assert_eq!(f.message("m").state, "delivered");
}
