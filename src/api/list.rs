//! `GET /api/v1/messages`: finds messages, newest first, a page at a time.

use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use serde_json::{Value, json};

use super::problem::Problem;
use super::query::Query;
use super::state::Shared;
use super::{cursor, filter, show};
use crate::store::message;

const PARAMETERS: [&str; 8] = ["q", "state", "direction", "partner", "pmode", "message_id", "limit", "cursor"];

pub(super) async fn list(State(api): State<Shared>, uri: Uri) -> Result<Json<Value>, Problem> {
    let query = Query::read(&uri, &PARAMETERS)?;
    let mut filter = filter::read(&query)?;
    filter.before = query.one("cursor")?.map(cursor::read).transpose()?;
    let limit = query.number("limit", 1..=500, 50)?;
    // One row more than asked for tells whether there is another page.
    filter.limit = limit + 1;
    let mut rows = api.gateway.store.read::<_, Problem, _>(move |tx| Ok(message::list(tx, &filter)?)).await?;
    let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = rows.len() > wanted;
    rows.truncate(wanted);
    let next = rows.last().filter(|_| more).map(cursor::behind);
    let messages: Vec<_> = rows.iter().map(show::head).collect();
    Ok(Json(json!({"schema": "postrider.messages/1", "messages": messages, "next": next})))
}
