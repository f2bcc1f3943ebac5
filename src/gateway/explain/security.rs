//! The security header, step by step: what it holds, each reference with its digest, the signer and its path, the keys.

use std::sync::Arc;

use time::Duration;

use super::{Desk, Story};
use crate::ebms::Party;
use crate::msh::signer::{self, SignerTrust};
use crate::msh::{Opened, Reject};
use crate::pmode::{Leg, PModeSet, PartySpec};
use crate::wire::xml::c14n;
use crate::wss::header::{self, KeyName, SecurityHeader, SignedReference, Target};
use crate::wss::{
    BodyRule, Certificate, DecryptPolicy, DecryptionCause, EncryptedPart, Hasher, PrivateKey, Verified, VerifyPolicy,
    WssError, require_coverage, require_encryption, unwrap_keys, verify,
};

/// Tolerance against a signed timestamp, as in [`crate::msh::judge`].
const SKEW: Duration = Duration::minutes(5);

/// What the message is held against; what is `None` or empty was not given.
pub(super) struct Terms<'a> {
    pub(super) leg: Option<&'a Leg>,
    pub(super) sender: Option<&'a PartySpec>,
    pub(super) from: Option<&'a Party>,
    /// `cid:` URLs, as the signature's references have them.
    pub(super) hrefs: Vec<String>,
    pub(super) body: BodyRule,
    pub(super) keys: Vec<Arc<PrivateKey>>,
}

/// What came of it.
#[derive(Default)]
pub(super) struct Secured {
    pub(super) header: Option<SecurityHeader>,
    pub(super) verified: Option<Verified>,
    pub(super) encrypted: Vec<EncryptedPart>,
    /// The first thing that is wrong.
    pub(super) reject: Option<Reject>,
    /// Something could not be judged for want of a certificate, anchor or key.
    pub(super) open: bool,
}

/// Tells the security of an envelope.
pub(super) fn tell(story: &mut Story, opened: &Opened, terms: &Terms<'_>, desk: &Desk) -> Secured {
    let mut secured = Secured::default();
    let document = &opened.envelope.document;
    let Some(node) = opened.security else {
        let wanted = terms.leg.is_some_and(|l| l.security.sign.is_some() || l.security.encrypt.is_some());
        story.say("security", wanted.then_some(false), "there is no wsse:Security: neither signed nor encrypted");
        return secured;
    };
    let header = match header::read(document, document.node(node)) {
        Ok(header) => header,
        Err(error) => {
            story.say("security", Some(false), error.operator_detail());
            secured.reject = Some(error.into());
            return secured;
        }
    };
    overview(story, &header);
    signature(story, opened, &header, terms, desk, &mut secured);
    encryption(story, &header, terms, &mut secured);
    secured.header = Some(header);
    secured
}

fn overview(story: &mut Story, header: &SecurityHeader) {
    let signed = header.signature.as_ref().map_or_else(
        || "not signed".to_owned(),
        |s| format!("signed by {}, {} references", s.algorithm.uri(), s.references.len()),
    );
    let sealed = match header.encrypted_data.len() {
        0 => "not encrypted".to_owned(),
        1 => "1 part encrypted".to_owned(),
        n => format!("{n} parts encrypted"),
    };
    let stamp = header.timestamp.as_ref().map(|t| {
        let expires = t.expires.as_deref().unwrap_or("never");
        format!("wsu:Timestamp created {}, expires {expires}", t.created)
    });
    story.say("security", Some(true), format!("{signed}; {sealed}")).details = stamp.into_iter().collect();
}

fn signature(
    story: &mut Story,
    opened: &Opened,
    header: &SecurityHeader,
    terms: &Terms<'_>,
    desk: &Desk,
    secured: &mut Secured,
) {
    let Some(signature) = &header.signature else { return };
    for reference in &signature.references {
        element(story, opened, reference);
    }
    let mut policy = VerifyPolicy::default();
    if let Some(signing) = terms.leg.and_then(|leg| leg.security.sign.as_ref()) {
        policy.signatures.clone_from(&signing.accepted);
    }
    let known = known(terms, desk);
    let verified = match verify(&opened.envelope.document, header, &known, &desk.cache, &policy) {
        Ok(verified) => verified,
        Err(WssError::SignerUnknown(query)) => {
            let text = format!("the signer is named by {query}, and no such certificate is known: give it by --key");
            let agreed = terms.sender.is_some();
            story.say("signature", agreed.then_some(false), text);
            secured.open = true;
            if agreed {
                secured.reject.get_or_insert(WssError::SignerUnknown(query).into());
            }
            return;
        }
        Err(error) => {
            story.say("signature", Some(false), error.operator_detail());
            secured.reject.get_or_insert(error.into());
            return;
        }
    };
    let (subject, serial) = (verified.signer.subject(), verified.signer.serial());
    story.say(
        "signature",
        Some(true),
        format!("verified: the value fits SignedInfo and the key of {subject} (serial {serial})"),
    );
    covered(story, opened, &verified, terms, secured);
    if let Err(error) = verified.check_timestamp(header, desk.now, SKEW) {
        story.say("timestamp", Some(false), error.to_string());
        secured.reject.get_or_insert(error.into());
    }
    who(story, &verified, terms, desk, secured);
    secured.verified = Some(verified);
}

/// Certificates by which a signer that is only named may be found.
fn known(terms: &Terms<'_>, desk: &Desk) -> Vec<Arc<Certificate>> {
    match terms.sender {
        Some(spec) => spec.signing_at(desk.now).map(|pinned| Arc::clone(&pinned.certificate)).collect(),
        None => {
            let agreed = desk.pmodes.iter().flat_map(PModeSet::iter).flat_map(|p| [&p.initiator, &p.responder]);
            let agreed = agreed.flat_map(|party| &party.signing).map(|pinned| &pinned.certificate);
            let ours = desk.keys.iter().map(|key| &key.certificate);
            desk.certificates.iter().chain(agreed).chain(ours).cloned().collect()
        }
    }
}

/// One reference: for an element the digest as signed and as found; parts are digested when they come.
fn element(story: &mut Story, opened: &Opened, signed: &SignedReference) {
    let (uri, method) = (&signed.reference.uri, &signed.reference.digest_method);
    let expected = super::base64(&signed.reference.digest);
    let Target::Element(node) = &signed.target else {
        story.say("reference", None, format!("{uri} must have the digest {expected} ({method})"));
        return;
    };
    let element = opened.envelope.document.node(*node);
    let list = signed.reference.transforms.first().and_then(|transform| transform.prefix_list.as_deref());
    let mut hasher = Hasher::new(signed.digest);
    c14n::canonicalize(element, list, &mut |octets| hasher.update(octets));
    let found = super::base64(&hasher.finish());
    let good = found == expected;
    let text = format!("{uri} ({}) digest {}", element.local(), if good { "agrees" } else { "differs" });
    story.say("reference", Some(good), text).details =
        vec![format!("signed {expected}"), format!("found  {found}"), method.clone()];
}

fn covered(story: &mut Story, opened: &Opened, verified: &Verified, terms: &Terms<'_>, secured: &mut Secured) {
    let hrefs = terms.hrefs.iter().map(String::as_str);
    match require_coverage(verified, opened.messaging.node, opened.envelope.body, hrefs, terms.body) {
        Ok(()) => {
            story.say("coverage", Some(true), "eb:Messaging, the Body and every part are signed");
        }
        Err(error) => {
            story.say("coverage", Some(false), error.to_string());
            secured.reject.get_or_insert(error.into());
        }
    }
}

/// Who signed, and whether that is whom the header names: the path, or the link that breaks it.
fn who(story: &mut Story, verified: &Verified, terms: &Terms<'_>, desk: &Desk, secured: &mut Secured) {
    if let (Some(spec), Some(from)) = (terms.sender, terms.from) {
        match signer::bind(verified, from, spec, &desk.trust, desk.now) {
            Ok(path) => {
                story.say("signer", Some(true), format!("it is the party {}", ids(from))).details = path;
            }
            Err(reject) => {
                story.say("signer", Some(false), reject.to_string());
                secured.reject.get_or_insert(reject);
            }
        }
        return;
    }
    let signer = &verified.signer;
    if let Some(whose) = pinned(desk, signer) {
        story.say("signer", Some(true), format!("{} is agreed {whose}", signer.subject()));
        return;
    }
    match desk.trust.chained(signer, &verified.chain, desk.now) {
        Ok(path) => {
            let text = "its path leads to a trust anchor; whose it must be is for a P-Mode to say";
            story.say("signer", Some(true), text).details = path;
        }
        Err(why) if desk.trust.anchored => {
            story.say("signer", Some(false), why.clone());
            secured.reject.get_or_insert(Reject::Signer(why));
        }
        Err(_) => {
            secured.open = true;
            let text = format!(
                "not judged: there is neither P-Mode nor trust anchor; {} issued by {}, valid {} to {}",
                signer.subject(),
                signer.issuer(),
                signer.not_before().date(),
                signer.not_after().date()
            );
            story.say("signer", None, text);
        }
    }
}

/// In which P-Mode a certificate stands.
fn pinned(desk: &Desk, signer: &Arc<Certificate>) -> Option<String> {
    desk.pmodes.iter().flat_map(PModeSet::iter).find_map(|pmode| {
        let party = [&pmode.initiator, &pmode.responder].into_iter().find(|party| {
            party.signing.iter().any(|pinned| pinned.certificate == *signer && pinned.usable_at(desk.now))
        })?;
        let who = party.ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        Some(format!("for {who} in P-Mode `{}`", pmode.id))
    })
}

pub(super) fn ids(party: &Party) -> String {
    party.ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn encryption(story: &mut Story, header: &SecurityHeader, terms: &Terms<'_>, secured: &mut Secured) {
    let agreed = terms.leg.and_then(|leg| leg.security.encrypt.as_ref());
    if agreed.is_some()
        && let Err(error) = require_encryption(header, terms.hrefs.iter().map(String::as_str))
    {
        story.say("encryption", Some(false), error.to_string());
        secured.reject.get_or_insert(error.into());
    }
    if header.encrypted_data.is_empty() {
        return;
    }
    let details: Vec<_> = header.encrypted_keys.iter().map(recipient).collect();
    let mut policy = DecryptPolicy::default();
    if let Some(agreed) = agreed {
        policy.data.clone_from(&agreed.accepted);
        policy.sha1_oaep = agreed.accepted_transport.iter().any(|t| t.uses_sha1());
    }
    match unwrap_keys(header, &terms.keys, &policy) {
        Ok(parts) => {
            let text = format!("the content keys of {} parts come out of their wrapping", parts.len());
            story.say("encryption", Some(true), text).details = details;
            secured.encrypted = parts;
        }
        Err(WssError::Decryption(DecryptionCause::KeyUnknown(query))) if terms.keys.is_empty() => {
            let text = format!("not decrypted: encrypted to {query}, and no key was given; give it by --key");
            story.say("encryption", None, text).details = details;
            secured.open = true;
        }
        Err(error) => {
            story.say("encryption", Some(false), error.operator_detail()).details = details;
            secured.reject.get_or_insert(error.into());
        }
    }
}

fn recipient(key: &header::EncryptedKey) -> String {
    let whom = match &key.recipient {
        KeyName::Named(query) => query.to_string(),
        KeyName::Certificate(path) => path
            .certificates
            .first()
            .and_then(|der| Certificate::from_der(der).ok())
            .map_or_else(|| "a certificate that cannot be read".to_owned(), |c| c.subject().to_owned()),
    };
    format!("{} to {whom}", key.transport.uri())
}
