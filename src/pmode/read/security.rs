//! `Security` and `ReceptionAwareness`.

use std::time::Duration;

use super::fields::{Fields, Reader};
use super::values::{self, Expected};
use crate::pmode::draft::{Maybe, ReceptionDraft, SecurityDraft, Set};
use crate::pmode::model::ReplyPattern;
use crate::wire::xml::Node;

pub(super) fn security(reader: &mut Reader<'_>, node: Node<'_>) -> SecurityDraft {
    let mut fields = Fields::new(node);
    let mut draft = SecurityDraft::default();
    if let Some(node) = fields.child(reader, "Signature") {
        let mut fields = Fields::new(node);
        draft.sign = fields.read(reader, "enabled", values::boolean);
        draft.algorithm = fields.read(reader, "algorithm", values::signature);
        draft.hash = fields.read(reader, "hashFunction", values::digest);
        draft.token = fields.read(reader, "token", values::token);
        draft.accepted = fields.list(reader, "accept", values::signature);
        fields.end(reader);
        draft.sign = draft.sign.or_else(|| here(reader, node));
    }
    if let Some(node) = fields.child(reader, "Encryption") {
        let mut fields = Fields::new(node);
        draft.encrypt = fields.read(reader, "enabled", values::boolean);
        draft.encryption = fields.read(reader, "algorithm", values::encryption);
        draft.minimum_strength = fields.read(reader, "minimumStrength", values::count);
        draft.transport = fields.read(reader, "keyTransport", values::key_transport);
        draft.encryption_token = fields.read(reader, "token", values::token);
        draft.accepted_encryption = fields.list(reader, "accept", values::encryption);
        draft.accepted_transport = fields.list(reader, "acceptKeyTransport", values::key_transport);
        fields.end(reader);
        draft.encrypt = draft.encrypt.or_else(|| here(reader, node));
    }
    if let Some(node) = fields.child(reader, "SendReceipt") {
        let mut fields = Fields::new(node);
        let table = [("response", ReplyPattern::Response), ("callback", ReplyPattern::Callback)];
        draft.send_receipt = fields.read(reader, "enabled", values::boolean);
        draft.reply_pattern = fields.read(reader, "replyPattern", |found| values::word(found, &table));
        draft.reply_to = fields.read(reader, "replyTo", values::address);
        draft.non_repudiation = fields.read(reader, "nonRepudiation", values::boolean);
        fields.end(reader);
        draft.send_receipt = draft.send_receipt.or_else(|| here(reader, node));
    }
    fields.end(reader);
    draft
}

/// An element that is written and not switched off is switched on.
#[expect(clippy::unnecessary_wraps, reason = "it stands in for the attribute that may be absent")]
fn here(reader: &Reader<'_>, node: Node<'_>) -> Maybe<bool> {
    Some(Set { value: true, at: reader.place(node) })
}

pub(super) fn reception(reader: &mut Reader<'_>, node: Node<'_>) -> ReceptionDraft {
    let mut fields = Fields::new(node);
    let mut draft = ReceptionDraft {
        enabled: fields.read(reader, "enabled", values::boolean),
        duplicate_answers: fields.list(reader, "duplicateAnswers", duplicate_answer),
        ..ReceptionDraft::default()
    };
    if let Some(node) = fields.child(reader, "Retry") {
        retry(reader, node, &mut draft);
    }
    if let Some(node) = fields.child(reader, "Retry.Parameters")
        && let Some(parameters) = reader.text_of(node, retry_parameters)
    {
        schedule(&mut draft, &parameters);
    }
    if let Some(node) = fields.child(reader, "DuplicateDetection") {
        let mut fields = Fields::new(node);
        draft.detect = fields.read(reader, "enabled", values::boolean);
        draft.window = fields.read(reader, "window", values::duration);
        fields.end(reader);
        draft.detect = draft.detect.or_else(|| here(reader, node));
    }
    for name in ["DuplicateDetection.Parameters", "DetectDuplicates.Parameters"] {
        if let Some(node) = fields.child(reader, name) {
            draft.window = reader.text_of(node, window_parameters).or(draft.window);
        }
    }
    fields.end(reader);
    draft
}

fn retry(reader: &mut Reader<'_>, node: Node<'_>, draft: &mut ReceptionDraft) {
    let mut fields = Fields::new(node);
    draft.retry = fields.read(reader, "enabled", values::boolean);
    if let Some(parameters) = fields.read(reader, "parameters", retry_parameters) {
        schedule(draft, &parameters);
    }
    let retries = fields.read(reader, "retries", values::count);
    let first = fields.read(reader, "first", values::duration);
    let multiplier = fields.read(reader, "multiplier", values::factor);
    let max = fields.read(reader, "max", values::duration);
    let jitter = fields.read(reader, "jitter", values::share);
    let deadline = fields.read(reader, "deadline", values::duration);
    fields.end(reader);
    draft.retries = retries.or(draft.retries.take());
    draft.first = first.or(draft.first.take());
    draft.multiplier = multiplier.or(draft.multiplier.take());
    draft.max = max.or(draft.max.take());
    draft.jitter = jitter.or(draft.jitter.take());
    draft.deadline = deadline.or(draft.deadline.take());
    draft.retry = draft.retry.take().or_else(|| here(reader, node));
}

/// Takes over `maxretries` and `period`: the same wait each time, and a deadline that lets every retry happen.
fn schedule(draft: &mut ReceptionDraft, parameters: &Set<(u32, Duration)>) {
    let (retries, period) = parameters.value;
    // Attempts themselves take time: twice the waits is room enough.
    let deadline = Duration::from_hours(24).max(period.saturating_mul(retries).saturating_mul(2));
    draft.retry = Some(parameters.with(true));
    draft.retries = Some(parameters.with(retries));
    draft.first = Some(parameters.with(period));
    draft.max = Some(parameters.with(period));
    draft.multiplier = Some(parameters.with(1.0));
    draft.jitter = Some(parameters.with(0.0));
    draft.deadline = Some(parameters.with(deadline));
}

/// `name=value` pairs, separated by `,` or `;`.
fn pairs(found: &str) -> impl Iterator<Item = Option<(String, &str)>> {
    let pieces = found.split([',', ';']).map(str::trim).filter(|piece| !piece.is_empty());
    pieces.map(|piece| piece.split_once('=').map(|(k, v)| (k.trim().to_lowercase(), v.trim())))
}

/// eDelivery's spelling: `maxretries=10,period=3000`, the period in milliseconds.
fn retry_parameters(found: &str) -> Result<(u32, Duration), Expected> {
    let expected = || Expected::from("`maxretries=10,period=3000`, the period in milliseconds");
    let (mut retries, mut period) = (None, None);
    for pair in pairs(found) {
        match pair {
            Some((key, value)) if key == "maxretries" => retries = value.parse().ok(),
            Some((key, value)) if key == "period" => period = value.parse().ok().map(Duration::from_millis),
            _ => return Err(expected()),
        }
    }
    retries.zip(period).ok_or_else(expected)
}

/// `checkwindow=7D`; a window by size is no promise and is refused.
fn window_parameters(found: &str) -> Result<Duration, Expected> {
    let expected = || Expected::from("`checkwindow=30D`; the window is a time, not a size");
    let mut window = None;
    for pair in pairs(found) {
        match pair {
            Some((key, value)) if key == "checkwindow" => {
                window = humantime::parse_duration(&value.to_lowercase()).ok();
            }
            _ => return Err(expected()),
        }
    }
    window.ok_or_else(expected)
}

/// `EBMS:4001`, or `EBMS:0004/duplicate` where `ErrorDetail` must hold the word.
fn duplicate_answer(found: &str) -> Result<(String, Option<String>), Expected> {
    let (code, detail) = found.split_once('/').map_or((found, None), |(c, d)| (c, Some(d.to_owned())));
    let digits = code.strip_prefix("EBMS:").unwrap_or_default();
    if digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit()) {
        Ok((code.to_owned(), detail.filter(|d| !d.is_empty())))
    } else {
        Err("error codes such as EBMS:4001, or EBMS:0004/duplicate with a word of the ErrorDetail".into())
    }
}
