//! `GET /health/live` and `GET /health/ready`: for whoever starts, stops and routes to processes. No token, no log line.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};

use super::state::{Api, Shared};

/// Time for each look.
const PATIENCE: Duration = Duration::from_secs(5);

/// The process turns.
pub(super) async fn live() -> Json<Value> {
    Json(json!({"status": "live"}))
}

/// Whether requests can be served, or everything that is in the way.
pub(super) async fn ready(State(api): State<Shared>) -> (StatusCode, Json<Value>) {
    let mut wrong = Vec::new();
    let mut told = |what: &str, why: Option<String>| {
        if let Some(why) = why {
            wrong.push(json!({"what": what, "why": why}));
        }
    };
    told("process", api.is_stopping().then(|| "it is stopping".to_owned()));
    let (database, payloads) = tokio::join!(database(&api), payloads(&api));
    told("database", database);
    told("payload store", payloads);
    if wrong.is_empty() {
        return (StatusCode::OK, Json(json!({"status": "ready", "wrong": []})));
    }
    (StatusCode::SERVICE_UNAVAILABLE, Json(json!({"status": "unready", "wrong": wrong})))
}

async fn database(api: &Api) -> Option<String> {
    match tokio::time::timeout(PATIENCE, api.gateway.store.ping()).await {
        Ok(answer) => answer.err().map(|e| e.to_string()),
        Err(_) => Some(format!("no answer within {} s", PATIENCE.as_secs())),
    }
}

async fn payloads(api: &Arc<Api>) -> Option<String> {
    let store = api.gateway.payloads.clone();
    let probe = tokio::task::spawn_blocking(move || store.probe());
    match tokio::time::timeout(PATIENCE, probe).await {
        Ok(Ok(answer)) => answer.err().map(|e| e.to_string()),
        Ok(Err(e)) => Some(e.to_string()),
        Err(_) => Some(format!("no answer within {} s", PATIENCE.as_secs())),
    }
}
