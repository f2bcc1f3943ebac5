//! SOAP faults, written and read (EB-085, EB-086, FR-032).

use super::envelope::Envelope;
use super::version::Version;
use crate::wire::xml::write::Text;
use crate::wire::xml::{Kind, Node, names};

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultCode {
    /// The message is wrong; SOAP 1.1 `Client`.
    Sender,
    /// We failed; SOAP 1.1 `Server`.
    Receiver,
    /// A header block for us that we do not know.
    MustUnderstand,
    /// An envelope of another SOAP.
    VersionMismatch,
}

impl FaultCode {
    /// Local name of the code in that version.
    pub fn name(self, version: Version) -> &'static str {
        match (self, version) {
            (Self::Sender, Version::Soap12) => "Sender",
            (Self::Sender, Version::Soap11) => "Client",
            (Self::Receiver, Version::Soap12) => "Receiver",
            (Self::Receiver, Version::Soap11) => "Server",
            (Self::MustUnderstand, _) => "MustUnderstand",
            (Self::VersionMismatch, _) => "VersionMismatch",
        }
    }
}

/// A `Fault` element to be put into a Body; it declares the prefix that it uses.
pub fn fault(version: Version, code: FaultCode, reason: &str) -> String {
    let (namespace, code, reason) = (version.namespace(), code.name(version), Text(reason));
    match version {
        Version::Soap12 => format!(
            "<env:Fault xmlns:env=\"{namespace}\"><env:Code><env:Value>env:{code}</env:Value></env:Code><env:Reason>\
             <env:Text xml:lang=\"en\">{reason}</env:Text></env:Reason></env:Fault>"
        ),
        Version::Soap11 => format!(
            "<env:Fault xmlns:env=\"{namespace}\"><faultcode>env:{code}</faultcode>\
             <faultstring xml:lang=\"en\">{reason}</faultstring></env:Fault>"
        ),
    }
}

/// A fault that a peer sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Local name of the code, a subcode after a dot: `Sender`, `Client.Authentication`. Empty if there is none.
    pub code: String,
    /// The reason for people, the English one where there are several.
    pub reason: String,
    /// All text of the detail, pieces joined by blanks.
    pub detail: Option<String>,
}

impl Fault {
    /// The fault in an envelope's Body, however incomplete.
    pub fn read(envelope: &Envelope) -> Option<Self> {
        let namespace = envelope.version.namespace();
        let fault = envelope.body().child(namespace, "Fault")?;
        let detail =
            |local| fault.elements().find(|e| e.local() == local).map(all_text).filter(|text| !text.is_empty());
        Some(match envelope.version {
            Version::Soap12 => {
                let code = fault.child(namespace, "Code");
                let name = |node: Node<'_>| node.child(namespace, "Value").map(local_name);
                let subcode = code.and_then(|c| c.child(namespace, "Subcode")).and_then(name);
                let codes: Vec<String> = code.and_then(name).into_iter().chain(subcode).collect();
                Self { code: codes.join("."), reason: reason(fault, namespace), detail: detail("Detail") }
            }
            Version::Soap11 => {
                let of = |local| fault.elements().find(|e| e.local() == local);
                Self {
                    code: of("faultcode").map(local_name).unwrap_or_default(),
                    reason: of("faultstring").map(|e| e.text().trim().to_owned()).unwrap_or_default(),
                    detail: detail("detail"),
                }
            }
        })
    }
}

fn reason(fault: Node<'_>, namespace: &str) -> String {
    let Some(reason) = fault.child(namespace, "Reason") else { return String::new() };
    let texts: Vec<Node<'_>> = reason.elements().filter(|e| e.is(namespace, "Text")).collect();
    let english = texts.iter().find(|e| e.attribute_ns(names::XML, "lang").is_some_and(|l| l.starts_with("en")));
    english.or(texts.first()).map(|e| e.text().trim().to_owned()).unwrap_or_default()
}

/// The local part of a qualified name in element content.
fn local_name(node: Node<'_>) -> String {
    let name = node.token();
    name.rsplit(':').next().unwrap_or_default().to_owned()
}

/// The text of an element and of all below it; the depth is bounded by the document's limits.
fn all_text(node: Node<'_>) -> String {
    let mut words: Vec<String> = Vec::new();
    for child in node.nodes() {
        let text = match &child.data().kind {
            Kind::Text(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
            Kind::Element(_) => all_text(child),
            Kind::Comment(_) | Kind::Instruction(..) => continue,
        };
        if !text.is_empty() {
            words.push(text);
        }
    }
    words.join(" ")
}
