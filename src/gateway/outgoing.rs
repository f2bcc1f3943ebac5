//! An outgoing message as it stands in the store: its row, its parts, what is frozen, and its P-Mode.

use std::sync::Arc;

use super::Gateway;
use crate::ebms::{MessageId, Party};
use crate::msh::conclude::Sent;
use crate::msh::package::{OutPart, Package};
use crate::pmode::{Leg, LegNumber, PMode};
use crate::store::sender_log::{self, Sending};
use crate::store::{Part, StoreError, message};
use crate::wss::Reference;

/// Everything that an attempt, or a receipt, needs.
#[derive(Debug)]
pub(super) struct Outbound {
    pub(super) row: Sending,
    pub(super) message_id: MessageId,
    pub(super) to: Party,
    pub(super) parts: Vec<Part>,
    pub(super) package: Package,
    pub(super) boundary: String,
    pub(super) root_id: String,
    pub(super) pmode: Arc<PMode>,
}

impl Outbound {
    /// The leg it is sent by.
    pub(super) fn leg(&self) -> &Leg {
        &self.pmode.leg
    }

    /// What its answer is compared with.
    pub(super) fn expected(&self) -> Sent<'_> {
        Sent {
            message_id: &self.message_id,
            to: &self.to,
            references: &self.package.references,
            pmode: &self.pmode,
            leg: LegNumber::First,
        }
    }

    /// Its parts as packaging sees them.
    pub(super) fn out_parts(&self) -> Vec<OutPart> {
        self.parts
            .iter()
            .map(|part| OutPart {
                uri: crate::ebms::Cid::of(&part.content_id).to_string(),
                media_type: part.media_type.clone(),
                digest: part.digest.clone().unwrap_or_default(),
            })
            .collect()
    }
}

/// Loads an outgoing message by row id or MessageId; `None` when it is not ours, or its P-Mode is gone.
pub(super) async fn load(gateway: &Gateway, id: &str) -> Result<Option<Outbound>, StoreError> {
    let id = id.to_owned();
    let loaded = gateway
        .store
        .read::<_, StoreError, _>(move |tx| {
            let Some(row) = sender_log::by_message(tx, &id)? else { return Ok(None) };
            let Some(frozen) = sender_log::frozen(tx, &row.message)? else { return Ok(None) };
            let parts = message::parts(tx, &row.message)?;
            Ok(Some((row, frozen, parts)))
        })
        .await?;
    let Some((row, frozen, parts)) = loaded else { return Ok(None) };
    let Some(pmode) = gateway.agreements.current().find(&row.pmode).cloned() else { return Ok(None) };
    let damaged = |why: String| StoreError::Row { table: "package", why };
    let references: Vec<Reference> = serde_json::from_str(&frozen.refs).map_err(|e| damaged(e.to_string()))?;
    let to: Party = serde_json::from_str(&frozen.recipient).map_err(|e| damaged(e.to_string()))?;
    let message_id = MessageId::parse(&row.message_id).map_err(|e| damaged(e.to_string()))?;
    let package = Package { envelope: frozen.envelope, blocks: frozen.blocks, references };
    let (boundary, root_id) = (frozen.boundary, frozen.root_id);
    Ok(Some(Outbound { row, message_id, to, parts, package, boundary, root_id, pmode }))
}
