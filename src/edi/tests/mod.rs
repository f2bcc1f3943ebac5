//! Real document bytes and what becomes of them. What the tests change in a fixture must stand in it.

mod answers;
mod hostile;
mod interchanges;
mod markup;
mod templates;

use super::*;

const INVOICE: &str = include_str!("../../../tests/fixtures/documents/ubl-invoice.xml");
const CREDIT_NOTE: &str = include_str!("../../../tests/fixtures/documents/ubl-creditnote.xml");
const ORDER: &str = include_str!("../../../tests/fixtures/documents/ubl-order.xml");
const MLS: &str = include_str!("../../../tests/fixtures/documents/ubl-mls-rejected.xml");
const ENVELOPED: &str = include_str!("../../../tests/fixtures/documents/sbdh-invoice.xml");
const CII: &str = include_str!("../../../tests/fixtures/documents/cii-invoice.xml");
const INVOIC: &str = include_str!("../../../tests/fixtures/documents/edifact-invoic-d96a.edi");
const TWO: &str = include_str!("../../../tests/fixtures/documents/edifact-two-invoices-d01b.edi");
const CONTRL: &str = include_str!("../../../tests/fixtures/documents/edifact-contrl-partly.edi");
const APERAK: &str = include_str!("../../../tests/fixtures/documents/edifact-aperak.edi");
const F810: &str = include_str!("../../../tests/fixtures/documents/x12-810.edi");
const F997: &str = include_str!("../../../tests/fixtures/documents/x12-997-partly.edi");
const F999: &str = include_str!("../../../tests/fixtures/documents/x12-999.edi");
const MDN: &str = include_str!("../../../tests/fixtures/documents/as2-mdn.mime");

const ALL: [&str; 14] =
    [INVOICE, CREDIT_NOTE, ORDER, MLS, ENVELOPED, CII, INVOIC, TWO, CONTRL, APERAK, F810, F997, F999, MDN];

fn changed(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "`{from}` is not in the fixture");
    text.replace(from, to)
}

/// The key of the one business document.
fn key(octets: impl AsRef<[u8]>) -> String {
    read(None, octets.as_ref()).unwrap().business_key().unwrap().to_string()
}

fn refused(octets: impl AsRef<[u8]>) -> String {
    read(None, octets.as_ref()).unwrap_err().to_string()
}

#[test]
fn what_is_no_document_says_so() {
    for (octets, reason) in [
        (&b""[..], "the document ends after 0 octets, before its first octet"),
        (b" \r\n", "the document ends after 3 octets, before its first octet"),
        (b"%PDF-1.7 \xE2", "neither UBL, CII, EDIFACT, X12 nor an MDN; it begins with `%PDF-1.7 \\xe2`"),
        (b"number;date\n1;2026-11-02\n", "it begins with `number;date\\n1;2026-11-02`"),
        (b"note: nothing\n", "it begins with `note: nothing\\n`"),
        (b"UNBELIEVABLE", "it begins with `UNBELIEVABLE`"),
        (b"<html xmlns='urn:h'><p/></html>", "the document element {urn:h}html is none that gives keys"),
        (b"<!DOCTYPE Invoice><Invoice/>", "a document type declaration is not accepted"),
    ] {
        assert!(refused(octets).contains(reason), "{}", refused(octets));
    }
}

#[test]
fn the_content_counts_and_not_the_media_type() {
    for media_type in ["application/EDIFACT", "text/plain; charset=us-ascii", "application/octet-stream", "nonsense"] {
        let told = |text: &str| read(Some(media_type), text.as_bytes());
        assert!(matches!(told(INVOICE), Ok(Document::Ubl(_))), "{media_type}");
        assert!(matches!(told(F810), Ok(Document::X12(_))), "{media_type}");
        assert!(matches!(told(MDN), Ok(Document::Mdn(_))), "{media_type}");
        assert!(matches!(read(Some("application/xml"), INVOIC.as_bytes()), Ok(Document::Edifact(_))));
    }
}

#[test]
fn pieces_of_any_size_give_the_same() {
    for text in ALL {
        let whole = read(None, text.as_bytes()).unwrap();
        for size in [1, 7, 64, 511, 513] {
            let mut reading = Reading::new(None);
            for piece in text.as_bytes().chunks(size) {
                if !reading.push(piece) {
                    break;
                }
            }
            assert_eq!(reading.finish().as_ref(), Ok(&whole), "pieces of {size}");
        }
    }
}

#[test]
fn the_key_to_send_under_comes_from_the_document() {
    let template = Template::parse("send-{invoice}-to-{partner}").unwrap();
    for text in [INVOICE, ENVELOPED, INVOIC, F810] {
        let sent = read(None, text.as_bytes()).unwrap().send_key(&template, Some("red"));
        assert_eq!(sent.unwrap(), "send-BP-2026-0117-to-red");
    }
    let revision =
        |text: &str, n| read(None, text.as_bytes()).unwrap().business().unwrap().revision_key(n, None).unwrap();
    assert_eq!(revision(INVOICE, 1), "EDI-INV-BP-2026-0117-v1");
    assert_eq!(revision(CREDIT_NOTE, 2), "EDI-CRN-BP-2026-0117-v2");
    let two = read(None, TWO.as_bytes()).unwrap();
    assert_eq!(two.send_key(&template, Some("red")), Err(NoKey::Several(2)));
    let control = Template::parse("{control}-to-{partner}").unwrap();
    assert_eq!(two.send_key(&control, Some("red")).unwrap(), "BP0118-to-red");
    let invoice = read(None, INVOICE.as_bytes()).unwrap();
    let reason = |partner| invoice.send_key(&template, partner).unwrap_err().to_string();
    assert!(reason(None).contains("asks for `{partner}`"), "{}", reason(None));
    assert!(invoice.send_key(&control, Some("red")).unwrap_err().to_string().contains("`{control}`"));
    let all = Template::parse("{type}-{seller}-{date}-{number}").unwrap();
    assert_eq!(invoice.send_key(&all, None).unwrap(), "380-5798000000001-2026_2D11_2D02-BP-2026-0117");
}
