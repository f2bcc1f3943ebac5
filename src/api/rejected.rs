//! `GET /api/v1/rejected`: requests that became no message, and why.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::Uri;
use axum::response::Response;
use serde_json::{Value, json};

use super::exchanges;
use super::problem::Problem;
use super::query::Query;
use super::state::Shared;
use crate::store::exchange;

pub(super) async fn rejected(State(api): State<Shared>, uri: Uri) -> Result<Json<Value>, Problem> {
    let limit = Query::read(&uri, &["limit"])?.number("limit", 1..=500, 50)?;
    let rows = api.gateway.store.read::<_, Problem, _>(move |tx| Ok(exchange::refusals(tx, limit)?)).await?;
    Ok(Json(json!({"schema": "postrider.rejected/1", "rejected": rows})))
}

/// `…/rejected/{incident}/request` and `/answer`: the octets.
pub(super) async fn octets(
    State(api): State<Shared>,
    Path((id, side)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let found =
        api.gateway
            .store
            .read::<_, Problem, _>(move |tx| {
                if id.contains(char::is_control) { Ok(None) } else { Ok(exchange::refused(tx, &id)?) }
            })
            .await?;
    exchanges::kept(found.ok_or_else(|| Problem::not_found("no refused exchange has that id"))?, &side)
}
