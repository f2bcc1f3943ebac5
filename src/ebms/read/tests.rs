use super::*;
use crate::ebms::code::{Code, Severity};
use crate::ebms::model::ReceiptContent;
use crate::ebms::part::Href;
use crate::ebms::timestamp::BadTimestamp;
use crate::wire::xml::{Document, Limits};

const INFO: &str = "<eb:MessageInfo><eb:Timestamp>2026-07-01T10:00:00.000Z</eb:Timestamp>\
    <eb:MessageId>m1@node.example</eb:MessageId></eb:MessageInfo>";
const PARTIES: &str = "<eb:PartyInfo>\
    <eb:From><eb:PartyId>urn:example:party:a</eb:PartyId><eb:Role>urn:example:initiator</eb:Role></eb:From>\
    <eb:To><eb:PartyId type='urn:t'>b</eb:PartyId><eb:Role>urn:example:responder</eb:Role></eb:To></eb:PartyInfo>";
const COLLABORATION: &str = "<eb:CollaborationInfo><eb:AgreementRef>urn:example:agreement:1</eb:AgreementRef>\
    <eb:Service>urn:example:service</eb:Service><eb:Action>Deliver</eb:Action>\
    <eb:ConversationId>c1</eb:ConversationId></eb:CollaborationInfo>";

fn user() -> String {
    format!("<eb:UserMessage>{INFO}{PARTIES}{COLLABORATION}</eb:UserMessage>")
}

/// A valid user message with one place changed.
fn changed(from: &str, to: &str) -> String {
    let whole = user();
    assert!(whole.contains(from), "{from}");
    whole.replacen(from, to, 1)
}

fn with_payload(info: &str) -> String {
    changed("</eb:UserMessage>", &format!("{info}</eb:UserMessage>"))
}

fn signal(content: &str) -> String {
    let info = INFO
        .replace("</eb:MessageInfo>", "<eb:RefToMessageId>push-1@node.example</eb:RefToMessageId></eb:MessageInfo>");
    format!("<eb:SignalMessage>{info}{content}</eb:SignalMessage>")
}

fn envelope(units: &str) -> String {
    format!(
        "<S:Envelope xmlns:S='{}' xmlns:eb='{}' xmlns:ebbp='{}' xmlns:ds='{}' xmlns:wsu='{}' xmlns:x='urn:x'><S:Header>\
         <eb:Messaging S:mustUnderstand='true' wsu:Id='_m'>{units}</eb:Messaging></S:Header><S:Body/></S:Envelope>",
        names::SOAP12,
        names::EB,
        names::EBBP,
        names::DS,
        names::WSU
    )
}

fn read_envelope(text: &str, options: ReadOptions) -> Result<Messaging, HeaderError> {
    let document = Document::parse(text, &Limits::ENVELOPE).unwrap();
    let header = document.root().child(names::SOAP12, "Header").unwrap();
    read_messaging(find_messaging(header)?, options)
}

fn read(units: &str) -> Result<Messaging, HeaderError> {
    read_envelope(&envelope(units), ReadOptions::default())
}

fn read_user(unit: &str) -> UserMessage {
    read(unit).unwrap_or_else(|e| panic!("{e}")).user().unwrap().0.clone()
}

/// The one problem of a header.
fn problem(units: &str) -> Problem {
    let error = read(units).expect_err("must be refused");
    assert_eq!(error.findings.len(), 1, "{error}");
    error.findings[0].problem.clone()
}

#[test]
fn a_whole_user_message_is_read() {
    let payload = "<eb:MessageProperties><eb:Property name='p' type='t'>A&amp;B &#x26; C &lt;d&gt; <![CDATA[<e>]]></eb:Property>\
        </eb:MessageProperties><eb:PayloadInfo><eb:PartInfo href='&#10;   cid:p1%40node.example  '>\
        <eb:Schema location='urn:s' version='1' namespace='urn:n'/><eb:Description xml:lang='en'>An invoice</eb:Description>\
        <eb:PartProperties><eb:Property name='MimeType'>application/xml</eb:Property></eb:PartProperties></eb:PartInfo>\
        <eb:PartInfo/><eb:PartInfo href='#b1'/><eb:PartInfo href='http://node.example/p1'/></eb:PayloadInfo>";
    let unit = with_payload(payload).replace("<eb:UserMessage>", "<eb:UserMessage mpc=' urn:mpc '>");
    let message = read_user(&unit);
    assert_eq!(message.mpc.as_deref(), Some("urn:mpc"));
    assert_eq!(
        (message.from.ids[0].value.as_str(), message.to.ids[0].kind.as_deref()),
        ("urn:example:party:a", Some("urn:t"))
    );
    assert_eq!(message.property("p"), Some("A&B & C <d> <e>"));
    assert_eq!(message.parts.len(), 4);
    assert_eq!(message.parts[0].href.attachment().unwrap().content_id(), "p1@node.example");
    assert_eq!(message.parts[0].mime_type(), Some("application/xml"));
    assert_eq!(message.parts[0].schema.as_ref().unwrap().namespace.as_deref(), Some("urn:n"));
    assert_eq!(message.parts[0].description.as_ref().unwrap().lang, "en");
    assert_eq!(message.parts[1].href, Href::Body);
    assert_eq!(message.parts[2].href, Href::Element("b1".into()));
    assert_eq!(message.parts[3].href, Href::External("http://node.example/p1".into()));
    assert_eq!(message.repeated_part(), None);
}

#[test]
fn ids_role_and_elements_are_kept() {
    let text = envelope(&format!("{}{}", signal("<eb:PullRequest/>"), user()))
        .replace("wsu:Id='_m'", "wsu:Id='_m' S:role='  urn:next '");
    let document = Document::parse(&text, &Limits::ENVELOPE).unwrap();
    let node = document.root().child(names::SOAP12, "Header").and_then(|h| find_messaging(h).ok()).unwrap();
    let messaging = read_messaging(node, ReadOptions::default()).unwrap();
    assert_eq!((messaging.id.as_deref(), messaging.role.as_deref()), (Some("_m"), Some("urn:next")));
    let names: Vec<&str> = messaging.units.iter().map(|u| document.node(u.node).local()).collect();
    assert_eq!(names, ["SignalMessage", "UserMessage"]);
    assert_eq!(messaging.node, node.id());
}

#[test]
fn names_are_compared_by_namespace() {
    let text = envelope(&user())
        .replace("<eb:", "<q:")
        .replace("</eb:", "</q:")
        .replace("xmlns:eb=", "xmlns:eb='urn:other' xmlns:q=");
    assert!(read_envelope(&text, ReadOptions::default()).is_ok());
}

#[test]
fn exactly_one_messaging() {
    let twice = envelope(&user()).replace("</S:Header>", "<eb:Messaging S:role='urn:other'/></S:Header>");
    let error = read_envelope(&twice, ReadOptions::default()).unwrap_err();
    assert_eq!((error.findings[0].problem.clone(), error.code()), (Problem::SeveralMessaging(2), Code::INVALID_HEADER));
    assert_eq!(error.message_id, Some(MessageId::parse("m1@node.example").unwrap()));
    let none = format!("<S:Envelope xmlns:S='{}'><S:Header/><S:Body/></S:Envelope>", names::SOAP12);
    assert_eq!(read_envelope(&none, ReadOptions::default()).unwrap_err().findings[0].problem, Problem::NoMessaging);
    assert_eq!(problem(""), Problem::NoUnit);
}

#[test]
fn units_stand_in_order_and_once() {
    assert!(
        read(&format!("{}{}", signal("<eb:PullRequest mpc='urn:m'/>"), signal("<eb:Receipt><x:note/></eb:Receipt>")))
            .is_ok()
    );
    let two = read(&format!("{}{}", user(), user().replace("m1@", "m2@"))).unwrap_err();
    assert_eq!(two.findings[0].problem, Problem::SeveralUserMessages(2));
    assert_eq!(two.code(), Code::FEATURE_NOT_SUPPORTED);
    assert_eq!(two.errors()[0].severity, Severity::Failure);
    assert_eq!(
        problem(&format!("{}{}", user(), signal("<eb:PullRequest/>"))),
        Problem::Misplaced("SignalMessage".into())
    );
    let pulls = format!("{0}{0}", signal("<eb:PullRequest/>"));
    assert_eq!(problem(&pulls), Problem::SameKind("PullRequest"));
}

#[test]
fn what_the_schema_does_not_know_is_refused() {
    use Problem::*;
    for (unit, expected) in [
        (changed("<eb:UserMessage>", "<eb:UserMessage foo='1'>"), UnknownAttribute("foo".into())),
        (changed("<eb:UserMessage>", "<eb:UserMessage wsu:Id='u'>"), UnknownAttribute("wsu:Id".into())),
        (changed("<eb:From>", "<eb:From x:y='1'>"), UnknownAttribute("x:y".into())),
        (changed("<eb:Action>", "<eb:Action xml:lang='en'>"), UnknownAttribute("xml:lang".into())),
        (changed("<eb:Action>", "<eb:Extra/><eb:Action>"), UnknownElement("eb:Extra".into())),
        (changed("</eb:CollaborationInfo>", "<x:Extra/></eb:CollaborationInfo>"), UnknownElement("x:Extra".into())),
        (changed("</eb:UserMessage>", "<x:Extra/></eb:UserMessage>"), UnknownElement("x:Extra".into())),
        (format!("{}<plain/>", user()), UnknownElement("plain".into())),
        (changed("<eb:PartyInfo>", "<eb:PartyInfo>stray"), StrayText("PartyInfo".into())),
        (changed("Deliver", "<x:b>Deliver</x:b>"), NotSimple("Action".into())),
    ] {
        // An unknown element before a known one makes the known one misplaced as well.
        let error = read(&unit).expect_err(&unit);
        assert!(error.findings.iter().any(|f| f.problem == expected), "{error}");
        assert_eq!(error.code(), Code::INVALID_HEADER);
    }
    assert!(read(&changed("<eb:From>", "<!-- c --><?pi x?>\n\t<eb:From>")).is_ok());
}

#[test]
fn extensions_stand_where_the_schema_permits() {
    let pull = signal("<eb:PullRequest mpc='urn:m' x:hint='1'><x:sub/></eb:PullRequest><x:more/>");
    let whole =
        envelope(&format!("{pull}{}<x:last/>", user())).replace("wsu:Id='_m'", "wsu:Id='_m' x:a='1' xml:lang='en'");
    assert_eq!(read_envelope(&whole, ReadOptions::default()).unwrap().pull().unwrap().mpc.as_deref(), Some("urn:m"));
    let hinted = user().replace(
        "<eb:UserMessage>",
        "<eb:UserMessage xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:schemaLocation='a b'>",
    );
    assert!(read(&hinted).is_ok());
}

#[test]
fn every_cardinality_is_checked() {
    use Problem::*;
    for (from, to, expected) in [
        (INFO, "", Missing("MessageInfo")),
        (PARTIES, "", Missing("PartyInfo")),
        (COLLABORATION, "", Missing("CollaborationInfo")),
        ("<eb:MessageId>m1@node.example</eb:MessageId>", "", Missing("MessageId")),
        ("<eb:Timestamp>2026-07-01T10:00:00.000Z</eb:Timestamp>", "", Missing("Timestamp")),
        ("<eb:PartyId>urn:example:party:a</eb:PartyId>", "", Missing("PartyId")),
        ("<eb:Role>urn:example:initiator</eb:Role>", "", Missing("Role")),
        ("<eb:Service>urn:example:service</eb:Service>", "", Missing("Service")),
        ("<eb:Action>Deliver</eb:Action>", "", Missing("Action")),
        ("<eb:ConversationId>c1</eb:ConversationId>", "", Missing("ConversationId")),
        (COLLABORATION, &format!("{COLLABORATION}{COLLABORATION}"), Misplaced("CollaborationInfo".into())),
        (PARTIES, &format!("{COLLABORATION}{PARTIES}"), Misplaced("PartyInfo".into())),
        ("<eb:Role>urn:example:initiator</eb:Role>", "<eb:Role></eb:Role>", Empty("Role".into())),
        (">urn:example:party:a<", "><", Empty("PartyId".into())),
        ("<eb:PartyId type='urn:t'>", "<eb:PartyId type=''>", EmptyAttribute("type")),
        ("urn:example:agreement:1", "", Empty("AgreementRef".into())),
    ] {
        let error = read(&changed(from, to)).expect_err(to);
        assert!(error.findings.iter().any(|f| f.problem == expected), "{expected:?}: {error}");
        assert!(error.findings.iter().all(|f| f.code() == Code::INVALID_HEADER), "{error}");
    }
}

#[test]
fn containers_and_values_are_never_empty() {
    use Problem::*;
    for (info, expected) in [
        ("<eb:MessageProperties/>", Missing("Property")),
        ("<eb:PayloadInfo/>", Missing("PartInfo")),
        ("<eb:PayloadInfo><eb:PartInfo><eb:PartProperties/></eb:PartInfo></eb:PayloadInfo>", Missing("Property")),
        ("<eb:MessageProperties><eb:Property name='x'></eb:Property></eb:MessageProperties>", Empty("Property".into())),
        ("<eb:MessageProperties><eb:Property>v</eb:Property></eb:MessageProperties>", MissingAttribute("name")),
        ("<eb:MessageProperties><eb:Property name=''>v</eb:Property></eb:MessageProperties>", EmptyAttribute("name")),
        ("<eb:PayloadInfo><eb:PartInfo><eb:Schema/></eb:PartInfo></eb:PayloadInfo>", MissingAttribute("location")),
        (
            "<eb:PayloadInfo><eb:PartInfo><eb:Description>d</eb:Description></eb:PartInfo></eb:PayloadInfo>",
            MissingAttribute("xml:lang"),
        ),
    ] {
        assert_eq!(problem(&with_payload(info)), expected);
    }
    assert!(read(&changed("<eb:ConversationId>c1</eb:ConversationId>", "<eb:ConversationId/>")).is_ok());
}

#[test]
fn tokens_are_collapsed_and_other_values_kept() {
    assert_eq!(read_user(&changed("Deliver", "\n  Deliver\t")).action, "Deliver");
    assert_eq!(read_user(&changed("c1", "c&#45;1&amp;2")).conversation_id, "c-1&2");
    assert_eq!(read_user(&changed("'urn:t'>b<", "'urn:t'> b<!-- -->.evil<")).to.ids[0].value, " b.evil");
    assert!(matches!(problem(&changed("m1@node.example", " m1@node.example ")), Problem::MessageId(_)));
    assert!(matches!(problem(&changed("m1@node.example", "m1")), Problem::MessageId(_)));
}

#[test]
fn timestamps_follow_the_schema() {
    let at = |text: &str| changed("2026-07-01T10:00:00.000Z", text);
    assert_eq!(read_user(&at("2026-07-01T24:00:00")).timestamp, time::macros::datetime!(2026-07-02 0:00 UTC));
    assert_eq!(problem(&at("2026-02-30T10:00:00Z")), Problem::Timestamp(BadTimestamp::Day));
}

#[test]
fn untyped_identifiers_are_absolute_uris() {
    for (from, to, name) in [
        ("urn:example:party:a", "node a", "PartyId"),
        ("urn:example:service", "My Service", "Service"),
        ("urn:example:agreement:1", "A1", "AgreementRef"),
    ] {
        let unit = changed(from, to);
        let error = read(&unit).unwrap_err();
        assert_eq!(error.findings[0].problem, Problem::NotUri(name));
        assert_eq!(error.code(), Code::VALUE_INCONSISTENT);
        assert_eq!(error.findings[0].value.as_deref(), Some(to));
        let lenient = ReadOptions { lenient_identifiers: true, ..ReadOptions::default() };
        let messaging = read_envelope(&envelope(&unit), lenient).unwrap();
        assert_eq!(messaging.tolerated, error.findings);
    }
}

#[test]
fn an_id_without_domain_passes_only_when_lenient() {
    let lenient = ReadOptions { lenient_message_ids: true, ..ReadOptions::default() };
    let messaging = read_envelope(&envelope(&changed("m1@node.example", "m1")), lenient).unwrap();
    assert_eq!(messaging.user().unwrap().0.message_id.as_str(), "m1");
    assert_eq!(messaging.tolerated.len(), 1);
    assert!(read_envelope(&envelope(&changed("m1@node.example", "m 1")), lenient).is_err());
}

#[test]
fn agreement_may_be_absent_or_name_the_pmode_alone() {
    let agreement = "<eb:AgreementRef>urn:example:agreement:1</eb:AgreementRef>";
    assert_eq!(read_user(&changed(agreement, "")).agreement, None);
    let alone = read_user(&changed(agreement, "<eb:AgreementRef pmode='pm-1'/>")).agreement.unwrap();
    assert_eq!((alone.value.as_str(), alone.pmode.as_deref()), ("", Some("pm-1")));
}

#[test]
fn party_ids_have_distinct_types() {
    let ids = |ids: &str| changed("<eb:PartyId>urn:example:party:a</eb:PartyId>", ids);
    let same_value = "<eb:PartyId type='urn:1'>a</eb:PartyId><eb:PartyId type='urn:2'>a</eb:PartyId>";
    assert_eq!(read_user(&ids(same_value)).from.ids.len(), 2);
    assert!(read(&ids("<eb:PartyId>urn:a</eb:PartyId><eb:PartyId>urn:b</eb:PartyId>")).is_ok());
    for bad in [
        "<eb:PartyId type='urn:1'>a</eb:PartyId><eb:PartyId type='urn:1'>b</eb:PartyId>",
        "<eb:PartyId>urn:a</eb:PartyId><eb:PartyId>urn:a</eb:PartyId>",
    ] {
        assert_eq!(problem(&ids(bad)), Problem::RepeatedPartyType);
    }
}

#[test]
fn part_properties_are_unambiguous() {
    let part = |properties: &str| {
        with_payload(&format!(
            "<eb:PayloadInfo><eb:PartInfo href='cid:a@b'><eb:PartProperties>{properties}</eb:PartProperties></eb:PartInfo></eb:PayloadInfo>"
        ))
    };
    let mime = |value: &str| format!("<eb:Property name='MimeType'>{value}</eb:Property>");
    assert!(read(&part(&format!("{0}{0}", mime("text/xml")))).is_ok());
    assert_eq!(problem(&part(&(mime("text/xml") + &mime("text/plain")))), Problem::AmbiguousProperty("MimeType"));
    assert_eq!(problem(&part("<eb:Property name='CharacterSet'>utf 8</eb:Property>")), Problem::CharacterSet);
    assert!(read(&part("<eb:Property name='CharacterSet'>UTF-8</eb:Property>")).is_ok());
}

#[test]
fn two_parts_of_one_name_are_found() {
    let twice =
        "<eb:PayloadInfo><eb:PartInfo/><eb:PartInfo href='cid:a%40b'/><eb:PartInfo href='cid:a@b'/></eb:PayloadInfo>";
    assert_eq!(read_user(&with_payload(twice)).repeated_part(), Some((1, 2)));
}

#[test]
fn a_non_repudiation_receipt_is_read_beside_anything() {
    let reference = "<ds:Reference URI='cid:p1@node.example'><ds:Transforms><ds:Transform Algorithm='urn:t'>\
        <ec:InclusiveNamespaces xmlns:ec='http://www.w3.org/2001/10/xml-exc-c14n#' PrefixList='S12 eb'/></ds:Transform></ds:Transforms>\
        <ds:DigestMethod Algorithm='urn:d'/><ds:DigestValue>AAEC\n&#13;Aw==</ds:DigestValue></ds:Reference>";
    let without = "<ds:Reference URI='#b'><ds:DigestMethod Algorithm='urn:d'/><ds:DigestValue>BA==</ds:DigestValue></ds:Reference>";
    let part = |inner: &str| format!("<ebbp:MessagePartNRInformation>{inner}</ebbp:MessagePartNRInformation>");
    let parts = part(reference) + &part("<ebbp:MessagePartIdentifier>x</ebbp:MessagePartIdentifier>") + &part(without);
    let receipt = |parts: &str| {
        signal(&format!(
            "<eb:Receipt><x:before/><ebbp:NonRepudiationInformation>{parts}</ebbp:NonRepudiationInformation><x:info/></eb:Receipt>"
        ))
    };
    let messaging = read(&receipt(&parts)).unwrap();
    let read_back = messaging.receipt().unwrap();
    assert_eq!(read_back.ref_to.as_str(), "push-1@node.example");
    let ReceiptContent::NonRepudiation(references) = &read_back.content else { panic!("{read_back:?}") };
    assert_eq!(references.len(), 2);
    assert_eq!(references[0].digest, [0, 1, 2, 3]);
    assert_eq!(references[0].transforms[0].prefix_list.as_deref(), Some("S12 eb"));
    assert!(references[1].transforms.is_empty());
    assert_eq!(read(&receipt("")).unwrap().receipt().unwrap().content, ReceiptContent::NonRepudiation(vec![]));
    let broken = read(&receipt(&part(&reference.replace("AAEC", "*")))).unwrap_err();
    assert_eq!(broken.code(), Code::INVALID_RECEIPT);
    assert!(!broken.may_be_answered());
}

#[test]
fn reception_awareness_is_read_directly_and_wrapped() {
    let direct = read(&signal(&format!("<eb:Receipt>{}</eb:Receipt>", user()))).unwrap();
    let wrapped = read(&signal(&format!("<eb:Receipt><x:w>{}</x:w><x:more/></eb:Receipt>", user()))).unwrap();
    assert_eq!(direct.receipt().unwrap().content, wrapped.receipt().unwrap().content);
    let ReceiptContent::ReceptionAwareness(copy) = &direct.receipt().unwrap().content else { panic!() };
    assert!(
        copy.starts_with("<eb:UserMessage xmlns:eb=") && copy.contains("<eb:MessageId>m1@node.example</eb:MessageId>")
    );
    assert_eq!(
        read(&signal("<eb:Receipt><x:note/></eb:Receipt>")).unwrap().receipt().unwrap().content,
        ReceiptContent::Other
    );
    assert_eq!(problem(&signal("<eb:Receipt/>")), Problem::Empty("Receipt".into()));
    assert_eq!(
        problem(&signal("<eb:Receipt><x:a/><eb:PartInfo/></eb:Receipt>")),
        Problem::UnknownElement("eb:PartInfo".into())
    );
}

#[test]
fn a_receipt_refers_to_a_message() {
    let unit = format!("<eb:SignalMessage>{INFO}<eb:Receipt><x:note/></eb:Receipt></eb:SignalMessage>");
    let error = read(&unit).unwrap_err();
    assert_eq!(
        (error.findings[0].problem.clone(), error.code()),
        (Problem::ReceiptWithoutReference, Code::INVALID_RECEIPT)
    );
    assert!(!error.may_be_answered());
}

#[test]
fn errors_are_taken_as_partners_send_them() {
    let long = "d".repeat(10_000);
    let unit = signal(&format!(
        "<eb:Error severity='FAILURE' errorCode=' EBMS:0004 ' origin='ebMS' category='' odd='1'>\
         <eb:Description>{long}</eb:Description><eb:ErrorDetail>two\n  lines</eb:ErrorDetail></eb:Error>\
         <eb:Error errorCode='EBMS:0006' severity='Warning'/><eb:Error errorCode='VENDOR:1' severity='error'/><eb:Error/>"
    ));
    let messaging = read(&unit).unwrap();
    let signal = messaging.errors().next().unwrap();
    let first = &signal.errors[0];
    assert_eq!((first.code.clone(), first.severity), (Code::OTHER, Severity::Failure));
    assert_eq!((first.category.as_deref(), first.detail.as_deref()), (None, Some("two lines")));
    assert_eq!(
        (first.description.as_ref().unwrap().lang.as_str(), first.description.as_ref().unwrap().text.len()),
        ("", 10_000)
    );
    assert_eq!(
        (signal.errors[1].code.clone(), signal.errors[1].severity),
        (Code::EMPTY_MESSAGE_PARTITION_CHANNEL, Severity::Warning)
    );
    assert_eq!((signal.errors[2].code.as_str(), signal.errors[2].severity), ("VENDOR:1", Severity::Failure));
    assert_eq!(signal.errors[3].code, Code::OTHER);
    let no_reference = unit.replace("push-1@node.example", "");
    assert_eq!(read(&no_reference).unwrap().errors().next().unwrap().ref_to, None);
}

#[test]
fn a_signal_of_another_kind_is_not_supported() {
    let error = read(&signal("<x:Unknown/>")).unwrap_err();
    assert_eq!(
        (error.findings[0].problem.clone(), error.code()),
        (Problem::UnknownSignal, Code::FEATURE_NOT_SUPPORTED)
    );
}

#[test]
fn attributes_of_messaging_are_checked() {
    let with = |attribute: &str| {
        read_envelope(&envelope(&user()).replace("S:mustUnderstand='true'", attribute), ReadOptions::default())
    };
    for good in ["", "S:mustUnderstand='1'", "S:mustUnderstand=' true '", "S:mustUnderstand='false'", "id='m2'"] {
        assert!(with(good).is_ok(), "{good}");
    }
    for (bad, problem) in [
        ("S:mustUnderstand='yes'", Problem::NotBoolean("mustUnderstand")),
        ("id='1'", Problem::Id),
        ("other='1'", Problem::UnknownAttribute("other".into())),
        ("eb:x='1'", Problem::UnknownAttribute("eb:x".into())),
    ] {
        assert_eq!(with(bad).unwrap_err().findings[0].problem, problem);
    }
}

#[test]
fn every_breach_is_found_and_named_with_its_place() {
    let unit = with_payload("<eb:PayloadInfo><eb:PartInfo/><eb:PartInfo><eb:Schema/></eb:PartInfo></eb:PayloadInfo>")
        .replace("2026-07-01T10", "2026-07-01T30")
        .replace("urn:example:service", "My\u{85}Service");
    let error = read(&unit).unwrap_err();
    let texts: Vec<String> = error.findings.iter().map(Finding::to_string).collect();
    assert_eq!(
        texts,
        [
            "eb:Timestamp is no such time of day (at /Envelope/Header/Messaging/UserMessage/MessageInfo/Timestamp, \
             found \"2026-07-01T30:00:00.000Z\")",
            "eb:Service has no type attribute and is no absolute URI (at \
             /Envelope/Header/Messaging/UserMessage/CollaborationInfo/Service, found \"My\\u{85}Service\")",
            "the attribute location is missing (at \
             /Envelope/Header/Messaging/UserMessage/PayloadInfo/PartInfo[2]/Schema)",
        ]
    );
    let errors = error.errors();
    assert_eq!(errors.len(), 3);
    assert_eq!(errors[1].code, Code::VALUE_INCONSISTENT);
    assert_eq!(errors[1].detail.as_deref(), Some(texts[1].as_str()));
    assert_eq!(errors[1].ref_to_message_in_error.as_deref(), Some("m1@node.example"));
    assert!(error.may_be_answered());
}

#[test]
fn findings_are_bounded() {
    let part = "<eb:PartInfo bad='1'/>".repeat(5_000);
    let error = read(&with_payload(&format!("<eb:PayloadInfo>{part}</eb:PayloadInfo>"))).unwrap_err();
    assert_eq!(error.findings.len(), 16);
}

#[test]
fn a_refused_signal_names_the_message_it_answered() {
    let error = read(&signal("<eb:Receipt><eb:UserMessage/></eb:Receipt>").replace("2026-07-01T10", "2026-07-01T30"))
        .unwrap_err();
    assert_eq!(error.ref_to, Some(MessageId::parse("push-1@node.example").unwrap()));
    assert_eq!(error.kinds, [UnitKind::Receipt]);
}
