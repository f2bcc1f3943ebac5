//! `GET /api/v1/pmodes`: the P-Modes in force. `POST /api/v1/pmodes/reload`: reads them again.

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::Uri;
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::authority::Producer;
use super::problem::Problem;
use super::query::Query;
use super::state::Shared;
use crate::ebms::Typed;
use crate::emit;
use crate::gateway::AgreementsError;
use crate::pmode::{PMode, PartySpec};
use crate::telemetry::{event, metrics};

pub(super) async fn pmodes(State(api): State<Shared>, uri: Uri) -> Result<Json<Value>, Problem> {
    Query::read(&uri, &[])?;
    let set = api.gateway.agreements.current();
    let parties = api.gateway.parties.load();
    let ours = |party: &PartySpec| parties.with_id(&party.ids).is_some();
    let rows: Vec<_> =
        set.iter().map(|pmode| described(pmode, ours(&pmode.initiator), ours(&pmode.responder))).collect();
    let warnings: Vec<_> = set.warnings().iter().map(ToString::to_string).collect();
    Ok(Json(json!({"schema": "postrider.pmodes/1", "pmodes": rows, "warnings": warnings})))
}

fn described(pmode: &PMode, sends: bool, receives: bool) -> Value {
    let typed = |value: &Option<Typed>| value.as_ref().map(|t| json!({"value": t.value, "type": t.kind}));
    let party = |party: &PartySpec| -> Vec<_> {
        party.ids.iter().map(|id| json!({"value": id.value, "type": id.kind})).collect()
    };
    let leg = &pmode.leg;
    json!({
        "id": pmode.id,
        "revision": pmode.revision,
        "file": pmode.file.display().to_string(),
        "profile": pmode.profile,
        "agreement": typed(&pmode.agreement),
        "initiator": party(&pmode.initiator),
        "responder": party(&pmode.responder),
        "sends": sends,
        "receives": receives,
        "service": typed(&leg.business.service),
        "action": leg.business.action,
        "address": leg.protocol.address,
        "signed": leg.security.sign.is_some(),
        "encrypted": leg.security.encrypt.is_some(),
        "compressed": leg.compress,
    })
}

pub(super) async fn reload(
    State(api): State<Shared>,
    Extension(producer): Extension<Producer>,
) -> Result<Json<Value>, Problem> {
    let gateway = std::sync::Arc::clone(&api.gateway);
    let work = tokio::task::spawn_blocking(move || gateway.agreements.reload(OffsetDateTime::now_utc()));
    let loaded = work.await.map_err(|e| Problem::new(500, "pmode.reload_refused", e.to_string()))?;
    match loaded {
        Ok(count) => {
            metrics::config_revision().increment(1.0);
            emit!(event::PMODE_RELOADED, { count }, "{count} P-Modes loaded, asked for by {}", producer.0);
            Ok(Json(json!({"schema": "postrider.reload/1", "loaded": count})))
        }
        Err(error) => {
            metrics::config_reload_failures_total().increment(1);
            let problems: Vec<_> = match &error {
                AgreementsError::PModes(all) => all.iter().map(ToString::to_string).collect(),
                AgreementsError::Folder { .. } => vec![error.to_string()],
            };
            Err(Problem::event(422, event::PMODE_RELOAD_REFUSED, error.to_string())
                .with("problems", problems)
                .next("mend the files it names; until then the old P-Modes stay in force"))
        }
    }
}
