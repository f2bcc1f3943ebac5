//! Parts on their way into the payload store: checked in the same pass, visible only when they are good.

use std::collections::HashMap;

use super::intake::{Intake, IntakeError, Piece};
use crate::msh::{CheckedPart, PartCheck, PartPlan, Reject};
use crate::store::payload::{PayloadError, PayloadStore, Stored, Writer};
use crate::wire::mime::PartHead;

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
    let mut seen: HashMap<String, ()> = HashMap::new();
    let mut done: Vec<SpooledPart> = Vec::with_capacity(plans.len());
    while let Some(piece) = intake.piece().await? {
        let Piece::Head(head) = piece else { continue };
        let id = head.content_id.clone().unwrap_or_default();
        if !id.is_empty() && seen.insert(id.clone(), ()).is_some() {
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
