//! One leg, with the defaults of AS4.

use std::time::Duration;

use super::certificates::Certificates;
use super::{Findings, Given, list};
use crate::msh::reliability::RetryPlan;
use crate::pmode::draft::{LegDraft, ReceptionDraft, SecurityDraft, Set};
use crate::pmode::error::Problem;
use crate::pmode::model::{
    BusinessInfo, Encryption, ErrorHandling, Framing, Leg, Protocol, ReceptionAwareness, ReplyPattern, Security,
    Signing, SoapVersion,
};
use crate::wss::suite::{DataEncryption, DigestAlgorithm, KeyTransport, OaepHash, SignatureAlgorithm, TokenReference};

/// `Protocol` timeout where none is given.
const TIMEOUT: Duration = Duration::from_mins(5);
/// Duplicate window where none is given (EB-166, IN-15).
const WINDOW: Duration = Duration::from_hours(30 * 24);

pub(super) fn leg(draft: &LegDraft, certificates: &mut Certificates<'_>, findings: &mut Findings) -> Leg {
    for anchor in &draft.protocol.tls_anchors {
        if let Err(reason) = certificates.first(&anchor.value) {
            findings.error(&anchor.at, Problem::File { file: anchor.value.clone(), reason });
        }
    }
    let security = security(&draft.security);
    Leg {
        protocol: Protocol {
            address: draft.protocol.address.given(),
            soap: draft.protocol.soap.given_or(SoapVersion::Soap12),
            framing: draft.protocol.framing.given_or(Framing::Bare),
            timeout: draft.protocol.timeout.given_or(TIMEOUT),
            tls_anchors: list(&draft.protocol.tls_anchors),
        },
        business: BusinessInfo {
            service: draft.business.service.given(),
            action: draft.business.action.given(),
            mpc: draft.business.mpc.given(),
            properties: list(&draft.business.properties.0),
            max_size: draft.business.max_size.given(),
            parts: draft.business.parts.given_or((0, None)),
        },
        errors: ErrorHandling {
            as_response: draft.errors.as_response.given_or(true),
            receiver_errors_to: list(&draft.errors.receiver_errors_to),
            sender_errors_to: list(&draft.errors.sender_errors_to),
            notify_producer: draft.errors.notify_producer.given_or(true),
            notify_consumer: draft.errors.notify_consumer.given_or(false),
            notify_delivery_failures: draft.errors.notify_delivery_failures.given_or(true),
            notify_missing_receipt: draft.errors.notify_missing_receipt.given_or(true),
            with_fault: draft.errors.with_fault.given_or(false),
        },
        security,
        compress: draft.compress.given_or(false),
        reception: reception(&draft.reception),
        deliver: list(&draft.deliver),
    }
}

/// A leg is signed unless that is switched off: nobody should lose authentication by leaving a line out.
fn security(draft: &SecurityDraft) -> Security {
    let sign = draft.sign.given_or(true).then(|| {
        let algorithm = draft.algorithm.given_or(SignatureAlgorithm::RsaSha256);
        Signing {
            algorithm,
            hash: draft.hash.given_or(DigestAlgorithm::Sha256),
            token: draft.token.given_or(TokenReference::BinarySecurityToken),
            accepted: first_of(algorithm, &draft.accepted),
        }
    });
    let encrypt = draft.encrypt.given_or(false).then(|| {
        let algorithm = draft.encryption.given_or(DataEncryption::Aes128Gcm);
        let oaep = KeyTransport::RsaOaep { digest: OaepHash::Sha256, mgf: OaepHash::Sha256 };
        let transport = draft.transport.given_or(oaep);
        Encryption {
            algorithm,
            transport,
            token: draft.encryption_token.given_or(TokenReference::BinarySecurityToken),
            accepted: first_of(algorithm, &draft.accepted_encryption),
            accepted_transport: first_of(transport, &draft.accepted_transport),
        }
    });
    Security {
        non_repudiation: draft.non_repudiation.given_or(sign.is_some()),
        sign,
        encrypt,
        send_receipt: draft.send_receipt.given_or(true),
        reply_pattern: draft.reply_pattern.given_or(ReplyPattern::Response),
        reply_to: draft.reply_to.given(),
    }
}

/// What we use ourselves is accepted first, then what else the P-Mode allows (WS-090).
fn first_of<T: Copy + PartialEq>(own: T, allowed: &[Set<T>]) -> Vec<T> {
    let mut all = vec![own];
    for other in allowed {
        if !all.contains(&other.value) {
            all.push(other.value);
        }
    }
    all
}

fn reception(draft: &ReceptionDraft) -> ReceptionAwareness {
    let enabled = draft.enabled.given_or(true);
    let plan = RetryPlan::default();
    let retry = (enabled && draft.retry.given_or(true)).then(|| RetryPlan {
        retries: draft.retries.given_or(plan.retries),
        first: draft.first.given_or(plan.first),
        multiplier: draft.multiplier.given_or(plan.multiplier),
        max: draft.max.given_or(plan.max),
        jitter: draft.jitter.given_or(plan.jitter),
        deadline: draft.deadline.given_or(plan.deadline),
    });
    let answers = list(&draft.duplicate_answers);
    ReceptionAwareness {
        enabled,
        retry,
        detect_duplicates: draft.detect.given_or(true),
        window: draft.window.given_or(WINDOW),
        duplicate_answers: if answers.is_empty() { default_duplicate_answers() } else { answers },
    }
}

/// EB-165.
fn default_duplicate_answers() -> Vec<(String, Option<String>)> {
    vec![("EBMS:4001".to_owned(), None), ("EBMS:0004".to_owned(), Some("duplicate".to_owned()))]
}
