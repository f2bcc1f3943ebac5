//! PostgreSQL: connections that break, transactions that the database ends, and what is said about them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use diesel::prelude::*;
use diesel::sql_types::Integer;
use postrider::store::{Direction, Store, StoreError, Tx, message};

use crate::fixture::{Fixture, at, execute, row};
use crate::server;

fn there(store: &Store, id: &str) -> bool {
    store.read_blocking::<_, StoreError>(|tx| message::find(tx, id)).expect("a reading").is_some()
}

fn insert(tx: &mut Tx<'_>, id: &str) -> Result<(), StoreError> {
    message::insert(tx, &row(id, Direction::In, "received", "p", at(0)), &[])
}

/// The id of the transaction's server process.
fn backend(tx: &mut Tx<'_>) -> i32 {
    let Tx::Postgres(c) = tx else { unreachable!("PostgreSQL") };
    diesel::select(diesel::dsl::sql::<Integer>("pg_backend_pid()")).get_result(*c).expect("an id")
}

/// Ends every connection to the fixture's database but those of nobody.
fn cut(f: &Fixture) {
    let name = f.options.url.split('?').next().and_then(|url| url.rsplit('/').next()).expect("a name");
    server::admin(&format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"));
}

// IN-52
#[test]
fn connections_that_died_in_the_pool_are_not_noticed() {
    let f = Fixture::postgres();
    // Several are open at once, and go back.
    let barrier = Arc::new(Barrier::new(4));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (store, barrier) = (f.store.clone(), Arc::clone(&barrier));
            std::thread::spawn(move || {
                store.write_blocking::<_, StoreError, _>(move |_| {
                    barrier.wait();
                    Ok(())
                })
            })
        })
        .collect();
    for t in threads {
        t.join().expect("a thread").expect("a transaction");
    }
    cut(&f);
    f.write(|tx| insert(tx, "1"));
    cut(&f);
    assert!(there(&f.store, "1"));
}

#[test]
fn a_connection_that_is_lost_before_the_commit_runs_the_job_again() {
    let f = Fixture::postgres();
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    f.write(move |tx| {
        insert(tx, "1")?;
        if counted.fetch_add(1, Ordering::Relaxed) == 0 {
            execute(tx, "SELECT pg_terminate_backend(pg_backend_pid())")?;
        }
        insert(tx, "2")
    });
    assert_eq!(runs.load(Ordering::Relaxed), 2);
    assert!(there(&f.store, "1") && there(&f.store, "2"));
}

#[test]
fn a_connection_that_is_lost_at_the_commit_leaves_the_outcome_unknown() {
    let f = Fixture::postgres();
    let answer = f.store.write_blocking::<_, StoreError, _>(|tx| {
        insert(tx, "1")?;
        let pid = backend(tx);
        server::admin(&format!("SELECT pg_terminate_backend({pid})"));
        std::thread::sleep(Duration::from_millis(100));
        Ok(())
    });
    assert!(matches!(answer, Err(StoreError::OutcomeUnknown(_))), "{answer:?}");
    f.write(|tx| insert(tx, "2"));
}

// IN-34
#[test]
fn a_serialization_failure_inside_the_job_runs_it_again() {
    let f = Fixture::postgres();
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    f.write(move |tx| {
        insert(tx, "1")?;
        if counted.fetch_add(1, Ordering::Relaxed) < 2 {
            execute(tx, "DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END $$")?;
        }
        Ok(())
    });
    assert_eq!(runs.load(Ordering::Relaxed), 3);
    assert!(there(&f.store, "1"));
}

#[test]
fn a_deadlock_is_solved() {
    let f = Fixture::postgres();
    f.write(|tx| {
        insert(tx, "1")?;
        insert(tx, "2")
    });
    let threads: Vec<_> = [["1", "2"], ["2", "1"]]
        .map(|order| {
            let store = f.store.clone();
            std::thread::spawn(move || {
                store.write_blocking::<_, StoreError, _>(move |tx| {
                    for id in order {
                        execute(tx, &format!("UPDATE message SET size = size + 1 WHERE id = '{id}'"))?;
                        std::thread::sleep(Duration::from_millis(100));
                    }
                    Ok(())
                })
            })
        })
        .into_iter()
        .collect();
    for t in threads {
        t.join().expect("a thread").expect("a transaction");
    }
    assert_eq!((f.message("1").size, f.message("2").size), (12, 12));
}

/// After a failed statement the server rolls back on COMMIT and calls that a success.
#[test]
fn a_failure_that_the_job_overlooks_is_no_commit() {
    let f = Fixture::postgres();
    let answer = f.store.write_blocking::<_, StoreError, _>(|tx| {
        insert(tx, "1")?;
        let _ = insert(tx, "1");
        Ok(())
    });
    assert!(answer.is_err(), "{answer:?}");
    assert!(!there(&f.store, "1"));
    f.write(|tx| insert(tx, "1"));
}

#[test]
fn a_job_that_panics_leaves_no_transaction_open() {
    let f = Fixture::postgres();
    for _ in 0..20 {
        let answer = f.store.write_blocking::<(), StoreError, _>(|tx| {
            insert(tx, "1")?;
            panic!("a consumer's fault (this test's own)")
        });
        assert!(matches!(answer, Err(StoreError::Panicked)), "{answer:?}");
    }
    f.write(|tx| insert(tx, "1"));
}

#[test]
fn more_tasks_than_connections_wait_their_turn() {
    let f = Fixture::postgres();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(4).build().expect("a runtime");
    runtime.block_on(async {
        let tasks: Vec<_> = (0..64)
            .map(|n| {
                let store = f.store.clone();
                tokio::spawn(async move { store.write::<_, StoreError, _>(move |tx| insert(tx, &n.to_string())).await })
            })
            .collect();
        for task in tasks {
            task.await.expect("a task").expect("a transaction");
        }
    });
    assert!((0..64).all(|n| there(&f.store, &n.to_string())));
}
