use std::net::TcpListener;

use super::*;
use crate::wss::Reference;

fn push_signed() -> Captured {
    captured::read("phase4/push-signed.request.http")
}

/// The first engine's list, with the opinion on another envelope.
fn opinion_on(message: &mut Captured, expected: &[Reference]) -> Opinion {
    let signer = captured::certificate("partya");
    second_opinion(&message.envelope, &signer, &mut message.parts, expected, SECOND_OPINION_MAX)
}

fn replace_once(text: &mut String, from: &str, to: &str) {
    assert!(text.contains(from), "{from}");
    *text = text.replacen(from, to, 1);
}

#[test]
fn one_octet_of_a_part() {
    for name in ["phase4/push-signed.request.http", "phase4/push-signed-compressed.request.http"] {
        let mut message = captured::read(name);
        let (_, octets) = message.parts.by_cid.values_mut().next().unwrap();
        let at = octets.len() / 2;
        octets[at] = if octets[at] == b'7' { b'8' } else { b'7' };
        assert!(why(opinion(&mut message, "partya")).contains("cid:"), "{name}");
    }
}

#[test]
fn one_octet_of_messaging() {
    let mut message = push_signed();
    replace_once(&mut message.envelope, "MessageId>", "MessageId>x");
    assert!(why(opinion(&mut message, "partya")).contains("another digest for `#phase4-msg-"));
}

#[test]
fn one_octet_of_the_signature_value() {
    let mut message = push_signed();
    let at = message.envelope.find("SignatureValue>").unwrap() + "SignatureValue>".len() + 20;
    let old = message.envelope.as_bytes()[at];
    let new = if old == b'A' { "B" } else { "A" };
    message.envelope.replace_range(at..=at, new);
    assert!(why(opinion(&mut message, "partya")).contains("signature value does not hold"));
}

#[test]
fn another_signers_key() {
    for other in ["partyb", "stranger"] {
        assert!(why(opinion(&mut push_signed(), other)).contains(other));
    }
}

#[test]
fn a_list_that_differs_from_the_first_engines() {
    let mut message = push_signed();
    let mut expected = captured::references(&message.envelope);
    let last = expected.pop().unwrap();
    assert!(why(opinion_on(&mut message, &expected)).contains("3 references, the first engine 2"));
    expected.insert(0, last);
    assert!(why(opinion_on(&mut message, &expected)).contains("read the references differently"));
}

#[test]
fn a_part_that_is_not_there() {
    let mut message = push_signed();
    message.parts.by_cid.clear();
    assert!(why(opinion(&mut message, "partya")).contains("there is no part for `cid:"));
}

#[test]
fn an_id_that_stands_twice() {
    let mut message = push_signed();
    let id = captured::references(&message.envelope)[0].uri[1..].to_owned();
    replace_once(&mut message.envelope, "<S12:Header>", &format!("<S12:Header><x:y xmlns:x=\"urn:x\" id=\"{id}\"/>"));
    assert!(why(opinion_on_unread(&mut message)).contains("2 elements with the id"));
}

/// For envelopes that our own tree refuses: the list is that of the untouched message.
fn opinion_on_unread(message: &mut Captured) -> Opinion {
    let expected = captured::references(&push_signed().envelope);
    opinion_on(message, &expected)
}

#[test]
fn two_signatures_and_none() {
    let mut message = push_signed();
    let start = message.envelope.find("<ds:Signature ").unwrap();
    let end = message.envelope.find("</ds:Signature>").unwrap() + "</ds:Signature>".len();
    let signature = message.envelope[start..end].to_owned();
    message.envelope.insert_str(end, &signature);
    assert!(why(opinion_on_unread(&mut message)).contains("several ds:Signature"));
    message.envelope = message.envelope.replace(&signature, "");
    assert!(why(opinion_on_unread(&mut message)).contains("no ds:Signature"));
}

#[test]
fn a_document_type_declaration() {
    let mut message = push_signed();
    replace_once(
        &mut message.envelope,
        "<S12:Envelope",
        "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY e SYSTEM \"file:///etc/hostname\">]><S12:Envelope",
    );
    assert!(why(opinion_on_unread(&mut message)).contains("document type declaration"));

    let mut message = push_signed();
    let (_, octets) = message.parts.by_cid.values_mut().next().unwrap();
    let text = String::from_utf8(octets.clone()).unwrap();
    let root = text.rfind("?>").map_or(0, |at| at + 2);
    *octets = format!("{}<!DOCTYPE x>{}", &text[..root], &text[root..]).into_bytes();
    assert!(why(opinion(&mut message, "partya")).contains("document type declaration"));
}

#[test]
fn transforms_and_references_beyond_the_allow_list() {
    let exc = "<ds:Transform Algorithm=\"http://www.w3.org/2001/10/xml-exc-c14n#\"";
    for (from, to) in [
        (exc, "<ds:Transform Algorithm=\"http://www.w3.org/2000/09/xmldsig#enveloped-signature\""),
        (exc, "<ds:Transform Algorithm=\"http://www.w3.org/TR/1999/REC-xslt-19991116\""),
        (exc, "<ds:Transform Algorithm=\"http://www.w3.org/2001/10/xml-exc-c14n#WithComments\""),
        ("Reference URI=\"#", "Reference URI=\"#xpointer(id('body'))"),
        ("Reference URI=\"#", "Reference URI=\"#' or '1"),
        ("Reference URI=\"#", "Reference xmlns:q=\"urn:q\" q:URI=\"#body\" URI=\"#"),
    ] {
        let mut message = push_signed();
        replace_once(&mut message.envelope, from, to);
        let expected = captured::references(&message.envelope);
        why(opinion_on(&mut message, &expected));
    }
}

#[test]
fn weak_algorithms_are_refused_and_unknown_ones_left_open() {
    let sha256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";
    let mut message = push_signed();
    replace_once(&mut message.envelope, sha256, "http://www.w3.org/2000/09/xmldsig#hmac-sha1");
    assert!(why(opinion(&mut message, "partya")).contains("never acceptable"));
    let mut message = push_signed();
    replace_once(&mut message.envelope, sha256, "http://www.w3.org/2021/04/xmldsig-more#eddsa-ed25519");
    let Opinion::CouldNotJudge { why } = opinion(&mut message, "partya") else { panic!() };
    assert!(why.contains("eddsa-ed25519"), "{why}");
}

#[test]
fn files_and_addresses_are_never_fetched() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file, b"secret").unwrap();
    let cid = captured::references(&push_signed().envelope).pop().unwrap().uri;
    for uri in [
        format!("file://{}", file.path().display()),
        file.path().display().to_string(),
        format!("http://{address}/part"),
        format!("ftp://{address}/part"),
        format!("cid:x#http://{address}/part"),
        format!("CID:{}", file.path().display()),
    ] {
        let mut message = push_signed();
        replace_once(&mut message.envelope, &cid, &uri);
        let mut expected = captured::references(&push_signed().envelope);
        expected.last_mut().unwrap().uri.clone_from(&uri);
        assert!(why(opinion_on(&mut message, &expected)).contains("neither `#id` nor `cid:`"), "{uri}");
        assert!(message.parts.opened.is_empty(), "{uri}");
    }
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn the_library_itself_reaches_no_file_and_no_address() {
    // Past our own allow-list: libxmlsec1's input transform, asked directly.
    super::super::library::start().unwrap();
    // A later use of the crate starts nothing anew.
    drop(xmlsec::XmlSecSignatureContext::new());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    let uris = [
        format!("http://{}/x", listener.local_addr().unwrap()),
        format!("file://{}", file.path().display()),
        file.path().display().to_string(),
        format!("ftp://{}/x", listener.local_addr().unwrap()),
    ];
    for uri in uris {
        assert!(!super::super::library::can_open(&uri), "{uri}");
    }
    assert!(super::super::library::can_open("cid:a"));
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn a_security_header_for_another_role_is_not_ours() {
    let role = "S12:role=\"http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/ebms\"";
    let mut message = push_signed();
    let wsse = crate::wire::xml::names::WSSE;
    let foreign = format!(
        "<S12:Header><w:Security xmlns:w=\"{wsse}\" {role}>\
         <ds:Signature xmlns:ds=\"http://www.w3.org/2000/09/xmldsig#\"/></w:Security>"
    );
    let expected = captured::references(&message.envelope);
    replace_once(&mut message.envelope, "<S12:Header>", &foreign);
    assert_eq!(opinion_on(&mut message, &expected), Opinion::Agrees);
    let mut message = push_signed();
    replace_once(&mut message.envelope, "<wsse:Security ", &format!("<wsse:Security {role} "));
    assert!(why(opinion_on(&mut message, &expected)).contains("no ds:Signature"));
}

#[test]
fn an_envelope_beyond_libxml2s_depth_is_left_open() {
    let mut message = push_signed();
    let expected = captured::references(&message.envelope);
    let deep = format!("<S12:Header>{}{}", "<x xmlns=\"urn:x\">".repeat(300), "</x>".repeat(300));
    replace_once(&mut message.envelope, "<S12:Header>", &deep);
    let Opinion::CouldNotJudge { why } = opinion_on(&mut message, &expected) else { panic!() };
    assert!(why.contains("depth"), "{why}");
}

#[test]
fn what_is_no_soap_envelope() {
    let mut message = push_signed();
    let expected = captured::references(&message.envelope);
    for (text, words) in [("<a", "could not read the envelope"), ("<a/>", "no SOAP envelope"), ("", "could not read")] {
        text.clone_into(&mut message.envelope);
        assert!(why(opinion_on(&mut message, &expected)).contains(words), "{text}");
    }
}
