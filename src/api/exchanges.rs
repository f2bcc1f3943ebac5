//! `GET /api/v1/messages/{id}/exchanges`: the HTTP exchanges of a message, and what is kept of their octets.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::Uri;
use axum::response::Response;
use serde_json::{Value, json};

use super::payload::download;
use super::problem::Problem;
use super::query::unknown;
use super::state::{Api, Shared};
use super::{lookup, show};
use crate::store::Direction;
use crate::store::exchange::{self, Exchange};

pub(super) async fn exchanges(
    State(api): State<Shared>,
    Path(id): Path<String>,
    uri: Uri,
) -> Result<Json<Value>, Problem> {
    let (id, all) = load(&api, id, show::direction(&uri)?).await?;
    let rows: Vec<_> = (1..).zip(&all).map(|(n, one)| described(n, one)).collect();
    Ok(Json(json!({"schema": "postrider.exchanges/1", "id": id, "exchanges": rows})))
}

/// `…/exchanges/{n}/request` and `…/exchanges/{n}/answer`, from 1.
pub(super) async fn octets(
    State(api): State<Shared>,
    Path((id, n, side)): Path<(String, usize, String)>,
    uri: Uri,
) -> Result<Response, Problem> {
    let (id, all) = load(&api, id, show::direction(&uri)?).await?;
    let count = all.len();
    let one = n.checked_sub(1).and_then(|at| all.into_iter().nth(at));
    kept(one.ok_or_else(|| Problem::not_found(format!("{id} has {count} exchanges, counted from 1")))?, &side)
}

async fn load(api: &Api, id: String, direction: Option<Direction>) -> Result<(String, Vec<Exchange>), Problem> {
    api.gateway
        .store
        .read::<_, Problem, _>(move |tx| {
            let message = lookup::message(tx, &id, direction)?;
            Ok((message.message_id, exchange::of_message(tx, &message.id)?))
        })
        .await
}

fn described(n: usize, one: &Exchange) -> Value {
    json!({
        "n": n,
        "id": one.id,
        "at": one.at,
        "direction": one.direction,
        "verdict": one.verdict,
        "peer": one.peer,
        "code": one.code,
        "reason": one.reason,
        "answer_status": one.answer_status,
        "request": one.raw.is_some() || !one.soap.is_empty(),
        "answer": one.answer.is_some(),
    })
}

/// The octets of one side: the request's, or its SOAP part where the payloads are stored apart; the answer's body.
pub(super) fn kept(one: Exchange, side: &str) -> Result<Response, Problem> {
    let gone = |what: &str| Problem::new(410, "exchange.not_kept", format!("the {what} of this exchange was not kept"));
    match side {
        "request" => match one.raw {
            Some(raw) => Ok(download("application/octet-stream", "request.http", raw)),
            None if one.soap.is_empty() => Err(gone("request")),
            None => Ok(download("application/soap+xml", "request.xml", one.soap)),
        },
        "answer" => {
            let body = one.answer.ok_or_else(|| gone("answer"))?;
            Ok(download("application/octet-stream", "answer.http", body))
        }
        other => Err(unknown("side of an exchange", other, &["request", "answer"])),
    }
}
