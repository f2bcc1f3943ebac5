//! Values to `eb:Messaging` fragments.
//!
//! Each fragment declares what it uses, and is its own exclusive canonical form (Exclusive C14N, no prefix list): its
//! octets can be digested as they stand. So attributes are sorted, no element is self-closing, and namespaces are
//! declared where they are first used.

use std::borrow::Cow;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use time::OffsetDateTime;

use super::message_id::MessageId;
use super::model::{AgreementRef, EbmsError, ErrorSignal, Party, PullRequest, Receipt, ReceiptContent, UserMessage};
use super::part::{Description, Href, PartInfo, Property};
use super::timestamp;
use super::token::collapse;
use crate::pmode::SoapVersion;
use crate::wire::xml::write::{Text, attribute};
use crate::wire::xml::{allowed, names};
use crate::wss::Reference;

/// What a copied user message declares and `eb:Messaging` has declared already.
const COPY_START: &str = "<eb:UserMessage xmlns:eb=\"http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/\"";

/// Around a copied user message.
const COPY_WRAPPER: &str = "<pr:OriginalUserMessage xmlns:pr=\"urn:postrider:receipt:1\">";

/// `eb:Messaging` with a user message.
#[must_use]
pub fn user_message(message: &UserMessage, id: &str, soap: SoapVersion) -> String {
    let mut out = open(id, soap, 2048 + 384 * message.parts.len());
    out.push_str("<eb:UserMessage");
    attribute(&mut out, "mpc", message.mpc.as_deref());
    out.push('>');
    message_info(&mut out, message.timestamp, &message.message_id, message.ref_to.as_ref());
    out.push_str("<eb:PartyInfo>");
    party(&mut out, "eb:From", &message.from);
    party(&mut out, "eb:To", &message.to);
    out.push_str("</eb:PartyInfo><eb:CollaborationInfo>");
    if let Some(agreement) = &message.agreement {
        agreement_ref(&mut out, agreement);
    }
    element(&mut out, "eb:Service", &[("type", message.service.kind.as_deref())], &message.service.value);
    element(&mut out, "eb:Action", &[], &message.action);
    element(&mut out, "eb:ConversationId", &[], &message.conversation_id);
    out.push_str("</eb:CollaborationInfo>");
    properties(&mut out, "eb:MessageProperties", &message.properties);
    if !message.parts.is_empty() {
        out.push_str("<eb:PayloadInfo>");
        for part in &message.parts {
            part_info(&mut out, part);
        }
        out.push_str("</eb:PayloadInfo>");
    }
    out.push_str("</eb:UserMessage></eb:Messaging>");
    out
}

/// `eb:Messaging` with a Receipt. [`ReceiptContent::Other`] stands for what we cannot write: the Receipt is empty
/// then, and not valid.
#[must_use]
pub fn receipt(receipt: &Receipt, id: &str, soap: SoapVersion) -> String {
    let mut out = open_signal(id, soap, 4096, receipt.timestamp, &receipt.message_id, Some(&receipt.ref_to));
    out.push_str("<eb:Receipt>");
    match &receipt.content {
        ReceiptContent::NonRepudiation(references) => {
            out.push_str("<ebbp:NonRepudiationInformation");
            attribute(&mut out, "xmlns:ebbp", Some(names::EBBP));
            out.push('>');
            for reference in references {
                part_information(&mut out, reference);
            }
            out.push_str("</ebbp:NonRepudiationInformation>");
        }
        // The header schema allows only foreign elements here, and peers that validate refuse the bare copy: it stands in
        // an element of ours (EB-068 takes both forms).
        ReceiptContent::ReceptionAwareness(copy) => {
            out.push_str(COPY_WRAPPER);
            match copy.strip_prefix(COPY_START) {
                Some(rest) => {
                    out.push_str("<eb:UserMessage");
                    out.push_str(rest);
                }
                None => out.push_str(copy),
            }
            out.push_str("</pr:OriginalUserMessage>");
        }
        ReceiptContent::Other => {}
    }
    out.push_str("</eb:Receipt></eb:SignalMessage></eb:Messaging>");
    out
}

/// `eb:Messaging` with an Error signal.
#[must_use]
pub fn error_signal(signal: &ErrorSignal, id: &str, soap: SoapVersion) -> String {
    let mut out = open_signal(id, soap, 2048, signal.timestamp, &signal.message_id, signal.ref_to.as_ref());
    for one in &signal.errors {
        error(&mut out, one);
    }
    out.push_str("</eb:SignalMessage></eb:Messaging>");
    out
}

/// `eb:Messaging` with a `PullRequest`.
#[must_use]
pub fn pull_request(request: &PullRequest, id: &str, soap: SoapVersion) -> String {
    let mut out = open_signal(id, soap, 1024, request.timestamp, &request.message_id, None);
    element(&mut out, "eb:PullRequest", &[("mpc", request.mpc.as_deref())], "");
    out.push_str("</eb:SignalMessage></eb:Messaging>");
    out
}

fn open(id: &str, soap: SoapVersion, room: usize) -> String {
    let (envelope, must_understand) = match soap {
        SoapVersion::Soap11 => (names::SOAP11, "1"),
        SoapVersion::Soap12 => (names::SOAP12, "true"),
    };
    let mut out = String::with_capacity(room);
    out.push_str("<eb:Messaging");
    attribute(&mut out, "xmlns:eb", Some(names::EB));
    attribute(&mut out, "xmlns:env", Some(envelope));
    attribute(&mut out, "xmlns:wsu", Some(names::WSU));
    // In canonical order: attributes are sorted by namespace name, and that of wsu comes before both of SOAP.
    attribute(&mut out, "wsu:Id", Some(id));
    attribute(&mut out, "env:mustUnderstand", Some(must_understand));
    out.push('>');
    out
}

fn open_signal(
    id: &str,
    soap: SoapVersion,
    room: usize,
    timestamp: OffsetDateTime,
    message_id: &MessageId,
    ref_to: Option<&MessageId>,
) -> String {
    let mut out = open(id, soap, room);
    out.push_str("<eb:SignalMessage>");
    message_info(&mut out, timestamp, message_id, ref_to);
    out
}

fn message_info(out: &mut String, instant: OffsetDateTime, message_id: &MessageId, ref_to: Option<&MessageId>) {
    out.push_str("<eb:MessageInfo><eb:Timestamp>");
    timestamp::write(out, instant);
    out.push_str("</eb:Timestamp>");
    element(out, "eb:MessageId", &[], message_id.as_str());
    if let Some(ref_to) = ref_to {
        element(out, "eb:RefToMessageId", &[], ref_to.as_str());
    }
    out.push_str("</eb:MessageInfo>");
}

fn party(out: &mut String, name: &str, party: &Party) {
    let _ = write!(out, "<{name}>");
    for id in &party.ids {
        element(out, "eb:PartyId", &[("type", id.kind.as_deref())], &id.value);
    }
    element(out, "eb:Role", &[], &party.role);
    let _ = write!(out, "</{name}>");
}

fn agreement_ref(out: &mut String, agreement: &AgreementRef) {
    let attributes = [("pmode", agreement.pmode.as_deref()), ("type", agreement.kind.as_deref())];
    element(out, "eb:AgreementRef", &attributes, &agreement.value);
}

fn properties(out: &mut String, name: &str, properties: &[Property]) {
    if properties.is_empty() {
        return;
    }
    let _ = write!(out, "<{name}>");
    for property in properties {
        let attributes = [("name", Some(property.name.as_str())), ("type", property.kind.as_deref())];
        element(out, "eb:Property", &attributes, &property.value);
    }
    let _ = write!(out, "</{name}>");
}

fn part_info(out: &mut String, part: &PartInfo) {
    out.push_str("<eb:PartInfo");
    match &part.href {
        Href::Body => {}
        Href::Attachment(cid) => attribute(out, "href", Some(&cid.to_string())),
        Href::Element(id) => attribute(out, "href", Some(&format!("#{id}"))),
        Href::External(url) => attribute(out, "href", Some(url)),
    }
    out.push('>');
    if let Some(schema) = &part.schema {
        let attributes = [
            ("location", Some(schema.location.as_str())),
            ("namespace", schema.namespace.as_deref()),
            ("version", schema.version.as_deref()),
        ];
        element(out, "eb:Schema", &attributes, "");
    }
    description(out, part.description.as_ref());
    properties(out, "eb:PartProperties", &part.properties);
    out.push_str("</eb:PartInfo>");
}

fn description(out: &mut String, description: Option<&Description>) {
    if let Some(Description { lang, text }) = description {
        element(out, "eb:Description", &[("xml:lang", Some(lang))], text);
    }
}

fn error(out: &mut String, error: &EbmsError) {
    out.push_str("<eb:Error");
    attribute(out, "category", error.category.as_deref());
    attribute(out, "errorCode", Some(error.code.as_str()));
    attribute(out, "origin", error.origin.as_deref());
    attribute(out, "refToMessageInError", error.ref_to_message_in_error.as_deref());
    attribute(out, "severity", Some(error.severity.as_str()));
    attribute(out, "shortDescription", error.short_description.as_deref());
    out.push('>');
    description(out, error.description.as_ref());
    if let Some(detail) = &error.detail {
        element(out, "eb:ErrorDetail", &[], &printable(detail));
    }
    out.push_str("</eb:Error>");
}

/// Free text as a token of XML: it may quote what a stranger sent.
fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(allowed) {
        return collapse(text);
    }
    let clean: String = text.chars().map(|c| if allowed(c) { c } else { char::REPLACEMENT_CHARACTER }).collect();
    Cow::Owned(collapse(&clean).into_owned())
}

/// One `ebbp:MessagePartNRInformation`: a copy of the reference as it stood in the signature (EB-066).
fn part_information(out: &mut String, reference: &Reference) {
    out.push_str("<ebbp:MessagePartNRInformation><ds:Reference");
    attribute(out, "xmlns:ds", Some(names::DS));
    attribute(out, "URI", Some(&reference.uri));
    out.push('>');
    if !reference.transforms.is_empty() {
        out.push_str("<ds:Transforms>");
        for transform in &reference.transforms {
            out.push_str("<ds:Transform");
            attribute(out, "Algorithm", Some(&transform.algorithm));
            out.push('>');
            if let Some(prefixes) = &transform.prefix_list {
                let attributes = [("xmlns:ec", Some(names::EXC_C14N)), ("PrefixList", Some(prefixes))];
                element(out, "ec:InclusiveNamespaces", &attributes, "");
            }
            out.push_str("</ds:Transform>");
        }
        out.push_str("</ds:Transforms>");
    }
    element(out, "ds:DigestMethod", &[("Algorithm", Some(&reference.digest_method))], "");
    out.push_str("<ds:DigestValue>");
    STANDARD.encode_string(&reference.digest, out);
    out.push_str("</ds:DigestValue></ds:Reference></ebbp:MessagePartNRInformation>");
}

/// `<name a="…">text</name>`; attributes in canonical order, left out where they have no value.
fn element(out: &mut String, name: &str, attributes: &[(&str, Option<&str>)], text: &str) {
    out.push('<');
    out.push_str(name);
    for (name, value) in attributes {
        attribute(out, name, *value);
    }
    // Writing to a String cannot fail.
    let _ = write!(out, ">{}</{name}>", Text(text));
}

#[cfg(test)]
mod tests;
