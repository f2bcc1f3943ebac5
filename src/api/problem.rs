//! Refusals as problem documents (RFC 9457), and what every answer carries.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::emit;
use crate::store::StoreError;
use crate::telemetry::event::{self, Event};

/// Why a request is refused. The document is made by [`complete`], which knows the incident.
#[derive(Clone, Debug)]
pub(super) struct Problem(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    status: StatusCode,
    code: &'static str,
    detail: String,
    next: Option<String>,
    headers: HeaderMap,
    more: Map<String, Value>,
    event: Option<Event>,
}

impl Problem {
    /// A refusal: an HTTP status from 400 on, a stable code, and a sentence.
    pub(super) fn new(status: u16, code: &'static str, detail: impl Into<String>) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let (headers, more) = (HeaderMap::new(), Map::new());
        Self(Box::new(Inner { status, code, detail: detail.into(), next: None, headers, more, event: None }))
    }

    /// A refusal that is an event of the catalogue: it has its code and is logged.
    pub(super) fn event(status: u16, event: Event, detail: impl Into<String>) -> Self {
        let mut problem = Self::new(status, event.code, detail);
        problem.0.event = Some(event);
        problem
    }

    /// A request that cannot be understood.
    pub(super) fn bad(detail: impl Into<String>) -> Self {
        Self::new(400, "request.malformed", detail)
    }

    /// Something that is not there.
    pub(super) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(404, "request.not_found", detail)
    }

    /// What the caller can do.
    #[must_use]
    pub(super) fn next(mut self, act: impl Into<String>) -> Self {
        self.0.next = Some(act.into());
        self
    }

    /// When it may work.
    #[must_use]
    pub(super) fn retry_after(self, seconds: u64) -> Self {
        self.header(header::RETRY_AFTER, HeaderValue::from(seconds))
    }

    /// A header of the answer.
    #[must_use]
    pub(super) fn header(mut self, name: header::HeaderName, value: HeaderValue) -> Self {
        self.0.headers.insert(name, value);
        self
    }

    /// A further member of the document.
    #[must_use]
    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.more.insert(name.to_owned(), value.into());
        self
    }

    fn document(self, incident: &str, path: &str) -> Value {
        let Inner { status, code, detail, next, more, .. } = *self.0;
        let next = next.unwrap_or_else(|| remedy(code).to_owned());
        let mut document = json!({
            "type": "about:blank",
            "title": status.canonical_reason().unwrap_or_default(),
            "status": status.as_u16(),
            "detail": detail,
            "code": code,
            "next": next,
            "incident": incident,
            "instance": path,
        });
        if let Some(members) = document.as_object_mut() {
            members.extend(more);
            members.retain(|_, value| !value.is_null());
        }
        document
    }
}

/// What to do about a refusal that does not say it by itself.
fn remedy(code: &str) -> &'static str {
    match code {
        "request.not_found" => "list what there is: GET /api/v1/messages, /api/v1/rejected, /api/v1/pmodes",
        "request.method" => "take a method of the header `Allow`",
        "submit.too_large" => {
            "send less in one message, or agree on more: maxSize of the P-Mode, [msh.limits] of the gateway"
        }
        "message.state" => "look at the message: GET /api/v1/messages/{id}",
        "store.unavailable" => "send it again after `Retry-After`; the gateway's log has the cause under the incident",
        _ => "correct what the detail names and send it again; nothing of it was stored",
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        if let StoreError::Move { .. } = error {
            return Self::new(409, "message.state", error.to_string());
        }
        let unknown = matches!(error, StoreError::OutcomeUnknown(_));
        let problem = Self::event(503, event::STORE_UNAVAILABLE, error.to_string()).retry_after(5);
        if unknown { problem.next("repeat it with the same Idempotency-Key: it cannot happen twice") } else { problem }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.0.status, self.0.headers.clone()).into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Gives every answer its id, and every refusal its document: also those that the framework makes.
pub(super) async fn complete(request: Request, next: Next) -> Response {
    let incident = Uuid::now_v7().simple().to_string();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let mut response = next.run(request).await;
    let status = response.status();
    let mut problem = response.extensions_mut().remove::<Problem>();
    if problem.is_none() && (status.is_client_error() || status.is_server_error()) {
        // A readiness answer is a document of its own.
        let own = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
        if !own {
            problem = Some(foreign(&mut response, method.as_str(), &path).await);
        }
    }
    if let Some(problem) = problem {
        log(&problem, &incident, &path);
        *response.body_mut() = Body::from(problem.document(&incident, &path).to_string());
        let headers = response.headers_mut();
        headers.remove(header::CONTENT_LENGTH);
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    }
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(&incident) {
        headers.insert("x-request-id", id);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A refusal of the framework's: its text becomes the detail.
async fn foreign(response: &mut Response, method: &str, path: &str) -> Problem {
    let status = response.status();
    if status == StatusCode::METHOD_NOT_ALLOWED {
        let allowed = response.headers().get(header::ALLOW).and_then(|v| v.to_str().ok()).unwrap_or("nothing");
        return Problem::new(405, "request.method", format!("{path} answers {allowed}, not {method}"));
    }
    let body = std::mem::take(response.body_mut());
    let text = to_bytes(body, 4096).await.map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default();
    let detail = if text.is_empty() { status.to_string() } else { text };
    Problem::new(status.as_u16(), "request.refused", detail)
}

fn log(problem: &Problem, incident: &str, path: &str) {
    if let Some(event) = problem.0.event {
        emit!(event, { incident, status = problem.0.status.as_u16() }, "{path}: {}", problem.0.detail);
    }
}
