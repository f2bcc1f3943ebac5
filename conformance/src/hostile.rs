//! What strangers' octets are fed to, one function a reader. Each must neither panic nor take long; where a second opinion
//! exists, it must agree. The fuzz targets and the smoke run call these and nothing else.

use std::collections::HashSet;
use std::path::Path;

use bytes::Bytes;
use libxml::parser::Parser;
use libxml::tree::c14n::{CanonicalizationMode, CanonicalizationOptions};
use postrider::ebms::{ReadOptions, Unit, find_messaging, read_messaging};
use postrider::edi::{BusinessKey, Reading, acknowledgements};
use postrider::pmode::{Files, PModeSet, SoapVersion};
use postrider::wire::mime::{ContentType, MimeEvent, MimeLimits, MultipartReader, Related};
use postrider::wire::soap::{Envelope, Version};
use postrider::wire::xml::c14n::canonicalize_document;
use postrider::wire::xml::c14n_stream::StreamCanonicalizer;
use postrider::wire::xml::{Document, Limits, encoding, names};
use postrider::wss::{BodyRule, Certificate, CertificateCache, VerifyPolicy, header, require_coverage, verify};
use time::macros::datetime;

use crate::wire::find;

/// A multipart body with its head before it: read in pieces of two sizes, which must give the same.
///
/// # Panics
/// When they do not.
pub fn mime(octets: &[u8]) {
    let Some(end) = find(octets, b"\r\n\r\n") else { return };
    let head = String::from_utf8_lossy(&octets[..end]);
    let value = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-type").then_some(value.trim())
    });
    let Some(outer) = value.and_then(|value| ContentType::parse(value).ok()) else { return };
    let Ok(related) = Related::read(&outer) else { return };
    let body = &octets[end + 4..];
    let small = 1 + usize::from(octets[end / 2]) % 61;
    assert_eq!(parts(&related, body, small), parts(&related, body, usize::MAX), "pieces of {small} octets");
}

/// Heads and octets of the parts, or that it failed.
fn parts(related: &Related, body: &[u8], piece: usize) -> Option<Vec<(String, Vec<u8>)>> {
    let mut reader = MultipartReader::new(&related.boundary, MimeLimits::default()).ok()?;
    let (mut events, mut parts) = (Vec::new(), Vec::new());
    for octets in body.chunks(piece.min(body.len().max(1))) {
        reader.push(Bytes::copy_from_slice(octets), &mut events).ok()?;
    }
    reader.finish(&mut events).ok()?;
    for event in events {
        match event {
            MimeEvent::Head(head) => parts.push((format!("{head:?}"), Vec::new())),
            MimeEvent::Data(octets) => parts.last_mut().map(|(_, data)| data.extend_from_slice(&octets))?,
            MimeEvent::PartEnd | MimeEvent::End => {}
        }
    }
    Some(parts)
}

/// A SOAP part: the first step of every message.
///
/// # Panics
/// When a header without units is accepted.
pub fn envelope(octets: &[u8]) {
    for charset in [None, Some("utf-16")] {
        if let Ok(opened) = postrider::msh::open(octets, charset) {
            assert!(!opened.messaging.units.is_empty(), "a header without units was accepted");
        }
    }
}

/// A business document or acknowledgement: read whole and in pieces it must say the same, and its keys must fit.
///
/// # Panics
/// When it does not, or a key is longer than an index takes.
pub fn edi(octets: &[u8]) {
    let read = |piece: usize| {
        let mut reading = Reading::new(None);
        octets.chunks(piece).for_each(|octets| {
            reading.push(octets);
        });
        reading.finish()
    };
    let whole = read(octets.len().max(1));
    let small = 1 + octets.first().map_or(0, |first| usize::from(*first) % 61);
    assert_eq!(read(small).ok(), whole.as_ref().ok().cloned(), "pieces of {small} octets");
    let document = match &whole {
        Ok(document) => document,
        Err(reason) => {
            assert!(reason.to_string().len() < 8000, "{reason}");
            return;
        }
    };
    let keys = document.documents().into_iter().flatten().map(|business| business.key);
    for key in keys.chain(acknowledgements(document).into_iter().map(|answer| answer.key)) {
        let fits = |text: &str| text.is_ascii() && text.len() <= BusinessKey::LONGEST;
        assert!(fits(&key.source) && fits(&key.key), "{key}");
    }
}

/// `eb:Messaging`: what is read and written again must read the same.
///
/// # Panics
/// When it does not.
pub fn ebms_header(octets: &[u8]) {
    let Some(envelope) = soap(octets) else { return };
    let Some(node) = envelope.header().and_then(|header| find_messaging(header).ok()) else { return };
    let options = ReadOptions::default();
    let Ok(read) = read_messaging(node, options) else { return };
    let soap = if envelope.version == Version::Soap11 { SoapVersion::Soap11 } else { SoapVersion::Soap12 };
    for placed in &read.units {
        let Unit::User(message) = &placed.unit else { continue };
        let written = postrider::ebms::write::user_message(message, "msg-1", soap);
        let text = postrider::wire::soap::envelope(envelope.version, &written, None, "");
        let again = Envelope::parse(&text, &Limits::ENVELOPE).expect("what was written is no envelope");
        let header = again.header().expect("what was written has no header");
        let again = read_messaging(find_messaging(header).expect("no Messaging"), options);
        let again = again.unwrap_or_else(|error| panic!("what was written is refused: {error}\n{text}"));
        let (mut first, mut second) = ((**message).clone(), again.user().expect("no user message").0.clone());
        // Timestamps are written to the millisecond.
        (first.timestamp, second.timestamp) = (datetime!(2000-01-01 0:00 UTC), datetime!(2000-01-01 0:00 UTC));
        assert_eq!(first, second, "{text}");
    }
}

/// `wsse:Security`: read, then verified; whatever is mutated, what a signature covers is what was accepted before.
pub fn security_header(octets: &[u8]) {
    let Some(envelope) = soap(octets) else { return };
    let Some(block) = envelope.header_blocks().find(|block| block.is(names::WSSE, "Security")) else { return };
    let Ok(header) = header::read(&envelope.document, block) else { return };
    let nobody: Vec<std::sync::Arc<Certificate>> = Vec::new();
    let cache = CertificateCache::new(4);
    let verified = verify(&envelope.document, &header, &nobody, &cache, &VerifyPolicy::default());
    let Ok(verified) = verified else { return };
    if let Some(messaging) = envelope.header().and_then(|h| find_messaging(h).ok()) {
        // Either outcome is fine: it must only be one.
        let _ = require_coverage(&verified, messaging.id(), envelope.body, [], BodyRule::SignalMayOmit);
    }
}

fn soap(octets: &[u8]) -> Option<Envelope> {
    let begin = find(octets, b"<?xml").or_else(|| find(octets, b"<"))?;
    let text = encoding::decode(&octets[begin..], None).ok()?;
    // A captured message may have parts after its envelope.
    let end = text.find("Envelope>\r\n--").map_or(text.len(), |at| at + "Envelope>".len());
    Envelope::parse(&text[..end], &Limits::ENVELOPE).ok()
}

struct Nothing;

impl Files for Nothing {
    fn read(&self, _: &Path) -> Result<Vec<u8>, String> {
        Err("there are no files here".to_owned())
    }
}

/// A P-Mode file: what loads is written in full and loads again to the same.
///
/// # Panics
/// When it does not.
pub fn pmode(octets: &[u8]) {
    let Ok(text) = std::str::from_utf8(octets) else { return };
    let now = datetime!(2026-07-01 10:00 UTC);
    let load = |text: &str| PModeSet::load(&[("pmodes/x.xml".into(), text.to_owned())], &Nothing, now);
    let Ok(set) = load(text) else { return };
    for pmode in set.iter() {
        let written = postrider::pmode::write(pmode);
        let again = load(&written).unwrap_or_else(|errors| panic!("{errors:?}\n{written}"));
        let ids: HashSet<&str> = again.iter().map(|p| p.revision.as_str()).collect();
        assert_eq!(ids, HashSet::from([pmode.revision.as_str()]), "{written}");
    }
}

/// Exclusive C14N by the tree, by the stream, and by libxml2.
///
/// # Panics
/// When the stream takes what the tree refuses, or any two that accept a document differ in its canonical form.
pub fn c14n(octets: &[u8]) {
    let piece = 1 + octets.len() % 37;
    let Ok(text) = std::str::from_utf8(octets) else { return };
    let Ok(document) = Document::parse(text, &Limits::ENVELOPE) else { return };
    let mut tree = Vec::new();
    canonicalize_document(&document, None, &mut |octets| tree.extend_from_slice(octets));
    let tree = String::from_utf8_lossy(&tree);
    if let Some(streamed) = stream(octets, piece) {
        assert_eq!(String::from_utf8_lossy(&streamed), tree, "stream and tree differ on {text:?}");
    }
    let options = CanonicalizationOptions {
        mode: CanonicalizationMode::ExclusiveCanonical1_0,
        with_comments: false,
        inclusive_ns_prefixes: Vec::new(),
    };
    // libxml2 has no canonical form of a document whose namespace names are relative or no URIs, and says so aloud.
    if !namespaces(text).all(|name| name.is_empty() || plain_uri(name)) {
        return;
    }
    // libxml2 mends what is broken and goes on; only what it finds well-formed is a judgement.
    let parser = Parser::default();
    let strict = libxml::parser::ParserOptions {
        recover: false,
        no_error: true,
        no_warning: true,
        no_net: true,
        ..Default::default()
    };
    let Ok(theirs) = parser.parse_string_with_options(text, strict) else { return };
    if let Ok(theirs) = theirs.canonicalize(options, None) {
        assert_eq!(theirs, tree, "libxml2 and tree differ on {text:?}");
    }
}

/// What is declared as a namespace, as far as the text shows it.
fn namespaces(text: &str) -> impl Iterator<Item = &str> {
    text.split("xmlns").skip(1).filter_map(|rest| {
        let begin = rest.find(['"', '\''])?;
        let quote = rest[begin..].chars().next()?;
        rest[begin + 1..].split(quote).next()
    })
}

/// `urn:…` or `http://…` of the plainest kind.
fn plain_uri(name: &str) -> bool {
    let name = name.strip_suffix('#').unwrap_or(name);
    let plain = |text: &str, more: &str| {
        text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
    };
    let web = name.strip_prefix("http://").is_some_and(|rest| plain(rest, "-._/"));
    web || name.strip_prefix("urn:").is_some_and(|rest| plain(rest, "-._/:"))
}

fn stream(octets: &[u8], piece: usize) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    let mut canonicalizer = StreamCanonicalizer::default();
    let mut sink = |octets: &[u8]| all.extend_from_slice(octets);
    for octets in octets.chunks(piece) {
        canonicalizer.push(octets, &mut sink).ok()?;
    }
    canonicalizer.finish().ok()?;
    Some(all)
}
