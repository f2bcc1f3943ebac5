//! What an answer says of the message that was sent: read by the same reader as requests, judged by EB-070 and EB-098.

use time::OffsetDateTime;

use super::open::{Opened, open};
use super::outcome::{self, Outcome};
use super::reject::Reject;
use super::signer::{self, SignerTrust};
use crate::ebms::{EbmsError, MessageId, Party, Receipt, ReceiptContent};
use crate::pmode::{LegNumber, PMode};
use crate::wire::mime::{ContentType, MimeEvent, MimeLimits, MultipartReader, Related};
use crate::wire::soap::{Envelope, Fault};
use crate::wire::xml::{Limits, encoding};
use crate::wss::{BodyRule, CertificateCache, Reference, VerifyPolicy, header, require_coverage, verify};

/// The message that was sent, as far as its answer is compared with it.
pub struct Sent<'a> {
    /// Its id.
    pub message_id: &'a MessageId,
    /// To whom.
    pub to: &'a Party,
    /// What was signed.
    pub references: &'a [Reference],
    /// Its P-Mode and leg.
    pub pmode: &'a PMode,
    /// The leg.
    pub leg: LegNumber,
}

/// What judging an answer needs to know.
pub struct AnswerBench<'a> {
    /// Judges certificates.
    pub trust: &'a dyn SignerTrust,
    /// Certificates that were parsed before.
    pub certificates: &'a CertificateCache,
    /// The time.
    pub now: OffsetDateTime,
}

/// What an answer came to.
#[derive(Debug)]
pub struct Conclusion {
    /// What follows for the message.
    pub outcome: Outcome,
    /// The SOAP part of the answer, where there is one: a receipt is kept.
    pub soap: Option<String>,
    /// Whether the partner signed it, with a certificate that is accepted.
    pub signed: bool,
    /// What the timeline says besides.
    pub notes: Vec<String>,
}

impl Conclusion {
    fn plain(outcome: Outcome) -> Self {
        Self { outcome, soap: None, signed: false, notes: Vec::new() }
    }
}

/// Judges the answer to our own request.
pub fn conclude(
    status: u16,
    content_type: Option<&str>,
    body: &[u8],
    sent: &Sent<'_>,
    bench: &AnswerBench<'_>,
) -> Conclusion {
    let Some((soap, charset)) = soap_part(content_type, body) else {
        return Conclusion::plain(nothing(status, body, sent));
    };
    let Ok(opened) = open(&soap, charset.as_deref()) else {
        return fault_alone(status, &soap, charset.as_deref());
    };
    let mut conclusion = judge(&opened, sent, bench);
    conclusion.soap = Some(opened.text);
    conclusion
}

/// An answer without SOAP part: nothing is due, or what came instead of a receipt.
fn nothing(status: u16, body: &[u8], sent: &Sent<'_>) -> Outcome {
    let empty = body.iter().all(u8::is_ascii_whitespace);
    let leg = sent.pmode.leg(sent.leg).unwrap_or(&sent.pmode.leg);
    if (200..300).contains(&status) && empty {
        if !leg.security.send_receipt {
            return Outcome::Taken;
        }
        if leg.security.receipts_by_callback() {
            return Outcome::Awaiting;
        }
    }
    let excerpt: String = String::from_utf8_lossy(&body[..body.len().min(300)])
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    outcome::without_soap(status, excerpt.trim())
}

/// The octets and charset of the SOAP part, whatever the HTTP status: bare, or the root of a multipart (FR-012).
fn soap_part(content_type: Option<&str>, body: &[u8]) -> Option<(Vec<u8>, Option<String>)> {
    let outer = ContentType::parse(content_type?).ok()?;
    if matches!(outer.essence.as_str(), "application/soap+xml" | "text/xml" | "application/xml") {
        let filled = body.iter().any(|b| !b.is_ascii_whitespace());
        return filled.then(|| (body.to_vec(), outer.charset().map(str::to_owned)));
    }
    let related = Related::read(&outer).ok()?;
    let mut reader = MultipartReader::new(&related.boundary, MimeLimits::default()).ok()?;
    let mut events = Vec::new();
    reader.push(bytes::Bytes::copy_from_slice(body), &mut events).ok()?;
    reader.finish(&mut events).ok()?;
    let (mut index, mut root, mut charset) = (0, None, None);
    for event in events {
        match event {
            MimeEvent::Head(head) => {
                if root.is_none() && related.is_root(&head, index) {
                    charset = head.content_type.as_ref().and_then(|c| c.charset()).map(str::to_owned);
                    root = Some((index, Vec::new()));
                }
                index += 1;
            }
            MimeEvent::Data(octets) => {
                if let Some((at, text)) = &mut root
                    && *at + 1 == index
                {
                    text.extend_from_slice(&octets);
                }
            }
            MimeEvent::PartEnd | MimeEvent::End => {}
        }
    }
    root.map(|(_, text)| (text, charset))
}

/// A SOAP answer without readable `eb:Messaging`: a Fault alone counts as `EBMS:0004` (EB-085).
fn fault_alone(status: u16, soap: &[u8], charset: Option<&str>) -> Conclusion {
    let fault = encoding::decode(soap, charset)
        .ok()
        .and_then(|text| Envelope::parse(&text, &Limits::ENVELOPE).ok())
        .and_then(|envelope| Fault::read(&envelope));
    let outcome = match fault {
        Some(fault) => {
            let error = EbmsError::of_fault(&fault.code, &fault.reason);
            outcome::of_errors(&[error], &[]).unwrap_or(Outcome::Retry { why: fault.reason })
        }
        None => outcome::without_soap(status, "the SOAP answer cannot be read"),
    };
    let soap = String::from_utf8_lossy(soap).into_owned();
    Conclusion { outcome, soap: Some(soap), signed: false, notes: Vec::new() }
}

fn judge(opened: &Opened, sent: &Sent<'_>, bench: &AnswerBench<'_>) -> Conclusion {
    let signature = authenticate(opened, sent, bench);
    let agreed = sent.pmode.leg(sent.leg).unwrap_or(&sent.pmode.leg).security.sign.is_some();
    let mut notes = Vec::new();
    let outcome = weigh(opened, sent, &signature, &mut notes);
    notes.extend(distrust(&signature, agreed, &outcome));
    Conclusion { outcome, soap: None, signed: matches!(signature, Ok(true)), notes }
}

/// What the signals of an answer mean, given what its signature is worth.
fn weigh(opened: &Opened, sent: &Sent<'_>, signature: &Result<bool, Reject>, notes: &mut Vec<String>) -> Outcome {
    let leg = sent.pmode.leg(sent.leg).unwrap_or(&sent.pmode.leg);
    let mut errors = opened.messaging.errors().filter(|signal| {
        let about = signal.ref_to.as_ref().is_none_or(|id| id == sent.message_id);
        if !about {
            notes.push("the answer holds an error about another message; it is only recorded".to_owned());
        }
        about
    });
    if let Some(signal) = errors.next()
        && let Some(outcome) = outcome::of_errors(&signal.errors, &leg.reception.duplicate_answers)
    {
        return outcome;
    }
    drop(errors);
    match opened.messaging.receipt() {
        Some(receipt) => match check_receipt(receipt, sent, signature, notes) {
            Ok(()) => Outcome::Delivered,
            Err(why) => Outcome::InvalidReceipt(why),
        },
        None if Fault::read(&opened.envelope).is_some() => {
            let fault = Fault::read(&opened.envelope);
            let (code, text) = fault.map_or_else(Default::default, |f| (f.code, f.reason));
            Outcome::Final { code: format!("SOAP fault {code}"), text }
        }
        None => Outcome::Retry { why: "the answer holds no receipt".to_owned() },
    }
}

/// Judges a receipt that came in a request of its own, by the same rules.
pub fn receipt_of_request(opened: &Opened, sent: &Sent<'_>, bench: &AnswerBench<'_>) -> Conclusion {
    judge(opened, sent, bench)
}

/// Whether the answer is signed by the partner: `Ok(false)` is an unsigned one.
fn authenticate(opened: &Opened, sent: &Sent<'_>, bench: &AnswerBench<'_>) -> Result<bool, Reject> {
    let document = &opened.envelope.document;
    let Some(node) = opened.security else { return Ok(false) };
    let header = header::read(document, document.node(node))?;
    if header.signature.is_none() {
        return Ok(false);
    }
    let leg = sent.pmode.leg(sent.leg).unwrap_or(&sent.pmode.leg);
    let spec = sent.pmode.receiver(sent.leg);
    let known: Vec<_> = spec.signing_at(bench.now).map(|pinned| pinned.certificate.clone()).collect();
    let mut policy = VerifyPolicy::default();
    if let Some(signing) = &leg.security.sign {
        policy.signatures.clone_from(&signing.accepted);
    }
    let verified = verify(document, &header, &known, bench.certificates, &policy)?;
    require_coverage(&verified, opened.messaging.node, opened.envelope.body, [], BodyRule::SignalMayOmit)?;
    signer::bind(&verified, sent.to, spec, bench.trust, bench.now)?;
    Ok(true)
}

/// What the timeline says of an answer that proves nothing of its sender: whom an error came from stays open (EB-088).
/// Where the outcome says so, it need not be said twice.
fn distrust(signature: &Result<bool, Reject>, agreed: bool, outcome: &Outcome) -> Option<String> {
    match (signature, outcome) {
        (Ok(true), _) | (Ok(false), Outcome::InvalidReceipt(_)) => None,
        (Ok(false), _) => agreed.then(|| "the answer is not signed".to_owned()),
        (Err(reject), Outcome::InvalidReceipt(said)) if *said == reject.to_string() => None,
        (Err(reject), _) => Some(format!("the answer's signature is not accepted: {reject}")),
    }
}

/// EB-070: every reference of the sent signature must appear in the receipt, of a partner that signed it.
fn check_receipt(
    receipt: &Receipt,
    sent: &Sent<'_>,
    signature: &Result<bool, Reject>,
    notes: &mut Vec<String>,
) -> Result<(), String> {
    if receipt.ref_to != *sent.message_id {
        return Err(format!("it is for {}, not for {}", receipt.ref_to, sent.message_id));
    }
    let leg = sent.pmode.leg(sent.leg).unwrap_or(&sent.pmode.leg);
    if leg.security.sign.is_none() {
        return Ok(());
    }
    match signature {
        Ok(true) => {}
        Ok(false) => return Err("it is not signed, and the message was".to_owned()),
        Err(reject) => return Err(reject.to_string()),
    }
    if !leg.security.non_repudiation {
        return Ok(());
    }
    let ReceiptContent::NonRepudiation(attested) = &receipt.content else {
        return Err("it has no non-repudiation information".to_owned());
    };
    for reference in sent.references {
        if attested.iter().any(|a| a.attests_as(reference)) {
            continue;
        }
        return Err(match attested.iter().find(|a| a.uri == reference.uri) {
            Some(other) => format!(
                "its digest of {} is {}, sent was {}",
                reference.uri,
                super::base64(&other.digest),
                super::base64(&reference.digest)
            ),
            None => format!("it does not attest {}", reference.uri),
        });
    }
    let more = attested.iter().filter(|a| !sent.references.iter().any(|r| r.uri == a.uri)).count();
    if more > 0 {
        notes.push(format!("the receipt attests {more} references that were not sent"));
    }
    notes.push(format!("{0} of {0} digests agree", sent.references.len()));
    Ok(())
}

#[cfg(test)]
mod tests;
