//! `GET /metrics`: the numbers, with the gauges as they are now.

use axum::extract::State;
use axum::http::{HeaderName, header};

use super::state::{Api, Shared};
use crate::store::{StoreError, message};
use crate::telemetry::metrics;

/// Queues by direction, with the states in which a row waits, or has failed and waits for a person.
const QUEUES: [(&str, &str, &[&str]); 2] = [
    ("out", "send", &["pending", "sending", "awaiting_receipt", "failed"]),
    ("in", "deliver", &["received", "delivering", "failed"]),
];

pub(super) async fn numbers(State(api): State<Shared>) -> ([(HeaderName, &'static str); 1], String) {
    refresh(&api).await;
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], api.metrics.render())
}

/// A database that is away leaves the gauges as they were; the other numbers are shown all the same.
async fn refresh(api: &Api) {
    let Ok(counts) = api.gateway.store.read::<_, StoreError, _>(message::counts).await else {
        metrics::store_errors_total("metrics").increment(1);
        return;
    };
    for (direction, queue, states) in QUEUES {
        for state in states {
            let count = counts.iter().find(|(d, s, _)| d == direction && s == state).map_or(0, |(_, _, n)| *n);
            metrics::queue_messages(queue, state).set(f64::from(u32::try_from(count).unwrap_or(u32::MAX)));
        }
    }
}
