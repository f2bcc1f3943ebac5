//! Many arrivals at once share their commits.

use std::time::Instant;

use postrider::store::inbox::{self, Accepted};
use postrider::store::{Direction, StoreError, delivery, message};

use crate::fixture::{Fixture, at, job, received, reply, row};

const TASKS: usize = 32;
const ACCEPTS: usize = 2000;

#[test]
fn two_thousand_accepts_by_32_tasks_share_their_commits() {
    let f = Fixture::sqlite();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let (before, begun) = (f.store.commits(), Instant::now());
    runtime.block_on(async {
        let tasks: Vec<_> = (0..TASKS)
            .map(|task| {
                let store = f.store.clone();
                tokio::spawn(async move {
                    for n in (task..ACCEPTS).step_by(TASKS) {
                        let id = n.to_string();
                        let key = received("as4:us:them", &id, "p", "d");
                        let answer = reply(&key, &"receipt".repeat(500));
                        let accepted = store.write::<_, StoreError, _>(move |tx| {
                            inbox::accept(tx, &key, &answer, |tx| {
                                message::insert(tx, &row(&id, Direction::In, "received", "them", at(0)), &[])?;
                                delivery::add(tx, &job(&id, "erp", at(0)))
                            })
                        });
                        assert_eq!(accepted.await.expect("a transaction"), Accepted::First);
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("a task");
        }
    });
    let commits = f.store.commits() - before;
    println!("{ACCEPTS} accepts in {commits} commits, {:?}", begun.elapsed());
    assert!(commits * 2 < ACCEPTS as u64, "{commits} commits");
}
