//! A process is killed while it writes: what it was told is there is there, and nothing is there by half.

use std::fs::OpenOptions;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use postrider::store::inbox::{self, Accepted};
use postrider::store::{Direction, Store, StoreError, StoreOptions, message};

use crate::fixture::{Fixture, at, both, received, reply, row};

both!(nothing_that_was_answered_is_missing_after_a_kill);

const URL: &str = "POSTRIDER_TEST_CHILD_STORE";
const LOG: &str = "POSTRIDER_TEST_CHILD_LOG";

/// The child's part: writes until it is killed, and says so after each answer. Without its variables it has no part.
#[test]
fn child() {
    let (Ok(url), Ok(log)) = (std::env::var(URL), std::env::var(LOG)) else { return };
    let store = Store::open(&StoreOptions { url, node: "a".to_owned(), connections: 8, group: 256 }).expect("a store");
    let log = OpenOptions::new().append(true).open(log).expect("the log");
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let (store, mut log) = (store.clone(), log.try_clone().expect("the log again"));
            std::thread::spawn(move || {
                for n in 0.. {
                    let id = format!("{writer}-{n}");
                    accept(&store, &id);
                    log.write_all(format!("{id}\n").as_bytes()).expect("a line");
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().expect("a writer");
    }
}

fn accept(store: &Store, id: &str) {
    let key = inbox::Received { message: Some(id.to_owned()), ..received("s", id, "p", "d") };
    let answer = reply(&key, id);
    let id = id.to_owned();
    let accepted = store.write_blocking::<_, StoreError, _>(move |tx| {
        inbox::accept(tx, &key, &answer, |tx| {
            message::insert(tx, &row(&id, Direction::In, "received", "p", at(0)), &[])
        })
    });
    assert_eq!(accepted.expect("a transaction"), Accepted::First);
}

// IN-06, IN-07, OUT-09
fn nothing_that_was_answered_is_missing_after_a_kill(f: &Fixture) {
    let dir = tempfile::tempdir().expect("a folder");
    let log = dir.path().join("log");
    std::fs::write(&log, "").expect("the log");
    let mut url = f.options.url.clone();
    if f.store.is_sqlite() {
        // The fixture has its own file open.
        url = format!("sqlite:{}", dir.path().join("store.db").display());
    }
    let options = StoreOptions { url: url.clone(), ..f.options.clone() };
    if f.store.is_sqlite() {
        Store::open(&options).expect("a store").migrate().expect("its tables");
    }
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "kill::child", "--nocapture"])
        .env(URL, &url)
        .env(LOG, &log)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a child");
    let begun = Instant::now();
    let lines = || std::fs::read_to_string(&log).expect("the log").lines().map(str::to_owned).collect::<Vec<_>>();
    while lines().len() < 300 && begun.elapsed() < Duration::from_mins(1) {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("a kill");
    child.wait().expect("its end");
    let answered = lines();
    assert!(answered.len() >= 300, "{} answers in {:?}", answered.len(), begun.elapsed());
    let store = Store::open(&options).expect("the file is free");
    compare(&store, &answered);
}

fn compare(store: &Store, answered: &[String]) {
    let all = message::Filter { limit: 1_000_000, ..message::Filter::default() };
    let there = store
        .read_blocking::<_, StoreError>(|tx| {
            // A dead client's last transaction may end a moment after it.
            let messages = message::list(tx, &all)?;
            for message in &messages {
                assert_eq!(
                    inbox::message_of(tx, "s", &message.id)?.as_deref(),
                    Some(message.id.as_str()),
                    "key and effect"
                );
            }
            for id in answered {
                assert_eq!(inbox::message_of(tx, "s", id)?.as_deref(), Some(id.as_str()), "it was answered");
            }
            Ok(messages.into_iter().map(|m| m.id).collect::<std::collections::BTreeSet<_>>())
        })
        .expect("a reading");
    for id in answered {
        assert!(there.contains(id), "{id} was answered");
    }
}
