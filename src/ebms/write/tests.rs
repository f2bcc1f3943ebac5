use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use time::macros::datetime;

use super::*;
use crate::ebms::code::{Code, Severity};
use crate::ebms::model::{PartyId, Typed, Unit};
use crate::ebms::part::Schema;
use crate::ebms::uri::Cid;
use crate::ebms::{ReadOptions, fragment, read_messaging};
use crate::wire::xml::{Document, Limits};
use crate::wss::Transform;

/// Any character that XML can carry, with a liking for those that need care.
fn character() -> impl Strategy<Value = char> {
    prop_oneof![
        4 => prop::char::range('a', 'z'),
        2 => prop::sample::select(vec!['<', '>', '&', '"', '\'', '\r', '\n', '\t', ' ', ']', '#', '%', ':', '@', '\u{85}', '\u{2028}']),
        1 => any::<char>().prop_filter("allowed in XML", |c| allowed(*c)),
    ]
}

fn text() -> impl Strategy<Value = String> {
    vec(character(), 1..20).prop_map(String::from_iter)
}

fn token() -> impl Strategy<Value = String> {
    vec(character(), 0..20).prop_map(|c| collapse(&String::from_iter(c)).into_owned())
}

/// A token that is not empty: what an attribute of an error must be to be read back.
fn word() -> impl Strategy<Value = String> {
    token().prop_filter("not empty", |t| !t.is_empty())
}

fn message_id() -> impl Strategy<Value = MessageId> {
    ("[!-;=?A-~]{1,20}", "[a-z.]{1,20}").prop_map(|(left, right)| MessageId::parse(&format!("{left}@{right}")).unwrap())
}

fn instant() -> impl Strategy<Value = OffsetDateTime> {
    (-62_135_596_800_000_i64..=253_402_300_799_999).prop_map(|milliseconds| {
        OffsetDateTime::from_unix_timestamp_nanos(i128::from(milliseconds) * 1_000_000).unwrap()
    })
}

/// A value with a type, or an absolute URI without.
fn typed() -> impl Strategy<Value = Typed> {
    prop_oneof![
        (text(), text()).prop_map(|(value, kind)| Typed { value, kind: Some(kind) }),
        "urn:[a-z0-9:#%]{0,3}[a-z]{1,20}".prop_filter_map("absolute", |value| {
            crate::ebms::uri::is_absolute(&value).then_some(Typed { value, kind: None })
        }),
    ]
}

fn party() -> impl Strategy<Value = Party> {
    (vec(typed(), 1..4), text()).prop_map(|(ids, role)| {
        let mut ids: Vec<PartyId> = ids.into_iter().map(|t| PartyId { value: t.value, kind: t.kind }).collect();
        let mut seen = std::collections::HashSet::new();
        ids.retain(|id| seen.insert(id.kind.clone().ok_or_else(|| id.value.clone())));
        Party { ids, role }
    })
}

fn agreement() -> impl Strategy<Value = AgreementRef> {
    prop_oneof![
        (typed(), of(text())).prop_map(|(t, pmode)| AgreementRef { value: t.value, kind: t.kind, pmode }),
        text().prop_map(|pmode| AgreementRef { value: String::new(), kind: None, pmode: Some(pmode) }),
    ]
}

fn property() -> impl Strategy<Value = Property> {
    (text(), of(text()), text()).prop_map(|(name, kind, value)| Property { name, kind, value })
}

fn description() -> impl Strategy<Value = Description> {
    ("[a-z]{2}(-[A-Z]{2})?", text()).prop_map(|(lang, text)| Description { lang, text })
}

fn href() -> impl Strategy<Value = Href> {
    prop_oneof![
        Just(Href::Body),
        // A Content-ID holds no control characters.
        text().prop_map(|id| Href::Attachment(Cid::of(&id.replace(char::is_control, "_")))),
        "[a-z_][a-z0-9]{0,9}".prop_map(Href::Element),
        "https?://[a-z]{1,9}/[a-z%?]{0,9}".prop_map(Href::External),
    ]
}

fn schema() -> impl Strategy<Value = Schema> {
    (token(), of(text()), of(text())).prop_map(|(location, version, namespace)| Schema { location, version, namespace })
}

prop_compose! {
    fn part()(
        href in href(), schema in of(schema()), description in of(description()), properties in vec(property(), 0..3),
    ) -> PartInfo {
        PartInfo { href, schema, description, properties }
    }
}

prop_compose! {
    fn user()(
        (mpc, timestamp, message_id, ref_to) in (of(token()), instant(), message_id(), of(message_id())),
        (from, to, agreement, service) in (party(), party(), of(agreement()), typed()),
        (action, conversation_id) in (token(), token()),
        (properties, parts) in (vec(property(), 0..4), vec(part(), 0..4)),
    ) -> UserMessage {
        UserMessage {
            mpc, timestamp, message_id, ref_to, from, to, agreement, service, action, conversation_id, properties, parts,
        }
    }
}

prop_compose! {
    fn transform()(algorithm in text(), prefix_list in of(text())) -> Transform {
        Transform { algorithm, prefix_list }
    }
}

prop_compose! {
    fn reference()(
        uri in text(), transforms in vec(transform(), 0..3), digest_method in text(), digest in vec(any::<u8>(), 0..65),
    ) -> Reference {
        Reference { uri, transforms, digest_method, digest }
    }
}

prop_compose! {
    fn error()(
        code in prop_oneof![Just(Code::OTHER), Just(Code::INVALID_HEADER), word().prop_map(|t| Code::read(&t))],
        severity in prop_oneof![Just(Severity::Warning), Just(Severity::Failure)],
        (category, origin, short_description) in (of(word()), of(word()), of(word())),
        ref_to_message_in_error in of(word()),
        (description, detail) in (of(description()), of(word())),
    ) -> EbmsError {
        EbmsError { code, severity, category, origin, short_description, ref_to_message_in_error, description, detail }
    }
}

fn soap() -> impl Strategy<Value = SoapVersion> {
    prop_oneof![Just(SoapVersion::Soap11), Just(SoapVersion::Soap12)]
}

/// The one unit of a fragment, which must be its own canonical form.
fn read_back(text: &str) -> Unit {
    let document = Document::parse(text, &Limits::ENVELOPE).unwrap();
    assert_eq!(fragment::copy(document.root()), text, "not canonical");
    let mut messaging =
        read_messaging(document.root(), ReadOptions::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(messaging.id.as_deref(), Some("_m"));
    assert_eq!(messaging.units.len(), 1);
    messaging.units.remove(0).unit
}

proptest! {
    #[test]
    fn a_user_message_is_read_back(message in user(), soap in soap()) {
        // Repeated names of the properties that have a meaning are no valid value.
        prop_assert_eq!(read_back(&user_message(&message, "_m", soap)), Unit::User(Box::new(message)));
    }

    #[test]
    fn a_receipt_is_read_back(
        (timestamp, id, ref_to) in (instant(), message_id(), message_id()),
        references in vec(reference(), 0..5), soap in soap(),
    ) {
        let value = Receipt { message_id: id, timestamp, ref_to, content: ReceiptContent::NonRepudiation(references) };
        prop_assert_eq!(read_back(&receipt(&value, "_m", soap)), Unit::Receipt(Box::new(value)));
    }

    #[test]
    fn a_reception_awareness_receipt_is_read_back(message in user(), id in message_id(), soap in soap()) {
        let text = user_message(&message, "_m", soap);
        let document = Document::parse(&text, &Limits::ENVELOPE).unwrap();
        let copy = fragment::copy(document.root().elements().next().unwrap());
        let content = ReceiptContent::ReceptionAwareness(copy);
        let value = Receipt { message_id: id, timestamp: message.timestamp, ref_to: message.message_id, content };
        prop_assert_eq!(read_back(&receipt(&value, "_m", soap)), Unit::Receipt(Box::new(value)));
    }

    #[test]
    fn an_error_signal_is_read_back(
        (timestamp, id, ref_to) in (instant(), message_id(), of(message_id())),
        errors in vec(error(), 1..4), soap in soap(),
    ) {
        let value = ErrorSignal { message_id: id, timestamp, ref_to, errors };
        prop_assert_eq!(read_back(&error_signal(&value, "_m", soap)), Unit::Error(Box::new(value)));
    }

    #[test]
    fn a_pull_request_is_read_back((timestamp, id, mpc) in (instant(), message_id(), of(token())), soap in soap()) {
        let value = PullRequest { message_id: id, timestamp, mpc };
        prop_assert_eq!(read_back(&pull_request(&value, "_m", soap)), Unit::Pull(Box::new(value)));
    }
}

#[test]
fn an_error_of_the_table_looks_like_this() {
    let id = MessageId::parse("m1@node.example").unwrap();
    let error = EbmsError::new(Code::INVALID_HEADER, "eb:Action is\nmissing\u{1}").about(&id);
    let signal = ErrorSignal {
        message_id: MessageId::parse("e1@node.example").unwrap(),
        timestamp: datetime!(2026-07-01 10:00:00.0015 UTC),
        ref_to: Some(id),
        errors: vec![error],
    };
    assert_eq!(
        error_signal(&signal, "_m", SoapVersion::Soap12),
        "<eb:Messaging xmlns:eb=\"http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/\" \
         xmlns:env=\"http://www.w3.org/2003/05/soap-envelope\" \
         xmlns:wsu=\"http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd\" \
         wsu:Id=\"_m\" env:mustUnderstand=\"true\"><eb:SignalMessage><eb:MessageInfo>\
         <eb:Timestamp>2026-07-01T10:00:00.001Z</eb:Timestamp><eb:MessageId>e1@node.example</eb:MessageId>\
         <eb:RefToMessageId>m1@node.example</eb:RefToMessageId></eb:MessageInfo>\
         <eb:Error category=\"Unpackaging\" errorCode=\"EBMS:0009\" origin=\"ebMS\" refToMessageInError=\"m1@node.example\" \
         severity=\"failure\" shortDescription=\"InvalidHeader\"><eb:Description xml:lang=\"en\">The ebMS header is not well \
         formed or not valid against its schema.</eb:Description><eb:ErrorDetail>eb:Action is missing\u{FFFD}</eb:ErrorDetail>\
         </eb:Error></eb:SignalMessage></eb:Messaging>"
    );
}

#[test]
fn soap_11_has_its_own_must_understand() {
    let request = PullRequest {
        message_id: MessageId::parse("p1@node.example").unwrap(),
        timestamp: datetime!(2026-07-01 10:00 UTC),
        mpc: None,
    };
    let text = pull_request(&request, "_m", SoapVersion::Soap11);
    assert!(text.contains(r#"xmlns:env="http://schemas.xmlsoap.org/soap/envelope/""#));
    assert!(text.contains(r#"env:mustUnderstand="1""#) && text.contains("<eb:PullRequest></eb:PullRequest>"));
}

#[test]
fn a_fault_becomes_other() {
    let error = EbmsError::of_fault("env:Sender", "no such service");
    assert_eq!((error.code, error.severity), (Code::OTHER, Severity::Failure));
    assert_eq!(error.detail.as_deref(), Some("SOAP Fault env:Sender: no such service"));
    let unknown = EbmsError::new(Code::read("EBMS:9999"), "");
    assert_eq!((unknown.severity, unknown.category, unknown.detail), (Severity::Failure, None, None));
    assert_eq!(EbmsError::new(Code::FEATURE_NOT_SUPPORTED, "x").severity, Severity::Warning);
}
