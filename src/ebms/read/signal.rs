//! `eb:SignalMessage`: `PullRequest`, Receipt, Error.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::sequence::Sequence;
use super::user::MessageInfo;
use super::{Problem, Reader};
use crate::ebms::code::{Code, Severity};
use crate::ebms::fragment;
use crate::ebms::model::{EbmsError, ErrorSignal, PullRequest, Receipt, ReceiptContent, Unit};
use crate::ebms::part::Description;
use crate::ebms::token::collapse;
use crate::wire::xml::{Node, names};
use crate::wss::{Reference, Transform};

/// What a `PullRequest` pulls from; without a name it is the default channel.
struct Channel {
    mpc: Option<String>,
}

impl Reader {
    /// The units of one `SignalMessage`; the schema allows a `PullRequest`, a Receipt and Errors beside each other.
    pub(super) fn signal_message(&mut self, node: Node<'_>) -> Vec<Unit> {
        self.attributes(node, &[], false);
        let mut children = Sequence::open(self, node);
        let of_error = node.child(names::EB, "Error").is_some();
        let info = children.required(self, "MessageInfo").and_then(|n| self.message_info(n, of_error));
        let pull = children.optional(self, "PullRequest");
        let receipt = children.optional(self, "Receipt");
        let mut errors = Vec::new();
        while let Some(error) = children.next("Error") {
            errors.push(read_error(error));
        }
        children.foreign(self);
        children.finish(self);
        if pull.is_none() && receipt.is_none() && !of_error {
            self.found.add(node, Problem::UnknownSignal);
        }
        let pull = pull.map(|n| self.pull_request(n));
        let content = receipt.map(|n| self.receipt_content(n));
        if let (Some(receipt), Some(MessageInfo { ref_to: None, .. })) = (receipt, &info) {
            self.found.add(receipt, Problem::ReceiptWithoutReference);
        }
        info.map_or_else(Vec::new, |info| assemble(info, pull, content, errors))
    }

    /// `eb:PullRequest`, open to anything of other namespaces (EB-049).
    fn pull_request(&mut self, node: Node<'_>) -> Channel {
        self.attributes(node, &["mpc"], true);
        let mut children = Sequence::open(self, node);
        children.foreign(self);
        children.finish(self);
        Channel { mpc: node.attribute("mpc").map(|mpc| collapse(mpc).into_owned()) }
    }

    /// What a Receipt attests: non-repudiation where it is there, whatever stands beside it; else the user message,
    /// directly or in a wrapper (EB-068).
    fn receipt_content(&mut self, node: Node<'_>) -> ReceiptContent {
        self.attributes(node, &[], false);
        let mut children = Sequence::open(self, node);
        let mut direct = None;
        let mut any = false;
        loop {
            let copy = children.next("UserMessage");
            direct = direct.or(copy);
            if !children.foreign(self) && copy.is_none() {
                break;
            }
            any = true;
        }
        children.finish(self);
        if !any {
            self.found.add(node, Problem::Empty("Receipt".to_owned()));
        }
        if let Some(information) = node.child(names::EBBP, "NonRepudiationInformation") {
            return ReceiptContent::NonRepudiation(self.non_repudiation(information));
        }
        let wrapped = || node.elements().find_map(|wrapper| wrapper.child(names::EB, "UserMessage"));
        direct.or_else(wrapped).map_or(ReceiptContent::Other, |m| ReceiptContent::ReceptionAwareness(fragment::copy(m)))
    }

    /// The references in their order. A part named by `MessagePartIdentifier` attests nothing (EB-066) and is left
    /// out: the comparison with what was sent will miss it.
    fn non_repudiation(&mut self, information: Node<'_>) -> Vec<Reference> {
        let mut references = Vec::new();
        for part in information.named(names::EBBP, "MessagePartNRInformation") {
            for reference in part.named(names::DS, "Reference") {
                match read_reference(reference) {
                    Ok(reference) => references.push(reference),
                    Err(why) => self.found.add(reference, Problem::NonRepudiation(why)),
                }
            }
        }
        references
    }
}

/// Units out of what was read. A Receipt without `RefToMessageId` was reported and yields none.
fn assemble(
    info: MessageInfo,
    pull: Option<Channel>,
    content: Option<ReceiptContent>,
    errors: Vec<EbmsError>,
) -> Vec<Unit> {
    let MessageInfo { timestamp, message_id, ref_to } = info;
    let mut units = Vec::new();
    if let Some(Channel { mpc }) = pull {
        units.push(Unit::Pull(Box::new(PullRequest { message_id: message_id.clone(), timestamp, mpc })));
    }
    if let (Some(content), Some(ref_to)) = (content, ref_to.clone()) {
        units.push(Unit::Receipt(Box::new(Receipt { message_id: message_id.clone(), timestamp, ref_to, content })));
    }
    if !errors.is_empty() {
        units.push(Unit::Error(Box::new(ErrorSignal { message_id, timestamp, ref_to, errors })));
    }
    units
}

/// `eb:Error` as partners send it: any severity, no `xml:lang`, unknown attributes, any length (FR-024, FR-064).
/// Refusing it would lose the answer that it is.
fn read_error(node: Node<'_>) -> EbmsError {
    let value = |name| node.attribute(name).map(|v| collapse(v).into_owned()).filter(|v| !v.is_empty());
    let description = node.child(names::EB, "Description").map(|d| Description {
        lang: d.attribute_ns(names::XML, "lang").unwrap_or_default().to_owned(),
        text: d.text(),
    });
    EbmsError {
        code: value("errorCode").map_or(Code::OTHER, |code| Code::read(&code)),
        severity: value("severity").map_or(Severity::Failure, |severity| Severity::read(&severity)),
        category: value("category"),
        origin: value("origin"),
        short_description: value("shortDescription"),
        ref_to_message_in_error: value("refToMessageInError"),
        description: description.filter(|d| !d.text.is_empty()),
        detail: node.child(names::EB, "ErrorDetail").map(Node::token).filter(|d| !d.is_empty()),
    }
}

/// A `ds:Reference`. Transforms may be absent: some partners leave them out of receipts.
fn read_reference(node: Node<'_>) -> Result<Reference, &'static str> {
    let uri = node.attribute("URI").ok_or("a ds:Reference has no URI")?;
    let method = node.child(names::DS, "DigestMethod").and_then(|m| m.attribute("Algorithm"));
    let digest = node.child(names::DS, "DigestValue").ok_or("a ds:Reference has no ds:DigestValue")?.text();
    let digest: String = digest.split_ascii_whitespace().collect();
    let transforms = node.child(names::DS, "Transforms");
    let transforms = transforms.into_iter().flat_map(|t| t.named(names::DS, "Transform"));
    let transforms = transforms.map(|t| {
        let inclusive = t.child(names::EXC_C14N, "InclusiveNamespaces");
        Ok(Transform {
            algorithm: t.attribute("Algorithm").ok_or("a ds:Transform has no Algorithm")?.to_owned(),
            prefix_list: inclusive.and_then(|i| i.attribute("PrefixList")).map(str::to_owned),
        })
    });
    Ok(Reference {
        uri: uri.to_owned(),
        transforms: transforms.collect::<Result<_, &'static str>>()?,
        digest_method: method.ok_or("a ds:Reference has no ds:DigestMethod")?.to_owned(),
        digest: STANDARD.decode(digest).map_err(|_| "a ds:DigestValue is no base64")?,
    })
}
