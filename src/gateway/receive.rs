//! Receives one request on the MSH endpoint (ebMS3 Core §2.2, AS4 §5.1): the walk of the architecture page, step by step.
//!
//! Nothing is promised to the partner before the inbox commits; whatever fails before that leaves nothing behind, and
//! the partner may try again.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use time::OffsetDateTime;

use super::accept::{self, Arrival};
use super::intake::{Intake, IntakeError, Root};
use super::refuse::{self, Refusal};
use super::spool::{self, SpoolError};
use super::{Gateway, ids, opinion, profile, signals};
use crate::emit;
use crate::msh::judge::{Admitted, Refused, admit};
use crate::msh::{Opened, Reject, Unreadable, open, reply};
use crate::store::StoreError;
use crate::store::payload::PayloadError;
use crate::telemetry::{event, metrics};
use crate::transport::body::{BodyError, BodyReader};
use crate::transport::listen::{Answer, Exchange};
use crate::wire::soap::Version;

/// Why a request did not become a message.
#[derive(Debug)]
pub(super) enum Stop {
    /// The partner's doing: answered by an error signal or a fault.
    Refused(Box<Refusal>),
    /// The line: answered by an HTTP status.
    Line(BodyError),
    /// Ours: 503, and the partner tries again (EB-134, IN-52).
    Unavailable(String),
}

/// One request.
pub async fn receive(gateway: &Arc<Gateway>, mut exchange: Exchange) -> Answer {
    let begun = std::time::Instant::now();
    let mut body = std::mem::replace(&mut exchange.body, BodyReader::held([]));
    let content_type = exchange.head.content_type().map(str::to_owned);
    let mut intake = match Intake::new(content_type.as_deref(), &mut body, gateway.intake_limits()) {
        Ok(intake) => intake,
        Err(IntakeError::Reject(reject)) => {
            return refuse::answer(gateway, &exchange, Vec::new(), Refusal::unread(reject)).await;
        }
        Err(IntakeError::Body(error)) => return Answer::from(&error),
    };
    let answer = match walk(gateway, &exchange, &mut intake).await {
        Ok(answer) => answer,
        Err(Stop::Refused(refusal)) => refuse::answer(gateway, &exchange, intake.evidence(), *refusal).await,
        Err(Stop::Line(error)) => Answer::from(&error),
        Err(Stop::Unavailable(why)) => unavailable(&exchange, &why),
    };
    metrics::receive_seconds("all").record(begun.elapsed().as_secs_f64());
    answer
}

async fn walk(gateway: &Arc<Gateway>, exchange: &Exchange, intake: &mut Intake<'_>) -> Result<Answer, Stop> {
    let root = intake.root().await?;
    let opened = tokio::task::block_in_place(|| open(&root.octets, root.charset.as_deref()))?;
    one_version(&root, &opened)?;
    signals::take(gateway, exchange, &opened).await?;
    if opened.messaging.user().is_none() {
        return Ok(signals::answer());
    }
    let now = ids::now();
    let (pmodes, parties) = (gateway.agreements.current(), gateway.parties.load_full());
    let admitted = tokio::task::block_in_place(|| admit(&opened, &gateway.bench(&pmodes, &parties, now)))
        .map_err(|refused| stop(&opened, *refused))?;
    let signed = admitted.verified.is_some();
    let stopped = |reject| stop(&opened, Refused { reject, agreed: Some((Arc::clone(&admitted.pmode), admitted.leg)) });
    if admitted.leg().security.receipts_by_callback() {
        return Err(stopped(Reject::Unsupported("receipts by callback (SendReceipt replyPattern)".to_owned())));
    }
    let spooled = spool::parts(intake, &admitted.parts, signed, &gateway.payloads).await;
    let mut parts = spooled.map_err(|error| spoiled(error, stopped))?;
    twice(&admitted).map_err(&stopped)?;
    let body = spool::body(&opened, &gateway.payloads).map_err(|error| spoiled(error, stopped))?;
    parts.extend(body);
    parts.sort_by_key(|part| part.checked.position);
    let ((answer, answer_until), note) = tokio::task::block_in_place(|| {
        profile::check(&admitted, &parts).map_err(&stopped)?;
        let note = second_opinion(gateway, &opened, &admitted, &parts).map_err(&stopped)?;
        Ok::<_, Stop>((receipt(gateway, &opened, &admitted)?, note))
    })?;
    let heads = intake.heads().to_vec();
    accept::arrival(gateway, exchange, Arrival { opened, admitted, parts, heads, answer, answer_until, note, now })
        .await
}

fn spoiled(error: SpoolError, stopped: impl FnOnce(Reject) -> Stop) -> Stop {
    match error {
        SpoolError::Intake(IntakeError::Reject(reject)) => stopped(reject),
        SpoolError::Intake(IntakeError::Body(error)) => Stop::Line(error),
        SpoolError::Store(error) => error.into(),
    }
}

/// Two PartInfo for one part (EB-016): known to be that, and not two parts of one name, only after the parts.
fn twice(admitted: &Admitted) -> Result<(), Reject> {
    match admitted.message.repeated_part() {
        Some((first, again)) => Err(Reject::PartTwice(format!("PartInfo {} and {}", first + 1, again + 1))),
        None => Ok(()),
    }
}

/// The envelope's version is that of its media type (EB-003).
fn one_version(root: &Root, opened: &Opened) -> Result<(), Stop> {
    let said = root.media_type.as_deref().and_then(Version::of_media_type);
    if said.is_none_or(|version| version == opened.envelope.version) {
        return Ok(());
    }
    let why = format!(
        "the SOAP part is {}, its envelope is of another SOAP version",
        root.media_type.as_deref().unwrap_or_default()
    );
    Err(stop(opened, Reject::Packaging(why).into()))
}

fn second_opinion(
    gateway: &Gateway,
    opened: &Opened,
    admitted: &Admitted,
    parts: &[spool::SpooledPart],
) -> Result<Option<String>, Reject> {
    match (&admitted.verified, gateway.second_opinion) {
        (Some(verified), Some(max)) => opinion::second(&opened.text, verified, parts, &gateway.payloads, max),
        _ => Ok(None),
    }
}

/// The receipt's final octets, and when its signer's certificate ends; empty where the P-Mode wants none.
fn receipt(
    gateway: &Gateway,
    opened: &Opened,
    admitted: &Admitted,
) -> Result<(reply::Reply, Option<OffsetDateTime>), Stop> {
    if !admitted.leg().security.send_receipt {
        return Ok((reply::Reply { status: 204, content_type: String::new(), body: String::new() }, None));
    }
    let now = ids::now();
    let parties = gateway.parties.load();
    let key = parties.parties.iter().find(|p| p.name == admitted.us).and_then(|p| p.signing_key(now));
    if admitted.leg().security.sign.is_some() && key.is_none() {
        return Err(Stop::Unavailable(format!("party `{}` has no valid signing key", admitted.us)));
    }
    let until = key.filter(|_| admitted.leg().security.sign.is_some()).map(|key| key.certificate.not_after());
    let key = key.map(|k| &**k as &dyn crate::wss::Signer);
    reply::receipt(admitted, opened, key, &ids::envelope(&gateway.host), now)
        .map(|reply| (reply, until))
        .map_err(|e| Stop::Unavailable(format!("the receipt cannot be signed: {e}")))
}

pub(super) fn stop(opened: &Opened, refused: Refused) -> Stop {
    let about = opened.messaging.user().map(|(message, _)| message.message_id.clone());
    let partner = opened.messaging.user().map(|(message, _)| super::header::name(&message.from));
    Stop::Refused(Box::new(Refusal {
        reject: refused.reject,
        about,
        partner,
        version: opened.envelope.version,
        agreed: refused.agreed,
        soap: opened.text.clone(),
        answerable: true,
    }))
}

fn unavailable(exchange: &Exchange, why: &str) -> Answer {
    emit!(event::RECEIVE_UNAVAILABLE, { "exchange.id" = %exchange.id, peer = %exchange.peer }, "not taken: {why}");
    Answer::unavailable("the message cannot be stored now; send it again later", Duration::from_secs(30))
}

impl From<IntakeError> for Stop {
    fn from(error: IntakeError) -> Self {
        match error {
            IntakeError::Body(error) => Self::Line(error),
            IntakeError::Reject(reject) => Self::Refused(Box::new(Refusal::unread(reject))),
        }
    }
}

impl From<Box<Unreadable>> for Stop {
    fn from(unreadable: Box<Unreadable>) -> Self {
        Self::Refused(Box::new(Refusal {
            reject: unreadable.reject,
            about: unreadable.message_id,
            partner: None,
            version: unreadable.version,
            agreed: None,
            soap: String::new(),
            answerable: unreadable.answerable,
        }))
    }
}

impl From<PayloadError> for Stop {
    fn from(error: PayloadError) -> Self {
        metrics::store_errors_total("payload").increment(1);
        Self::Unavailable(error.to_string())
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        metrics::store_errors_total("accept").increment(1);
        Self::Unavailable(error.to_string())
    }
}

/// The answer's octets as HTTP.
pub(super) fn http(status: u16, content_type: String, body: impl Into<bytes::Bytes>) -> Answer {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    if content_type.is_empty() { Answer::empty(status) } else { Answer::new(status, content_type, body) }
}
