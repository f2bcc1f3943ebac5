//! `GET /api/v1/messages/{id}/receipt`: the receipt as it came, octet by octet: the proof.

use axum::extract::{Path, State};
use axum::response::Response;

use super::lookup;
use super::payload::download;
use super::problem::Problem;
use super::state::Shared;
use crate::store::message;

pub(super) async fn receipt(State(api): State<Shared>, Path(id): Path<String>) -> Result<Response, Problem> {
    let (message, soap) = api
        .gateway
        .store
        .read::<_, Problem, _>(move |tx| {
            let message = lookup::message(tx, &id, None)?;
            let soap = message::receipt(tx, &message.id)?;
            Ok((message, soap))
        })
        .await?;
    match soap {
        Some(soap) => Ok(download("application/soap+xml", "receipt.xml", soap)),
        None => Err(Problem::not_found(format!("{} has no receipt; it is {}", message.message_id, message.state))),
    }
}
