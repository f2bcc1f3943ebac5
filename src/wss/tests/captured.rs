//! Every message captured from phase4, Oxalis and pyas4 verifies, and what is encrypted decrypts.

use std::path::Path;
use std::sync::Arc;

use super::fixture::{self, Part};
use crate::wire::xml::{Document, Limits, names};
use crate::wss::compose::Places;
use crate::wss::{
    BodyRule, CertificateCache, DecryptPolicy, PartDecryptor, PartDigester, PrivateKey, Verified, VerifyPolicy, header,
    require_coverage, unwrap_keys, verify,
};

#[derive(Default, Debug, PartialEq, Eq)]
struct Count {
    messages: usize,
    signed: usize,
    encrypted: usize,
    parts: usize,
}

struct Judge {
    partners: Vec<Arc<crate::wss::Certificate>>,
    own: Vec<Arc<PrivateKey>>,
    cache: CertificateCache,
}

impl Judge {
    fn new() -> Self {
        Self {
            partners: ["partya", "partyb", "stranger"].map(fixture::certificate).to_vec(),
            own: ["partya", "partyb"].map(fixture::private_key).to_vec(),
            cache: CertificateCache::default(),
        }
    }

    fn message(&self, path: &Path, count: &mut Count) {
        let Some(parts) = fixture::parts(path) else { return };
        count.messages += 1;
        let name = path.display();
        let text = std::str::from_utf8(&parts[0].body).unwrap();
        let document = Document::parse(text, &Limits::ENVELOPE).unwrap();
        let soap = document.root().namespace();
        let Some(security) =
            document.root().child(soap, "Header").and_then(|header| header.child(names::WSSE, "Security"))
        else {
            assert!(!text.contains("SignedInfo"), "{name}");
            return;
        };
        let header = header::read(&document, security).unwrap_or_else(|error| panic!("{name}: {error}"));
        let verified = verify(&document, &header, &self.partners, &self.cache, &VerifyPolicy::default())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(self.partners.contains(&verified.signer), "{name}");
        let places = Places::find(&document).unwrap();
        let hrefs = hrefs(&document);
        require_coverage(
            &verified,
            places.messaging.id(),
            places.body.id(),
            hrefs.iter().map(String::as_str),
            BodyRule::Required,
        )
        .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(verified.parts.len(), hrefs.len(), "{name}");
        count.signed += 1;
        if !header.encrypted_data.is_empty() {
            count.encrypted += 1;
        }
        self.attachments(&parts[1..], &header, &verified, &name.to_string());
        count.parts += parts.len() - 1;
    }

    fn attachments(&self, parts: &[Part], header: &header::SecurityHeader, verified: &Verified, name: &str) {
        let encrypted = unwrap_keys(header, &self.own, &DecryptPolicy::default())
            .unwrap_or_else(|error| panic!("{name}: {}", error.operator_detail()));
        for part in parts {
            let id = part.content_id();
            let mut plain = Vec::new();
            let mut media_type = part.header("Content-Type");
            if let Some(key) = encrypted.iter().find(|part| part.content_id == id) {
                let mut decryptor = PartDecryptor::new(&key.key).unwrap();
                for piece in part.body.chunks(100) {
                    decryptor.update(piece, &mut plain).unwrap();
                }
                decryptor.finish(&mut plain).unwrap_or_else(|error| panic!("{name}: {}", error.operator_detail()));
                media_type.clone_from(&key.mime_type);
            } else {
                plain.clone_from(&part.body);
            }
            let expected = verified.part(&format!("cid:{id}")).unwrap();
            let mut digester = PartDigester::verifying(media_type.as_deref(), expected.algorithm);
            digester.update(&plain).unwrap();
            let outcome = digester.finish_both().check(&expected.uri, &expected.digest);
            assert_eq!(outcome, Ok(None), "{name}: {media_type:?}");
        }
    }
}

fn hrefs(document: &Document) -> Vec<String> {
    let messaging = Places::find(document).unwrap().messaging;
    let units = messaging.named(names::EB, "UserMessage");
    units
        .filter_map(|unit| unit.child(names::EB, "PayloadInfo"))
        .flat_map(|info| info.named(names::EB, "PartInfo").collect::<Vec<_>>())
        .filter_map(|part| part.attribute("href").map(str::to_owned))
        .collect()
}

fn judge_all(peer: &str) -> Count {
    let judge = Judge::new();
    let mut count = Count::default();
    let mut paths: Vec<_> =
        std::fs::read_dir(fixture::folder().join(peer)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        judge.message(&path, &mut count);
    }
    count
}

#[test]
fn phase4() {
    assert_eq!(judge_all("phase4"), Count { messages: 67, signed: 47, encrypted: 7, parts: 22 });
}

#[test]
fn oxalis() {
    assert_eq!(judge_all("oxalis"), Count { messages: 12, signed: 10, encrypted: 5, parts: 5 });
}

#[test]
fn pyas4() {
    assert_eq!(judge_all("pyas4"), Count { messages: 10, signed: 9, encrypted: 4, parts: 4 });
}
