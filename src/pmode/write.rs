//! The effective P-Mode as XML: what `postrider pmode show` prints, and what the revision is the digest of.
//!
//! Every value is written out, in one order, with nothing inherited: two P-Modes mean the same exactly if these texts
//! are the same.

use std::fmt::{Display, Write};

use super::model::{
    Binding, BusinessInfo, Check, DeliveryTarget, Encryption, Framing, Leg, Mep, PMode, PartySpec, PinnedCertificate,
    ReceptionAwareness, ReplyPattern, Security, Signing, SoapVersion, SubjectRule,
};
use super::read::values::TOKENS;
use crate::wire::hex;
use crate::wire::xml::{names, write as escape};
use crate::wss::suite::{KeyTransport, OaepHash, TokenReference};

/// The effective P-Mode as a document that reads back to the same P-Mode.
#[must_use]
pub fn write(pmode: &PMode) -> String {
    document(pmode, true)
}

/// First 12 hexadecimal digits of the SHA-256 of the effective P-Mode (EB-155). Certificates count by their
/// fingerprints: where a file lies is not part of an agreement.
pub(super) fn revision(pmode: &PMode) -> String {
    let digest = openssl::sha::sha256(document(pmode, false).as_bytes());
    hex(digest.get(..6).unwrap_or_default())
}

/// A tag being written.
struct Tag<'o> {
    out: &'o mut Out,
    name: &'static str,
}

/// The text so far.
struct Out {
    text: String,
    depth: usize,
    files: bool,
}

impl Out {
    fn tag(&mut self, name: &'static str) -> Tag<'_> {
        let indent = self.depth * 2;
        // Writing to a String cannot fail, here and below.
        let _ = write!(self.text, "{:indent$}<{name}", "");
        Tag { out: self, name }
    }
}

impl Tag<'_> {
    fn with(self, name: &str, value: impl Display) -> Self {
        escape::attribute(&mut self.out.text, name, Some(&value.to_string()));
        self
    }

    fn maybe(self, name: &str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    fn empty(self) {
        self.out.text.push_str("/>\n");
    }

    fn text(self, text: &str) {
        let _ = writeln!(self.out.text, ">{}</{}>", escape::Text(text), self.name);
    }

    fn holding(self, inside: impl FnOnce(&mut Out)) {
        let Self { out, name } = self;
        out.text.push_str(">\n");
        out.depth += 1;
        inside(out);
        out.depth -= 1;
        let indent = out.depth * 2;
        let _ = writeln!(out.text, "{:indent$}</{name}>", "");
    }
}

fn document(pmode: &PMode, files: bool) -> String {
    let mut out = Out { text: String::new(), depth: 0, files };
    let root = out.tag("PMode").with("xmlns", names::PMODE).with("id", &pmode.id);
    // A document that states everything inherits only what the base would give to what is empty here.
    let root = root.with("profile", super::profiles::BASE).with("sendPModeId", pmode.send_pmode_id);
    root.with("lenientIdentifiers", pmode.lenient_identifiers).holding(|out| {
        if let Some(agreement) = &pmode.agreement {
            out.tag("Agreement").maybe("type", agreement.kind.as_ref()).text(&agreement.value);
        }
        out.tag("MEP").text(if pmode.mep == Mep::OneWay { "oneWay" } else { "twoWay" });
        out.tag("MEPbinding").text(binding(pmode.binding));
        out.tag("Initiator").holding(|out| party(out, &pmode.initiator));
        out.tag("Responder").holding(|out| party(out, &pmode.responder));
        for one in std::iter::once(&pmode.leg).chain(&pmode.reply_leg) {
            out.tag("Leg").holding(|out| leg(out, one));
        }
        let checks = &pmode.checks;
        out.tag("Checks")
            .with("sbdh", check(checks.sbdh))
            .with("emptyBody", check(checks.empty_body))
            .with("singlePartyId", check(checks.single_party_id))
            .with("fourCorner", check(checks.four_corner))
            .empty();
    });
    out.text
}

/// The AS4 name of a binding.
pub(super) fn binding(binding: Binding) -> &'static str {
    match binding {
        Binding::Push => "push",
        Binding::Pull => "pull",
        Binding::Sync => "sync",
        Binding::PushAndPush => "pushAndPush",
        Binding::PushAndPull => "pushAndPull",
        Binding::PullAndPush => "pullAndPush",
    }
}

fn check(check: Check) -> &'static str {
    match check {
        Check::Off => "off",
        Check::Log => "log",
        Check::Enforce => "enforce",
    }
}

fn party(out: &mut Out, party: &PartySpec) {
    for id in &party.ids {
        out.tag("Party").maybe("type", id.kind.as_ref()).text(&id.value);
    }
    if let Some(role) = &party.role {
        out.tag("Role").text(role);
    }
    for (name, list) in [("SigningCertificate", &party.signing), ("EncryptionCertificate", &party.encryption)] {
        for pinned in list {
            certificate(out, name, pinned);
        }
    }
    match &party.subject {
        SubjectRule::Pinned => out.tag("Subject").with("match", "pinned").empty(),
        SubjectRule::CommonNameIsPartyId => out.tag("Subject").with("match", "commonNameIsPartyId").empty(),
        SubjectRule::CommonName(name) => out.tag("Subject").with("commonName", name).empty(),
    }
}

fn certificate(out: &mut Out, name: &'static str, pinned: &PinnedCertificate) {
    let instant = |at: time::OffsetDateTime| at.format(&time::format_description::well_known::Rfc3339).ok();
    // The document may be kept anywhere, so it names files by where they are, not relative to itself.
    let file = out.files.then(|| pinned.file.display().to_string());
    out.tag(name)
        .maybe("file", file)
        .with("sha256", hex(pinned.certificate.sha256()))
        .maybe("from", pinned.from.and_then(instant))
        .maybe("until", pinned.until.and_then(instant))
        .empty();
}

fn leg(out: &mut Out, leg: &Leg) {
    let protocol = &leg.protocol;
    let files = out.files;
    out.tag("Protocol")
        .with("soapVersion", if protocol.soap == SoapVersion::Soap12 { "1.2" } else { "1.1" })
        .with("framing", if protocol.framing == Framing::Bare { "bare" } else { "multipart" })
        .with("timeout", humantime::format_duration(protocol.timeout))
        .holding(|out| {
            if let Some(address) = &protocol.address {
                out.tag("Address").text(address);
            }
            for anchor in protocol.tls_anchors.iter().filter(|_| files) {
                out.tag("TlsAnchor").with("file", anchor.display()).empty();
            }
        });
    business(out, &leg.business);
    let errors = &leg.errors;
    out.tag("ErrorHandling")
        .with("asResponse", errors.as_response)
        .with("processErrorNotifyProducer", errors.notify_producer)
        .with("processErrorNotifyConsumer", errors.notify_consumer)
        .with("deliveryFailuresNotifyProducer", errors.notify_delivery_failures)
        .with("missingReceiptNotifyProducer", errors.notify_missing_receipt)
        .with("withFault", errors.with_fault)
        .holding(|out| {
            for address in &errors.receiver_errors_to {
                out.tag("ReceiverErrorsTo").text(address);
            }
            for address in &errors.sender_errors_to {
                out.tag("SenderErrorsTo").text(address);
            }
        });
    out.tag("Security").holding(|out| security(out, &leg.security));
    out.tag("PayloadService").with("compression", if leg.compress { "application/gzip" } else { "none" }).empty();
    reception(out, &leg.reception);
    for DeliveryTarget { backend, .. } in &leg.deliver {
        out.tag("Deliver").with("to", backend).empty();
    }
}

fn business(out: &mut Out, business: &BusinessInfo) {
    out.tag("BusinessInfo").holding(|out| {
        if let Some(service) = &business.service {
            out.tag("Service").maybe("type", service.kind.as_ref()).text(&service.value);
        }
        if let Some(action) = &business.action {
            out.tag("Action").text(action);
        }
        if let Some(mpc) = &business.mpc {
            out.tag("MPC").text(mpc);
        }
        out.tag("Properties").holding(|out| {
            for property in &business.properties {
                out.tag("Property")
                    .with("name", &property.name)
                    .maybe("type", property.kind.as_ref())
                    .with("required", property.required)
                    .maybe("default", property.default.as_ref())
                    .empty();
            }
        });
        let (low, high) = business.parts;
        let high = high.map_or_else(|| "*".to_owned(), |high| high.to_string());
        let max_size = business.max_size.map(|size| format!("{size} B"));
        out.tag("PayloadProfile").maybe("maxSize", max_size).with("parts", format!("{low}..{high}")).empty();
    });
}

fn security(out: &mut Out, security: &Security) {
    match &security.sign {
        None => out.tag("Signature").with("enabled", false).empty(),
        Some(Signing { algorithm, hash, token, accepted }) => out
            .tag("Signature")
            .with("enabled", true)
            .with("algorithm", algorithm.uri())
            .with("hashFunction", hash.uri())
            .with("token", token_name(*token))
            .with("accept", words(accepted.iter().map(|a| a.uri().to_owned())))
            .empty(),
    }
    match &security.encrypt {
        None => out.tag("Encryption").with("enabled", false).empty(),
        Some(Encryption { algorithm, transport, token, accepted, accepted_transport }) => out
            .tag("Encryption")
            .with("enabled", true)
            .with("algorithm", algorithm.uri())
            .with("keyTransport", transport_name(*transport))
            .with("token", token_name(*token))
            .with("accept", words(accepted.iter().map(|a| a.uri().to_owned())))
            .with("acceptKeyTransport", words(accepted_transport.iter().map(|t| transport_name(*t))))
            .empty(),
    }
    out.tag("SendReceipt")
        .with("enabled", security.send_receipt)
        .with("replyPattern", if security.reply_pattern == ReplyPattern::Response { "response" } else { "callback" })
        .maybe("replyTo", security.reply_to.as_ref())
        .with("nonRepudiation", security.non_repudiation)
        .empty();
}

fn words(list: impl Iterator<Item = String>) -> String {
    list.collect::<Vec<_>>().join(" ")
}

fn token_name(token: TokenReference) -> &'static str {
    TOKENS.iter().find(|(_, known)| *known == token).map_or("BinarySecurityToken", |(name, _)| name)
}

fn transport_name(transport: KeyTransport) -> String {
    let hash = |hash| match hash {
        OaepHash::Sha1 => "sha1",
        OaepHash::Sha256 => "sha256",
        OaepHash::Sha384 => "sha384",
        OaepHash::Sha512 => "sha512",
    };
    match transport {
        KeyTransport::RsaOaep { digest, mgf } => format!("rsa-oaep/{}/{}", hash(digest), hash(mgf)),
        KeyTransport::RsaOaepMgf1p { digest } => format!("rsa-oaep-mgf1p/{}", hash(digest)),
    }
}

fn reception(out: &mut Out, reception: &ReceptionAwareness) {
    let answers = reception.duplicate_answers.iter();
    let answers = words(answers.map(|(code, detail)| match detail {
        Some(detail) => format!("{code}/{detail}"),
        None => code.clone(),
    }));
    let tag = out.tag("ReceptionAwareness").with("enabled", reception.enabled).with("duplicateAnswers", answers);
    tag.holding(|out| {
        match &reception.retry {
            None => out.tag("Retry").with("enabled", false).empty(),
            Some(plan) => out
                .tag("Retry")
                .with("enabled", true)
                .with("retries", plan.retries)
                .with("first", humantime::format_duration(plan.first))
                .with("multiplier", plan.multiplier)
                .with("max", humantime::format_duration(plan.max))
                .with("jitter", format!("{}%", (plan.jitter * 1e8).round() / 1e6))
                .with("deadline", humantime::format_duration(plan.deadline))
                .empty(),
        }
        out.tag("DuplicateDetection")
            .with("enabled", reception.detect_duplicates)
            .with("window", humantime::format_duration(reception.window))
            .empty();
    });
}
