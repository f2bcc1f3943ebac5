//! `Initiator` and `Responder`.

use std::path::PathBuf;

use super::fields::{Fields, Reader};
use super::{typed, values};
use crate::ebms::PartyId;
use crate::pmode::draft::{CertificateDraft, Maybe, PartyDraft, Set};
use crate::pmode::error::Problem;
use crate::pmode::model::SubjectRule;
use crate::wire::xml::Node;

pub(super) fn party(reader: &mut Reader<'_>, node: Node<'_>) -> PartyDraft {
    let mut fields = Fields::new(node);
    let draft = PartyDraft {
        ids: fields.children("Party").filter_map(|node| party_id(reader, node)).collect(),
        role: fields.child(reader, "Role").and_then(|node| reader.text_of(node, values::some_text)),
        signing: fields.children("SigningCertificate").filter_map(|node| certificate(reader, node)).collect(),
        encryption: fields.children("EncryptionCertificate").filter_map(|node| certificate(reader, node)).collect(),
        subject: fields.child(reader, "Subject").and_then(|node| subject(reader, node)),
    };
    fields.end(reader);
    draft
}

/// A PartyId is compared exactly (EB-048), so blanks at its edges are refused rather than guessed about.
fn party_id(reader: &mut Reader<'_>, node: Node<'_>) -> Maybe<PartyId> {
    let kind = typed(reader, node)?.value.kind;
    let value = node.text();
    if value.trim() != value {
        let (name, expected) = ("Party".to_owned(), "a value without blanks or line ends around it".to_owned());
        reader.report(node, Problem::Value { name, found: value, expected, nearest: None });
        return None;
    }
    Some(Set { value: PartyId { value, kind }, at: reader.place(node) })
}

fn certificate(reader: &mut Reader<'_>, node: Node<'_>) -> Maybe<CertificateDraft> {
    let mut fields = Fields::new(node);
    let file = file(reader, &mut fields);
    let from = fields.read(reader, "from", values::instant).map(|set| set.value);
    let until = fields.read(reader, "until", values::instant).map(|set| set.value);
    let sha256 = fields.read(reader, "sha256", values::fingerprint).map(|set| set.value);
    fields.end(reader);
    Some(Set { value: CertificateDraft { file: file?, from, until, sha256 }, at: reader.place(node) })
}

/// `@file`, relative to the file that names it.
pub(super) fn file(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Option<PathBuf> {
    let named = fields.required(reader, "file", "a PEM or DER file, relative to this one")?;
    Some(reader.file().parent().map_or_else(|| PathBuf::from(named), |folder| folder.join(named)))
}

fn subject(reader: &mut Reader<'_>, node: Node<'_>) -> Maybe<SubjectRule> {
    #[derive(Clone, Copy)]
    enum Match {
        Pinned,
        PartyId,
        Name,
    }
    let mut fields = Fields::new(node);
    let table = [("pinned", Match::Pinned), ("commonNameIsPartyId", Match::PartyId), ("commonName", Match::Name)];
    let rule = fields.read(reader, "match", |found| values::word(found, &table));
    let name = fields.read(reader, "commonName", values::some_text);
    fields.end(reader);
    let rule = match (rule.map(|set| set.value), name) {
        (Some(Match::Pinned), None) => SubjectRule::Pinned,
        (Some(Match::PartyId), None) => SubjectRule::CommonNameIsPartyId,
        (Some(Match::Name) | None, Some(name)) => SubjectRule::CommonName(name.value),
        (rule, _) => {
            let (name, parent) = if rule.is_some() { ("@commonName", "Subject") } else { ("@match", "Subject") };
            let expected = "give match=\"pinned\" or \"commonNameIsPartyId\", or commonName=\"…\"".to_owned();
            reader.report(node, Problem::Missing { name: name.to_owned(), parent: parent.to_owned(), expected });
            return None;
        }
    };
    Some(Set { value: rule, at: reader.place(node) })
}
