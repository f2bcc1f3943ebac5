//! The payload parts, each to its end: decrypted, digested, inflated, whatever became of the one before.

use std::collections::HashSet;

use super::security::Secured;
use super::{Desk, Story};
use crate::ebms::{Href, UserMessage};
use crate::edi::Sbdh;
use crate::gateway::intake::{Intake, IntakeError, Piece};
use crate::gateway::spool::{SpoolError, SpooledPart};
use crate::msh::{CheckedPart, PartCheck, PartPlan, Reject};
use crate::store::payload::{PayloadStore, Stored};
use crate::wire::mime::PartHead;

/// What came of the parts.
pub(super) struct Taken {
    pub(super) parts: Vec<SpooledPart>,
    /// The first thing that is wrong.
    pub(super) reject: Option<Reject>,
    /// A part could not be decrypted for want of a key.
    pub(super) sealed: bool,
}

/// Plans without an agreement: what the header and the security header say.
pub(super) fn plans(message: &UserMessage, secured: &Secured, desk: &Desk) -> Vec<PartPlan> {
    let attachments = message.parts.iter().enumerate();
    let attachments = attachments.filter_map(|(position, part)| match &part.href {
        Href::Attachment(cid) => Some((position, part, cid)),
        _ => None,
    });
    let plan = |of| PartPlan::new(of, secured.verified.as_ref(), &secured.encrypted, desk.limits.part, Sbdh::HEAD);
    attachments.map(plan).collect()
}

/// Takes every part; `store` holds what the second opinion reads again.
pub(super) async fn tell(
    story: &mut Story,
    intake: &mut Intake<'_>,
    plans: &[PartPlan],
    secured: &Secured,
    store: &PayloadStore,
) -> Taken {
    let mut taken = Taken { parts: Vec::new(), reject: None, sealed: false };
    let (mut seen, mut met) = (HashSet::new(), HashSet::new());
    loop {
        let head = match intake.piece().await {
            Ok(Some(Piece::Head(head))) => head,
            Ok(Some(_)) => continue,
            Ok(None) => break,
            Err(error) => return broken(story, taken, error),
        };
        let id = head.content_id.clone().unwrap_or_default();
        if !id.is_empty() && !seen.insert(id.clone()) {
            refuse(story, &mut taken, Reject::Packaging(format!("two parts have the Content-ID <{id}>")));
            continue;
        }
        let Some(plan) = plans.iter().find(|plan| plan.cid.names(&id)) else {
            unnamed(story, &mut taken, id, secured);
            continue;
        };
        met.insert(plan.position);
        if sealed(secured, plan) {
            taken.sealed = true;
            let text = format!("{}: encrypted, and not decrypted: digest and content are not checked", plan.cid);
            story.say("part", None, text);
            continue;
        }
        match part(intake, &head, plan.clone(), store).await {
            Ok((checked, stored)) => {
                good(story, plan, &checked);
                taken.parts.push(SpooledPart { checked, stored, file_name: head.file_name.clone() });
            }
            Err(SpoolError::Intake(IntakeError::Reject(reject))) => bad(story, &mut taken, plan, reject),
            Err(SpoolError::Intake(error)) => return broken(story, taken, error),
            Err(SpoolError::Store(error)) => {
                taken.sealed = true;
                story.say("part", None, format!("{}: it cannot be kept for checking: {error}", plan.cid));
            }
        }
    }
    for plan in plans.iter().filter(|plan| !met.contains(&plan.position)) {
        refuse(story, &mut taken, Reject::PartMissing(plan.cid.content_id().to_owned()));
    }
    taken.parts.sort_by_key(|part| part.checked.position);
    taken
}

/// Encrypted, and its key is not there.
fn sealed(secured: &Secured, plan: &PartPlan) -> bool {
    let data = secured.header.iter().flat_map(|header| &header.encrypted_data);
    plan.key.is_none() && data.into_iter().any(|data| data.content_id == plan.cid.content_id())
}

fn unnamed(story: &mut Story, taken: &mut Taken, id: String, secured: &Secured) {
    if secured.verified.is_some() {
        refuse(story, taken, Reject::PartUnnamed(id));
    } else {
        story.say(
            "part",
            None,
            format!("the part <{id}> is not named by PayloadInfo: passed over, as nothing is signed"),
        );
    }
}

fn refuse(story: &mut Story, taken: &mut Taken, reject: Reject) {
    story.say("part", Some(false), reject.to_string());
    taken.reject.get_or_insert(reject);
}

fn bad(story: &mut Story, taken: &mut Taken, plan: &PartPlan, reject: Reject) {
    story.say("part", Some(false), format!("{}: {reject}", plan.cid));
    taken.reject.get_or_insert(reject);
}

fn broken(story: &mut Story, mut taken: Taken, error: IntakeError) -> Taken {
    let reject = match error {
        IntakeError::Reject(reject) => reject,
        IntakeError::Body(error) => Reject::Packaging(error.to_string()),
    };
    refuse(story, &mut taken, reject);
    taken
}

fn good(story: &mut Story, plan: &PartPlan, checked: &CheckedPart) {
    let mut words = Vec::new();
    if plan.key.is_some() {
        words.push("decrypted".to_owned());
    }
    if plan.signed.is_some() {
        words.push("digest agrees".to_owned());
    }
    if checked.compressed {
        words.push(format!("inflated {} to {} octets", checked.stored_size, checked.size));
    } else {
        words.push(format!("{} octets", checked.size));
    }
    let kind = checked.media_type.as_deref().unwrap_or("no type");
    let text = format!("{}: {} ({kind})", plan.cid, words.join(", "));
    let digest = plan.signed.as_ref().map(|s| {
        let value = super::base64(&s.digest);
        format!("{} signed and found {value}", s.uri)
    });
    story.say("part", Some(true), text).details = digest.into_iter().chain(checked.note.clone()).collect();
}

async fn part(
    intake: &mut Intake<'_>,
    head: &PartHead,
    plan: PartPlan,
    store: &PayloadStore,
) -> Result<(CheckedPart, Stored), SpoolError> {
    let mut check = PartCheck::new(plan, head.content_type_raw.as_deref())?;
    let mut writer = store.writer();
    while let Some(Piece::Data(octets)) = intake.piece().await? {
        check.push::<SpoolError>(&octets, &mut |octets| Ok(writer.push(octets)?))?;
    }
    let checked = check.finish::<SpoolError>(&mut |octets| Ok(writer.push(octets)?))?;
    Ok((checked, writer.finish()?))
}
