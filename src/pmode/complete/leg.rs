//! One leg, with the defaults of AS4.

use std::time::Duration;

use super::certificates::Certificates;
use super::{Findings, list, or, value};
use crate::msh::reliability::RetryPlan;
use crate::pmode::draft::{LegDraft, ReceptionDraft, SecurityDraft, Set};
use crate::pmode::error::Problem;
use crate::pmode::model::{
    BusinessInfo, Encryption, ErrorHandling, Framing, Leg, Protocol, ReceptionAwareness, ReplyPattern, Security,
    Signing, SoapVersion,
};
use crate::wss::suite::{DataEncryption, DigestAlgorithm, KeyTransport, OaepHash, SignatureAlgorithm, TokenReference};

/// `Protocol` timeout where none is given.
const TIMEOUT: Duration = Duration::from_secs(300);
/// Duplicate window where none is given (EB-166, IN-15).
const WINDOW: Duration = Duration::from_secs(30 * 24 * 3600);

pub(super) fn leg(draft: &LegDraft, certificates: &mut Certificates<'_>, findings: &mut Findings) -> Leg {
    for anchor in &draft.protocol.tls_anchors {
        if let Err(reason) = certificates.first(&anchor.value) {
            findings.error(&anchor.at, Problem::File { file: anchor.value.clone(), reason });
        }
    }
    let security = security(&draft.security);
    Leg {
        protocol: Protocol {
            address: value(&draft.protocol.address),
            soap: or(&draft.protocol.soap, SoapVersion::Soap12),
            framing: or(&draft.protocol.framing, Framing::Bare),
            timeout: or(&draft.protocol.timeout, TIMEOUT),
            tls_anchors: list(&draft.protocol.tls_anchors),
        },
        business: BusinessInfo {
            service: value(&draft.business.service),
            action: value(&draft.business.action),
            mpc: value(&draft.business.mpc),
            properties: list(&draft.business.properties.0),
            max_size: value(&draft.business.max_size),
            parts: or(&draft.business.parts, (0, None)),
        },
        errors: ErrorHandling {
            as_response: or(&draft.errors.as_response, true),
            receiver_errors_to: list(&draft.errors.receiver_errors_to),
            sender_errors_to: list(&draft.errors.sender_errors_to),
            notify_producer: or(&draft.errors.notify_producer, true),
            notify_consumer: or(&draft.errors.notify_consumer, false),
            notify_delivery_failures: or(&draft.errors.notify_delivery_failures, true),
            notify_missing_receipt: or(&draft.errors.notify_missing_receipt, true),
            with_fault: or(&draft.errors.with_fault, false),
        },
        security,
        compress: or(&draft.compress, false),
        reception: reception(&draft.reception),
        deliver: list(&draft.deliver),
    }
}

/// A leg is signed unless that is switched off: nobody should lose authentication by leaving a line out.
fn security(draft: &SecurityDraft) -> Security {
    let sign = or(&draft.sign, true).then(|| {
        let algorithm = or(&draft.algorithm, SignatureAlgorithm::RsaSha256);
        Signing {
            algorithm,
            hash: or(&draft.hash, DigestAlgorithm::Sha256),
            token: or(&draft.token, TokenReference::BinarySecurityToken),
            accepted: first_of(algorithm, &draft.accepted),
        }
    });
    let encrypt = or(&draft.encrypt, false).then(|| {
        let algorithm = or(&draft.encryption, DataEncryption::Aes128Gcm);
        let oaep = KeyTransport::RsaOaep { digest: OaepHash::Sha256, mgf: OaepHash::Sha256 };
        let transport = or(&draft.transport, oaep);
        Encryption {
            algorithm,
            transport,
            token: or(&draft.encryption_token, TokenReference::BinarySecurityToken),
            accepted: first_of(algorithm, &draft.accepted_encryption),
            accepted_transport: first_of(transport, &draft.accepted_transport),
        }
    });
    Security {
        non_repudiation: or(&draft.non_repudiation, sign.is_some()),
        sign,
        encrypt,
        send_receipt: or(&draft.send_receipt, true),
        reply_pattern: or(&draft.reply_pattern, ReplyPattern::Response),
        reply_to: value(&draft.reply_to),
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
    let enabled = or(&draft.enabled, true);
    let plan = RetryPlan::default();
    let retry = (enabled && or(&draft.retry, true)).then(|| RetryPlan {
        retries: or(&draft.retries, plan.retries),
        first: or(&draft.first, plan.first),
        multiplier: or(&draft.multiplier, plan.multiplier),
        max: or(&draft.max, plan.max),
        jitter: or(&draft.jitter, plan.jitter),
        deadline: or(&draft.deadline, plan.deadline),
    });
    let answers = list(&draft.duplicate_answers);
    ReceptionAwareness {
        enabled,
        retry,
        detect_duplicates: or(&draft.detect, true),
        window: or(&draft.window, WINDOW),
        duplicate_answers: if answers.is_empty() { default_duplicate_answers() } else { answers },
    }
}

/// EB-165.
fn default_duplicate_answers() -> Vec<(String, Option<String>)> {
    vec![("EBMS:4001".to_owned(), None), ("EBMS:0004".to_owned(), Some("duplicate".to_owned()))]
}
