//! Receipts, errors and pull requests, and answers that hold none of them.

use super::capture::{Capture, Side};
use super::security::{self, Terms};
use super::{Desk, Story, Told};
use crate::ebms::{ErrorSignal, Receipt, ReceiptContent, Severity};
use crate::msh::outcome::{Outcome, without_soap as judged};
use crate::msh::{Opened, Reject};
use crate::wire::mime::ContentType;
use crate::wss::BodyRule;

/// Whether an answer holds something that may be SOAP.
pub(super) fn holds_soap(capture: &Capture) -> bool {
    let kind = capture.content_type.as_deref().and_then(|kind| ContentType::parse(kind).ok());
    let soap = kind.is_some_and(|kind| {
        matches!(kind.essence.as_str(), "application/soap+xml" | "text/xml" | "application/xml" | "multipart/related")
    });
    soap && capture.body.iter().any(|octet| !octet.is_ascii_whitespace())
}

/// An answer without SOAP: what it means for the message that it answers (EB-098).
pub(super) fn without_soap(story: &mut Story, status: u16, body: &[u8]) {
    let empty = body.iter().all(u8::is_ascii_whitespace);
    if (200..300).contains(&status) && empty {
        let text = format!("HTTP {status} without content: taken, and a receipt may come in a request of its own");
        story.say("answer", Some(true), text);
        story.accepted = Some("the partner took the request".to_owned());
        return;
    }
    let excerpt: String = String::from_utf8_lossy(body.get(..body.len().min(300)).unwrap_or_default())
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let why = match judged(status, excerpt.trim()) {
        Outcome::Final { text, .. } => format!("{text}; the message would not be sent again"),
        Outcome::Retry { why } => format!("{why}; the message would be sent again"),
        other => format!("{other:?}"),
    };
    story.say("answer", Some(false), why.clone());
    story.failed = Some(why);
}

/// Tells the signals of an envelope.
pub(super) fn tell(story: &mut Story, opened: &Opened, side: Side, desk: &Desk) {
    let messaging = &opened.messaging;
    let answer = matches!(side, Side::Answer(_));
    if let Some(pull) = messaging.pull() {
        story.about = Some(pull.message_id.clone());
        let mpc = pull.mpc.as_deref().unwrap_or("the default channel");
        story.say("signal", None, format!("PullRequest {} for {mpc}", pull.message_id));
        story.refuse("signal", Reject::Unsupported("pulling messages (a PullRequest signal)".to_owned()));
    }
    if let Some(receipt) = messaging.receipt() {
        self::receipt(story, receipt);
    }
    for signal in messaging.errors() {
        error(story, signal);
    }
    if messaging.user().is_some() {
        return;
    }
    secured(story, opened, desk);
    if messaging.receipt().is_some() && story.theirs.is_empty() && story.failed.is_none() && story.reject.is_none() {
        let text = "the receipt is readable; whether its digests are those of the message sent, the gateway compares";
        story.accepted = Some(if answer { text.to_owned() } else { format!("{text}; answered by HTTP 204") });
    }
}

/// The signature of an envelope that holds signals alone.
fn secured(story: &mut Story, opened: &Opened, desk: &Desk) {
    if opened.security.is_none() {
        story.say("security", None, "not signed; a P-Mode with signatures accepts no such receipt");
        return;
    }
    let (leg, sender, from) = (None, None, None);
    let terms = Terms { leg, sender, from, hrefs: Vec::new(), body: BodyRule::SignalMayOmit, keys: desk.keys.clone() };
    let found = security::tell(story, opened, &terms, desk);
    if let Some(reject) = found.reject {
        story.failed = Some(format!("the signature is not accepted: {reject}"));
    }
}

fn receipt(story: &mut Story, receipt: &Receipt) {
    story.about = Some(receipt.ref_to.clone());
    let text = format!("receipt {} for {}", receipt.message_id, receipt.ref_to);
    let (kind, details) = match &receipt.content {
        ReceiptContent::NonRepudiation(references) => {
            let line =
                |r: &crate::wss::Reference| format!("{} {} ({})", r.uri, super::base64(&r.digest), r.digest_method);
            (format!("non-repudiation of {} references", references.len()), references.iter().map(line).collect())
        }
        ReceiptContent::ReceptionAwareness(_) => ("reception awareness, without digests".to_owned(), Vec::new()),
        ReceiptContent::Other => {
            let kind = "it holds only elements that are not known here; it counts where the P-Mode asks for no non-repudiation";
            (kind.to_owned(), Vec::new())
        }
    };
    // As in `msh::conclude`: what is not known is judged by the P-Mode, not by itself.
    let pass = (receipt.content != ReceiptContent::Other).then_some(true);
    story.say("receipt", pass, format!("{text}: {kind}")).details = details;
}

fn error(story: &mut Story, signal: &ErrorSignal) {
    story.about = signal.ref_to.clone().or_else(|| story.about.take());
    let about = signal.ref_to.as_ref().map_or("no message", |id| id.as_str()).to_owned();
    for one in &signal.errors {
        let told = Told::from(one);
        let failure = one.severity == Severity::Failure;
        let word = if failure { "failure" } else { "warning" };
        let text = format!("{word} {} about {about}: {}", told.code, told.text);
        story.say("error", (failure).then_some(false), text);
        if failure {
            story.theirs.push(told);
        }
    }
}
