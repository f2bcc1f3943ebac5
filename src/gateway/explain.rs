//! Explains a captured message offline: the walk of [`super::receive`] with the same core, told step by step, and
//! going on where that one stops, so that one run shows all that is wrong.
//!
//! What is said of the verdict comes from the same functions as the gateway's own answer; steps that have nothing to
//! judge by (no P-Modes, no key) say so, and leave the verdict open.

mod capture;
mod desk;
mod parts;
mod security;
mod signal;
mod user;

use bytes::Bytes;
use serde::Serialize;

pub use desk::{Desk, Extra};

use self::capture::{Capture, Side};
use super::ids;
use super::intake::{Intake, IntakeError, IntakeLimits};
use crate::ebms::MessageId;
use crate::msh::{Opened, Reject, open, reply};
use crate::pmode::{Explanation, Leg};
use crate::transport::body::BodyReader;
use crate::wire::soap::{Fault, Version};
use crate::wire::xml::{Limits, encoding};

/// Name and version of the JSON.
pub const SCHEMA: &str = "postrider.explain/1";

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Which.
    pub step: &'static str,
    /// Whether it is as it must be; `None` where nothing could be judged, or there is nothing to judge.
    pub pass: Option<bool>,
    /// What was found.
    pub text: String,
    /// What belongs to it, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
}

/// What the gateway would make of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It would be accepted.
    Accepted,
    /// It would be refused; or it is the refusal of a partner.
    Refused,
    /// What would decide is not there.
    Open,
}

/// One `eb:Error` as the partner would read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Told {
    /// `EBMS:nnnn`.
    pub code: String,
    /// Short description and detail.
    pub text: String,
}

/// The whole explanation.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The verdict.
    pub verdict: Verdict,
    /// The verdict in a sentence.
    pub text: String,
    /// The message it is about.
    pub message_id: Option<String>,
    /// The P-Mode it belongs to.
    pub pmode: Option<String>,
    /// What the partner would be told, or tells us.
    pub told: Vec<Told>,
    /// Step by step.
    pub steps: Vec<Step>,
    /// What P-Mode matching looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmodes: Option<Explanation>,
}

/// The explanation while it is being told.
#[derive(Default)]
struct Story {
    steps: Vec<Step>,
    /// The first reason for a refusal: the one that the gateway would give.
    reject: Option<Reject>,
    /// A refusal by the partner.
    theirs: Vec<Told>,
    /// A failed check that is no [`Reject`] of a request: of an answer.
    failed: Option<String>,
    accepted: Option<String>,
    about: Option<MessageId>,
    version: Option<Version>,
    pmode: Option<String>,
    leg: Option<Leg>,
    pmodes: Option<Explanation>,
    status: Option<u16>,
}

impl Story {
    fn say(&mut self, step: &'static str, pass: Option<bool>, text: impl Into<String>) -> &mut Step {
        self.steps.push(Step { step, pass, text: text.into(), details: Vec::new() });
        let last = self.steps.len() - 1;
        &mut self.steps[last]
    }

    /// A step that the gateway refuses by.
    fn refuse(&mut self, step: &'static str, reject: Reject) {
        self.say(step, Some(false), reject.to_string());
        self.because(reject);
    }

    /// Keeps the first reason.
    fn because(&mut self, reject: Reject) {
        self.reject.get_or_insert(reject);
    }

    fn told(&self) -> Vec<Told> {
        let Some(reject) = &self.reject else { return self.theirs.clone() };
        reject.errors().iter().map(Told::from).collect()
    }

    /// The HTTP status that the answer would have.
    fn answer_status(&self, reject: &Reject) -> u16 {
        let (now, ids) = (ids::now(), ids::envelope("localhost"));
        let version = self.version.unwrap_or(Version::Soap12);
        let made = reply::error(reject, self.about.as_ref(), version, self.leg.as_ref(), None, &ids, now);
        made.map_or(500, |reply| reply.status)
    }

    fn verdict(&self) -> (Verdict, String) {
        if let Some(reject) = &self.reject {
            let status = self.status.unwrap_or_else(|| self.answer_status(reject));
            let code = reject.code();
            return (Verdict::Refused, format!("refused: answered by HTTP {status} with {}", code.as_str()));
        }
        if let Some(why) = &self.failed {
            return (Verdict::Refused, format!("refused: {why}"));
        }
        match (&self.accepted, self.theirs.first()) {
            (_, Some(told)) => (Verdict::Refused, format!("the partner refuses with {}: {}", told.code, told.text)),
            (Some(how), None) => (Verdict::Accepted, format!("accepted: {how}")),
            (None, None) => {
                (Verdict::Open, "open: nothing wrong was found, and not everything could be checked".into())
            }
        }
    }

    fn end(mut self) -> Explained {
        let (verdict, text) = self.verdict();
        let told = self.told();
        let pass = match verdict {
            Verdict::Accepted => Some(true),
            Verdict::Refused => Some(false),
            Verdict::Open => None,
        };
        let lines = told.iter().map(|t| format!("{} {}", t.code, t.text)).collect();
        self.say("verdict", pass, text.clone()).details = lines;
        Explained {
            schema: SCHEMA,
            verdict,
            text,
            message_id: self.about.map(|id| id.as_str().to_owned()),
            pmode: self.pmode,
            told,
            steps: self.steps,
            pmodes: self.pmodes,
        }
    }
}

impl From<&crate::ebms::EbmsError> for Told {
    fn from(error: &crate::ebms::EbmsError) -> Self {
        let mut words: Vec<&str> = Vec::new();
        words.extend(error.short_description.as_deref());
        words.extend(error.description.as_ref().map(|d| d.text.as_str()));
        words.extend(error.detail.as_deref());
        words.dedup();
        let words: Vec<&str> = words.iter().map(|part| part.trim_end_matches('.')).collect();
        Self { code: error.code.as_str().to_owned(), text: words.join(": ").chars().take(1000).collect() }
    }
}

/// Explains a captured file.
///
/// # Errors
/// When it is nothing that can be explained: neither HTTP nor MIME nor XML.
pub async fn explain(octets: Bytes, desk: &Desk) -> Result<Explained, String> {
    let capture = capture::read(&octets)?;
    let mut story = Story::default();
    http(&mut story, &capture);
    walk(&mut story, &capture, desk).await;
    Ok(story.end())
}

/// The user message in a captured file, for what looks at its header alone.
///
/// # Errors
/// When there is none, in a sentence.
pub async fn user_message(octets: Bytes, desk: &Desk) -> Result<crate::ebms::UserMessage, String> {
    let capture = capture::read(&octets)?;
    let mut body = BodyReader::held(pieces(&capture.body));
    let mut intake =
        Intake::new(capture.content_type.as_deref(), &mut body, limits(desk)).map_err(|e| e.to_string())?;
    let root = intake.root().await.map_err(|e| e.to_string())?;
    let opened = open(&root.octets, root.charset.as_deref()).map_err(|e| e.reject.to_string())?;
    let user = opened.messaging.user().map(|(message, _)| message.clone());
    user.ok_or_else(|| "it holds no user message, only signals".to_owned())
}

fn base64(octets: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(octets)
}

fn limits(desk: &Desk) -> IntakeLimits {
    IntakeLimits { soap: desk.limits.soap, parts: desk.limits.parts }
}

/// As a socket would give it: no piece is copied.
fn pieces(body: &Bytes) -> impl Iterator<Item = Bytes> + use<> {
    let body = body.clone();
    (0..body.len()).step_by(64 * 1024).map(move |at| body.slice(at..body.len().min(at + 64 * 1024)))
}

fn http(story: &mut Story, capture: &Capture) {
    let undone =
        if capture.undone.is_empty() { String::new() } else { format!(", {} undone", capture.undone.join(" and ")) };
    let kind = capture.content_type.as_deref().unwrap_or("no Content-Type");
    let text = format!("{}, {} octets of {kind}{undone}", capture.line, capture.body.len());
    let good = capture.faults.is_empty();
    story
        .say("http", (capture.side != Side::Entity || !good).then_some(good), text)
        .details
        .clone_from(&capture.faults);
    if good {
        return;
    }
    let why = capture.faults.join("; ");
    match capture.side {
        Side::Answer(_) => story.failed = Some(why),
        _ => {
            story.status = Some(400);
            story.because(Reject::Packaging(why));
        }
    }
}

async fn walk(story: &mut Story, capture: &Capture, desk: &Desk) {
    if let Side::Answer(status) = capture.side
        && !signal::holds_soap(capture)
    {
        return signal::without_soap(story, status, &capture.body);
    }
    let mut body = BodyReader::held(pieces(&capture.body));
    let mut intake = match Intake::new(capture.content_type.as_deref(), &mut body, limits(desk)) {
        Ok(intake) => intake,
        Err(error) => return broken(story, "package", error),
    };
    let root = match intake.root().await {
        Ok(root) => root,
        Err(error) => return broken(story, "package", error),
    };
    let kind = root.media_type.clone().unwrap_or_default();
    story.say("package", Some(true), format!("the SOAP part has {} octets of {kind}", root.octets.len()));
    let opened = match open(&root.octets, root.charset.as_deref()) {
        Ok(opened) => opened,
        Err(unreadable) => {
            story.version = Some(unreadable.version);
            story.about.clone_from(&unreadable.message_id);
            if !fault_alone(story, &root.octets, root.charset.as_deref(), capture.side) {
                story.refuse("soap", unreadable.reject);
            }
            return;
        }
    };
    soap(story, &opened, root.media_type.as_deref());
    signal::tell(story, &opened, capture.side, desk);
    if opened.messaging.user().is_some() {
        user::tell(story, &opened, &mut intake, desk).await;
    }
}

fn broken(story: &mut Story, step: &'static str, error: IntakeError) {
    match error {
        IntakeError::Reject(reject) => story.refuse(step, reject),
        IntakeError::Body(error) => {
            story.status = Some(error.status());
            story.refuse(step, Reject::Packaging(error.to_string()));
        }
    }
}

/// The envelope was read, and `eb:Messaging` is valid; its version must be that of the media type (EB-003).
fn soap(story: &mut Story, opened: &Opened, media_type: Option<&str>) {
    let version = opened.envelope.version;
    story.version = Some(version);
    let name = if version == Version::Soap11 { "SOAP 1.1" } else { "SOAP 1.2" };
    let said = media_type.and_then(Version::of_media_type);
    if said.is_some_and(|said| said != version) {
        let kind = media_type.unwrap_or_default();
        story.refuse("soap", Reject::Packaging(format!("the SOAP part is {kind}, its envelope is {name}")));
    } else {
        story.say("soap", Some(true), format!("{name}, eb:Messaging is valid by the header tables"));
    }
    let tolerated = opened.messaging.tolerated.iter().map(ToString::to_string).collect::<Vec<_>>();
    if !tolerated.is_empty() {
        let text = "some identifiers are no URIs and have no type: the P-Mode must allow that (lenientIdentifiers)";
        story.say("header", None, text).details = tolerated;
    }
}

/// An answer that is a SOAP fault and nothing else counts as `EBMS:0004` (EB-085).
fn fault_alone(story: &mut Story, octets: &[u8], charset: Option<&str>, side: Side) -> bool {
    if !matches!(side, Side::Answer(_)) {
        return false;
    }
    let text = encoding::decode(octets, charset).ok();
    let envelope = text.and_then(|text| crate::wire::soap::Envelope::parse(&text, &Limits::ENVELOPE).ok());
    let Some(fault) = envelope.and_then(|envelope| Fault::read(&envelope)) else { return false };
    let error = crate::ebms::EbmsError::of_fault(&fault.code, &fault.reason);
    story.say("fault", Some(false), format!("the answer is a SOAP fault {}: {}", fault.code, fault.reason));
    story.theirs.push(Told::from(&error));
    true
}
