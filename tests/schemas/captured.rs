//! What partners sent: their envelopes are valid by our schema, but for what is named here, and all are readable.

use std::io::Read as _;
use std::path::Path;

use flate2::read::GzDecoder;

use super::super::{Schemas, read};

/// Messages that break the schema, and what they break.
const BROKEN: &[(&str, &str)] = &[
    ("oxalis/error-untrusted-signer.response.http", "severity"),
    ("oxalis/phase4-request-without-sbdh.response.http", "severity"),
    ("pyas4/error-untrusted-signer.request.http", "utility-1.0.xsd}Id"),
    ("pyas4/error-untrusted-signer.response.http", "lang"),
    ("pyas4/phase4-request-unsigned.response.http", "lang"),
    ("pyas4/phase4-request-without-sbdh.response.http", "lang"),
    ("pyas4/push-peppol.response.http", "utility-1.0.xsd}Id"),
];

fn position(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}

fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(line) = position(body, b"\r\n") {
        let size = std::str::from_utf8(&body[..line]).expect("a chunk size");
        let size = usize::from_str_radix(size.split(';').next().unwrap_or(size).trim(), 16).expect("a chunk size");
        if size == 0 {
            break;
        }
        whole.extend_from_slice(&body[line + 2..line + 2 + size]);
        body = &body[line + 2 + size + 2..];
    }
    whole
}

/// The SOAP envelope of a raw HTTP message; `None` for one without body.
fn envelope(http: &[u8]) -> Option<String> {
    let at = position(http, b"\r\n\r\n").expect("a head");
    let head = String::from_utf8_lossy(&http[..at]).to_ascii_lowercase();
    let mut body = http[at + 4..].to_vec();
    if head.contains("transfer-encoding: chunked") {
        body = unchunked(&body);
    }
    if head.contains("content-encoding: gzip") {
        let mut plain = Vec::new();
        GzDecoder::new(&body[..]).read_to_end(&mut plain).expect("gzip");
        body = plain;
    }
    let name = position(&body, b"Envelope ").or_else(|| position(&body, b"Envelope>"))?;
    let start = body[..name].iter().rposition(|b| *b == b'<').expect("a tag");
    let last = body.windows(9).rposition(|window| window == b"Envelope>").expect("an end tag");
    Some(String::from_utf8(body[start..last + 9].to_vec()).expect("UTF-8"))
}

#[test]
fn captured_messages_are_valid_and_readable() {
    let ours = Schemas::ours();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/captured");
    let mut count = 0;
    for peer in ["phase4", "oxalis", "pyas4"] {
        for entry in std::fs::read_dir(root.join(peer)).expect("captured messages") {
            let path = entry.expect("an entry").path();
            let name = format!("{peer}/{}", path.file_name().expect("a name").to_string_lossy());
            let Some(message) = envelope(&std::fs::read(&path).expect("a file")) else { continue };
            count += 1;
            assert_eq!(read(&message), Ok(()), "{name}");
            match (ours.check(&message), BROKEN.iter().find(|(broken, _)| *broken == name)) {
                (Ok(()), None) => {}
                (Err(why), Some((_, what))) => assert!(why.contains(what), "{name}: {why}"),
                (verdict, expected) => panic!("{name}: {verdict:?}, expected {expected:?}"),
            }
        }
    }
    assert!(count >= 60, "only {count} messages");
}
