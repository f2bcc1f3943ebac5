//! Random sequences of events: no move that is not listed, no state without a next step (OUT-63).

use std::sync::atomic::{AtomicUsize, Ordering};

use postrider::store::sender_log::{self, Sending};
use postrider::store::{At, Incoming, Outgoing, StoreError, Tx, delivery};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::fixture::{Fixture, at, both, ended, receipt};

both!(outgoing_messages_make_listed_moves_only, incoming_messages_make_listed_moves_only);

#[derive(Clone, Debug)]
enum Event {
    Claim,
    /// By the claim before so many others.
    Conclude(usize, Outgoing),
    Receipt(usize),
    /// In a request of its own.
    Acknowledged(usize),
    Refused(usize),
    Requeue,
    Cancel,
    Restart,
    Overdue(Outgoing),
}

fn event() -> impl Strategy<Value = Event> {
    let state = || prop::sample::select(Outgoing::ALL.to_vec());
    let back = || 0_usize..3;
    prop_oneof![
        4 => Just(Event::Claim),
        4 => (back(), state()).prop_map(|(n, s)| Event::Conclude(n, s)),
        1 => back().prop_map(Event::Receipt),
        1 => back().prop_map(Event::Acknowledged),
        1 => back().prop_map(Event::Refused),
        2 => Just(Event::Requeue),
        1 => Just(Event::Cancel),
        2 => Just(Event::Restart),
        2 => state().prop_map(Event::Overdue),
    ]
}

fn happen(tx: &mut Tx<'_>, id: &str, event: &Event, known: &[Sending], now: At) -> Result<Option<Sending>, StoreError> {
    let before = |n: usize| known.iter().rev().nth(n).or(known.first());
    match event {
        Event::Claim => {
            return Ok(sender_log::claim(tx, "a", "boot", now, 10, 10)?.into_iter().find(|row| row.message == id));
        }
        Event::Conclude(n, next) => {
            if let Some(row) = before(*n) {
                sender_log::conclude(tx, row, &ended(*next, None), now)?;
            }
        }
        Event::Receipt(n) => {
            if let Some(row) = before(*n) {
                sender_log::conclude(tx, row, &receipt(), now)?;
            }
        }
        Event::Acknowledged(n) => {
            if let Some(row) = before(*n) {
                sender_log::acknowledged(tx, row, "", now)?;
            }
        }
        Event::Refused(n) => {
            if let Some(row) = before(*n) {
                sender_log::refused(tx, row, "EBMS:0010", now)?;
            }
        }
        Event::Requeue => drop(sender_log::requeue(tx, id, now)),
        Event::Cancel => drop(sender_log::cancel(tx, id, "", now)),
        Event::Restart => drop(sender_log::release(tx, "a", "another boot", now)?),
        Event::Overdue(next) => {
            for row in sender_log::overdue(tx, now, 10)?.iter().filter(|row| row.message == id) {
                sender_log::conclude(tx, row, &ended(*next, None), now)?;
            }
        }
    }
    Ok(None)
}

/// What holds in every state.
fn sound(row: &Sending, message: &str) {
    assert_eq!(row.status, message, "row and message");
    let state = Outgoing::read(&row.status).expect("a state");
    let (due, held, settled) = (row.next_attempt_at.is_some(), row.lease_until.is_some(), row.settled_at.is_some());
    match state {
        Outgoing::Pending | Outgoing::AwaitingReceipt => assert!(due && !held && !settled, "{row:?}"),
        Outgoing::Sending => assert!(held && row.lease_owner.is_some() && row.boot_id.is_some() && !settled, "{row:?}"),
        Outgoing::Delivered | Outgoing::Failed | Outgoing::Cancelled => assert!(!due && !held && settled, "{row:?}"),
    }
    assert_eq!(row.delivered_at.is_some(), state == Outgoing::Delivered, "{row:?}");
}

fn run<S: Strategy>(strategy: &S, test: impl Fn(S::Value)) {
    let mut runner = TestRunner::new(Config { cases: 64, failure_persistence: None, ..Config::default() });
    let done = runner.run(strategy, |value| {
        test(value);
        Ok(())
    });
    if let Err(error) = done {
        panic!("{error}");
    }
}

fn outgoing_messages_make_listed_moves_only(f: &Fixture) {
    let cases = AtomicUsize::new(0);
    run(&prop::collection::vec(event(), 1..40), |events| {
        let key = cases.fetch_add(1, Ordering::Relaxed).to_string();
        // Nothing of this stays: the next case finds an empty table.
        let outcome = f.store.write_blocking::<(), StoreError, _>(move |tx| {
            let mut row = crate::fixture::sending("erp", &key, "them", at(0));
            crate::fixture::submit(tx, &row)?;
            let (id, mut known) = (row.message.clone(), vec![row.clone()]);
            for (n, event) in events.iter().enumerate() {
                let now = at(10 * i64::try_from(n).unwrap_or(0));
                known.extend(happen(tx, &id, event, &known, now)?);
                let next = sender_log::by_message(tx, &id)?.expect("a row");
                let message = postrider::store::message::find(tx, &id)?.expect("a message");
                sound(&next, &message.state);
                let (was, is) =
                    (Outgoing::read(&row.status).expect("a state"), Outgoing::read(&next.status).expect("a state"));
                // A claim may pass through `pending` where a lease had run out.
                assert!(was == is || was.may_become(is), "{was} became {is} by {event:?}");
                row = next;
            }
            Err(StoreError::Closed)
        });
        assert!(matches!(outcome, Err(StoreError::Closed)), "{outcome:?}");
    });
}

#[derive(Clone, Debug)]
enum Offer {
    Claim,
    Settle(usize),
    PutOff(usize, bool),
    Redeliver,
    Restart,
}

fn offer() -> impl Strategy<Value = Offer> {
    prop_oneof![
        3 => Just(Offer::Claim),
        2 => (0_usize..4).prop_map(Offer::Settle),
        3 => (0_usize..4, any::<bool>()).prop_map(|(n, parked)| Offer::PutOff(n, parked)),
        1 => Just(Offer::Redeliver),
        1 => Just(Offer::Restart),
    ]
}

fn offered(tx: &mut Tx<'_>, offer: &Offer, known: &mut Vec<delivery::Job>, now: At) -> Result<(), StoreError> {
    let before = |n: usize| known.iter().rev().nth(n).or(known.first()).cloned();
    match offer {
        Offer::Claim => known.extend(delivery::claim(tx, "a", "boot", now, 1, 10)?),
        Offer::Settle(n) => {
            if let Some(job) = before(*n) {
                delivery::settle(tx, &job, now)?;
            }
        }
        Offer::PutOff(n, parked) => {
            if let Some(job) = before(*n) {
                delivery::put_off(tx, &job, "no", (!parked).then_some(now), now)?;
            }
        }
        Offer::Redeliver => drop(delivery::redeliver(tx, "m", now)?),
        Offer::Restart => drop(delivery::release(tx, "a", "another boot", now)?),
    }
    Ok(())
}

fn incoming_messages_make_listed_moves_only(f: &Fixture) {
    run(&prop::collection::vec(offer(), 1..40), |offers| {
        let outcome = f.store.write_blocking::<(), StoreError, _>(move |tx| {
            let new = crate::fixture::row("m", postrider::store::Direction::In, "received", "them", at(0));
            postrider::store::message::insert(tx, &new, &[])?;
            for backend in ["erp", "archive"] {
                delivery::add(tx, &crate::fixture::job("m", backend, at(0)))?;
            }
            let (mut was, mut known) = (Incoming::Received, Vec::new());
            for (n, offer) in offers.iter().enumerate() {
                offered(tx, offer, &mut known, at(10 * i64::try_from(n).unwrap_or(0)))?;
                let message = postrider::store::message::find(tx, "m")?.expect("a message");
                let is = Incoming::read(&message.state).expect("a state");
                assert!(was == is || was.may_become(is), "{was} became {is} by {offer:?}");
                let states: Vec<_> = delivery::of_message(tx, "m")?.into_iter().map(|job| job.state).collect();
                let all = states.iter().all(|state| state == "delivered");
                assert_eq!(is == Incoming::Delivered, all, "{is}: {states:?} after {offer:?}");
                assert_eq!(is == Incoming::Failed, states.iter().any(|state| state == "failed"), "{is}: {states:?}");
                was = is;
            }
            Err(StoreError::Closed)
        });
        assert!(matches!(outcome, Err(StoreError::Closed)), "{outcome:?}");
    });
}
