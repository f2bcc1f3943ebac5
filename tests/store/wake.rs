//! Wakes: none is lost between two waits, and other nodes hear them.

use std::time::{Duration, Instant};

use crate::fixture::{Fixture, both};
use crate::server;

both!(a_wake_while_the_worker_was_busy_is_not_lost, waiting_without_a_wake_ends_after_a_second);

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

const SOON: Duration = Duration::from_millis(100);

fn a_wake_while_the_worker_was_busy_is_not_lost(f: &Fixture) {
    block_on(async {
        // The relay's own start wakes once on PostgreSQL.
        tokio::time::sleep(Duration::from_millis(300)).await;
        let (mut sender, mut deliverer) = (f.store.watch(), f.store.watch());
        for due in [&mut sender, &mut deliverer] {
            tokio::time::timeout(SOON, due.wait()).await.expect("the first look is at once");
            assert!(tokio::time::timeout(SOON, due.wait()).await.is_err(), "nothing happened");
        }
        // Nobody waits now; both hear of it, once for both wakes.
        f.store.wake();
        f.store.wake();
        for due in [&mut sender, &mut deliverer] {
            tokio::time::timeout(SOON, due.wait()).await.expect("the wake is kept");
            // On PostgreSQL a relay that connects late wakes once more: one look too many does no harm.
            let again = tokio::time::timeout(SOON, due.wait()).await.is_ok();
            assert!(!again || !f.store.is_sqlite(), "once");
        }
    });
}

fn waiting_without_a_wake_ends_after_a_second(f: &Fixture) {
    block_on(async {
        let begun = Instant::now();
        f.store.due().await;
        f.store.due().await;
        assert!(begun.elapsed() < Duration::from_millis(2500), "{:?}", begun.elapsed());
        let store = f.store.clone();
        let waiting = tokio::spawn(async move {
            store.due().await;
            Instant::now()
        });
        tokio::time::sleep(Duration::from_millis(50)).await;
        let woken = Instant::now();
        f.store.wake();
        assert!(waiting.await.expect("a task").duration_since(woken) < SOON);
    });
}

#[test]
fn a_commit_on_another_node_wakes() {
    let f = Fixture::postgres();
    let other = f.node("b");
    block_on(async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let mut due = other.watch();
        due.wait().await;
        assert!(tokio::time::timeout(SOON, due.wait()).await.is_err(), "nothing happened");
        f.store.wake();
        tokio::time::timeout(Duration::from_secs(2), due.wait()).await.expect("it hears the other node");
    });
}

#[test]
fn a_listener_that_lost_its_connection_listens_again() {
    let f = Fixture::postgres();
    let other = f.node("b");
    block_on(async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let mut due = other.watch();
        due.wait().await;
        server::admin(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' OR query LIKE 'NOTIFY%'",
        );
        // What was said meanwhile is not known: the new connection wakes by itself.
        tokio::time::timeout(Duration::from_secs(5), due.wait()).await.expect("it connected again");
        tokio::time::sleep(Duration::from_millis(1500)).await;
        let mut due = other.watch();
        due.wait().await;
        f.store.wake();
        tokio::time::timeout(Duration::from_secs(3), due.wait()).await.expect("it hears the other node again");
    });
}
