//! The P-Mode: what two partners agreed, complete (profiles and defaults applied), ready for matching and packaging.
//!
//! Field names follow the AS4 parameter names. Both partners can load the
//! same agreement: who we are in it follows from which party is ours in `postrider.toml`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use time::OffsetDateTime;

use super::error::Place;
use crate::ebms::{PartyId, Typed};
use crate::msh::reliability::RetryPlan;
use crate::wss::Certificate;
use crate::wss::suite::{DataEncryption, DigestAlgorithm, KeyTransport, SignatureAlgorithm, TokenReference};

/// A complete P-Mode.
#[derive(Clone, Debug)]
pub struct PMode {
    /// `PMode.ID`, unique in the gateway.
    pub id: String,
    /// First 12 hexadecimal digits of the SHA-256 of the effective P-Mode: kept with each message (EB-155).
    pub revision: String,
    /// The file it came from.
    pub file: PathBuf,
    /// Where its id stands.
    pub place: Place,
    /// Name of the profile that it inherits from.
    pub profile: Option<String>,
    /// `PMode.Agreement`; `None` matches messages with any agreement or none.
    pub agreement: Option<Typed>,
    /// Whether `AgreementRef/@pmode` is sent, and expected in what is received (EB-043): P-Modes that differ in
    /// security alone are told apart by it.
    pub send_pmode_id: bool,
    /// `PMode.MEP`.
    pub mep: Mep,
    /// `PMode.MEPbinding`.
    pub binding: Binding,
    /// `PMode.Initiator`.
    pub initiator: PartySpec,
    /// `PMode.Responder`.
    pub responder: PartySpec,
    /// `PMode[1]`.
    pub leg: Leg,
    /// `PMode[2]`, in two-way exchanges; it goes from the responder to the initiator.
    pub reply_leg: Option<Leg>,
    /// Accepts plain words without `@type` as PartyId, Service and `AgreementRef` (EB-039).
    pub lenient_identifiers: bool,
    /// Profile checks beyond the parameters (PR-004).
    pub checks: ProfileChecks,
}

/// Message exchange pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mep {
    /// One-Way.
    OneWay,
    /// Two-Way.
    TwoWay,
}

/// Channel binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// Push.
    Push,
    /// Pull.
    Pull,
    /// Sync (two-way).
    Sync,
    /// Push and push (two-way).
    PushAndPush,
    /// Push and pull (two-way).
    PushAndPull,
    /// Pull and push (two-way).
    PullAndPush,
}

/// One side of the agreement.
#[derive(Clone, Debug, Default)]
pub struct PartySpec {
    /// Its party ids; empty means any party (dynamic partner).
    pub ids: Vec<PartyId>,
    /// Its role; `None` matches any when receiving, and sends the AS4 default.
    pub role: Option<String>,
    /// Certificates that its signatures are accepted with; several for a roll-over. When empty, the gateway's trust
    /// anchors and `subject` decide.
    pub signing: Vec<PinnedCertificate>,
    /// Certificates to encrypt to; the newest valid one is taken.
    pub encryption: Vec<PinnedCertificate>,
    /// What the subject of a signer that is not pinned must show, for the binding to the From party (WS-101).
    pub subject: SubjectRule,
}

/// A certificate named in a P-Mode, with its own acceptance interval inside its validity.
#[derive(Clone, Debug)]
pub struct PinnedCertificate {
    /// The certificate.
    pub certificate: Arc<Certificate>,
    /// The file it came from.
    pub file: PathBuf,
    /// Where the P-Mode, or the profile that it inherits from, names it.
    pub place: Place,
    /// Used from then on, where that is later than its own first moment.
    pub from: Option<OffsetDateTime>,
    /// Used until then, where that is earlier than its own last moment.
    pub until: Option<OffsetDateTime>,
}

impl PinnedCertificate {
    /// Whether it may be used at `now`: valid, and inside the interval that the P-Mode gives it.
    #[must_use]
    pub fn usable_at(&self, now: OffsetDateTime) -> bool {
        self.certificate.valid_at(now)
            && self.from.is_none_or(|from| from <= now)
            && self.until.is_none_or(|until| now <= until)
    }
}

impl PartySpec {
    /// The certificates that its signatures are accepted with at `now`.
    pub fn signing_at(&self, now: OffsetDateTime) -> impl Iterator<Item = &PinnedCertificate> {
        self.signing.iter().filter(move |pinned| pinned.usable_at(now))
    }

    /// The certificate to encrypt to at `now`: of the usable ones, the one whose use began last (WS-104).
    #[must_use]
    pub fn encryption_at(&self, now: OffsetDateTime) -> Option<&PinnedCertificate> {
        let begin = |pinned: &&PinnedCertificate| {
            pinned.from.map_or(pinned.certificate.not_before(), |from| from.max(pinned.certificate.not_before()))
        };
        self.encryption.iter().filter(|pinned| pinned.usable_at(now)).max_by_key(begin)
    }
}

/// Which leg of a P-Mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LegNumber {
    /// `PMode[1]`: from the initiator to the responder.
    First,
    /// `PMode[2]`: from the responder to the initiator.
    Reply,
}

impl PMode {
    /// The leg with that number.
    #[must_use]
    pub fn leg(&self, number: LegNumber) -> Option<&Leg> {
        match number {
            LegNumber::First => Some(&self.leg),
            LegNumber::Reply => self.reply_leg.as_ref(),
        }
    }

    /// Every certificate that it names, of both parties.
    pub fn certificates(&self) -> impl Iterator<Item = &PinnedCertificate> {
        [&self.initiator, &self.responder].into_iter().flat_map(|party| party.signing.iter().chain(&party.encryption))
    }

    /// Who sends user messages on that leg.
    #[must_use]
    pub fn sender(&self, number: LegNumber) -> &PartySpec {
        match number {
            LegNumber::First => &self.initiator,
            LegNumber::Reply => &self.responder,
        }
    }

    /// Who receives user messages on that leg.
    #[must_use]
    pub fn receiver(&self, number: LegNumber) -> &PartySpec {
        match number {
            LegNumber::First => &self.responder,
            LegNumber::Reply => &self.initiator,
        }
    }
}

/// How the subject of a signer that is trusted by its chain is bound to the From party.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SubjectRule {
    /// Only pinned certificates are accepted.
    #[default]
    Pinned,
    /// The subject's common name equals the From PartyId (Peppol).
    CommonNameIsPartyId,
    /// The subject's common name is this.
    CommonName(String),
}

/// `PMode[n]`.
#[derive(Clone, Debug)]
pub struct Leg {
    /// `Protocol`.
    pub protocol: Protocol,
    /// `BusinessInfo`.
    pub business: BusinessInfo,
    /// `ErrorHandling`.
    pub errors: ErrorHandling,
    /// `Security`.
    pub security: Security,
    /// `PayloadService.CompressionType`: whether we compress what we send. Receiving takes both (EB-173).
    pub compress: bool,
    /// `ReceptionAwareness`.
    pub reception: ReceptionAwareness,
    /// What becomes of received messages.
    pub deliver: Vec<DeliveryTarget>,
}

/// `Protocol`.
#[derive(Clone, Debug)]
pub struct Protocol {
    /// `Protocol.Address`: where to push to.
    pub address: Option<String>,
    /// `Protocol.SOAPVersion`.
    pub soap: SoapVersion,
    /// Framing of messages without attachment (EB-002, FR-013).
    pub framing: Framing,
    /// Time limit of one exchange, from connect to the last octet of the answer.
    pub timeout: Duration,
    /// Trust anchors of the partner's TLS server in place of the system's.
    pub tls_anchors: Vec<PathBuf>,
}

/// SOAP version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SoapVersion {
    /// SOAP 1.1.
    Soap11,
    /// SOAP 1.2.
    Soap12,
}

/// Framing of a message without attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Bare SOAP.
    Bare,
    /// `multipart/related` with one part.
    Multipart,
}

/// `BusinessInfo`.
#[derive(Clone, Debug, Default)]
pub struct BusinessInfo {
    /// `Service`; `None` matches any, and sends the AS4 default.
    pub service: Option<Typed>,
    /// `Action`; `None` matches any, and sends the AS4 default.
    pub action: Option<String>,
    /// `MPC`; `None` is the default channel.
    pub mpc: Option<String>,
    /// `Properties[]`.
    pub properties: Vec<PropertySpec>,
    /// `PayloadProfile.maxSize`, in octets, over all parts after inflating.
    pub max_size: Option<u64>,
    /// At least and at most that many payload parts.
    pub parts: (u32, Option<u32>),
}

/// A property that a message must or may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertySpec {
    /// Name.
    pub name: String,
    /// `@type` that it must have, if any is agreed.
    pub kind: Option<String>,
    /// Whether it must be there.
    pub required: bool,
    /// Value sent when the submission has none.
    pub default: Option<String>,
}

/// `ErrorHandling.Report`.
#[derive(Clone, Debug)]
pub struct ErrorHandling {
    /// `AsResponse`.
    pub as_response: bool,
    /// `ReceiverErrorsTo`.
    pub receiver_errors_to: Vec<String>,
    /// `SenderErrorsTo`.
    pub sender_errors_to: Vec<String>,
    /// `ProcessErrorNotifyProducer`.
    pub notify_producer: bool,
    /// `ProcessErrorNotifyConsumer`.
    pub notify_consumer: bool,
    /// `DeliveryFailuresNotifyProducer`.
    pub notify_delivery_failures: bool,
    /// `MissingReceiptNotifyProducer`.
    pub notify_missing_receipt: bool,
    /// Adds a SOAP Fault beside an Error of severity failure (EB-085).
    pub with_fault: bool,
}

/// `Security`.
#[derive(Clone, Debug)]
pub struct Security {
    /// `X509.Sign` and what goes with it; `None` is a leg without signature.
    pub sign: Option<Signing>,
    /// `X509.Encryption`; `None` is a leg without encryption.
    pub encrypt: Option<Encryption>,
    /// `SendReceipt`.
    pub send_receipt: bool,
    /// `SendReceipt.ReplyPattern`.
    pub reply_pattern: ReplyPattern,
    /// `SendReceipt.ReplyTo`: where callback receipts go.
    pub reply_to: Option<String>,
    /// `SendReceipt.NonRepudiation`.
    pub non_repudiation: bool,
}

impl Security {
    /// Whether receipts are agreed, in requests of their own.
    #[must_use]
    pub fn receipts_by_callback(&self) -> bool {
        self.send_receipt && self.reply_pattern == ReplyPattern::Callback
    }
}

/// `ReplyPattern`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyPattern {
    /// On the HTTP response.
    Response,
    /// In a request of its own.
    Callback,
}

/// `X509.Signature`.
#[derive(Clone, Debug)]
pub struct Signing {
    /// `Signature.Algorithm`: what we sign with; the first of `accepted` when verifying.
    pub algorithm: SignatureAlgorithm,
    /// `Signature.HashFunction`.
    pub hash: DigestAlgorithm,
    /// How our certificate is named.
    pub token: TokenReference,
    /// Signature algorithms accepted from the partner.
    pub accepted: Vec<SignatureAlgorithm>,
}

/// `X509.Encryption`.
#[derive(Clone, Debug)]
pub struct Encryption {
    /// `Encryption.Algorithm`.
    pub algorithm: DataEncryption,
    /// Key transport.
    pub transport: KeyTransport,
    /// How the recipient's certificate is named.
    pub token: TokenReference,
    /// Content encryption accepted from the partner.
    pub accepted: Vec<DataEncryption>,
    /// Key transport accepted from the partner.
    pub accepted_transport: Vec<KeyTransport>,
}

/// `ReceptionAwareness`.
#[derive(Clone, Debug)]
pub struct ReceptionAwareness {
    /// `ReceptionAwareness`: a missing receipt is noticed.
    pub enabled: bool,
    /// `Retry` and `Retry.Parameters`; `None` sends once.
    pub retry: Option<RetryPlan>,
    /// `DuplicateDetection`.
    pub detect_duplicates: bool,
    /// `DetectDuplicates.Parameters`: how long an id is remembered (EB-166).
    pub window: Duration,
    /// Answers that count as "you sent this already" (EB-165): error code, and a word that `ErrorDetail` must hold.
    pub duplicate_answers: Vec<(String, Option<String>)>,
}

/// Where received messages go: the name of a backend in `postrider.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryTarget {
    /// Backend name.
    pub backend: String,
    /// Where that stands.
    pub place: Place,
}

/// Whether a profile check is made, and what follows when it fails (PR-004).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Check {
    /// Not made.
    #[default]
    Off,
    /// Made; a failure is logged.
    Log,
    /// Made; a failure refuses the message.
    Enforce,
}

/// Checks of a profile that are more than parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProfileChecks {
    /// The one payload is an SBDH document: read, checked against the header, and given to the consumer.
    pub sbdh: Check,
    /// Body payloads are refused: every payload is a MIME part (PR-014).
    pub empty_body: Check,
    /// Exactly one PartyId in From and To (PR-015).
    pub single_party_id: Check,
    /// `originalSender` and `finalRecipient` must be there (PR-019).
    pub four_corner: Check,
}
