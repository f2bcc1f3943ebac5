//! Entities of other gateways and of field reports, read from outer header to inflated payload.

use bytes::Bytes;

use super::*;
use crate::wire::gzip::{GzipError, InflateLimits, Inflater};
use crate::wire::soap::{Envelope, Version};
use crate::wire::xml::{Limits, encoding, names};

macro_rules! entity {
    ($name:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/wire/", $name, ".mime")).as_slice()
    };
}

/// Head and content of each part.
type Parts = Vec<(PartHead, Vec<u8>)>;

/// The outer header, then the entity.
fn split(file: &'static [u8]) -> (ContentType, &'static [u8]) {
    let at = memchr::memmem::find(file, b"\r\n\r\n").unwrap();
    let line = std::str::from_utf8(&file[..at]).unwrap();
    (ContentType::parse(line.split_once(':').unwrap().1).unwrap(), &file[at + 4..])
}

/// The parts of a package, whatever the size of its pieces; the error ends them.
fn unpack(file: &'static [u8], piece: usize) -> (Related, Parts, Result<(), MimeError>) {
    let (outer, entity) = split(file);
    let related = Related::read(&outer).unwrap();
    let mut reader = MultipartReader::new(&related.boundary, MimeLimits::default()).unwrap();
    let mut events = Vec::new();
    let mut pieces = entity.chunks(piece);
    let outcome = pieces.try_for_each(|piece| reader.push(Bytes::from_static(piece), &mut events));
    let outcome = outcome.and_then(|()| reader.finish(&mut events));
    let mut parts = Parts::new();
    for event in events {
        match event {
            MimeEvent::Head(head) => parts.push((head, Vec::new())),
            MimeEvent::Data(data) => parts.last_mut().unwrap().1.extend_from_slice(&data),
            MimeEvent::PartEnd | MimeEvent::End => {}
        }
    }
    (related, parts, outcome)
}

/// The `href`s of the payload parts that the envelope in the root part names.
fn hrefs(related: &Related, parts: &[(PartHead, Vec<u8>)]) -> Vec<String> {
    let at = (0..parts.len()).find(|at| related.is_root(&parts[*at].0, *at)).unwrap();
    let (head, content) = &parts[at];
    related.check_root(head).unwrap();
    let text = encoding::decode(content, head.content_type.as_ref().and_then(ContentType::charset)).unwrap();
    let envelope = Envelope::parse(&text, &Limits::ENVELOPE).unwrap();
    assert_eq!(envelope.version, Version::Soap12);
    let messaging = envelope.header_blocks().find(|b| b.is(names::EB, "Messaging")).unwrap();
    assert!(envelope.must_understand(messaging));
    let user = messaging.child(names::EB, "UserMessage");
    let info = user.and_then(|u| u.child(names::EB, "PayloadInfo"));
    let parts = info.into_iter().flat_map(|i| i.named(names::EB, "PartInfo"));
    parts.map(|p| p.attribute("href").unwrap().to_owned()).collect()
}

/// The payload parts in the order in which the envelope names them; the same for any size of pieces.
fn payloads(file: &'static [u8]) -> Vec<Vec<u8>> {
    let (related, parts, outcome) = unpack(file, usize::MAX);
    assert_eq!(outcome, Ok(()));
    for piece in [1, 7, 1000] {
        assert_eq!(unpack(file, piece).1, parts);
    }
    let named = |href: &String| {
        let mut found =
            parts.iter().filter(|(head, _)| head.content_id.as_deref().is_some_and(|id| names_part(href, id)));
        let (_, content) = found.next().unwrap();
        assert!(found.next().is_none());
        content.clone()
    };
    hrefs(&related, &parts).iter().map(named).collect()
}

const ORDER: &str =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<order xmlns=\"urn:example:order\"><id>4711</id></order>\n";

#[test]
fn field_reports_give_their_payload() {
    for file in [entity!("fr-004"), entity!("fr-014")] {
        assert_eq!(payloads(file), [ORDER.as_bytes()]);
    }
    assert_eq!(payloads(entity!("fr-005")), [b"<t xmlns=\"urn:example:t\">a --b1 b</t>"]);
    assert_eq!(payloads(entity!("fr-007")), [ORDER.as_bytes(), "café and more ".as_bytes()]);
    assert_eq!(payloads(entity!("fr-012")), Vec::<Vec<u8>>::new());
}

#[test]
fn field_reports_are_refused_with_their_reason() {
    let outcome = |file| unpack(file, 100).2;
    assert_eq!(outcome(entity!("fr-008")), Err(MimeError::TransferEncoding { part: 2, value: "x-uuencode".into() }));
    assert!(matches!(outcome(entity!("fr-006-b")), Err(MimeError::Truncated { part: 2, .. })));
}

#[test]
fn envelopes_in_every_encoding() {
    let city = |file| {
        let (outer, entity) = split(file);
        let text = encoding::decode(entity, outer.charset())?;
        let envelope = Envelope::parse(&text, &Limits::ENVELOPE).unwrap();
        let messaging = envelope.header_blocks().next().unwrap();
        let user = messaging.child(names::EB, "UserMessage").unwrap();
        let property = user.child(names::EB, "MessageProperties").unwrap().child(names::EB, "Property").unwrap();
        Ok(property.text())
    };
    for file in [entity!("fr-027-a"), entity!("fr-027-b"), entity!("fr-027-c")] {
        assert_eq!(city(file), Ok("Köln".to_owned()));
    }
    assert!(matches!(city(entity!("fr-027-d")), Err(encoding::EncodingError::Malformed { encoding: "UTF-8", .. })));
}

#[test]
fn names_are_compared_by_namespace() {
    let (_, entity) = split(entity!("fr-019-a"));
    let envelope = Envelope::parse(&encoding::decode(entity, None).unwrap(), &Limits::ENVELOPE).unwrap();
    assert_eq!(envelope.not_understood(&[(names::EB, "Messaging")]), []);
    assert_eq!(envelope.not_understood(&[]).len(), 1);
}

#[test]
fn packages_of_other_gateways() {
    let [compressed] = payloads(entity!("phase4-push-compressed")).try_into().unwrap();
    let mut order = Vec::new();
    let mut inflater = Inflater::new(InflateLimits::default());
    let pushed = inflater.push(&compressed, &mut |octets: &[u8]| -> Result<(), GzipError> {
        order.extend_from_slice(octets);
        Ok(())
    });
    assert_eq!(pushed.and_then(|()| inflater.finish()), Ok(1500));
    assert!(order.starts_with(b"<?xml"));
    assert_eq!(payloads(entity!("phase4-pull-answer")).len(), 1);
    // Encrypted: a 16-octet tag after a 12-octet IV at least.
    for file in [entity!("oxalis-push-signed-encrypted"), entity!("pyas4-push-signed-encrypted")] {
        let [payload] = payloads(file).try_into().unwrap();
        assert!(payload.len() > 28);
    }
}
