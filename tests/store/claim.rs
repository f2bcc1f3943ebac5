//! Claims: oldest first, fair across partners, whatever waits behind one that is dead.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use postrider::store::sender_log::{self, Sending};
use postrider::store::{At, Outgoing, StoreError};

use crate::fixture::{Fixture, at, both, claim, ended};

both!(
    the_oldest_due_row_is_claimed_first,
    a_row_is_not_claimed_before_it_is_due,
    rows_of_a_dead_partner_do_not_fill_the_claim,
    what_this_node_holds_counts_for_its_partner,
    more_partners_than_a_claim_takes_each_have_their_turn,
    a_claim_counts_and_records_the_attempt,
    a_hundred_thousand_rows_of_one_partner_do_not_slow_the_claim,
    two_nodes_never_claim_the_same_row,
    the_next_due_row_is_known,
);

fn keys(rows: &[Sending]) -> Vec<&str> {
    rows.iter().map(|row| row.key.as_str()).collect()
}

fn the_oldest_due_row_is_claimed_first(f: &Fixture) {
    for (key, due) in [("c", 30), ("a", 10), ("d", 40), ("b", 20)] {
        f.submitted(key, "them", at(due));
    }
    assert_eq!(keys(&f.claim(at(100), 3, 10)), ["a", "b", "c"]);
    assert_eq!(keys(&f.claim(at(100), 3, 10)), ["d"]);
    assert!(f.claim(at(100), 3, 10).is_empty());
}

// OUT-19
fn a_row_is_not_claimed_before_it_is_due(f: &Fixture) {
    f.submitted("1", "them", at(60));
    assert!(f.claim(at(59), 10, 10).is_empty());
    assert_eq!(keys(&f.claim(at(60), 10, 10)), ["1"]);
}

// OUT-30
fn rows_of_a_dead_partner_do_not_fill_the_claim(f: &Fixture) {
    for n in 0..10 {
        f.submitted(&format!("dead{n}"), "dead", at(n));
    }
    f.submitted("live", "live", at(50));
    assert_eq!(keys(&f.claim(at(100), 5, 2)), ["dead0", "dead1", "live"]);
}

// OUT-30: a partner that answers slowly holds its own share, whatever the number of claims.
fn what_this_node_holds_counts_for_its_partner(f: &Fixture) {
    for n in 0..10 {
        f.submitted(&format!("dead{n}"), "dead", at(n));
    }
    let held = f.claim(at(100), 5, 2);
    assert_eq!(held.len(), 2);
    assert!(f.claim(at(100), 5, 2).is_empty());
    let row = held[0].clone();
    assert!(f.write(move |tx| sender_log::conclude(tx, &row, &ended(Outgoing::Pending, Some(at(500))), at(101))));
    assert_eq!(keys(&f.claim(at(102), 5, 2)), ["dead2"]);
}

fn more_partners_than_a_claim_takes_each_have_their_turn(f: &Fixture) {
    for n in 0..20 {
        f.submitted(&format!("p{n}-1"), &format!("p{n}"), at(n));
        f.submitted(&format!("p{n}-2"), &format!("p{n}"), at(n));
    }
    let mut seen = BTreeSet::new();
    for _ in 0..5 {
        let rows = f.claim(at(100), 4, 1);
        assert_eq!(rows.len(), 4);
        seen.extend(rows.into_iter().map(|row| row.partner));
    }
    assert_eq!(seen.len(), 20);
}

// OUT-28
fn a_claim_counts_and_records_the_attempt(f: &Fixture) {
    f.submitted("1", "them", at(0));
    for n in 1..=3 {
        let rows = f.claim(at(n * 100), 10, 10);
        assert_eq!(rows.len(), 1);
        let row = rows[0].clone();
        assert_eq!((row.attempt_count, row.fence, row.status.as_str()), (i32::try_from(n).expect("few"), n, "sending"));
        assert_eq!((row.lease_owner.as_deref(), row.boot_id.as_deref()), (Some("a"), Some(f.store.boot())));
        assert_eq!(f.message(&row.message).state, "sending");
        let due = Some(at(n * 100 + 50));
        assert!(f.write(move |tx| sender_log::conclude(tx, &row, &ended(Outgoing::Pending, due), at(n * 100 + 1))));
    }
    let attempts = f.read(|tx| sender_log::attempts(tx, "row-erp-1"));
    assert_eq!(attempts.iter().map(|a| a.number).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(attempts.iter().all(|a| a.outcome.as_deref() == Some("retry") && a.node == "a" && a.ended_at.is_some()));
}

// OUT-30
fn a_hundred_thousand_rows_of_one_partner_do_not_slow_the_claim(f: &Fixture) {
    f.backlog("dead", 100_000);
    f.submitted("live", "live", at(1));
    let begun = Instant::now();
    for round in 0..20 {
        let rows = f.claim(at(1000), 16, 8);
        assert_eq!(rows.len(), if round == 0 { 9 } else { 0 }, "round {round}");
    }
    // 20 claims: a walk over the backlog in each would take some seconds.
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    let begun = Instant::now();
    assert_eq!(f.read(sender_log::next_due), Some(at(0)));
    assert!(begun.elapsed() < Duration::from_millis(200), "{:?}", begun.elapsed());
}

// IN-32, OUT-11
fn two_nodes_never_claim_the_same_row(f: &Fixture) {
    if f.store.is_sqlite() {
        // One process a file: see `takeover`.
        return;
    }
    for partner in ["p", "q", "r"] {
        f.backlog(partner, 200);
    }
    let claims: Vec<_> = ["a", "b", "c", "d"]
        .map(|name| {
            let node = f.node(name);
            std::thread::spawn(move || {
                let mut mine = Vec::new();
                loop {
                    let rows = claim(&node, at(1000), 7, 1000);
                    if rows.is_empty() {
                        return mine;
                    }
                    mine.extend(rows.into_iter().map(|row| row.message));
                }
            })
        })
        .into_iter()
        .map(|thread| thread.join().expect("a node"))
        .collect();
    let all: Vec<_> = claims.iter().flatten().collect();
    assert_eq!(all.len(), 600);
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 600);
}

fn the_next_due_row_is_known(f: &Fixture) {
    assert_eq!(f.read(sender_log::next_due), None);
    for (key, partner, due) in [("1", "p", 30), ("2", "q", 20), ("3", "q", 40)] {
        f.submitted(key, partner, at(due));
    }
    assert_eq!(f.read(sender_log::next_due), Some(at(20)));
    f.claim(at(25), 10, 10);
    assert_eq!(f.read(sender_log::next_due), Some(at(30)));
    // A node that is claiming hides its row from the others, not from the clock.
    let due: Option<At> = f.store.read_blocking::<_, StoreError>(sender_log::next_due).expect("a reading");
    assert_eq!(due, Some(at(30)));
}
