use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::pmode::model::ReplyPattern;
use crate::pmode::sample::{file, said};

fn errors(text: &str) -> String {
    said(&read(Path::new("pmodes/red.xml"), text).expect_err("it should be refused"))
}

fn leg(inside: &str) -> Result<Draft, Vec<PModeError>> {
    read(Path::new("red.xml"), &file("id=\"x\"", &format!("<Leg>{inside}</Leg>")))
}

fn said_of_leg(inside: &str) -> String {
    said(&leg(inside).expect_err("it should be refused"))
}

#[test]
fn every_fault_is_told_with_its_place_and_the_nearest_name() {
    let text = "\u{feff}<PMode xmlns=\"urn:postrider:pmode:1\" id=\"x\" profil=\"as4\">\r\n\
        \x20 <Leg>\r\n\
        \x20   <Protocol><Adress>https://red.example.org</Adress></Protocol>\r\n\
        \x20   <PayloadService compression=\"gzipp\"/>\r\n\
        \x20 </Leg>\r\n\
        \x20 <Responder><Party> red</Party></Responder>\r\n\
        </PMode>";
    assert_eq!(
        errors(text),
        "pmodes/red.xml:1:1: `@profil` is not known in `PMode`, did you mean `@profile`?; known here: @id, @profile, \
         @sendPModeId, @lenientIdentifiers\n\
         pmodes/red.xml:3:15: `Adress` is not known in `Protocol`, did you mean `Address`?; known here: Address, TlsAnchor\n\
         pmodes/red.xml:4:5: `@compression` is `gzipp`; expected one of application/gzip, gzip, none, did you mean `gzip`?\n\
         pmodes/red.xml:6:14: `Party` is ` red`; expected a value without blanks or line ends around it"
    );
}

#[test]
fn what_is_no_p_mode_is_said_to_be_none() {
    assert!(errors("<PMode").contains("not well-formed"));
    assert!(errors("<!DOCTYPE x><PMode/>").contains("document type declaration"));
    assert!(errors("<PMode id=\"x\"/>").contains("the root element is `{}PMode`; expected `PMode` or `Profile`"));
    assert!(errors(&file("", "")).contains("`@id` is missing in `PMode`"));
    assert!(errors(&file("id=\" \"", "")).contains("`@id` is missing in `PMode`"));
    assert!(errors(&file("id=\"x\"", "stray")).contains("`PMode` is `stray`; expected elements and attributes only"));
    let foreign = file("id=\"x\" xmlns:o=\"urn:other\"", "<o:Leg/>");
    assert!(
        errors(&foreign)
            .contains("`{urn:other}Leg` is not known in `PMode`, did you mean `{urn:postrider:pmode:1}Leg`?")
    );
}

#[test]
fn notes_of_editors_and_comments_are_no_faults() {
    let attributes = "id=\"x\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation=\"a b\"";
    assert!(read(Path::new("x.xml"), &file(attributes, "<!-- note --><Leg/>")).is_ok());
}

#[test]
fn repeated_elements_are_refused() {
    assert!(errors(&file("id=\"x\"", "<MEP>oneWay</MEP><MEP>oneWay</MEP>")).contains("`MEP` stands twice in `PMode`"));
    let twice = "<BusinessInfo><Properties><Property name=\"a\"/><Property name=\"a\"/></Properties></BusinessInfo>";
    assert!(said_of_leg(twice).contains("`a` stands twice in `Properties`"));
}

#[test]
fn parameters_that_are_not_carried_out_are_named_as_such() {
    let contract = said_of_leg("<Reliability atLeastOnce=\"true\" atMostOnce=\"false\"/>");
    assert!(contract.contains("the WS-ReliableMessaging contract `atLeastOnce` is not offered"), "{contract}");
    assert!(!contract.contains("atMostOnce`"), "{contract}");
    assert!(leg("<Reliability atLeastOnce=\"false\"/>").is_ok());
    assert!(said_of_leg("<Splitting/>").contains("`Splitting` is not offered in this version; leave it out"));
    assert!(errors(&file("id=\"x\"", "<Initiator><Authorization/></Initiator>")).contains("pin a SigningCertificate"));
}

#[test]
fn files_are_named_relative_to_the_file_that_names_them() {
    let text = file("id=\"x\"", "<Initiator><SigningCertificate file=\"keys/a.pem\"/></Initiator>");
    let draft = read(Path::new("/etc/pmodes/red.xml"), &text).unwrap();
    assert_eq!(draft.terms.initiator.signing[0].value.file, Path::new("/etc/pmodes/keys/a.pem"));
}

#[test]
fn the_retry_of_edelivery_is_the_same_wait_each_time() {
    let reception = |inside: &str| {
        let draft = leg(&format!("<ReceptionAwareness>{inside}</ReceptionAwareness>")).unwrap();
        let reception = draft.terms.legs.0[0].reception.clone();
        let deadline = reception.deadline.map(|set| set.value);
        (
            reception.retries.unwrap().value,
            reception.first.unwrap().value,
            reception.multiplier.unwrap().value,
            deadline,
        )
    };
    let day = Some(Duration::from_hours(24));
    let three = Duration::from_secs(3);
    assert_eq!(reception("<Retry.Parameters>maxretries=10,period=3000</Retry.Parameters>"), (10, three, 1.0, day));
    assert_eq!(reception("<Retry parameters=\"period = 3000; maxretries=10;\"/>"), (10, three, 1.0, day));
    let slow = reception("<Retry.Parameters>maxretries=10,period=43200000</Retry.Parameters>");
    assert_eq!(slow.3, Some(Duration::from_hours(240)), "every retry has room before the deadline");
    for bad in ["maxretries=10", "maxretries=x,period=1", "retries=1,period=1", "7"] {
        let said = said_of_leg(&format!("<ReceptionAwareness><Retry parameters=\"{bad}\"/></ReceptionAwareness>"));
        assert!(said.contains("the period in milliseconds"), "{bad}: {said}");
    }
}

#[test]
fn the_window_is_a_time() {
    let window = |inside: &str| leg(&format!("<ReceptionAwareness>{inside}</ReceptionAwareness>"));
    for same in [
        "<DuplicateDetection window=\"7d\"/>",
        "<DuplicateDetection.Parameters>checkwindow=7D</DuplicateDetection.Parameters>",
        "<DetectDuplicates.Parameters>checkwindow=7D</DetectDuplicates.Parameters>",
    ] {
        let draft = window(same).unwrap();
        assert_eq!(draft.terms.legs.0[0].reception.window.as_ref().unwrap().value, Duration::from_hours(7 * 24));
    }
    let by_size = "<DuplicateDetection.Parameters>maxsize=10Mb,checkwindow=7D</DuplicateDetection.Parameters>";
    assert!(said(&window(by_size).unwrap_err()).contains("the window is a time, not a size"));
}

#[test]
fn an_element_that_is_written_is_switched_on() {
    let draft =
        leg("<Security><Signature/><Encryption enabled=\"false\"/><SendReceipt replyPattern=\"callback\"/></Security>");
    let security = draft.unwrap().terms.legs.0[0].security.clone();
    assert_eq!(security.sign.map(|s| s.value), Some(true));
    assert_eq!(security.encrypt.map(|s| s.value), Some(false));
    assert_eq!(security.send_receipt.map(|s| s.value), Some(true));
    assert_eq!(security.reply_pattern.map(|s| s.value), Some(ReplyPattern::Callback));
}

#[test]
fn values_of_the_wrong_form_are_told_what_is_expected() {
    let cases = [
        ("<Protocol><Address>ftp://x</Address></Protocol>", "an http or https URL"),
        ("<Protocol><Address>https://user:secret@x/</Address></Protocol>", "an http or https URL"),
        ("<Protocol><Address/></Protocol>", "an http or https URL"),
        ("<Protocol timeout=\"30\"/>", "a time with its unit"),
        ("<Protocol soapVersion=\"1.3\"/>", "one of 1.2, 1.1"),
        ("<BusinessInfo><PayloadProfile maxSize=\"1024\"/></BusinessInfo>", "a size with its unit"),
        ("<BusinessInfo><PayloadProfile maxSize=\"99999999999 GiB\"/></BusinessInfo>", "a size with its unit"),
        ("<BusinessInfo><PayloadProfile parts=\"3..1\"/></BusinessInfo>", "a count or a range"),
        ("<Security><Signature algorithm=\"rsa-sha1\"/></Security>", "expected one of rsa-sha256, rsa-sha384"),
        ("<Security><Encryption algorithm=\"aes128-cbc\"/></Security>", "did you mean `aes128-gcm`?"),
        ("<Security><Encryption keyTransport=\"rsa-1_5\"/></Security>", "rsa-oaep (digest and mask sha256)"),
        ("<Security><Encryption keyTransport=\"rsa-oaep/sha256/sha256/x\"/></Security>", "at most a digest and a mask"),
        ("<Security><SendReceipt replyTo=\"red\"/></Security>", "an http or https URL"),
        ("<ReceptionAwareness><Retry jitter=\"110%\"/></ReceptionAwareness>", "a share from 0% to 100%"),
        ("<ReceptionAwareness><Retry multiplier=\"0.5\"/></ReceptionAwareness>", "a number from 1 to 100"),
        ("<ReceptionAwareness><Retry retries=\"-1\"/></ReceptionAwareness>", "a whole number"),
        ("<ReceptionAwareness duplicateAnswers=\"4001\"/>", "error codes such as EBMS:4001"),
        ("<Deliver/>", "the name of a backend"),
    ];
    for (inside, expected) in cases {
        let said = said_of_leg(inside);
        assert!(said.contains(expected), "{inside}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn algorithms_are_read_by_name_and_by_uri() {
    for name in ["rsa-sha512", "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512"] {
        let draft =
            leg(&format!("<Security><Signature algorithm=\"{name}\" accept=\"ecdsa-sha256 {name}\"/></Security>"));
        let security = draft.unwrap().terms.legs.0[0].security.clone();
        assert_eq!(security.algorithm.unwrap().value, crate::wss::suite::SignatureAlgorithm::RsaSha512);
        assert_eq!(security.accepted.len(), 2);
    }
}

proptest! {
    #[test]
    fn no_damage_to_a_file_makes_reading_fail_otherwise_than_with_an_error(at in 0usize..900, put in "\\PC{0,3}") {
        let mut text = include_str!("../../../pmodes/profiles/edelivery-1.15.xml").to_owned();
        let at = (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let end = (at + put.len()..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
        text.replace_range(at..end, &put);
        let _ = read(Path::new("x.xml"), &text);
    }
}
