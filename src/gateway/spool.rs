//! Parts on their way into the payload store: checked in the same pass, visible only when they are good.

use std::collections::HashSet;

use super::intake::{Intake, IntakeError, Piece};
use crate::ebms::{Cid, Href};
use crate::msh::{CheckedPart, Opened, PartCheck, PartPlan, Reject};
use crate::store::payload::{PayloadError, PayloadStore, Stored, Writer};
use crate::wire::mime::PartHead;
use crate::wire::xml::{Node, c14n};

/// Why parts could not be taken.
#[derive(Debug, thiserror::Error)]
pub(super) enum SpoolError {
    /// The entity.
    #[error(transparent)]
    Intake(#[from] IntakeError),
    /// Our own store: nothing that the partner did.
    #[error(transparent)]
    Store(#[from] PayloadError),
}

impl From<Reject> for SpoolError {
    fn from(reject: Reject) -> Self {
        Self::Intake(IntakeError::Reject(reject))
    }
}

/// A part that is good, and where its signed form is.
#[derive(Debug)]
pub(super) struct SpooledPart {
    pub(super) checked: CheckedPart,
    pub(super) stored: Stored,
    pub(super) file_name: Option<String>,
}

/// Takes every part that PayloadInfo names. What it does not name is refused in a signed leg and passed over otherwise
/// (EB-015); a Content-ID that stands twice is ambiguous whatever it names (FR-002).
pub(super) async fn parts(
    intake: &mut Intake<'_>,
    plans: &[PartPlan],
    signed: bool,
    store: &PayloadStore,
) -> Result<Vec<SpooledPart>, SpoolError> {
    let mut seen: HashSet<String> = HashSet::new();
    let mut done: Vec<SpooledPart> = Vec::with_capacity(plans.len());
    while let Some(piece) = intake.piece().await? {
        let Piece::Head(head) = piece else { continue };
        let id = head.content_id.clone().unwrap_or_default();
        if !id.is_empty() && !seen.insert(id.clone()) {
            return Err(Reject::Packaging(format!("two parts have the Content-ID <{id}>")).into());
        }
        let Some(plan) = plans.iter().find(|plan| plan.cid.names(&id)) else {
            if signed {
                return Err(Reject::PartUnnamed(id).into());
            }
            continue;
        };
        done.push(part(intake, &head, plan.clone(), store).await?);
    }
    match plans.iter().find(|plan| !done.iter().any(|part| part.checked.position == plan.position)) {
        Some(missing) => Err(Reject::PartMissing(missing.cid.content_id().to_owned()).into()),
        None => {
            done.sort_by_key(|part| part.checked.position);
            Ok(done)
        }
    }
}

/// The payload in the SOAP Body, where PayloadInfo names one: its one element in canonical form, which stands alone
/// (EB-013, EB-014). The signature covers it with the Body.
pub(super) fn body(opened: &Opened, store: &PayloadStore) -> Result<Option<SpooledPart>, SpoolError> {
    let Some((message, _)) = opened.messaging.user() else { return Ok(None) };
    let Some(position) = message.parts.iter().position(|part| part.href == Href::Body) else { return Ok(None) };
    let mut elements = opened.envelope.body().elements();
    let (Some(payload), None) = (elements.next(), elements.next()) else {
        return Err(Reject::PartMissing("Body: exactly one element".to_owned()).into());
    };
    if included(payload) {
        return Err(Reject::External("xop:Include in the Body".to_owned()).into());
    }
    let octets = c14n::canonical(payload, None);
    let mut writer = store.writer();
    writer.push(&octets)?;
    let size = octets.len() as u64;
    let checked = CheckedPart {
        cid: Cid::of("body"),
        position,
        media_type: Some("application/xml".to_owned()),
        stored_size: size,
        size,
        content_sha256: openssl::sha::sha256(&octets),
        compressed: false,
        beginning: octets,
        iv: None,
        note: None,
    };
    Ok(Some(SpooledPart { checked, stored: writer.finish()?, file_name: None }))
}

/// Whether content stands elsewhere (XOP): nothing is ever fetched, and a part that was not signed is no payload (AT-24).
/// The reader's limit bounds the depth.
fn included(node: Node<'_>) -> bool {
    node.is("http://www.w3.org/2004/08/xop/include", "Include") || node.elements().any(included)
}

async fn part(
    intake: &mut Intake<'_>,
    head: &PartHead,
    plan: PartPlan,
    store: &PayloadStore,
) -> Result<SpooledPart, SpoolError> {
    let mut check = PartCheck::new(plan, head.content_type_raw.as_deref())?;
    let mut writer = store.writer();
    while let Some(Piece::Data(octets)) = intake.piece().await? {
        tokio::task::block_in_place(|| check.push::<SpoolError>(&octets, &mut sink(&mut writer)))?;
    }
    let (checked, stored) = tokio::task::block_in_place(|| {
        let checked = check.finish::<SpoolError>(&mut sink(&mut writer))?;
        Ok::<_, SpoolError>((checked, writer.finish()?))
    })?;
    Ok(SpooledPart { checked, stored, file_name: head.file_name.clone() })
}

fn sink(writer: &mut Writer) -> impl FnMut(&[u8]) -> Result<(), SpoolError> {
    |octets| Ok(writer.push(octets)?)
}
