//! `POST /api/v1/messages/{id}/redeliver`: offers a parked message to its consumer again (IN-33).

use axum::Json;
use axum::extract::{Extension, Path, Request, State};
use serde::Deserialize;
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::authority::Producer;
use super::problem::Problem;
use super::state::Shared;
use super::{lookup, order, resend};
use crate::store::{At, Direction, delivery, event};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Order {
    reason: Option<String>,
}

pub(super) async fn redeliver(
    State(api): State<Shared>,
    Extension(producer): Extension<Producer>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Json<Value>, Problem> {
    let order: Order = order::read(request.into_body()).await?;
    let text = format!("redelivery asked for by {}{}", producer.0, resend::reason(order.reason)?);
    let now = At::from(OffsetDateTime::now_utc());
    let (id, state) = api
        .gateway
        .store
        .write::<_, Problem, _>(move |tx| {
            let message = match lookup::message(tx, &id, Some(Direction::In)) {
                Ok(message) => message,
                Err(_) => lookup::message(tx, &id, None)?,
            };
            if delivery::redeliver(tx, &message.id, now)? == 0 {
                let detail = format!("no delivery of {} has failed; it is {}", message.message_id, message.state);
                return Err(Problem::new(409, "message.state", detail));
            }
            event::add(tx, &message.id, now, "act.redeliver", &text)?;
            let after = lookup::message(tx, &message.id, None)?;
            Ok((after.message_id, after.state))
        })
        .await?;
    api.gateway.store.wake();
    Ok(Json(json!({"schema": "postrider.redelivery/1", "id": id, "state": state})))
}
