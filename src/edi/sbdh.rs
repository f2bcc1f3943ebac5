//! The Standard Business Document Header, as Peppol uses it (Business Message Envelope 2.0).
//!
//! Only the header is read, out of the first octets of a document of any size; the document itself passes unread.

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::wire::xml::{Document, Limits, Node};

const NS: &str = "http://www.unece.org/cefact/namespaces/StandardBusinessDocumentHeader";

/// A value with its scheme (`@Authority`, or the `Identifier` of a Scope).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typed {
    /// The scheme.
    pub scheme: Option<String>,
    /// The value, trimmed (FR-108).
    pub value: String,
}

/// One `Scope`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// `Type`.
    pub kind: String,
    /// `InstanceIdentifier`.
    pub instance: String,
    /// `Identifier`.
    pub identifier: Option<String>,
}

/// The header's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sbdh {
    /// `Sender/Identifier`: C1.
    pub sender: Typed,
    /// `Receiver/Identifier`: C4.
    pub receiver: Typed,
    /// `DocumentIdentification/InstanceIdentifier`.
    pub instance: String,
    /// `DocumentIdentification/Type`.
    pub kind: String,
    /// `DocumentIdentification/Standard`.
    pub standard: String,
    /// `DocumentIdentification/TypeVersion`.
    pub version: String,
    /// Scope `DOCUMENTID`.
    pub document: Typed,
    /// Scope `PROCESSID`.
    pub process: Typed,
    /// Scope `COUNTRY_C1`: where the sender is.
    pub country: String,
    /// All scopes, for the consumer.
    pub scopes: Vec<Scope>,
}

/// Why a document has no usable header.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SbdhError {
    /// It does not begin with one.
    #[error("the payload is not a StandardBusinessDocument ({0})")]
    NotSbdh(String),
    /// An element is missing, empty or not what the envelope specification asks for.
    #[error("SBDH element {element}: {problem}")]
    Element {
        /// Its path.
        element: &'static str,
        /// What is wrong.
        problem: String,
    },
}

fn wrong(element: &'static str, problem: impl Into<String>) -> SbdhError {
    SbdhError::Element { element, problem: problem.into() }
}

impl Sbdh {
    /// How much of a document's beginning is enough to hold its header.
    pub const HEAD: usize = 64 * 1024;

    /// Reads the header from the beginning of a document.
    pub fn read(beginning: &[u8]) -> Result<Self, SbdhError> {
        let text = header_text(beginning)?;
        let document = Document::parse(&text, &Limits::PMODE).map_err(|e| SbdhError::NotSbdh(e.to_string()))?;
        let root = document.root();
        if !root.is(NS, "StandardBusinessDocument") {
            return Err(SbdhError::NotSbdh(format!("the root element is {{{}}}{}", root.namespace(), root.local())));
        }
        let header = one(root, "StandardBusinessDocumentHeader", "StandardBusinessDocumentHeader")?;
        let version = one(header, "HeaderVersion", "HeaderVersion")?.token();
        if version != "1.0" {
            return Err(wrong("HeaderVersion", format!("is `{version}`, must be 1.0")));
        }
        let identification = one(header, "DocumentIdentification", "DocumentIdentification")?;
        let scopes = scopes(header)?;
        let country = scope(&scopes, "COUNTRY_C1")?.instance.clone();
        if country.len() != 2 || !country.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit()) {
            return Err(wrong(
                "BusinessScope/Scope COUNTRY_C1",
                format!("`{country}` is no ISO 3166 code of two capitals"),
            ));
        }
        let sbdh = Self {
            sender: partner(header, "Sender")?,
            receiver: partner(header, "Receiver")?,
            instance: filled(identification, "InstanceIdentifier", "DocumentIdentification/InstanceIdentifier")?,
            kind: filled(identification, "Type", "DocumentIdentification/Type")?,
            standard: filled(identification, "Standard", "DocumentIdentification/Standard")?,
            version: filled(identification, "TypeVersion", "DocumentIdentification/TypeVersion")?,
            document: typed(scope(&scopes, "DOCUMENTID")?, "busdox-docid-qns"),
            process: typed(scope(&scopes, "PROCESSID")?, "cenbii-procid-ubl"),
            country,
            scopes,
        };
        sbdh.agrees_with_itself()?;
        Ok(sbdh)
    }

    /// Standard, Type and TypeVersion say what the document type identifier says: `namespace::name##customization::version`.
    fn agrees_with_itself(&self) -> Result<(), SbdhError> {
        let Some((name, rest)) = self.document.value.split_once("##") else { return Ok(()) };
        if let Some((standard, kind)) = name.rsplit_once("::")
            && (standard != self.standard || kind != self.kind)
        {
            let found = format!("{}::{} differs from DOCUMENTID {name}", self.standard, self.kind);
            return Err(wrong("DocumentIdentification/Type", found));
        }
        match rest.rsplit_once("::") {
            Some((_, version)) if version != self.version => {
                let found = format!("`{}` differs from the version `{version}` of DOCUMENTID", self.version);
                Err(wrong("DocumentIdentification/TypeVersion", found))
            }
            _ => Ok(()),
        }
    }
}

/// The text up to the header's end, closed so that it is a document of its own.
fn header_text(beginning: &[u8]) -> Result<String, SbdhError> {
    let valid = match std::str::from_utf8(beginning) {
        Ok(text) => text,
        // The cut may fall inside a character; a bad octet before that is an error.
        Err(e) if e.error_len().is_none() => std::str::from_utf8(&beginning[..e.valid_up_to()]).unwrap_or(""),
        Err(e) => return Err(SbdhError::NotSbdh(format!("octet {} is not UTF-8", e.valid_up_to()))),
    };
    let text = valid.trim_start_matches('\u{feff}');
    let mut reader = Reader::from_str(text);
    let mut root = None;
    let mut depth = 0;
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) => {
                if depth == 0 {
                    root = Some(tag.name().into_inner().to_owned());
                }
                depth += 1;
            }
            Ok(Event::End(tag)) => {
                depth -= 1;
                if depth == 1 && tag.local_name().into_inner() == "StandardBusinessDocumentHeader" {
                    let end = usize::try_from(reader.buffer_position()).unwrap_or(text.len());
                    let root = root.unwrap_or_default();
                    return Ok(format!("{}</{root}>", text.get(..end).unwrap_or_default()));
                }
            }
            Ok(Event::DocType(_)) => return Err(SbdhError::NotSbdh("it has a document type declaration".to_owned())),
            Ok(Event::Eof) => {
                return Err(SbdhError::NotSbdh("no StandardBusinessDocumentHeader at its beginning".into()));
            }
            Ok(_) => {}
            Err(e) => return Err(SbdhError::NotSbdh(e.to_string())),
        }
    }
}

fn one<'a>(parent: Node<'a>, local: &'a str, path: &'static str) -> Result<Node<'a>, SbdhError> {
    let mut all = parent.named(NS, local);
    match (all.next(), all.next()) {
        (Some(node), None) => Ok(node),
        (None, _) => Err(wrong(path, "is missing")),
        (Some(_), Some(_)) => Err(wrong(path, "stands twice")),
    }
}

fn filled(parent: Node<'_>, local: &str, path: &'static str) -> Result<String, SbdhError> {
    let value = parent.child(NS, local).map(Node::token).unwrap_or_default();
    if value.is_empty() { Err(wrong(path, "is missing or empty")) } else { Ok(value) }
}

fn partner(header: Node<'_>, side: &'static str) -> Result<Typed, SbdhError> {
    let identifier = one(one(header, side, side)?, "Identifier", side)?;
    let value = identifier.token();
    if value.is_empty() {
        return Err(wrong(side, "has an empty Identifier"));
    }
    Ok(Typed { scheme: identifier.attribute("Authority").map(|a| a.trim().to_owned()), value })
}

fn scopes(header: Node<'_>) -> Result<Vec<Scope>, SbdhError> {
    let business = one(header, "BusinessScope", "BusinessScope")?;
    business
        .named(NS, "Scope")
        .map(|scope| {
            Ok(Scope {
                kind: filled(scope, "Type", "BusinessScope/Scope/Type")?,
                instance: filled(scope, "InstanceIdentifier", "BusinessScope/Scope/InstanceIdentifier")?,
                identifier: scope.child(NS, "Identifier").map(Node::token),
            })
        })
        .collect()
}

fn scope<'s>(scopes: &'s [Scope], kind: &'static str) -> Result<&'s Scope, SbdhError> {
    let path = match kind {
        "DOCUMENTID" => "BusinessScope/Scope DOCUMENTID",
        "PROCESSID" => "BusinessScope/Scope PROCESSID",
        _ => "BusinessScope/Scope COUNTRY_C1",
    };
    let mut all = scopes.iter().filter(|s| s.kind == kind);
    match (all.next(), all.next()) {
        (Some(scope), None) => Ok(scope),
        (None, _) => Err(wrong(path, "is missing")),
        (Some(_), Some(_)) => Err(wrong(path, "stands twice")),
    }
}

fn typed(scope: &Scope, default: &str) -> Typed {
    Typed { scheme: scope.identifier.clone().or_else(|| Some(default.to_owned())), value: scope.instance.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = include_str!("../../tests/fixtures/documents/sbdh-invoice.xml");

    #[test]
    fn the_header_is_read_from_the_beginning_alone() {
        let end = GOOD.find("<Invoice").unwrap() + 200;
        let sbdh = Sbdh::read(&GOOD.as_bytes()[..end]).unwrap();
        assert_eq!(
            sbdh.sender,
            Typed { scheme: Some("iso6523-actorid-upis".into()), value: "0088:5798000000001".into() }
        );
        assert_eq!(sbdh.receiver.value, "9915:red-waterworks");
        assert_eq!((sbdh.country.as_str(), sbdh.kind.as_str(), sbdh.version.as_str()), ("BE", "Invoice", "2.1"));
        assert!(sbdh.document.value.starts_with("urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##"));
        assert_eq!(sbdh.process.scheme.as_deref(), Some("cenbii-procid-ubl"));
    }

    #[test]
    fn each_fault_names_its_element() {
        let refused = |from: &str, to: &str| Sbdh::read(GOOD.replace(from, to).as_bytes()).unwrap_err().to_string();
        assert_eq!(
            refused("<InstanceIdentifier>BE<", "<InstanceIdentifier>be<"),
            "SBDH element BusinessScope/Scope COUNTRY_C1: `be` is no ISO 3166 code of two capitals"
        );
        assert!(refused("COUNTRY_C1", "COUNTRY_C2").ends_with("COUNTRY_C1: is missing"));
        assert!(refused("<TypeVersion>2.1", "<TypeVersion>2.0").contains("TypeVersion: `2.0` differs"));
        assert!(refused("<Type>Invoice", "<Type>Order").contains("Type: "));
        assert!(refused("PROCESSID", "DOCUMENTID").contains("DOCUMENTID: stands twice"));
        assert!(refused("<HeaderVersion>1.0", "<HeaderVersion>1.1").contains("HeaderVersion: is `1.1`"));
        assert!(refused("StandardBusinessDocumentHeader\">", "Other\">").contains("not a StandardBusinessDocument"));
        assert!(Sbdh::read(b"ISA*00*").is_err());
        assert!(Sbdh::read(b"<a>\xff</a>").is_err());
    }
}
