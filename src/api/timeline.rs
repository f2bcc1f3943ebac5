//! `GET /api/v1/messages/{id}/timeline`: what happened, oldest first.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::Uri;
use serde_json::{Value, json};

use super::problem::Problem;
use super::state::Shared;
use super::{lookup, show};
use crate::store::event;

pub(super) async fn timeline(
    State(api): State<Shared>,
    Path(id): Path<String>,
    uri: Uri,
) -> Result<Json<Value>, Problem> {
    let direction = show::direction(&uri)?;
    let (id, events) = api
        .gateway
        .store
        .read::<_, Problem, _>(move |tx| {
            let message = lookup::message(tx, &id, direction)?;
            Ok((message.message_id, event::timeline(tx, &message.id)?))
        })
        .await?;
    Ok(Json(json!({"schema": "postrider.timeline/1", "id": id, "events": events})))
}
