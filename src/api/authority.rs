//! Who calls: the bearer token's name is the producer.

use std::net::SocketAddr;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::problem::Problem;
use super::state::Shared;
use crate::telemetry::event;

/// The caller: the name of its token.
#[derive(Clone, Debug)]
pub(super) struct Producer(pub(super) String);

/// Lets nobody in without a token.
pub(super) async fn authority(State(api): State<Shared>, mut request: Request, next: Next) -> Response {
    let secret = bearer(request.headers());
    let Some(name) = secret.and_then(|secret| api.token(secret)) else {
        return denied(&request, secret.is_some()).into_response();
    };
    request.extensions_mut().insert(Producer(name.to_owned()));
    next.run(request).await
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, secret) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("Bearer").then(|| secret.trim())
}

fn denied(request: &Request, given: bool) -> Problem {
    let peer =
        request.extensions().get::<ConnectInfo<SocketAddr>>().map_or_else(String::new, |c| format!(" from {}", c.0));
    let what = if given { "the token is not one of [[admin.token]]" } else { "no bearer token came with the request" };
    Problem::event(401, event::ADMIN_DENIED, format!("{what}{peer}"))
        .header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"postrider\""))
        .next("send `Authorization: Bearer …` with a token of [[admin.token]]; commands take --token-file or POSTRIDER_TOKEN_FILE")
}
