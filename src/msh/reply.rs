//! What a request is answered with: a receipt, an error signal, or a SOAP fault, as final octets.

use time::OffsetDateTime;

use super::judge::Admitted;
use super::open::Opened;
use super::package::{self, Ids, Signing};
use super::reject::Reject;
use crate::ebms::{ErrorSignal, MessageId, Receipt, ReceiptContent, fragment, write};
use crate::pmode::{Leg, SoapVersion};
use crate::wire::soap::{self, FaultCode, Version};
use crate::wss::{Signer, WssError};

/// The answer's octets and what goes with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// `Content-Type`.
    pub content_type: String,
    /// The envelope.
    pub body: String,
}

impl Reply {
    fn new(status: u16, version: Version, body: String) -> Self {
        Self { status, content_type: format!("{}; charset=UTF-8", version.media_type()), body }
    }
}

/// The receipt of a message that is accepted (EB-065…EB-069): the references of its signature, or, where there is none
/// or the P-Mode wants no non-repudiation, the `eb:UserMessage` as received.
pub fn receipt(
    admitted: &Admitted,
    opened: &Opened,
    key: Option<&dyn Signer>,
    ids: &Ids,
    now: OffsetDateTime,
) -> Result<Reply, WssError> {
    let leg = admitted.leg();
    let content = match &admitted.verified {
        Some(verified) if leg.security.non_repudiation => ReceiptContent::NonRepudiation(verified.references.clone()),
        _ => {
            let copy = opened.messaging.user().map(|(_, node)| fragment::copy(opened.envelope.document.node(node)));
            ReceiptContent::ReceptionAwareness(copy.unwrap_or_default())
        }
    };
    let version = opened.envelope.version;
    let receipt = Receipt {
        message_id: ids.message_id.clone(),
        timestamp: now,
        ref_to: admitted.message.message_id.clone(),
        content,
    };
    let messaging = write::receipt(&receipt, &ids.messaging(), soap_version(version));
    let body = signal(version, &messaging, "", leg, key, ids)?;
    Ok(Reply::new(200, version, body))
}

/// The error signal of a message that is refused; one `eb:Error` for each finding (EB-082, EB-085, EB-088).
pub fn error(
    reject: &Reject,
    about: Option<&MessageId>,
    version: Version,
    leg: Option<&Leg>,
    key: Option<&dyn Signer>,
    ids: &Ids,
    now: OffsetDateTime,
) -> Result<Reply, WssError> {
    match reject {
        Reject::NotUnderstood(_) => return Ok(fault(version, FaultCode::MustUnderstand, &reject.detail())),
        Reject::SoapVersion(_) => return Ok(fault(version, FaultCode::VersionMismatch, &reject.detail())),
        _ => {}
    }
    let errors = reject.errors().into_iter().map(|e| match about {
        Some(id) => e.about(id),
        None => e,
    });
    let errors = ErrorSignal {
        message_id: ids.message_id.clone(),
        timestamp: now,
        ref_to: about.cloned(),
        errors: errors.collect(),
    };
    let messaging = write::error_signal(&errors, &ids.messaging(), soap_version(version));
    let with_fault = leg.is_some_and(|l| l.errors.with_fault);
    let inside = if with_fault { soap::fault(version, FaultCode::Sender, &reject.detail()) } else { String::new() };
    let body = match leg {
        Some(leg) => signal(version, &messaging, &inside, leg, key, ids)?,
        None => soap::envelope(version, &messaging, None, &inside),
    };
    let status = match reject {
        Reject::Envelope(_) => 400,
        _ if with_fault => 500,
        _ => 200,
    };
    Ok(Reply::new(status, version, body))
}

/// A plain SOAP fault, for what SOAP processing itself refuses (EB-086).
#[must_use]
pub fn fault(version: Version, code: FaultCode, reason: &str) -> Reply {
    Reply::new(500, version, soap::envelope(version, "", None, &soap::fault(version, code, reason)))
}

fn signal(
    version: Version,
    messaging: &str,
    inside: &str,
    leg: &Leg,
    key: Option<&dyn Signer>,
    ids: &Ids,
) -> Result<String, WssError> {
    let signing = leg.security.sign.as_ref().zip(key);
    let Some((options, key)) = signing else { return Ok(soap::envelope(version, messaging, None, inside)) };
    let envelope = soap::envelope(version, messaging, Some(&ids.body()), inside);
    let signed = package::sign(&envelope, &[], &Signing { key, options }, ids)?;
    crate::wss::compose(&envelope, &signed.blocks)
}

fn soap_version(version: Version) -> SoapVersion {
    match version {
        Version::Soap11 => SoapVersion::Soap11,
        Version::Soap12 => SoapVersion::Soap12,
    }
}
