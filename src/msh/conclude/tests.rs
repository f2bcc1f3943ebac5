use std::path::{Path, PathBuf};
use std::sync::Arc;

use time::macros::datetime;

use super::*;
use crate::ebms::PartyId;
use crate::pmode::{Files, PModeSet};
use crate::wire::xml::names;
use crate::wss::Transform;

/// The certificates of the captured exchanges.
struct Captured;

impl Files for Captured {
    fn read(&self, path: &Path) -> Result<Vec<u8>, String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/captured/keys");
        std::fs::read(folder.join(path.file_name().unwrap())).map_err(|e| e.to_string())
    }
}

/// A signed agreement between the captured parties.
fn pmode() -> Arc<PMode> {
    let party = |name: &str| format!("<Party type=\"t\">{name}</Party><SigningCertificate file=\"{name}.cert.pem\"/>");
    let text = format!(
        "<PMode xmlns=\"urn:postrider:pmode:1\" id=\"p\" profile=\"as4\"><Initiator>{}</Initiator><Responder>{}</Responder>\
         <Leg><BusinessInfo><Service>urn:s</Service><Action>a</Action></BusinessInfo></Leg></PMode>",
        party("partya"),
        party("partyb"),
    );
    let set = PModeSet::load(&[(PathBuf::from("p.xml"), text)], &Captured, datetime!(2026-12-01 0:00 UTC));
    Arc::clone(set.unwrap().find("p").unwrap())
}

fn reference(uri: &str, digest: u8) -> Reference {
    let transform = Transform { algorithm: names::EXC_C14N.to_owned(), prefix_list: Some("S12".to_owned()) };
    let digest_method = "http://www.w3.org/2001/04/xmlenc#sha256".to_owned();
    Reference { uri: uri.to_owned(), transforms: vec![transform], digest_method, digest: vec![digest; 32] }
}

/// Judges a receipt that attests these references, of a message with three.
fn judged(attested: Vec<Reference>, signature: &Result<bool, Reject>) -> (Result<(), String>, Vec<String>) {
    about("m1@a.example", ReceiptContent::NonRepudiation(attested), signature)
}

fn about(id: &str, content: ReceiptContent, signature: &Result<bool, Reject>) -> (Result<(), String>, Vec<String>) {
    let (pmode, message_id) = (pmode(), MessageId::parse("m1@a.example").unwrap());
    let id_b = PartyId { value: "partyb".to_owned(), kind: Some("t".to_owned()) };
    let to = Party { ids: vec![id_b], role: names::ROLE_RESPONDER.to_owned() };
    let sent = Sent { message_id: &message_id, to: &to, references: &sent(), pmode: &pmode, leg: LegNumber::First };
    let receipt = Receipt {
        message_id: MessageId::parse("r1@b.example").unwrap(),
        timestamp: datetime!(2026-12-01 0:00 UTC),
        ref_to: MessageId::parse(id).unwrap(),
        content,
    };
    let mut notes = Vec::new();
    (check_receipt(&receipt, &sent, signature, &mut notes), notes)
}

fn sent() -> [Reference; 3] {
    [reference("#messaging", 1), reference("#body", 2), reference("cid:p1@a.example", 3)]
}

#[test]
fn an_answer_without_signature_is_noted_where_one_is_agreed() {
    let failed = Outcome::Final { code: "EBMS:0004".to_owned(), text: String::new() };
    assert_eq!(distrust(&Ok(false), true, &failed).as_deref(), Some("the answer is not signed"));
    assert_eq!(distrust(&Ok(false), false, &failed), None);
    assert_eq!(distrust(&Ok(true), true, &failed), None);
    let refused = Err(Reject::Signer("unknown".to_owned()));
    assert!(distrust(&refused, false, &failed).is_some_and(|note| note.contains("not accepted")));
    // A receipt that is refused for that very reason says it itself.
    let invalid = Outcome::InvalidReceipt(Reject::Signer("unknown".to_owned()).to_string());
    assert_eq!((distrust(&refused, true, &invalid), distrust(&Ok(false), true, &invalid)), (None, None));
}

#[test]
fn a_receipt_attests_everything_that_was_sent() {
    let [messaging, body, part] = sent();
    let told = |attested| judged(attested, &Ok(true)).0.unwrap_err();
    let changed = told(vec![messaging.clone(), body.clone(), reference("cid:p1@a.example", 9)]);
    assert!(changed.starts_with("its digest of cid:p1@a.example is CQkJ"), "{changed}");
    assert_eq!(told(vec![messaging.clone(), part.clone()]), "it does not attest #body");
    assert_eq!(told(Vec::new()), "it does not attest #messaging");
    let other_algorithm = Reference { digest_method: "http://www.w3.org/2000/09/xmldsig#sha1".into(), ..body.clone() };
    assert!(judged(vec![messaging, other_algorithm, part], &Ok(true)).0.is_err());
}

#[test]
fn order_and_prefixes_of_a_receipt_are_free_and_more_than_was_sent_is_noted() {
    let [messaging, mut body, part] = sent();
    body.transforms[0].prefix_list = None;
    let (verdict, notes) = judged(vec![part, reference("cid:p2@a.example", 4), body, messaging], &Ok(true));
    assert_eq!(verdict, Ok(()));
    assert_eq!(notes, ["the receipt attests 1 references that were not sent", "3 of 3 digests agree"]);
}

#[test]
fn a_receipt_is_of_the_partner_and_about_this_message() {
    let told = |signature| judged(sent().to_vec(), signature).0.unwrap_err();
    assert_eq!(told(&Ok(false)), "it is not signed, and the message was");
    assert!(told(&Err(Reject::Signer("another".to_owned()))).contains("another"));
    let all = || ReceiptContent::NonRepudiation(sent().to_vec());
    let other = about("m2@a.example", all(), &Ok(true)).0.unwrap_err();
    assert_eq!(other, "it is for m2@a.example, not for m1@a.example");
    let copy = about("m1@a.example", ReceiptContent::ReceptionAwareness(String::new()), &Ok(true)).0.unwrap_err();
    assert_eq!(copy, "it has no non-repudiation information");
}
