//! A user message: the agreement, the judgement of its envelope, its parts, the profile, the second opinion.

use super::parts::{self, Taken};
use super::security::{self, Secured, Terms, ids};
use super::{Desk, Story};
use time::format_description::well_known::Rfc3339;

use crate::ebms::{Href, UserMessage};
use crate::gateway::intake::Intake;
use crate::gateway::{opinion, profile};
use crate::msh::judge::{Admitted, Bench, admit};
use crate::msh::{Opened, OwnParties, Reject};
use crate::pmode::{self, Candidate, Explanation, Outcome, PModeSet};
use crate::store::payload::{PayloadOptions, PayloadStore};
use crate::wss::BodyRule;

/// P-Modes that are told of.
const MOST: usize = 5;

/// Tells a user message.
pub(super) async fn tell(story: &mut Story, opened: &Opened, intake: &mut Intake<'_>, desk: &Desk) {
    let Some((message, _)) = opened.messaging.user() else { return };
    story.about = Some(message.message_id.clone());
    header(story, message);
    let own = desk.parties(&message.to);
    let judged = agreement(story, opened, message, &own, desk);
    let secured = secure(story, opened, message, &own, desk);
    let (admitted, reject) = match judged {
        Some(Ok(admitted)) => (Some(admitted), None),
        Some(Err(reject)) => (None, Some(reject)),
        None => (None, None),
    };
    verdict_of_envelope(story, admitted.as_ref(), reject, &secured);
    let reject = secured.reject.as_ref().map(ToString::to_string);
    let scratch = match Scratch::new() {
        Ok(scratch) => scratch,
        Err(why) => {
            story.say("part", None, format!("parts are not checked: no temporary folder can be used: {why}"));
            return;
        }
    };
    let plans = match &admitted {
        Some(admitted) => admitted.parts.clone(),
        None => parts::plans(message, &secured, desk),
    };
    let taken = parts::tell(story, intake, &plans, &secured, &scratch.store).await;
    contents(story, opened, admitted.as_ref(), &secured, &taken, &scratch, desk);
    let open = secured.open || taken.sealed;
    for one in [taken.reject, secured.reject].into_iter().flatten() {
        // With P-Modes the judgement of the envelope has spoken already; this is what it did not get to.
        story.because(one);
    }
    if let (Some(admitted), None, false) = (&admitted, reject, open) {
        story.accepted = Some(outcome(admitted));
    }
}

fn header(story: &mut Story, message: &UserMessage) {
    let at = message.timestamp.format(&Rfc3339).unwrap_or_else(|_| message.timestamp.to_string());
    let text = format!("user message {} of {at}", message.message_id);
    let typed = |kind: &Option<String>, value: &str| match kind {
        Some(kind) => format!("{value} (type {kind})"),
        None => value.to_owned(),
    };
    let mut details = vec![
        format!("from {} as {}", ids(&message.from), message.from.role),
        format!("to {} as {}", ids(&message.to), message.to.role),
        format!("service {}", typed(&message.service.kind, &message.service.value)),
        format!("action {}", message.action),
    ];
    details.extend(message.agreement.as_ref().map(|a| {
        let by = a.pmode.as_ref().map(|p| format!(", pmode `{p}`")).unwrap_or_default();
        format!("agreement {}{by}", typed(&a.kind, &a.value))
    }));
    details.extend(message.parts.iter().map(|part| match &part.href {
        Href::Body => "payload in the Body".to_owned(),
        Href::Attachment(cid) => format!("payload {}", cid.written()),
        Href::Element(id) => format!("payload #{id}"),
        Href::External(url) => format!("payload {url}"),
    }));
    story.say("header", Some(true), text).details = details;
}

/// Which P-Mode, and what the gateway says of the envelope; `None` without P-Modes.
fn agreement(
    story: &mut Story,
    opened: &Opened,
    message: &UserMessage,
    own: &OwnParties,
    desk: &Desk,
) -> Option<Result<Admitted, Reject>> {
    let Some(set) = &desk.pmodes else {
        story.say("pmode", None, "not judged: there are no P-Modes; give their folder by --pmodes");
        return None;
    };
    let explained = pmode::explain(set, message, MOST);
    candidates(story, &explained);
    agreed(story, set, &explained);
    story.pmodes = Some(explained);
    if desk.parties.is_none() {
        let text = format!("no configuration says who we are: {} is taken for us", ids(&message.to));
        story.say("party", None, text);
    } else if let Some(us) = own.with_id(&message.to.ids) {
        story.say("party", Some(true), format!("{} is our party `{}`", ids(&message.to), us.name));
    } else {
        story.say("party", Some(false), format!("{} is none of our parties", ids(&message.to)));
    }
    let trust = &desk.trust;
    let (certificates, limits, now) = (&desk.cache, desk.limits.part, desk.now);
    let bench = Bench { pmodes: set, parties: own, trust, certificates, limits, now };
    Some(admit(opened, &bench).map_err(|refused| refused.reject))
}

/// Each P-Mode considered, with the criteria that failed.
fn candidates(story: &mut Story, explained: &Explanation) {
    // Where one matches, that others do not is no fault of the message.
    let settled = explained.candidates.iter().any(|candidate| candidate.matched);
    for Candidate { pmode, file, matched, specificity, criteria, .. } in &explained.candidates {
        let missed = criteria.iter().filter(|judged| !judged.passed);
        let details: Vec<_> = missed
            .map(|j| format!("{}: expected {}, found `{}`", j.criterion.element(), j.expected, j.found))
            .collect();
        let text = if *matched {
            format!("`{pmode}` ({file}) matches, {specificity} criteria set")
        } else {
            format!("`{pmode}` ({file}) does not match")
        };
        let pass = if *matched || !settled { Some(*matched) } else { None };
        story.say("candidate", pass, text).details = details;
    }
    if explained.left_out > 0 {
        story.say("candidate", None, format!("and {} more, farther away", explained.left_out));
    }
}

fn agreed(story: &mut Story, set: &PModeSet, explained: &Explanation) {
    match &explained.outcome {
        Outcome::Matched { pmode, revision, leg, remarks } => {
            story.pmode = Some(pmode.clone());
            story.leg = set.find(pmode).and_then(|p| p.leg(*leg).cloned());
            let details = remarks.iter().map(crate::pmode::Finding::detail).collect();
            story.say("pmode", Some(true), format!("it belongs to `{pmode}` (revision {revision})")).details = details;
        }
        Outcome::Refused { code, text, findings, .. } => {
            let lines = findings.iter();
            let lines =
                lines.map(|f| format!("{} {}: expected {}, found `{}`", f.code, f.element, f.expected, f.found));
            story.say("pmode", Some(false), format!("{code}: {text}")).details = lines.collect();
        }
    }
}

fn secure(story: &mut Story, opened: &Opened, message: &UserMessage, own: &OwnParties, desk: &Desk) -> Secured {
    let agreed = story.pmode.clone().and_then(|id| {
        let pmode = desk.pmodes.as_ref()?.find(&id)?.clone();
        let number = pmode::agree(desk.pmodes.as_ref()?, message).ok()?.leg;
        Some((pmode, number))
    });
    let hrefs = message.parts.iter().filter_map(|part| match &part.href {
        Href::Attachment(cid) => Some(cid.to_string()),
        _ => None,
    });
    let terms = Terms {
        leg: agreed.as_ref().and_then(|(pmode, number)| pmode.leg(*number)),
        sender: agreed.as_ref().map(|(pmode, number)| pmode.sender(*number)),
        from: Some(&message.from),
        hrefs: hrefs.collect(),
        body: BodyRule::Required,
        keys: own.decryption_keys().cloned().collect(),
    };
    security::tell(story, opened, &terms, desk)
}

/// What the gateway says before it takes an attachment octet.
fn verdict_of_envelope(story: &mut Story, admitted: Option<&Admitted>, reject: Option<Reject>, secured: &Secured) {
    if let Some(admitted) = admitted {
        let path = admitted.signer_path.clone();
        story.say("admission", Some(true), "the envelope is accepted; now its parts").details = path;
    }
    let Some(reject) = reject else { return };
    // A key or certificate that was not given is no fault of the message.
    let wanting = secured.open && secured.reject.is_none() && matches!(reject, Reject::Security(_));
    story.say("admission", (!wanting).then_some(false), reject.to_string());
    if !wanting {
        story.because(reject);
    }
}

/// What needs the payloads: the profile's checks, and libxmlsec1's opinion on the signature.
fn contents(
    story: &mut Story,
    opened: &Opened,
    admitted: Option<&Admitted>,
    secured: &Secured,
    taken: &Taken,
    scratch: &Scratch,
    desk: &Desk,
) {
    if taken.reject.is_some() || taken.sealed {
        return;
    }
    if let Some(admitted) = admitted {
        match profile::check(admitted, &taken.parts) {
            Ok(()) => {
                story.say("profile", Some(true), "the profile's checks of the payload are met");
            }
            Err(reject) => story.refuse("profile", reject),
        }
    }
    let (Some(verified), Some(max)) = (&secured.verified, desk.second_opinion) else { return };
    match opinion::second(&opened.text, verified, &taken.parts, &scratch.store, max) {
        Ok(None) => {
            story.say("second_opinion", Some(true), "libxmlsec1 agrees with every digest and the signature");
        }
        Ok(Some(note)) => {
            story.say("second_opinion", None, note);
        }
        Err(reject) => story.refuse("second_opinion", reject),
    }
}

fn outcome(admitted: &Admitted) -> String {
    let leg = admitted.leg();
    let answer = match (leg.security.send_receipt, leg.security.sign.is_some()) {
        (false, _) => "answered with nothing, as the P-Mode asks for no receipt",
        (true, true) => "answered with a signed receipt",
        (true, false) => "answered with a receipt",
    };
    let to: Vec<_> = leg.deliver.iter().map(|target| format!("`{}`", target.backend)).collect();
    let then = match (admitted.message.is_test(), to.is_empty()) {
        (true, _) => "not delivered: it is a test of the line".to_owned(),
        (false, true) => "kept for whoever fetches it".to_owned(),
        (false, false) => format!("delivered to {}", to.join(", ")),
    };
    format!("{answer}; {then}")
}

/// Where parts are kept while they are checked.
struct Scratch {
    store: PayloadStore,
    _dir: tempfile::TempDir,
}

impl Scratch {
    fn new() -> Result<Self, String> {
        let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
        let options = PayloadOptions { reserve: 0, ..PayloadOptions::default() };
        let store = PayloadStore::open_with(dir.path(), options).map_err(|e| e.to_string())?;
        Ok(Self { store, _dir: dir })
    }
}
