//! A P-Mode or profile as written: every value may be absent, and each knows the place it was written at, so that a
//! rule broken after inheritance still points at the line to change.

use std::path::PathBuf;
use std::time::Duration;

use time::OffsetDateTime;

use super::error::Place;
use super::model::{
    Binding, Check, DeliveryTarget, Framing, Mep, PropertySpec, ReplyPattern, SoapVersion, SubjectRule,
};
use crate::ebms::{PartyId, Typed};
use crate::wss::suite::{DataEncryption, DigestAlgorithm, KeyTransport, SignatureAlgorithm, TokenReference};

/// A value with the place where it is set.
#[derive(Clone, Debug)]
pub(super) struct Set<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub at: Place,
}

impl<T> Set<T> {
    /// Another value at the same place.
    pub(super) fn with<U>(&self, value: U) -> Set<U> {
        Set { value, at: self.at.clone() }
    }
}

/// A value that may be set.
pub(super) type Maybe<T> = Option<Set<T>>;

/// Takes over from a base what is not set here.
pub(super) trait Inherit {
    /// Fills the gaps.
    fn inherit(&mut self, base: &Self);
}

impl<T: Clone> Inherit for Maybe<T> {
    fn inherit(&mut self, base: &Self) {
        if self.is_none() {
            self.clone_from(base);
        }
    }
}

impl<T: Clone> Inherit for Vec<Set<T>> {
    fn inherit(&mut self, base: &Self) {
        if self.is_empty() {
            self.clone_from(base);
        }
    }
}

macro_rules! drafts {
    ($($(#[$meta:meta])* $name:ident { $($field:ident: $type:ty),+ $(,)? })+) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Debug, Default)]
            pub(super) struct $name { $(pub $field: $type),+ }

            impl Inherit for $name {
                fn inherit(&mut self, base: &Self) { $(self.$field.inherit(&base.$field);)+ }
            }
        )+
    };
}

drafts! {
    /// What a `PMode` and a `Profile` have in common.
    Terms {
        agreement: Maybe<Typed>,
        send_pmode_id: Maybe<bool>,
        lenient: Maybe<bool>,
        mep: Maybe<Mep>,
        binding: Maybe<Binding>,
        initiator: PartyDraft,
        responder: PartyDraft,
        legs: Legs,
        checks: ChecksDraft,
    }
    /// `Initiator`, `Responder`.
    PartyDraft {
        ids: Vec<Set<PartyId>>,
        role: Maybe<String>,
        signing: Vec<Set<CertificateDraft>>,
        encryption: Vec<Set<CertificateDraft>>,
        subject: Maybe<SubjectRule>,
    }
    /// `Leg`.
    LegDraft {
        protocol: ProtocolDraft,
        business: BusinessDraft,
        errors: ErrorsDraft,
        security: SecurityDraft,
        compress: Maybe<bool>,
        reception: ReceptionDraft,
        deliver: Vec<Set<DeliveryTarget>>,
    }
    /// `Protocol`.
    ProtocolDraft {
        address: Maybe<String>,
        soap: Maybe<SoapVersion>,
        framing: Maybe<Framing>,
        timeout: Maybe<Duration>,
        tls_anchors: Vec<Set<PathBuf>>,
    }
    /// `BusinessInfo`.
    BusinessDraft {
        service: Maybe<Typed>,
        action: Maybe<String>,
        mpc: Maybe<String>,
        properties: Properties,
        max_size: Maybe<u64>,
        parts: Maybe<(u32, Option<u32>)>,
    }
    /// `ErrorHandling`.
    ErrorsDraft {
        as_response: Maybe<bool>,
        receiver_errors_to: Vec<Set<String>>,
        sender_errors_to: Vec<Set<String>>,
        notify_producer: Maybe<bool>,
        notify_consumer: Maybe<bool>,
        notify_delivery_failures: Maybe<bool>,
        notify_missing_receipt: Maybe<bool>,
        with_fault: Maybe<bool>,
    }
    /// `Security`.
    SecurityDraft {
        sign: Maybe<bool>,
        algorithm: Maybe<SignatureAlgorithm>,
        hash: Maybe<DigestAlgorithm>,
        token: Maybe<TokenReference>,
        accepted: Vec<Set<SignatureAlgorithm>>,
        encrypt: Maybe<bool>,
        encryption: Maybe<DataEncryption>,
        minimum_strength: Maybe<u32>,
        transport: Maybe<KeyTransport>,
        encryption_token: Maybe<TokenReference>,
        accepted_encryption: Vec<Set<DataEncryption>>,
        accepted_transport: Vec<Set<KeyTransport>>,
        send_receipt: Maybe<bool>,
        reply_pattern: Maybe<ReplyPattern>,
        reply_to: Maybe<String>,
        non_repudiation: Maybe<bool>,
    }
    /// `ReceptionAwareness`.
    ReceptionDraft {
        enabled: Maybe<bool>,
        retry: Maybe<bool>,
        retries: Maybe<u32>,
        first: Maybe<Duration>,
        multiplier: Maybe<f64>,
        max: Maybe<Duration>,
        jitter: Maybe<f64>,
        deadline: Maybe<Duration>,
        detect: Maybe<bool>,
        window: Maybe<Duration>,
        duplicate_answers: Vec<Set<(String, Option<String>)>>,
    }
    /// `Checks`.
    ChecksDraft {
        sbdh: Maybe<Check>,
        empty_body: Maybe<Check>,
        single_party_id: Maybe<Check>,
        four_corner: Maybe<Check>,
    }
}

/// A certificate file that a P-Mode names.
#[derive(Clone, Debug)]
pub(super) struct CertificateDraft {
    /// The file, relative to where the gateway looks for it.
    pub file: PathBuf,
    /// Used from then on.
    pub from: Option<OffsetDateTime>,
    /// Used until then.
    pub until: Option<OffsetDateTime>,
    /// The SHA-256 fingerprint that it must have, in lower-case hexadecimal.
    pub sha256: Option<String>,
}

/// `Leg`, once or, in two-way exchanges, twice. A profile has one, which every leg inherits from.
#[derive(Clone, Debug, Default)]
pub(super) struct Legs(pub Vec<LegDraft>);

impl Inherit for Legs {
    fn inherit(&mut self, base: &Self) {
        if self.0.is_empty() {
            self.0.clone_from(&base.0);
        } else if let Some(base) = base.0.first() {
            self.0.iter_mut().for_each(|leg| leg.inherit(base));
        }
    }
}

/// `Properties`: those of the profile stay, unless the same name is given anew.
#[derive(Clone, Debug, Default)]
pub(super) struct Properties(pub Vec<Set<PropertySpec>>);

impl Inherit for Properties {
    fn inherit(&mut self, base: &Self) {
        let added: Vec<_> =
            base.0.iter().filter(|b| !self.0.iter().any(|own| own.value.name == b.value.name)).cloned().collect();
        self.0.extend(added);
    }
}

/// Whether a file is a P-Mode or a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// `PMode`.
    PMode,
    /// `Profile`.
    Profile,
}

/// A file as read.
#[derive(Clone, Debug)]
pub struct Draft {
    /// What it is.
    pub(super) root: Root,
    /// `@id` of a P-Mode, `@name` of a profile.
    pub(super) name: Set<String>,
    /// `@profile`: what it inherits from.
    pub(super) profile: Maybe<String>,
    /// Its values.
    pub(super) terms: Terms,
}
