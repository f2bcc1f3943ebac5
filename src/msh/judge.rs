//! Whether a user message is accepted: everything that is known before an attachment octet is (EB-130, WS-003).
//!
//! The order is that of trust: the agreement that the header claims, then the signature over that header, the signer,
//! the binding of the signer to the From party, what must be signed; only then is a content key unwrapped.

use std::sync::Arc;

use time::{Duration, OffsetDateTime};

use super::inclusion;
use super::open::Opened;
use super::part::PartPlan;
use super::parties::OwnParties;
use super::reject::Reject;
use super::signer::{self, SignerTrust};
use crate::ebms::{HeaderError, Href, PartInfo, UnitKind, UserMessage};
use crate::edi::Sbdh;
use crate::pmode::{self, Check, Leg, LegNumber, PMode, PModeSet};
use crate::wss::header::{self, SecurityHeader};
use crate::wss::{
    BodyRule, CertificateCache, DecryptPolicy, EncryptedPart, Verified, VerifyPolicy, WssError, require_coverage,
    require_encryption, unwrap_keys, verify,
};

/// `eb:Timestamp` may lie that far ahead of our clock.
const SKEW: Duration = Duration::minutes(5);

/// What judging needs to know.
pub struct Bench<'a> {
    /// The P-Modes in force.
    pub pmodes: &'a PModeSet,
    /// Who we are.
    pub parties: &'a OwnParties,
    /// Judges certificates.
    pub trust: &'a dyn SignerTrust,
    /// Certificates that were parsed before.
    pub certificates: &'a CertificateCache,
    /// Limits of one part.
    pub limits: PartLimits,
    /// The time.
    pub now: OffsetDateTime,
}

/// Limits of one part.
#[derive(Clone, Copy, Debug)]
pub struct PartLimits {
    /// Octets after inflating.
    pub size: u64,
    /// Inflated to compressed octets.
    pub ratio: u32,
}

/// A message that is accepted as far as its envelope goes.
#[derive(Debug)]
pub struct Admitted {
    /// The P-Mode.
    pub pmode: Arc<PMode>,
    /// Its leg.
    pub leg: LegNumber,
    /// The message.
    pub message: UserMessage,
    /// The signature, in a signed leg.
    pub verified: Option<Verified>,
    /// Subjects of the signer's path.
    pub signer_path: Vec<String>,
    /// What to do with each part, in PartInfo order; a payload in the Body is not among them.
    pub parts: Vec<PartPlan>,
    /// The inbox's source (IN-21).
    pub source: String,
    /// Name of our own party.
    pub us: String,
}

impl Admitted {
    /// The leg itself.
    #[must_use]
    pub fn leg(&self) -> &Leg {
        self.pmode.leg(self.leg).unwrap_or(&self.pmode.leg)
    }
}

/// A message that is not accepted, with the agreement, where there is one, that says how to answer.
#[derive(Debug)]
pub struct Refused {
    /// Why.
    pub reject: Reject,
    /// The P-Mode and leg it belongs to.
    pub agreed: Option<(Arc<PMode>, LegNumber)>,
}

impl From<Reject> for Refused {
    fn from(reject: Reject) -> Self {
        Self { reject, agreed: None }
    }
}

/// Judges the user message of an envelope.
pub fn admit(opened: &Opened, bench: &Bench<'_>) -> Result<Admitted, Box<Refused>> {
    let Some((message, _)) = opened.messaging.user() else {
        return Err(Box::new(Reject::Envelope("there is no user message to be judged".to_owned()).into()));
    };
    let agreed = pmode::agree(bench.pmodes, message).map_err(|r| Box::new(Refused::from(Reject::Agreement(r))))?;
    let (pmode, number) = (agreed.pmode, agreed.leg);
    judge(opened, message, &pmode, number, bench)
        .map_err(|reject| Box::new(Refused { reject, agreed: Some((Arc::clone(&pmode), number)) }))
}

fn judge(
    opened: &Opened,
    message: &UserMessage,
    pmode: &Arc<PMode>,
    number: LegNumber,
    bench: &Bench<'_>,
) -> Result<Admitted, Reject> {
    let leg = pmode.leg(number).unwrap_or(&pmode.leg);
    lenient(opened, message, pmode)?;
    let Some(us) = bench.parties.with_id(&message.to.ids) else {
        let to = message.to.ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        return Err(Reject::NotForUs(to));
    };
    age(message, leg, bench.now)?;
    message.parts.iter().try_for_each(|part| payload(part, pmode))?;
    if message.parts.iter().any(|part| part.href == Href::Body) {
        inclusion::refuse(opened.envelope.body())?;
    }
    let security = security_header(opened, leg)?;
    let hrefs: Vec<String> = message.parts.iter().filter_map(attachment).collect();
    let (verified, signer_path) = match &security {
        Some(header) if leg.security.sign.is_some() => {
            let (verified, path) = authenticate(opened, header, message, pmode, number, &hrefs, bench)?;
            (Some(verified), path)
        }
        _ => (None, Vec::new()),
    };
    let encrypted = match (&security, &leg.security.encrypt) {
        (Some(header), Some(encryption)) => {
            require_encryption(header, hrefs.iter().map(String::as_str))?;
            let keys: Vec<_> = bench.parties.decryption_keys().cloned().collect();
            let sha1_oaep = encryption.accepted_transport.iter().any(|t| t.uses_sha1());
            unwrap_keys(header, &keys, &DecryptPolicy { data: encryption.accepted.clone(), sha1_oaep })?
        }
        _ => Vec::new(),
    };
    Ok(Admitted {
        parts: plans(message, leg, pmode, verified.as_ref(), &encrypted, bench.limits)?,
        source: source(message, us, verified.is_some()),
        us: us.name.clone(),
        pmode: Arc::clone(pmode),
        leg: number,
        message: message.clone(),
        verified,
        signer_path,
    })
}

/// What the reader let pass is the P-Mode's to allow (EB-039).
fn lenient(opened: &Opened, message: &UserMessage, pmode: &PMode) -> Result<(), Reject> {
    if opened.messaging.tolerated.is_empty() || pmode.lenient_identifiers {
        return Ok(());
    }
    Err(Reject::Header(HeaderError {
        findings: opened.messaging.tolerated.clone(),
        message_id: Some(message.message_id.clone()),
        ref_to: None,
        kinds: vec![UnitKind::User],
    }))
}

/// A message as old as the duplicate window may have been forgotten; one from the future would outlive it (IN-16).
fn age(message: &UserMessage, leg: &Leg, now: OffsetDateTime) -> Result<(), Reject> {
    let age = now - message.timestamp;
    if age < -SKEW {
        return Err(Reject::TooNew(format!("eb:Timestamp {} is ahead of {now}", message.timestamp)));
    }
    if leg.reception.detect_duplicates && age > leg.reception.window {
        let window = humantime::format_duration(leg.reception.window);
        return Err(Reject::TooOld(format!("eb:Timestamp {} is older than the window of {window}", message.timestamp)));
    }
    Ok(())
}

fn attachment(part: &PartInfo) -> Option<String> {
    match &part.href {
        Href::Attachment(cid) => Some(cid.to_string()),
        _ => None,
    }
}

/// The rules of one PartInfo that need no octets (EB-016, EB-171, FR-095).
fn payload(part: &PartInfo, pmode: &PMode) -> Result<(), Reject> {
    let name = match &part.href {
        Href::Attachment(cid) => cid.content_id(),
        Href::Body if pmode.checks.empty_body == Check::Enforce => {
            return Err(Reject::Profile("the payload must be an attachment: the SOAP Body must be empty".to_owned()));
        }
        Href::Body => "Body",
        Href::Element(id) => return Err(Reject::Unsupported(format!("a payload in the envelope (href #{id})"))),
        Href::External(url) => return Err(Reject::External(url.clone())),
    };
    let refused = |why: String| Err(Reject::Decompression { part: name.to_owned(), why });
    match part.compression() {
        Some("application/gzip") if part.href == Href::Body => {
            refused("a Body payload cannot be compressed".to_owned())
        }
        Some("application/gzip") if part.mime_type().is_none() => {
            refused("the MimeType property is missing".to_owned())
        }
        None | Some("application/gzip") => Ok(()),
        Some(other) => refused(format!("CompressionType `{other}` is not application/gzip")),
    }
}

/// The security header, held against what the leg agreed: one that is missing, and one that is too much (WS §12).
fn security_header(opened: &Opened, leg: &Leg) -> Result<Option<SecurityHeader>, Reject> {
    let agreed = leg.security.sign.is_some() || leg.security.encrypt.is_some();
    let Some(node) = opened.security else {
        return if agreed { Err(WssError::NotSigned.into()) } else { Ok(None) };
    };
    let document = &opened.envelope.document;
    let header = header::read(document, document.node(node))?;
    if leg.security.sign.is_none() && header.signature.is_some() {
        return Err(Reject::NotAgreed("the message is signed, and its P-Mode agrees no signature".to_owned()));
    }
    if leg.security.encrypt.is_none() && !header.encrypted_data.is_empty() {
        return Err(Reject::NotAgreed("the message is encrypted, and its P-Mode agrees no encryption".to_owned()));
    }
    Ok(Some(header))
}

fn authenticate(
    opened: &Opened,
    header: &SecurityHeader,
    message: &UserMessage,
    pmode: &PMode,
    number: LegNumber,
    hrefs: &[String],
    bench: &Bench<'_>,
) -> Result<(Verified, Vec<String>), Reject> {
    let leg = pmode.leg(number).unwrap_or(&pmode.leg);
    let spec = pmode.sender(number);
    let known: Vec<_> = spec.signing_at(bench.now).map(|pinned| Arc::clone(&pinned.certificate)).collect();
    let policy = VerifyPolicy {
        signatures: leg.security.sign.as_ref().map(|s| s.accepted.clone()).unwrap_or_default(),
        ..VerifyPolicy::default()
    };
    let envelope = &opened.envelope;
    let verified = verify(&envelope.document, header, &known, bench.certificates, &policy)?;
    require_coverage(
        &verified,
        opened.messaging.node,
        envelope.body,
        hrefs.iter().map(String::as_str),
        BodyRule::Required,
    )?;
    verified.check_timestamp(header, bench.now, SKEW)?;
    let path = signer::bind(&verified, &message.from, spec, bench.trust, bench.now)?;
    Ok((verified, path))
}

fn plans(
    message: &UserMessage,
    leg: &Leg,
    pmode: &PMode,
    verified: Option<&Verified>,
    encrypted: &[EncryptedPart],
    limits: PartLimits,
) -> Result<Vec<PartPlan>, Reject> {
    let limits =
        PartLimits { size: leg.business.max_size.map_or(limits.size, |agreed| agreed.min(limits.size)), ..limits };
    let keep = if pmode.checks.sbdh == Check::Off { 0 } else { Sbdh::HEAD };
    let mut plans = Vec::with_capacity(message.parts.len());
    for (position, part) in message.parts.iter().enumerate() {
        let Href::Attachment(cid) = &part.href else { continue };
        if encrypted.iter().any(|e| e.complete && e.content_id == cid.content_id()) {
            return Err(Reject::Unsupported("EncryptedData of type Attachment-Complete".to_owned()));
        }
        plans.push(PartPlan::new((position, part, cid), verified, encrypted, limits, keep));
    }
    Ok(plans)
}

/// The namespace of the message id: our party and the From party *after* the signer was bound to it; never the
/// certificate, for a roll-over must not reopen duplicates (IN-21).
fn source(message: &UserMessage, us: &super::OwnParty, authenticated: bool) -> String {
    let protocol = if authenticated { "as4" } else { "as4-unauthenticated" };
    let mut ids: Vec<String> = message.from.ids.iter().map(ToString::to_string).collect();
    ids.sort();
    format!("{protocol}:{}:{}", us.id, ids.join("+"))
}
