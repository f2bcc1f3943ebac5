//! Both directions on real messages of three peers, and every way to be refused.
#![expect(clippy::unwrap_used, reason = "a test may")]

mod agree;
mod captured;
mod cross;
mod refuse;
mod stream;

use super::session::{Treatment, XmlTypes};
use super::{OpenPart, Opinion, PartReader, PartUnreadable, SECOND_OPINION_MAX, content, second_opinion};
use crate::wire::xml::names::SWA_CONTENT_SIGNATURE;
use captured::Captured;

/// The opinion on a captured message, with the certificate of `party`.
fn opinion(message: &mut Captured, party: &str) -> Opinion {
    let expected = captured::references(&message.envelope);
    let signer = captured::certificate(party);
    second_opinion(&message.envelope, &signer, &mut message.parts, &expected, SECOND_OPINION_MAX)
}

fn why(opinion: Opinion) -> String {
    match opinion {
        Opinion::Disagrees { why } => why,
        other => panic!("expected a disagreement, got {other:?}"),
    }
}

#[test]
fn the_transform_has_the_name_of_the_specification() {
    assert_eq!(content::HREF.to_str(), Ok(SWA_CONTENT_SIGNATURE));
}

#[test]
fn media_types_follow_both_readings_of_the_specification() {
    let table = [
        ("text/xml", Treatment::Canonical, Treatment::Canonical),
        ("Application/XML; charset=utf-8", Treatment::Canonical, Treatment::Canonical),
        ("application/vnd.x+xml ;a=b", Treatment::Canonical, Treatment::Canonical),
        ("image/svg+xml", Treatment::Canonical, Treatment::Canonical),
        ("application/xml-dtd", Treatment::Raw, Treatment::Canonical),
        ("text/xml-external-parsed-entity", Treatment::Lines, Treatment::Canonical),
        ("application/octet-stream; was=\"a+xml\"", Treatment::Raw, Treatment::Canonical),
        ("text/plain", Treatment::Lines, Treatment::Lines),
        ("model/x3d+xml", Treatment::Raw, Treatment::Raw),
        ("application/gzip", Treatment::Raw, Treatment::Raw),
        ("", Treatment::Raw, Treatment::Raw),
    ];
    for (media_type, exact, prefix) in table {
        assert_eq!(XmlTypes::Exact.treatment(media_type), exact, "{media_type}");
        assert_eq!(XmlTypes::Prefix.treatment(media_type), prefix, "{media_type}");
    }
}
