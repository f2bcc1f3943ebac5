//! What an answer and a delivery are held against.

use std::collections::BTreeMap;

use super::expected::{Kind, Value};
use crate::support::api;
use crate::support::http::Message;
use crate::support::inbox::Delivery;
use crate::support::message::{attributes, codes, element, elements, escaped, is_receipt};
use crate::support::node::Node;

/// What is said of a request's answer.
pub(super) struct Wanted<'a> {
    pub(super) kind: Kind,
    pub(super) status: Option<u16>,
    pub(super) codes: &'a [String],
    pub(super) says: &'a [String],
    pub(super) id: &'a str,
}

/// Whether an answer is what it should be.
pub(super) fn answer(answer: &Message, wanted: &Wanted<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    let text = answer.text();
    let status = wanted.status.unwrap_or(if wanted.kind == Kind::Nothing { 204 } else { 200 });
    if answer.status() != status {
        faults.push(format!("HTTP {} in place of {status}", answer.status()));
    }
    let soap = answer.header("Content-Type").is_some_and(|t| t.starts_with("application/soap+xml"));
    let found = codes(answer);
    let right = match wanted.kind {
        Kind::Receipt => soap && is_receipt(answer, wanted.id) && found.is_empty(),
        Kind::Error => {
            soap && !found.is_empty()
                && found.iter().all(|code| wanted.codes.contains(code))
                && attributes(&text, "severity").len() == found.len()
                && elements(&text, "Receipt").is_empty()
        }
        Kind::Nothing => text.is_empty(),
        Kind::Http => !text.contains("Envelope"),
    };
    if !right {
        faults.push(format!("the answer is no {:?} {:?}: {text}", wanted.kind, wanted.codes));
    }
    let details = details(&text);
    faults.extend(
        wanted
            .says
            .iter()
            .filter(|word| !details.contains(*word))
            .map(|word| format!("the error does not say `{word}`: {details}")),
    );
    faults.extend(inside(&text));
    faults
}

/// What the errors of an answer say, as it was before it was escaped.
fn details(text: &str) -> String {
    let all = [elements(text, "ErrorDetail"), elements(text, "Description")].concat().join("\n");
    all.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// Our insides are nobody's business (FR-061).
fn inside(text: &str) -> Vec<String> {
    let ours = ["panicked", ".rs:", "postrider-it-", "SELECT ", "sqlite", "stack backtrace"];
    ours.into_iter()
        .filter(|word| text.contains(word))
        .map(|word| format!("the answer tells `{word}`: {text}"))
        .collect()
}

/// The newest refused exchange is this one, with its code (FR-135).
pub(super) fn recorded(node: &Node, codes: &[String]) -> Vec<String> {
    let newest = api::json(&node.api.get("/api/v1/rejected?limit=1"))["rejected"][0].clone();
    if codes.iter().any(|code| newest["code"] == code.as_str()) {
        return Vec::new();
    }
    vec![format!("the refusal is not written down with {codes:?}: {newest}")]
}

/// Whether the errors refer to the message (FR-060).
pub(super) fn about(answer: &Message, id: &str) -> Vec<String> {
    let text = answer.text();
    if element(&text, "RefToMessageId").as_deref() == Some(&escaped(id)) {
        return Vec::new();
    }
    vec![format!("the error does not refer to {id}: {text}")]
}

/// Whether a consumer got these payloads, under generated names, with these header values.
pub(super) fn delivery(delivery: &Delivery, payloads: &[Vec<u8>], header: &BTreeMap<String, Value>) -> Vec<String> {
    let mut faults = Vec::new();
    let got: Vec<&[u8]> = delivery.parts.iter().map(|(_, octets)| octets.as_slice()).collect();
    if got != payloads {
        faults.push(format!("delivered were {:?}", got.iter().map(|o| String::from_utf8_lossy(o)).collect::<Vec<_>>()));
    }
    for (number, (name, _)) in delivery.parts.iter().enumerate() {
        let extension = name.strip_prefix(&format!("part-{}.", number + 1));
        if !extension.is_some_and(|e| e.bytes().all(|b| b.is_ascii_lowercase())) {
            faults.push(format!("a payload is named {name}"));
        }
    }
    for (pointer, value) in header {
        let found = delivery.message.pointer(pointer);
        if found.and_then(serde_json::Value::as_str) != Some(&value.text()) {
            faults.push(format!("{pointer} is {found:?}"));
        }
    }
    faults
}
