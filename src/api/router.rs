//! The routes of the admin listener.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::Uri;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};

use super::problem::{self, Problem};
use super::state::{Api, ApiState, Shared};
use super::{
    attempts, authority, exchanges, explain, health, list, numbers, payload, pmodes, receipt, redeliver, rejected,
    resend, show, submit, timeline,
};
use crate::config::nearest;

/// Every path, for the hint of a 404.
const PATHS: [&str; 19] = [
    "/api/v1/messages",
    "/api/v1/messages/{}",
    "/api/v1/messages/{}/timeline",
    "/api/v1/messages/{}/attempts",
    "/api/v1/messages/{}/explain",
    "/api/v1/messages/{}/receipt",
    "/api/v1/messages/{}/exchanges",
    "/api/v1/messages/{}/exchanges/{}/request",
    "/api/v1/messages/{}/exchanges/{}/answer",
    "/api/v1/messages/{}/payloads/{}",
    "/api/v1/messages/{}/resend",
    "/api/v1/messages/{}/redeliver",
    "/api/v1/rejected",
    "/api/v1/rejected/{}/request",
    "/api/v1/pmodes",
    "/api/v1/pmodes/reload",
    "/health/live",
    "/health/ready",
    "/metrics",
];

/// The admin listener's routes. They need a runtime of several threads: payloads are packed where they arrive.
pub fn router(state: ApiState) -> Router {
    let api: Shared = Arc::new(Api::from(state));
    let guarded = Router::new()
        .route("/api/v1/messages", post(submit::submit).get(list::list))
        .route("/api/v1/messages/{id}", get(show::show))
        .route("/api/v1/messages/{id}/timeline", get(timeline::timeline))
        .route("/api/v1/messages/{id}/attempts", get(attempts::attempts))
        .route("/api/v1/messages/{id}/explain", get(explain::explain))
        .route("/api/v1/messages/{id}/receipt", get(receipt::receipt))
        .route("/api/v1/messages/{id}/exchanges", get(exchanges::exchanges))
        .route("/api/v1/messages/{id}/exchanges/{n}/{side}", get(exchanges::octets))
        .route("/api/v1/messages/{id}/payloads/{position}", get(payload::payload))
        .route("/api/v1/messages/{id}/resend", post(resend::resend))
        .route("/api/v1/messages/{id}/redeliver", post(redeliver::redeliver))
        .route("/api/v1/rejected", get(rejected::rejected))
        .route("/api/v1/rejected/{id}/{side}", get(rejected::octets))
        .route("/api/v1/pmodes", get(pmodes::pmodes))
        .route("/api/v1/pmodes/reload", post(pmodes::reload))
        .route_layer(from_fn_with_state(Arc::clone(&api), authority::authority));
    guarded
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .route("/metrics", get(numbers::numbers))
        .fallback(lost)
        // Each endpoint that reads a body has a limit of its own.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn(problem::complete))
        .with_state(api)
}

/// A path that leads nowhere, with the nearest that does.
async fn lost(uri: Uri) -> Problem {
    let path = uri.path();
    let known: Vec<String> = PATHS.iter().map(|pattern| filled(pattern, path)).collect();
    let hint =
        nearest(path, known.iter().map(String::as_str)).map_or_else(String::new, |n| format!("; did you mean {n}?"));
    Problem::not_found(format!("there is nothing at {path}{hint}"))
}

/// A pattern with the path's own segments in its places.
fn filled(pattern: &str, path: &str) -> String {
    let mut own = path.split('/');
    let segments: Vec<&str> = pattern
        .split('/')
        .map(|segment| {
            let own = own.next().unwrap_or("…");
            if segment == "{}" { own } else { segment }
        })
        .collect();
    segments.join("/")
}
