//! Business acknowledgements: what they answer, whether well or ill, and under which key they have their one effect
//! (IN-24 to IN-26, OUT-42, OUT-47, OUT-52).
//!
//! A repeated one has the same key; one with another status has another, and the state machine decides what it means.

use super::document::Document;
use super::edifact::{Interchange, Message, Uci};
use super::key::BusinessKey;
use super::mdn::Mdn;
use super::sbdh::Typed;
use super::ubl::{Response, Ubl, UblType};
use super::x12::{GroupAnswer, Set, Ta1, X12};

/// Which acknowledgement it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// EDIFACT `CONTRL`: syntax and receipt.
    Contrl,
    /// EDIFACT `APERAK`: the application's word.
    Aperak,
    /// X12 functional acknowledgement.
    X12F997,
    /// X12 implementation acknowledgement.
    X12F999,
    /// X12 interchange acknowledgement.
    Ta1,
    /// AS2 disposition notification.
    Mdn,
    /// UBL `ApplicationResponse`: MLS, MLR, invoice response.
    ApplicationResponse,
}

impl Form {
    /// The event type of its inbox row (IN-11).
    pub fn event_type(self) -> &'static str {
        match self {
            Self::Contrl => "edi.contrl",
            Self::Aperak => "edi.aperak",
            Self::X12F997 => "edi.x12_997",
            Self::X12F999 => "edi.x12_999",
            Self::Ta1 => "edi.x12_ta1",
            Self::Mdn => "as2.mdn",
            Self::ApplicationResponse => "ubl.application_response",
        }
    }
}

/// What an acknowledgement says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// All is accepted.
    Accepted,
    /// Some is accepted, some not; or with conditions.
    Partly,
    /// It is refused.
    Rejected,
    /// It has arrived; the verdict is still to come.
    Received,
}

impl Status {
    /// As keys write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Partly => "partly",
            Self::Rejected => "rejected",
            Self::Received => "received",
        }
    }
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Which reference it is, in the words of its format: `0020`, `0062`, `RFF ACW`, `AK102`, `Original-Message-ID` …
    pub name: String,
    /// Its value.
    pub value: String,
    /// What is said of it alone: 0083 of a message, AK501 of a set.
    pub code: Option<String>,
}

/// One acknowledgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// Which it is.
    pub form: Form,
    /// Who says it; an MDN does not tell beyond doubt.
    pub sender: Option<Typed>,
    /// What it answers, the outermost first.
    pub answers: Vec<Reference>,
    /// What it says.
    pub status: Status,
    /// The same in its own code: 0083, AK901, `Disposition`, `ResponseCode`.
    pub code: String,
    /// Its dedup key.
    pub key: BusinessKey,
}

/// The acknowledgements in a payload; none when it is a business document.
pub fn acknowledgements(document: &Document) -> Vec<Acknowledgement> {
    match document {
        Document::Ubl(ubl) if ubl.ubl == UblType::ApplicationResponse => {
            ubl.responses.iter().map(|one| response(ubl, one)).collect()
        }
        Document::Ubl(_) | Document::Cii(_) => Vec::new(),
        Document::Edifact(interchange) => interchange.messages.iter().filter_map(|m| edifact(interchange, m)).collect(),
        Document::X12(interchange) => x12(interchange),
        Document::Mdn(one) => vec![mdn(one)],
    }
}

fn reference(name: impl Into<String>, value: &str, code: Option<&str>) -> Reference {
    Reference { name: name.into(), value: value.to_owned(), code: code.map(ToOwned::to_owned) }
}

/// A key in the source of a form and its sender.
fn keyed(form: Form, sender: &Typed, key: &[&str]) -> BusinessKey {
    BusinessKey::new(&[form.event_type(), sender.scheme.as_deref().unwrap_or_default(), &sender.value], key)
}

fn edifact(interchange: &Interchange, message: &Message) -> Option<Acknowledgement> {
    match (&message.uci, message.message_type.as_str()) {
        (Some(uci), _) => Some(contrl(interchange, message, uci)),
        (None, "APERAK") => Some(aperak(interchange, message)),
        _ => None,
    }
}

/// OUT-47: sender, 0020 that is answered, status, own 0020 and 0062.
fn contrl(interchange: &Interchange, message: &Message, uci: &Uci) -> Acknowledgement {
    let refused = uci.parts.iter().any(|part| matches!(part.action.as_str(), "4" | "6"));
    // UNSL 0083: 8 tells of receipt alone; 1, 2, 3, 5 and 6 are old codes.
    let status = match uci.action.as_str() {
        "4" | "6" => Status::Rejected,
        "3" => Status::Partly,
        "1" | "2" | "5" | "7" if refused => Status::Partly,
        "1" | "2" | "5" | "7" => Status::Accepted,
        _ => Status::Received,
    };
    let mut answers = vec![reference("0020", &uci.control, Some(&uci.action))];
    answers.extend(uci.parts.iter().map(|part| reference(part.name, &part.reference, Some(&part.action))));
    let key = [&uci.control, status.name(), &interchange.control, &message.reference];
    Acknowledgement {
        form: Form::Contrl,
        sender: Some(interchange.sender.clone()),
        answers,
        status,
        code: uci.action.clone(),
        key: keyed(Form::Contrl, &interchange.sender, &key),
    }
}

/// As OUT-47: sender, all references, status, own document number (without one, 0020 and 0062).
fn aperak(interchange: &Interchange, message: &Message) -> Acknowledgement {
    // UNTDID 1225: 27 not accepted, 6 confirmation, 29 and 44 accepted. UNTDID 1001: 312 acknowledges, 313 tells errors.
    let status = match (message.function.as_str(), message.code.as_str()) {
        ("27", _) => Status::Rejected,
        ("6" | "29" | "44", _) | (_, "312") => Status::Accepted,
        (_, "313") => Status::Rejected,
        _ if message.errors.is_empty() => Status::Accepted,
        _ => Status::Rejected,
    };
    let answers: Vec<Reference> =
        message.references.iter().map(|(which, value)| reference(format!("RFF {which}"), value, None)).collect();
    let mut key: Vec<&str> = answers.iter().flat_map(|r| [r.name.as_str(), r.value.as_str()]).collect();
    let own = match message.number.as_str() {
        "" => ["0020", &interchange.control, &message.reference],
        number => ["1004", number, ""],
    };
    key.push(status.name());
    key.extend(own);
    Acknowledgement {
        form: Form::Aperak,
        sender: Some(interchange.sender.clone()),
        status,
        code: message.errors.first().unwrap_or(&message.code).clone(),
        key: keyed(Form::Aperak, &interchange.sender, &key),
        answers,
    }
}

fn x12(interchange: &X12) -> Vec<Acknowledgement> {
    let ta1 = interchange.answers.iter().map(|answer| ta1(interchange, answer));
    let sets = interchange.sets.iter().flat_map(|set| set.answers.iter().map(move |answer| (set, answer)));
    ta1.chain(sets.map(|(set, answer)| functional(interchange, set, answer))).collect()
}

/// A, E, P and R of AK901 and TA104; M, W and X refuse for reasons of security.
fn of_x12(code: &str) -> Status {
    match code {
        "A" | "E" => Status::Accepted,
        "P" => Status::Partly,
        "R" | "M" | "W" | "X" => Status::Rejected,
        _ => Status::Received,
    }
}

/// OUT-47: sender, AK101 and AK102, status, own ISA13, GS06 and ST02.
fn functional(interchange: &X12, set: &Set, answer: &GroupAnswer) -> Acknowledgement {
    let form = if set.set_type == "999" { Form::X12F999 } else { Form::X12F997 };
    let status = of_x12(&answer.code);
    let mut answers =
        vec![reference("AK101", &answer.functional, None), reference("AK102", &answer.control, Some(&answer.code))];
    answers.extend(answer.sets.iter().map(|(_, control, code)| reference("AK202", control, Some(code))));
    let own = [&interchange.control, &set.group, &set.control];
    let key = [&answer.functional, &answer.control, &answer.code, own[0], own[1], own[2]];
    Acknowledgement {
        form,
        sender: Some(interchange.sender.clone()),
        answers,
        status,
        code: answer.code.clone(),
        key: keyed(form, &interchange.sender, &key.map(String::as_str)),
    }
}

/// OUT-47: sender, TA101, status, own ISA13.
fn ta1(interchange: &X12, answer: &Ta1) -> Acknowledgement {
    let key = [&answer.control, &answer.code, &interchange.control];
    Acknowledgement {
        form: Form::Ta1,
        sender: Some(interchange.sender.clone()),
        answers: vec![reference("TA101", &answer.control, Some(&answer.code))],
        status: of_x12(&answer.code),
        code: answer.code.clone(),
        key: keyed(Form::Ta1, &interchange.sender, &key.map(String::as_str)),
    }
}

/// OUT-42. `processed` with an error or a failure has not been (RFC 4130 §7.5).
fn mdn(mdn: &Mdn) -> Acknowledgement {
    let outcome = mdn.disposition.rsplit(';').next().unwrap_or_default().trim();
    let (kind, modifier) =
        outcome.split_once('/').map_or((outcome, ""), |(kind, modifier)| (kind.trim_end(), modifier));
    let refused = modifier.split([',', ':']).any(|word| matches!(word.trim(), "error" | "failure"));
    let status = match kind {
        "failed" | "denied" => Status::Rejected,
        "processed" if refused => Status::Rejected,
        "processed" => Status::Accepted,
        _ => Status::Received,
    };
    Acknowledgement {
        form: Form::Mdn,
        sender: None,
        answers: vec![reference("Original-Message-ID", &mdn.original, None)],
        status,
        code: mdn.disposition.clone(),
        key: mdn.key(),
    }
}

/// OUT-52: original ids and response code.
fn response(ubl: &Ubl, response: &Response) -> Acknowledgement {
    // An MLS with AB has handed on where no confirmation can be had; elsewhere AB is the receipt alone (UNTDID 4343).
    let mls = ubl.customization.as_deref().is_some_and(|id| id.starts_with("urn:peppol:edec:mls"));
    let status = match response.code.as_str() {
        "AP" | "PD" => Status::Accepted,
        "AB" if mls => Status::Accepted,
        "CA" => Status::Partly,
        "RE" => Status::Rejected,
        _ => Status::Received,
    };
    let answers: Vec<Reference> =
        response.references.iter().map(|id| reference("DocumentReference", id, None)).collect();
    let mut key: Vec<&str> = response.references.iter().map(String::as_str).collect();
    key.push(&response.code);
    Acknowledgement {
        form: Form::ApplicationResponse,
        sender: Some(ubl.issuer.clone()),
        answers,
        status,
        code: response.code.clone(),
        key: keyed(Form::ApplicationResponse, &ubl.issuer, &key),
    }
}
