//! P-Mode XML to a draft: names and forms of values are checked here, their agreement with each other in
//! [`super::complete()`].

mod fields;
mod leg;
mod party;
mod security;
pub(super) mod values;

use std::path::Path;

use self::fields::{Fields, Reader};
use super::draft::{ChecksDraft, Draft, Legs, Maybe, Root, Set, Terms};
use super::error::{PModeError, Place, Problem};
use super::model::{Binding, Check, Mep};
use crate::ebms::Typed;
use crate::wire::xml::{Document, Limits, Node, names};

/// Reads one P-Mode or profile file.
///
/// # Errors
/// All faults of the file, each with its place.
pub fn read(file: &Path, text: &str) -> Result<Draft, Vec<PModeError>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // Places are counted in the text whose line ends are normalised, as the tree's are (XML 1.0 §2.11).
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let document = Document::parse(&text, &Limits::PMODE).map_err(|error| {
        let place = Place { file: file.into(), line: error.line, column: error.column };
        vec![PModeError { place, problem: Problem::Xml(error.problem.to_string()) }]
    })?;
    let mut reader = Reader::new(file, &text);
    let draft = root(&mut reader, document.root());
    match draft {
        Some(draft) if reader.errors.is_empty() => Ok(draft),
        _ => {
            reader.errors.sort_by_key(|e| (e.place.line, e.place.column));
            Err(reader.errors)
        }
    }
}

fn root(reader: &mut Reader<'_>, node: Node<'_>) -> Option<Draft> {
    let mut fields = Fields::new(node);
    let (root, name) = if node.is(names::PMODE, "PMode") {
        (Root::PMode, fields.required(reader, "id", "a name that is unique in the gateway"))
    } else if node.is(names::PMODE, "Profile") {
        (Root::Profile, fields.required(reader, "name", "the name that P-Modes inherit by"))
    } else {
        let found = format!("{{{}}}{}", node.namespace(), node.local());
        reader.report(node, Problem::Root { found });
        return None;
    };
    let profile = fields.read(reader, "profile", values::some_text);
    let terms = terms(reader, &mut fields);
    fields.end(reader);
    let name = Set { value: name?.to_owned(), at: reader.place(node) };
    Some(Draft { root, name, profile, terms })
}

fn terms(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Terms {
    let send_pmode_id = fields.read(reader, "sendPModeId", values::boolean);
    let lenient = fields.read(reader, "lenientIdentifiers", values::boolean);
    let agreement = fields.child(reader, "Agreement").and_then(|node| typed(reader, node));
    let mep = fields.child(reader, "MEP").and_then(|node| reader.text_of(node, mep));
    let binding = fields.child(reader, "MEPbinding").and_then(|node| reader.text_of(node, binding));
    let initiator = fields.child(reader, "Initiator").map(|node| party::party(reader, node)).unwrap_or_default();
    let responder = fields.child(reader, "Responder").map(|node| party::party(reader, node)).unwrap_or_default();
    let legs = Legs(fields.children("Leg").map(|node| leg::leg(reader, node)).collect());
    let checks = fields.child(reader, "Checks").map(|node| checks(reader, node)).unwrap_or_default();
    Terms { agreement, send_pmode_id, lenient, mep, binding, initiator, responder, legs, checks }
}

/// A token with an optional `@type`.
fn typed(reader: &mut Reader<'_>, node: Node<'_>) -> Maybe<Typed> {
    let mut fields = Fields::new(node);
    let kind = fields.read(reader, "type", values::some_text).map(|set| set.value);
    fields.end_with_text(reader);
    reader.value(node, node.local(), &node.token(), |found| values::some_text(found).map(|value| Typed { value, kind }))
}

fn mep(found: &str) -> Result<Mep, values::Expected> {
    values::word_or_uri(found, names::EB, &[("oneWay", Mep::OneWay), ("twoWay", Mep::TwoWay)])
}

fn binding(found: &str) -> Result<Binding, values::Expected> {
    let table = [
        ("push", Binding::Push),
        ("pull", Binding::Pull),
        ("sync", Binding::Sync),
        ("pushAndPush", Binding::PushAndPush),
        ("pushAndPull", Binding::PushAndPull),
        ("pullAndPush", Binding::PullAndPush),
    ];
    values::word_or_uri(found, names::EB, &table)
}

fn checks(reader: &mut Reader<'_>, node: Node<'_>) -> ChecksDraft {
    let check =
        |found: &str| values::word(found, &[("off", Check::Off), ("log", Check::Log), ("enforce", Check::Enforce)]);
    let mut fields = Fields::new(node);
    let checks = ChecksDraft {
        sbdh: fields.read(reader, "sbdh", check),
        empty_body: fields.read(reader, "emptyBody", check),
        single_party_id: fields.read(reader, "singlePartyId", check),
        four_corner: fields.read(reader, "fourCorner", check),
    };
    fields.end(reader);
    checks
}

#[cfg(test)]
mod tests;
