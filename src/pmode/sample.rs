//! P-Modes and messages for the tests of this module.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use openssl::asn1::Asn1Time;
use openssl::ec::{EcGroup, EcKey};
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{PKey, Private};
use openssl::rsa::Rsa;
use openssl::x509::{X509, X509NameBuilder};
use time::{Duration, OffsetDateTime};

use super::{Files, PModeError, PModeSet};
use crate::ebms::{AgreementRef, Href, MessageId, PartInfo, Party, PartyId, Property, Typed, UserMessage};
use crate::wire::xml::names;

/// The time of all tests.
pub(super) const NOW: OffsetDateTime = time::macros::datetime!(2026-07-01 10:00 UTC);

/// Files in memory.
#[derive(Default)]
pub(super) struct InMemory(pub(super) HashMap<PathBuf, Vec<u8>>);

impl InMemory {
    pub(super) fn with(mut self, path: &str, octets: Vec<u8>) -> Self {
        self.0.insert(PathBuf::from(path), octets);
        self
    }
}

impl Files for InMemory {
    fn read(&self, path: &Path) -> Result<Vec<u8>, String> {
        self.0.get(path).cloned().ok_or_else(|| "there is no such file".to_owned())
    }
}

pub(super) fn rsa(bits: u32) -> PKey<Private> {
    PKey::from_rsa(Rsa::generate(bits).unwrap()).unwrap()
}

pub(super) fn elliptic() -> PKey<Private> {
    let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap();
    PKey::from_ec_key(EcKey::generate(&group).unwrap()).unwrap()
}

/// A certificate of that key, valid for so many days around [`NOW`].
pub(super) fn certificate(key: &PKey<Private>, days: std::ops::Range<i64>) -> X509 {
    let mut name = X509NameBuilder::new().unwrap();
    name.append_entry_by_text("CN", "red").unwrap();
    let name = name.build();
    let at = |days| Asn1Time::from_unix((NOW + Duration::days(days)).unix_timestamp()).unwrap();
    let mut made = X509::builder().unwrap();
    made.set_version(2).unwrap();
    made.set_subject_name(&name).unwrap();
    made.set_issuer_name(&name).unwrap();
    made.set_pubkey(key).unwrap();
    made.set_not_before(&at(days.start)).unwrap();
    made.set_not_after(&at(days.end)).unwrap();
    made.sign(key, MessageDigest::sha256()).unwrap();
    made.build()
}

/// A P-Mode file: attributes of the root, and what stands in it.
pub(super) fn file(attributes: &str, inside: &str) -> String {
    format!("<PMode xmlns=\"urn:postrider:pmode:1\" {attributes}>\n{inside}\n</PMode>")
}

/// The P-Mode that [`message`] belongs to, with something in place of each piece on demand.
pub(super) fn plain(id: &str, replace: &[(&str, &str)]) -> String {
    let inside = "<Agreement>urn:example:agreement:1</Agreement>\n\
        <Initiator><Party>urn:example:party:a</Party></Initiator>\n\
        <Responder><Party>urn:example:party:b</Party></Responder>\n\
        <Leg><BusinessInfo><Service>urn:example:service</Service><Action>Deliver</Action></BusinessInfo></Leg>";
    let text = replace.iter().fold(inside.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    });
    file(&format!("id=\"{id}\" profile=\"plain\""), &text)
}

/// Loads P-Modes that name no files.
pub(super) fn load(texts: &[String]) -> Result<PModeSet, Vec<PModeError>> {
    load_with(texts, &InMemory::default())
}

pub(super) fn load_with(texts: &[String], files: &InMemory) -> Result<PModeSet, Vec<PModeError>> {
    let named = (1..).zip(texts).map(|(at, text)| (PathBuf::from(format!("pmodes/{at}.xml")), text.clone()));
    PModeSet::load(&named.collect::<Vec<_>>(), files, NOW)
}

pub(super) fn set(texts: &[String]) -> PModeSet {
    load(texts).unwrap_or_else(|errors| panic!("{}", said(&errors)))
}

/// All errors, one a line.
pub(super) fn said(errors: &[PModeError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

pub(super) fn id(value: &str) -> PartyId {
    PartyId { value: value.to_owned(), kind: None }
}

pub(super) fn typed(value: &str) -> Typed {
    Typed { value: value.to_owned(), kind: None }
}

pub(super) fn agreement(value: &str, pmode: Option<&str>) -> AgreementRef {
    AgreementRef { value: value.to_owned(), kind: None, pmode: pmode.map(str::to_owned) }
}

pub(super) fn property(name: &str, kind: Option<&str>) -> Property {
    Property { name: name.to_owned(), kind: kind.map(str::to_owned), value: "x".to_owned() }
}

pub(super) fn part(href: Href) -> PartInfo {
    PartInfo { href, schema: None, description: None, properties: Vec::new() }
}

/// A message from party a to party b.
pub(super) fn message() -> UserMessage {
    let party = |value, role: &str| Party { ids: vec![id(value)], role: role.to_owned() };
    UserMessage {
        mpc: None,
        timestamp: NOW,
        message_id: MessageId::parse("1@node.example").unwrap(),
        ref_to: None,
        from: party("urn:example:party:a", names::ROLE_INITIATOR),
        to: party("urn:example:party:b", names::ROLE_RESPONDER),
        agreement: Some(agreement("urn:example:agreement:1", None)),
        service: typed("urn:example:service"),
        action: "Deliver".to_owned(),
        conversation_id: "c1".to_owned(),
        properties: Vec::new(),
        parts: Vec::new(),
    }
}
