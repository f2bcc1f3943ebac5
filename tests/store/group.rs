//! Group commit on SQLite: every job is answered with what is true after the commit.

use std::sync::mpsc::{Receiver, channel};

use postrider::store::{Direction, Message, Store, StoreError, Tx, message};

use crate::fixture::{Fixture, at, both, execute, row};

both!(a_reading_changes_nothing, a_reading_is_one_view);

type Job = Box<dyn FnMut(&mut Tx<'_>) -> Result<(), StoreError> + Send>;

fn insert(id: &str, octets: usize) -> Job {
    let new = Message { header: "x".repeat(octets), ..row(id, Direction::In, "received", "p", at(0)) };
    Box::new(move |tx| message::insert(tx, &new, &[]))
}

fn there(store: &Store, id: &str) -> bool {
    store.read_blocking::<_, StoreError>(|tx| message::find(tx, id)).expect("a reading").is_some()
}

/// Runs the jobs as one group, behind a job that does `first`; gives the answers and the commits that they took.
fn together(store: &Store, first: &'static str, jobs: Vec<Job>) -> (Vec<Result<(), StoreError>>, u64) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let (go, waits): (_, Receiver<()>) = channel();
        let blocker = store.clone();
        let (begun, began) = channel();
        let blocked = tokio::spawn(async move {
            let job = move |tx: &mut Tx<'_>| {
                let _ = begun.send(());
                let _ = waits.recv();
                execute(tx, first)
            };
            blocker.write::<_, StoreError, _>(job).await
        });
        tokio::task::yield_now().await;
        // The writer has the blocker in hand, alone: what is queued from here on waits together.
        began.recv().expect("the blocker begins");
        let before = store.commits();
        let tasks: Vec<_> = jobs
            .into_iter()
            .map(|job| {
                let store = store.clone();
                tokio::spawn(async move { store.write(job).await })
            })
            .collect();
        for _ in 0..4 {
            tokio::task::yield_now().await;
        }
        go.send(()).expect("the blocker waits");
        // Where the blocker shares a group that breaks, it runs again: it must not wait then.
        drop(go);
        blocked.await.expect("a task").expect("the blocker's transaction");
        let mut answers = Vec::new();
        for task in tasks {
            answers.push(task.await.expect("a task"));
        }
        (answers, store.commits() - before - 1)
    })
}

#[test]
fn jobs_that_wait_together_share_one_commit() {
    let f = Fixture::sqlite();
    let (answers, commits) = together(&f.store, "SELECT 1", (0..50).map(|n| insert(&n.to_string(), 1)).collect());
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(commits, 1);
    assert!((0..50).all(|n| there(&f.store, &n.to_string())));
}

#[test]
fn a_job_that_fails_or_panics_leaves_the_others_alone() {
    let f = Fixture::sqlite();
    let failing: Job = Box::new(|tx| {
        message::insert(tx, &row("failing", Direction::In, "received", "p", at(0)), &[])?;
        Err(StoreError::Closed)
    });
    let panicking: Job = Box::new(|tx| {
        message::insert(tx, &row("panicking", Direction::In, "received", "p", at(0)), &[])?;
        panic!("a consumer's fault (this test's own)")
    });
    let jobs = vec![insert("1", 1), failing, insert("2", 1), insert("2", 1), panicking, insert("3", 1)];
    let (answers, commits) = together(&f.store, "SELECT 1", jobs);
    let good: Vec<_> = answers.iter().map(Result::is_ok).collect();
    assert_eq!(good, [true, false, true, false, false, true], "{answers:?}");
    assert!(matches!(answers[1], Err(StoreError::Closed)) && matches!(answers[4], Err(StoreError::Panicked)));
    assert_eq!(commits, 1);
    for (id, expected) in [("1", true), ("2", true), ("3", true), ("failing", false), ("panicking", false)] {
        assert_eq!(there(&f.store, id), expected, "{id}");
    }
}

#[test]
fn a_full_database_is_told_to_those_alone_that_found_no_place() {
    let f = Fixture::sqlite();
    let pages: i64 = f.read(|tx| {
        use diesel::prelude::*;
        let Tx::Sqlite(c) = tx else { unreachable!("SQLite") };
        Ok(diesel::select(diesel::dsl::sql::<diesel::sql_types::BigInt>("page_count FROM pragma_page_count"))
            .first(*c)?)
    });
    // Room for about five of the large ones.
    f.sql(&format!("PRAGMA max_page_count = {}", pages + 60), "");
    let jobs = (0..20).map(|n| insert(&n.to_string(), if n % 2 == 0 { 40_000 } else { 10 })).collect();
    let (answers, _) = together(&f.store, "SELECT 1", jobs);
    let good = answers.iter().filter(|a| a.is_ok()).count();
    assert!(good > 2 && good < 20, "{answers:?}");
    for (n, answer) in answers.iter().enumerate() {
        assert_eq!(there(&f.store, &n.to_string()), answer.is_ok(), "{n}: {answer:?}");
    }
    f.sql("PRAGMA max_page_count = 1000000", "");
    f.write(|tx| message::insert(tx, &row("after", Direction::In, "received", "p", at(0)), &[]));
}

/// What `SQLITE_FULL`, `IOERR` and `NOMEM` may do: the whole transaction is rolled back under the jobs.
#[test]
fn an_error_that_rolls_back_everything_costs_only_the_job_that_met_it() {
    let f = Fixture::sqlite();
    let everything: Job = Box::new(|tx| {
        execute(tx, "INSERT OR ROLLBACK INTO event (id, message, at, code, text) VALUES ('e', 'm', '', NULL, '')")
    });
    // One that does not even notice.
    let heedless: Job = Box::new(|tx| {
        let _ =
            execute(tx, "INSERT OR ROLLBACK INTO event (id, message, at, code, text) VALUES ('e', 'm', '', NULL, '')");
        Ok(())
    });
    let (answers, _) =
        together(&f.store, "SELECT 1", vec![insert("1", 1), everything, insert("2", 1), heedless, insert("3", 1)]);
    let good: Vec<_> = answers.iter().map(Result::is_ok).collect();
    assert_eq!(good, [true, false, true, false, true], "{answers:?}");
    assert!(matches!(answers[3], Err(StoreError::NotCommitted(_))), "{answers:?}");
    assert!(["1", "2", "3"].iter().all(|id| there(&f.store, id)));
}

#[test]
fn a_commit_that_fails_is_told_to_those_alone_that_caused_it() {
    let f = Fixture::sqlite();
    f.sql(
        "CREATE TABLE parent (id INTEGER PRIMARY KEY); \
         CREATE TABLE child (parent INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)",
        "",
    );
    let orphan: Job = Box::new(|tx| execute(tx, "INSERT INTO child VALUES (7)"));
    let (answers, _) = together(&f.store, "SELECT 1", vec![insert("1", 1), orphan, insert("2", 1)]);
    assert!(answers[0].is_ok() && answers[2].is_ok(), "{answers:?}");
    assert!(matches!(answers[1], Err(StoreError::NotCommitted(_))), "{answers:?}");
    assert!(there(&f.store, "1") && there(&f.store, "2"));
}

#[test]
fn a_job_is_answered_after_its_commit_even_when_its_caller_is_gone() {
    let f = Fixture::sqlite();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let task = tokio::spawn({
            let store = f.store.clone();
            async move { store.write(insert("abandoned", 1)).await }
        });
        tokio::task::yield_now().await;
        task.abort();
        f.store.write(insert("next", 1)).await.expect("a transaction");
    });
    assert!(there(&f.store, "abandoned") && there(&f.store, "next"));
}

fn a_reading_changes_nothing(f: &Fixture) {
    let refused = f.store.read_blocking::<_, StoreError>(|tx| {
        message::insert(tx, &row("1", Direction::In, "received", "p", at(0)), &[])
    });
    assert!(matches!(refused, Err(StoreError::Query(_))), "{refused:?}");
    // The connection that refused is as good as any.
    for _ in 0..20 {
        assert!(!there(&f.store, "1"));
    }
}

fn a_reading_is_one_view(f: &Fixture) {
    let (before, after) = f.read(|tx| {
        let before = message::find(tx, "1")?.is_some();
        f.write(|tx| message::insert(tx, &row("1", Direction::In, "received", "p", at(0)), &[]));
        Ok((before, message::find(tx, "1")?.is_some()))
    });
    assert_eq!((before, after), (false, false));
    assert!(there(&f.store, "1"));
}
