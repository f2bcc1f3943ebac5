//! What is an envelope, whom its blocks address, and faults there and back.

use super::*;
use crate::wire::xml::{Limits, Node, names};

fn parse(text: &str) -> Result<Envelope, SoapError> {
    Envelope::parse(text, &Limits::ENVELOPE)
}

/// `S` is SOAP 1.2's prefix in these texts.
fn soap12(inner: &str) -> Result<Envelope, SoapError> {
    parse(&format!("<S:Envelope xmlns:S=\"{}\" xmlns:x=\"urn:x\">{inner}</S:Envelope>", names::SOAP12))
}

fn locals(nodes: &[Node<'_>]) -> Vec<String> {
    nodes.iter().map(|n| n.local().to_owned()).collect()
}

#[test]
fn header_and_body_by_expanded_name() {
    let read = parse(&format!(
        "<?xml version=\"1.0\"?><!-- c --><Envelope xmlns=\"{0}\">\n <Header>\n<b xmlns=\"urn:x\" xmlns:q=\"{0}\" \
         q:mustUnderstand=\"1\"/></Header>\n<Body><p xmlns=\"\"/></Body></Envelope>",
        names::SOAP12
    ))
    .unwrap();
    assert_eq!(read.version, Version::Soap12);
    assert_eq!(read.header_blocks().count(), 1);
    assert!(read.header_blocks().all(|b| read.must_understand(b)));
    assert!(read.body().child("", "p").is_some());
    let read = parse(&format!("<e:Envelope xmlns:e=\"{}\"><e:Body/></e:Envelope>", names::SOAP11)).unwrap();
    assert_eq!((read.version, read.header), (Version::Soap11, None));
}

#[test]
fn incomplete_and_foreign_documents_are_refused() {
    assert_eq!(soap12("").unwrap_err(), SoapError::MissingBody);
    assert_eq!(soap12("<S:Header/>").unwrap_err(), SoapError::MissingBody);
    for bad in [
        "<S:Body/><S:Header/>",
        "<S:Body/><S:Body/>",
        "<S:Header/><S:Header/><S:Body/>",
        "<x:a/><S:Body/>",
        "<S:Header/><S:Body/><x:a/>",
        "<Header/><Body/>",
        "text<S:Body/>",
        "<S:Header>text</S:Header><S:Body/>",
    ] {
        assert!(matches!(soap12(bad), Err(SoapError::Unexpected { .. })), "{bad}");
    }
    assert_eq!(soap12("<S:Header><a/></S:Header><S:Body/>").unwrap_err(), SoapError::UnqualifiedBlock("a".into()));
    assert_eq!(parse("<order/>").unwrap_err(), SoapError::NotSoap("order".into()));
    let other = parse("<Envelope xmlns='urn:soap:9'><Body/></Envelope>").unwrap_err();
    assert_eq!((other.fault_code(), other), (FaultCode::VersionMismatch, SoapError::Version("urn:soap:9".into())));
    assert!(matches!(parse(""), Err(SoapError::Xml(_))));
    assert!(matches!(parse("<!DOCTYPE x><x/>"), Err(SoapError::Xml(_))));
}

#[test]
fn every_spelling_of_must_understand() {
    for (value, expected) in [("1", true), ("true", true), (" true ", true), ("0", false), ("false", false)] {
        let read = soap12(&format!("<S:Header><x:b S:mustUnderstand=\"{value}\"/></S:Header><S:Body/>")).unwrap();
        assert_eq!(read.must_understand(read.header_blocks().next().unwrap()), expected, "{value}");
    }
    let read = soap12("<S:Header><x:b mustUnderstand=\"true\"/></S:Header><S:Body/>").unwrap();
    assert!(!read.must_understand(read.header_blocks().next().unwrap()));
    for value in ["TRUE", "yes", ""] {
        let bad = soap12(&format!("<S:Header><x:b S:mustUnderstand=\"{value}\"/></S:Header><S:Body/>"));
        assert!(matches!(bad, Err(SoapError::MustUnderstand { .. })), "{value}");
    }
}

#[test]
fn only_blocks_for_the_ultimate_receiver_count() {
    let block = |local: &str, attributes: &str| format!("<x:{local} S:mustUnderstand=\"true\" {attributes}/>");
    let role = |uri: &str| format!("S:role=\"{uri}\"");
    let text = [
        block("known", ""),
        block("unnamed", ""),
        block("empty", &role(" ")),
        block("ultimate", &role("\n http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver ")),
        block("next", &role("http://www.w3.org/2003/05/soap-envelope/role/next")),
        block("none", &role("http://www.w3.org/2003/05/soap-envelope/role/none")),
        block("ebms", &role("ebms")),
        "<x:optional/>".to_owned(),
    ];
    let read = soap12(&format!("<S:Header>{}</S:Header><S:Body/>", text.concat())).unwrap();
    assert_eq!(locals(&read.not_understood(&[("urn:x", "known")])), ["unnamed", "empty", "ultimate", "next"]);
    let ebms = read.header_blocks().find(|b| b.local() == "ebms").unwrap();
    assert_eq!(read.role(ebms), Some("ebms"));

    let read = parse(&format!(
        "<S:Envelope xmlns:S=\"{}\"><S:Header><a xmlns=\"urn:x\" S:mustUnderstand=\"1\" S:actor=\"ebms\"/>\
         <b xmlns=\"urn:x\" S:mustUnderstand=\"1\" S:role=\"ebms\"/></S:Header><S:Body/></S:Envelope>",
        names::SOAP11
    ))
    .unwrap();
    assert_eq!(locals(&read.not_understood(&[])), ["b"]);
}

#[test]
fn a_fault_written_is_the_fault_read() {
    for version in [Version::Soap11, Version::Soap12] {
        for code in [FaultCode::Sender, FaultCode::Receiver, FaultCode::MustUnderstand, FaultCode::VersionMismatch] {
            let text = envelope(version, "", None, &fault(version, code, "a <b> & \"c\""));
            let read = Fault::read(&parse(&text).unwrap()).unwrap();
            assert_eq!(read.code, code.name(version));
            assert_eq!((read.reason.as_str(), read.detail), ("a <b> & \"c\"", None));
        }
    }
}

#[test]
fn faults_of_other_makers() {
    let read = soap12(
        "<S:Body><S:Fault><S:Code><S:Value>S:Sender</S:Value><S:Subcode><S:Value>x:m</S:Value></S:Subcode></S:Code>\
         <S:Reason><S:Text xml:lang=\"de\">Nein</S:Text><S:Text xml:lang=\"en-GB\"> No </S:Text></S:Reason>\
         <S:Detail><x:a>one</x:a><x:b>two <x:c>three</x:c></x:b></S:Detail></S:Fault></S:Body>",
    );
    let expected = Fault { code: "Sender.m".into(), reason: "No".into(), detail: Some("one two three".into()) };
    assert_eq!(Fault::read(&read.unwrap()), Some(expected));
    let read = parse(&format!(
        "<s:Envelope xmlns:s=\"{}\"><s:Body><s:Fault><faultcode>s:Client.Authentication</faultcode>\
         <faultstring>who?</faultstring><detail><t>x</t></detail></s:Fault></s:Body></s:Envelope>",
        names::SOAP11
    ));
    let expected = Fault { code: "Client.Authentication".into(), reason: "who?".into(), detail: Some("x".into()) };
    assert_eq!(Fault::read(&read.unwrap()), Some(expected));
    let empty = Fault::read(&soap12("<S:Body><S:Fault/></S:Body>").unwrap()).unwrap();
    assert_eq!(empty, Fault { code: String::new(), reason: String::new(), detail: None });
    assert_eq!(Fault::read(&soap12("<S:Body><x:Fault/></S:Body>").unwrap()), None);
}

#[test]
fn an_envelope_written_is_canonical_and_read_back() {
    let header = format!("<eb:Messaging xmlns:eb=\"{}\" env:mustUnderstand=\"true\"></eb:Messaging>", names::EB);
    let text = envelope(Version::Soap12, &header, Some("body-1"), "<p xmlns=\"urn:p\"></p>");
    assert_eq!(
        text,
        format!(
            "<env:Envelope xmlns:env=\"{}\"><env:Header>{header}</env:Header><env:Body xmlns:wsu=\"{}\" \
             wsu:Id=\"body-1\"><p xmlns=\"urn:p\"></p></env:Body></env:Envelope>",
            names::SOAP12,
            names::WSU
        )
    );
    let read = parse(&text).unwrap();
    assert_eq!(read.document.by_id("body-1"), Some(read.body()));
    assert!(read.not_understood(&[(names::EB, "Messaging")]).is_empty());
    assert!(parse(&envelope(Version::Soap11, "", None, "")).unwrap().header.is_none());
}

#[test]
fn blocks_beside_faults_are_well_formed() {
    let blocks = not_understood(Version::Soap12, &[("urn:a&b", "x"), ("urn:c", "y")]) + &upgrade();
    let text = envelope(Version::Soap12, &blocks, None, &fault(Version::Soap12, FaultCode::MustUnderstand, "no"));
    let read = parse(&text).unwrap();
    let names: Vec<_> = read.header_blocks().map(|b| (b.local(), b.attribute("qname"))).collect();
    assert_eq!(names, [("NotUnderstood", Some("q:x")), ("NotUnderstood", Some("q:y")), ("Upgrade", None)]);
    assert_eq!(not_understood(Version::Soap11, &[("urn:a", "x")]), "");
    for version in [Version::Soap11, Version::Soap12] {
        assert_eq!(Version::of_media_type(version.media_type()), Some(version));
    }
}
