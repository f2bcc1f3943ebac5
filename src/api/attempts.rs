//! `GET /api/v1/messages/{id}/attempts`: each attempt to send a message, and what came of it.

use axum::Json;
use axum::extract::{Path, State};
use serde_json::{Value, json};

use super::lookup;
use super::problem::Problem;
use super::state::Shared;
use crate::store::sender_log;

pub(super) async fn attempts(State(api): State<Shared>, Path(id): Path<String>) -> Result<Json<Value>, Problem> {
    let (id, attempts) = api
        .gateway
        .store
        .read::<_, Problem, _>(move |tx| {
            let message = lookup::message(tx, &id, None)?;
            Ok((message.message_id, sender_log::attempts(tx, &message.id)?))
        })
        .await?;
    Ok(Json(json!({"schema": "postrider.attempts/1", "id": id, "attempts": attempts})))
}
