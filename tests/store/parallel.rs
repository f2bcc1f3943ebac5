//! Many at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use postrider::store::inbox::{self, Accepted, Once};
use postrider::store::{Direction, Store, StoreError, message};

use crate::fixture::{Fixture, at, both, received, reply, row};

both!(
    one_key_in_two_transactions_at_once_is_new_in_one,
    parallel_duplicates_have_one_effect_a_key,
    packed_anew_twice_at_once
);

fn messages(store: &Store) -> usize {
    let all = message::Filter { limit: 10_000, ..message::Filter::default() };
    store.read_blocking::<_, StoreError>(|tx| message::list(tx, &all)).expect("a list").len()
}

// IN-04
fn one_key_in_two_transactions_at_once_is_new_in_one(f: &Fixture) {
    let barrier = Arc::new(Barrier::new(2));
    let tries: Vec<_> = (0..2)
        .map(|_| {
            let (store, barrier) = (f.store.clone(), Arc::clone(&barrier));
            std::thread::spawn(move || {
                barrier.wait();
                let key = received("as4:us:them", "1", "p", "d");
                let done = store.write_blocking::<_, StoreError, _>(move |tx| {
                    inbox::once(tx, &key, |_| {
                        // The other one arrives meanwhile.
                        std::thread::sleep(std::time::Duration::from_millis(100));
                        Ok(())
                    })
                });
                matches!(done.expect("a transaction"), Once::First(()))
            })
        })
        .collect();
    let first = tries.into_iter().filter_map(|t| t.join().ok()).filter(|first| *first).count();
    assert_eq!(first, 1);
}

// IN-34, IN-02
fn parallel_duplicates_have_one_effect_a_key(f: &Fixture) {
    const KEYS: usize = 50;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().expect("a runtime");
    let firsts = Arc::new(AtomicUsize::new(0));
    runtime.block_on(async {
        let tasks: Vec<_> = (0..32 * KEYS)
            .map(|n| {
                let (store, firsts) = (f.store.clone(), Arc::clone(&firsts));
                tokio::spawn(async move {
                    let id = (n % KEYS).to_string();
                    let key = received("as4:us:them", &id, "p", "d");
                    let reply = reply(&key, &format!("answer of arrival {n}"));
                    let accepted = store
                        .write::<_, StoreError, _>(move |tx| {
                            inbox::accept(tx, &key, &reply, |tx| {
                                // Its id is of this arrival: a second effect would be a second message.
                                message::insert(tx, &row(&n.to_string(), Direction::In, "received", "them", at(0)), &[])
                            })
                        })
                        .await
                        .expect("a transaction");
                    match accepted {
                        Accepted::First => firsts.fetch_add(1, Ordering::Relaxed),
                        Accepted::Same(_) => 0,
                        other => panic!("{other:?}"),
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("a task that ends well");
        }
    });
    assert_eq!(firsts.load(Ordering::Relaxed), KEYS);
    assert_eq!(messages(&f.store), KEYS);
}

// IN-51 (b): the second of two equal repacked arrivals is given what the first one stored.
fn packed_anew_twice_at_once(f: &Fixture) {
    let first = received("as4:us:them", "1", "p", "d1");
    let answer = reply(&first, "first");
    f.write(move |tx| inbox::accept(tx, &first, &answer, |_| Ok::<_, StoreError>(())));
    let barrier = Arc::new(Barrier::new(4));
    let tries: Vec<_> = (0..4)
        .map(|n| {
            let (store, barrier) = (f.store.clone(), Arc::clone(&barrier));
            std::thread::spawn(move || {
                let anew = received("as4:us:them", "1", "p", "d2");
                let answer = reply(&anew, &n.to_string());
                barrier.wait();
                store.write_blocking::<_, StoreError, _>(move |tx| {
                    let accepted = inbox::accept(tx, &anew, &answer, |_| Ok::<_, StoreError>(()))?;
                    std::thread::sleep(std::time::Duration::from_millis(20));
                    Ok(accepted)
                })
            })
        })
        .collect();
    let done: Vec<_> = tries.into_iter().map(|t| t.join().expect("a thread").expect("a transaction")).collect();
    assert_eq!(done.iter().filter(|a| **a == Accepted::Repacked).count(), 1, "{done:?}");
    let answers: std::collections::BTreeSet<_> = done
        .iter()
        .filter_map(|a| if let Accepted::Same(stored) = a { Some(stored.body.clone()) } else { None })
        .collect();
    assert_eq!(answers.len(), 1, "{done:?}");
}
