//! No statement of the daily work reads a whole table: every one that the store makes is shown to SQLite's planner.

use std::sync::{Arc, Mutex};

use diesel::connection::{Connection, InstrumentationEvent};
use diesel::prelude::*;
use diesel::sql_types::Text;
use postrider::store::exchange::{self, Quota};
use postrider::store::{At, Outgoing, StoreError, Tx, delivery, event, inbox, message, sender_log};

use crate::fixture::{Fixture, at, ended, received, reply};

const TABLES: [&str; 11] = [
    "inbox",
    "reply",
    "message",
    "part",
    "sender_log",
    "package",
    "receipt",
    "attempt",
    "exchange",
    "delivery",
    "event",
];

/// Indexes that may be read whole: they hold what is under way, or as much as the quota allows.
const SMALL: [&str; 3] = ["sender_log_held", "delivery_held", "exchange_kept"];

#[derive(QueryableByName)]
struct Step {
    #[diesel(sql_type = Text)]
    detail: String,
}

/// Runs the work and gives each statement with its plan.
fn plans(
    f: &Fixture,
    work: impl Fn(&mut Tx<'_>) -> Result<(), StoreError> + Send + 'static,
) -> Vec<(String, Vec<String>)> {
    f.write(move |tx| {
        let said = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&said);
        connection(tx).set_instrumentation(move |event: InstrumentationEvent<'_>| {
            if let InstrumentationEvent::StartQuery { query, .. } = event {
                heard.lock().expect("a list").push(query.to_string());
            }
        });
        work(tx)?;
        let c = connection(tx);
        c.set_instrumentation(|_: InstrumentationEvent<'_>| {});
        let said = said.lock().expect("a list").clone();
        let mut plans = Vec::new();
        for statement in said {
            let sql = statement.split(" -- binds").next().unwrap_or_default().to_owned();
            let steps: Vec<Step> = diesel::sql_query(format!("EXPLAIN QUERY PLAN {sql}")).load(c)?;
            plans.push((sql, steps.into_iter().map(|step| step.detail).collect()));
        }
        Ok(plans)
    })
}

fn connection<'t>(tx: &'t mut Tx<'_>) -> &'t mut diesel::SqliteConnection {
    let Tx::Sqlite(c) = tx else { unreachable!("SQLite") };
    c
}

/// Whether a step walks through a table.
fn is_walk(step: &str) -> bool {
    let mut words = step.split_whitespace();
    let scanned =
        words.next() == Some("SCAN") && words.next().is_some_and(|name| TABLES.contains(&name) || name == "r");
    scanned && !SMALL.iter().any(|index| step.contains(index))
}

fn check(plans: &[(String, Vec<String>)], sorted_lists: bool) {
    assert!(!plans.is_empty());
    for (sql, steps) in plans {
        for step in steps {
            let in_order = sorted_lists && step.contains("USING INDEX message_by_");
            // A page of an index that is in the page's order ends with its LIMIT.
            let page = sql.contains("LIMIT") && step.contains("USING INDEX exchange_refused");
            assert!(!is_walk(step) || in_order || page, "{step}\n{sql}\n{steps:#?}");
        }
    }
}

fn uses(plans: &[(String, Vec<String>)], index: &str) {
    assert!(plans.iter().any(|(_, steps)| steps.iter().any(|step| step.contains(index))), "{index}: {plans:#?}");
}

fn claims(tx: &mut Tx<'_>) -> Result<(), StoreError> {
    let now = at(100);
    let row = sender_log::claim(tx, "a", "boot", now, 10, 2)?.remove(0);
    sender_log::renew(tx, &row, now)?;
    sender_log::conclude(tx, &row, &ended(Outgoing::AwaitingReceipt, Some(now)), now)?;
    sender_log::overdue(tx, now, 10)?;
    sender_log::requeue(tx, &row.message, now)?;
    sender_log::next_due(tx)?;
    sender_log::release(tx, "a", "another", now)?;
    sender_log::attempts(tx, &row.message)?;
    let job = delivery::claim(tx, "a", "boot", now, 10, 2)?.remove(0);
    delivery::put_off(tx, &job, "no", Some(now), now)?;
    let job = delivery::claim(tx, "a", "boot", now, 10, 2)?.remove(0);
    delivery::settle(tx, &job, now)?;
    delivery::release(tx, "a", "another", now)?;
    delivery::redeliver(tx, "m", now)?;
    delivery::of_message(tx, "m")?;
    delivery::next_due(tx)?;
    Ok(())
}

// IN-13
#[test]
fn claims_conclusions_and_deliveries_use_indexes() {
    let f = Fixture::sqlite();
    f.submitted("1", "them", at(0));
    f.received("m", &["erp"], at(0));
    let plans = plans(&f, claims);
    check(&plans, false);
    for index in
        ["sender_log_due", "sender_log_held", "sender_log_overdue", "delivery_due", "delivery_held", "inbox_by_message"]
    {
        uses(&plans, index);
    }
}

// IN-13, IN-17
#[test]
fn arrivals_and_purges_use_indexes() {
    let f = Fixture::sqlite();
    let plans = plans(&f, |tx| {
        let key = inbox::Received { processed_at: Some(at(1)), ..received("s", "1", "p", "d") };
        for digests in ["d", "d", "e"] {
            let key = inbox::Received { digest_set: digests.to_owned(), ..key.clone() };
            inbox::accept(tx, &key, &reply(&key, "r"), |_| Ok::<_, StoreError>(()))?;
        }
        event::add(tx, "m", at(0), "receive.accepted", "")?;
        event::timeline(tx, "m")?;
        exchange::of_message(tx, "m")?;
        exchange::rejected(tx, 10)?;
        let far = At(at(0).0 + time::Duration::days(99));
        assert_eq!(inbox::purge(tx, far, far, 10)?, 1);
        Ok(())
    });
    check(&plans, false);
    uses(&plans, "inbox_received_at");
    uses(&plans, "exchange_refused");
}

#[test]
fn refusals_and_lists_use_indexes() {
    let f = Fixture::sqlite();
    let refused = plans(&f, |tx| {
        for n in 0..3 {
            let quota = Quota { octets: 15, per_peer: 60 };
            exchange::record_refused(tx, &crate::refused::refused(n, n, "192.0.2.1", 10), quota)?;
        }
        Ok(())
    });
    check(&refused, false);
    uses(&refused, "exchange_rate");
    let lists = plans(&f, |tx| {
        let filter = message::Filter { limit: 10, before: Some((at(0), "m".to_owned())), ..message::Filter::default() };
        message::list(tx, &filter)?;
        message::list(tx, &message::Filter { state: Some("failed".to_owned()), ..filter.clone() })?;
        message::list(tx, &message::Filter { partner: Some("p".to_owned()), ..filter.clone() })?;
        message::list(tx, &message::Filter { message_id: Some("1".to_owned()), ..filter })?;
        message::list(tx, &message::Filter { limit: 10, ..message::Filter::default() })?;
        message::find(tx, "m")?;
        message::parts(tx, "m")?;
        Ok(())
    });
    check(&lists, true);
    for (sql, steps) in &lists {
        assert!(
            !steps.iter().any(|s| s.contains("TEMP B-TREE FOR ORDER BY")) || sql.contains("message_id"),
            "{sql}\n{steps:#?}"
        );
    }
}

#[test]
fn a_walk_is_told_from_a_search() {
    assert!(is_walk("SCAN inbox"));
    assert!(is_walk("SCAN inbox USING INDEX inbox_received_at"));
    assert!(!is_walk("SEARCH inbox USING INDEX inbox_received_at (received_at<?)"));
    assert!(!is_walk("SCAN lanes"));
    assert!(!is_walk("SCAN sender_log USING INDEX sender_log_held"));
}
