//! From the SOAP part's octets to message units: what the walk's second step sees.

use super::reject::Reject;
use crate::ebms::{self, HeaderError, MessageId, Messaging, ReadOptions};
use crate::wire::soap::{Envelope, SoapError, Version};
use crate::wire::xml::{Limits, Node, NodeId, encoding, names};

/// A readable message, not yet judged.
#[derive(Debug)]
pub struct Opened {
    /// The envelope's text, decoded: the second signature engine reads it too.
    pub text: String,
    /// The envelope.
    pub envelope: Envelope,
    /// `eb:Messaging`, valid by the header tables.
    pub messaging: Messaging,
    /// The `wsse:Security` block for the ultimate receiver.
    pub security: Option<NodeId>,
}

/// What could be learnt of a message that is not readable: enough to answer it.
#[derive(Debug)]
pub struct Unreadable {
    /// Why.
    pub reject: Reject,
    /// Its MessageId, where one was readable.
    pub message_id: Option<MessageId>,
    /// The SOAP version to answer in.
    pub version: Version,
    /// Whether an Error signal may answer it: not when it holds errors or receipts only (EB-072, EB-089).
    pub answerable: bool,
}

/// Reads the SOAP part: encoding, XML, SOAP, `eb:Messaging` (EB-006, EB-007, EB-030, EB-031, EB-086).
///
/// # Errors
/// With the reason and what is needed to answer.
pub fn open(octets: &[u8], charset: Option<&str>) -> Result<Opened, Box<Unreadable>> {
    let unreadable = |version, reject| Box::new(Unreadable { reject, message_id: None, version, answerable: true });
    let text = encoding::decode(octets, charset)
        .map_err(|e| unreadable(Version::Soap12, Reject::Envelope(e.to_string())))?
        .into_owned();
    let envelope = Envelope::parse(&text, &Limits::ENVELOPE).map_err(|e| unreadable(Version::Soap12, of_soap(&e)))?;
    let version = envelope.version;
    if let Some(node) = envelope.not_understood(UNDERSTOOD).first() {
        let name = format!("{{{}}}{}", node.namespace(), node.local());
        return Err(unreadable(version, Reject::NotUnderstood(name)));
    }
    let Some(header) = envelope.header() else {
        return Err(unreadable(version, Reject::Envelope("the envelope has no Header".to_owned())));
    };
    let security = security_block(&envelope).map_err(|reject| unreadable(version, reject))?;
    let read = ebms::find_messaging(header).and_then(|node| {
        ebms::read_messaging(node, ReadOptions { lenient_identifiers: true, lenient_message_ids: false })
    });
    match read {
        Ok(messaging) => Ok(Opened { text, envelope, messaging, security }),
        Err(error) => Err(Box::new(of_header(version, error))),
    }
}

/// Header blocks of this gateway.
const UNDERSTOOD: &[(&str, &str)] = &[(names::EB, "Messaging"), (names::WSSE, "Security")];

fn of_soap(error: &SoapError) -> Reject {
    match error {
        SoapError::Version(_) => Reject::SoapVersion(error.to_string()),
        other => Reject::Envelope(other.to_string()),
    }
}

fn of_header(version: Version, error: HeaderError) -> Unreadable {
    Unreadable {
        message_id: error.message_id.clone(),
        answerable: error.may_be_answered(),
        version,
        reject: Reject::Header(error),
    }
}

/// The one block for the ultimate receiver; one with role `ebms` authorises, and is not looked at here (WS-001, WS-112).
fn security_block(envelope: &Envelope) -> Result<Option<NodeId>, Reject> {
    let mut ours = envelope
        .header_blocks()
        .filter(|block| block.is(names::WSSE, "Security") && envelope.for_ultimate_receiver(*block));
    match (ours.next(), ours.next()) {
        (first, None) => Ok(first.map(Node::id)),
        (_, Some(_)) => Err(Reject::Envelope("there are two wsse:Security blocks for one receiver".to_owned())),
    }
}
