//! Ring 4: REST, one file an endpoint.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Multipart, Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

use crate::gateway::{Gateway, PartMeta, submit};
use crate::pmode::Wanted;
use crate::store::{StoreError, event, exchange, message, sender_log};
use crate::telemetry::metrics::Metrics;

/// What the endpoints share.
#[derive(Clone)]
pub struct ApiState {
    /// The gateway.
    pub gateway: Arc<Gateway>,
    /// The numbers.
    pub metrics: Metrics,
    /// Names and secrets of the tokens.
    pub tokens: Vec<(String, String)>,
    /// Whether the process is stopping.
    pub stopping: Arc<AtomicBool>,
}

/// The admin listener's routes.
pub fn router(state: ApiState) -> Router {
    Router::new()
        .route("/api/v1/messages", post(submit_message).get(list))
        .route("/api/v1/messages/{id}", get(show))
        .route("/api/v1/messages/{id}/timeline", get(timeline))
        .route("/api/v1/rejected", get(rejected))
        .route("/metrics", get(async |State(s): State<ApiState>| s.metrics.render()))
        .route("/health/live", get(async || "alive\n"))
        .route("/health/ready", get(ready))
        .layer(axum::extract::DefaultBodyLimit::disable())
        .with_state(state)
}

async fn ready(State(state): State<ApiState>) -> Response {
    let down = state.stopping.load(Ordering::Relaxed) || state.gateway.store.ping().await.is_err();
    if down { StatusCode::SERVICE_UNAVAILABLE.into_response() } else { "ready\n".into_response() }
}

type Problem = (StatusCode, String);

fn problem(status: StatusCode, detail: impl ToString) -> Problem {
    (status, json!({"status": status.as_u16(), "detail": detail.to_string()}).to_string())
}

fn caller(state: &ApiState, headers: &HeaderMap) -> Result<String, Problem> {
    let given = headers.get("authorization").and_then(|v| v.to_str().ok()).and_then(|v| v.strip_prefix("Bearer "));
    let found = state.tokens.iter().find(|(_, secret)| Some(secret.as_str()) == given);
    found.map(|(name, _)| name.clone()).ok_or_else(|| problem(StatusCode::UNAUTHORIZED, "a valid token is needed"))
}

async fn submit_message(
    State(state): State<ApiState>,
    headers: HeaderMap,
    multipart: Multipart,
) -> Result<Response, Problem> {
    let producer = caller(&state, &headers)?;
    let key = headers.get("idempotency-key").and_then(|v| v.to_str().ok()).map(str::to_owned);
    let (pmode, payloads) = read(multipart).await.map_err(|e| problem(StatusCode::BAD_REQUEST, e))?;
    let wanted = Wanted { pmode, ..Wanted::default() };
    let failed = |e: submit::SubmitError| {
        let status = match &e {
            submit::SubmitError::OtherPayload { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            submit::SubmitError::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::BAD_REQUEST,
        };
        problem(status, e)
    };
    let pmode = submit::pmode_for(&state.gateway, &wanted).map_err(failed)?;
    let mut parts = Vec::new();
    for (position, (media_type, octets)) in payloads.into_iter().enumerate() {
        let meta = PartMeta { media_type, ..PartMeta::default() };
        let one = (|| {
            let mut part = submit::part(&state.gateway, &pmode, position, meta)?;
            part.push(&octets)?;
            part.finish()
        })();
        parts.push(one.map_err(|e| failed(e.into()))?);
    }
    let new = submit::NewMessage { producer, key, wanted, parts };
    let taken = submit::submit(&state.gateway, new).await.map_err(failed)?;
    let status = if taken.repeat { StatusCode::OK } else { StatusCode::CREATED };
    let body = json!({"schema": "postrider.submission/1", "id": taken.id, "key": taken.key, "state": taken.state});
    Ok((status, body.to_string()).into_response())
}

async fn read(mut multipart: Multipart) -> Result<(Option<String>, Vec<(String, Bytes)>), String> {
    let (mut pmode, mut payloads) = (None, Vec::new());
    while let Some(field) = multipart.next_field().await.map_err(|e| e.to_string())? {
        let media_type = field.content_type().unwrap_or("application/octet-stream").to_owned();
        let name = field.name().unwrap_or_default().to_owned();
        let octets = field.bytes().await.map_err(|e| e.to_string())?;
        if name == "payload" {
            payloads.push((media_type, octets));
        } else {
            let value: Value = serde_json::from_slice(&octets).map_err(|e| e.to_string())?;
            pmode = value["pmode"].as_str().map(str::to_owned);
        }
    }
    Ok((pmode, payloads))
}

fn unavailable(error: StoreError) -> Problem {
    problem(StatusCode::SERVICE_UNAVAILABLE, error)
}

async fn list(
    State(state): State<ApiState>,
    headers: HeaderMap,
    Query(query): Query<std::collections::HashMap<String, String>>,
) -> Result<String, Problem> {
    caller(&state, &headers)?;
    let filter = message::Filter {
        direction: query.get("direction").cloned(),
        state: query.get("state").cloned(),
        partner: query.get("partner").cloned(),
        pmode: query.get("pmode").cloned(),
        message_id: query.get("message_id").cloned(),
        before: None,
        limit: 100,
    };
    let rows = state.gateway.store.read(move |tx| message::list(tx, &filter)).await.map_err(unavailable)?;
    let rows: Vec<_> = rows.iter().map(described).collect();
    Ok(json!({"schema": "postrider.messages/1", "messages": rows, "next": null}).to_string())
}

fn described(m: &message::Message) -> Value {
    json!({"id": m.message_id, "direction": m.direction, "state": m.state, "partner": m.partner, "pmode": m.pmode,
           "service": m.service, "action": m.action, "created_at": m.created_at, "updated_at": m.updated_at,
           "size": m.size, "error": m.error})
}

async fn show(State(state): State<ApiState>, headers: HeaderMap, Path(id): Path<String>) -> Result<String, Problem> {
    caller(&state, &headers)?;
    let found = state
        .gateway
        .store
        .read::<_, StoreError, _>(move |tx| {
            let Some(row) = message::find(tx, &id)? else { return Ok(None) };
            let attempts = sender_log::attempts(tx, &row.id)?;
            Ok(Some((row, attempts)))
        })
        .await
        .map_err(unavailable)?;
    let (row, attempts) = found.ok_or_else(|| problem(StatusCode::NOT_FOUND, "no such message"))?;
    let mut value = described(&row);
    value["schema"] = json!("postrider.message/1");
    value["attempts"] = json!(attempts);
    Ok(value.to_string())
}

async fn timeline(
    State(state): State<ApiState>,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<String, Problem> {
    caller(&state, &headers)?;
    let events = state
        .gateway
        .store
        .read::<_, StoreError, _>(move |tx| {
            let Some(row) = message::find(tx, &id)? else { return Ok(Vec::new()) };
            event::timeline(tx, &row.id)
        })
        .await
        .map_err(unavailable)?;
    Ok(json!({"schema": "postrider.timeline/1", "events": events}).to_string())
}

async fn rejected(State(state): State<ApiState>, headers: HeaderMap) -> Result<String, Problem> {
    caller(&state, &headers)?;
    let rows = state.gateway.store.read(|tx| exchange::rejected(tx, 100)).await.map_err(unavailable)?;
    let rows: Vec<_> = rows
        .iter()
        .map(|r| {
            json!({"id": r.id, "at": r.at, "peer": r.peer, "message_id": r.message_id, "code": r.code,
                       "reason": r.reason})
        })
        .collect();
    Ok(json!({"schema": "postrider.rejected/1", "rejected": rows}).to_string())
}
