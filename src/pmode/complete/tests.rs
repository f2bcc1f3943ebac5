use std::time::Duration;

use super::*;
use crate::pmode::model::{Check, LegNumber};
use crate::pmode::sample::{InMemory, NOW, certificate, elliptic, file, load, load_with, plain, rsa, said, set};
use crate::pmode::{PModeSet, SubjectRule};
use crate::wire::hex;
use crate::wss::suite::{DataEncryption, DigestAlgorithm, SignatureAlgorithm, TokenReference};

fn one(set: &PModeSet) -> &PMode {
    set.iter().next().unwrap()
}

fn with_leg(inside: &str) -> Result<PModeSet, Vec<PModeError>> {
    load(&[file("id=\"x\" profile=\"plain\"", &format!("<Leg>{inside}</Leg>"))])
}

fn refused(inside: &str) -> String {
    said(&with_leg(inside).expect_err("it should be refused"))
}

fn pinned(attributes: &str, files: &InMemory) -> Result<PModeSet, Vec<PModeError>> {
    let party =
        format!("<Responder><SigningCertificate {attributes}/><EncryptionCertificate {attributes}/></Responder>");
    load_with(&[file("id=\"x\" profile=\"edelivery-1.15\"", &party)], files)
}

#[test]
fn without_a_profile_a_leg_is_signed_and_receipted_and_retried() {
    let key = rsa(2048);
    let files = InMemory::default().with("pmodes/a.pem", certificate(&key, -1..1).to_pem().unwrap());
    let text = file("id=\"x\"", "<Initiator><SigningCertificate file=\"a.pem\"/></Initiator>");
    let set = load_with(&[text], &files).unwrap();
    let leg = &one(&set).leg;
    let sign = leg.security.sign.as_ref().unwrap();
    assert_eq!((sign.algorithm, sign.hash), (SignatureAlgorithm::RsaSha256, DigestAlgorithm::Sha256));
    assert_eq!((sign.token, sign.accepted.len()), (TokenReference::BinarySecurityToken, 1));
    assert!(leg.security.encrypt.is_none() && leg.security.non_repudiation && leg.security.send_receipt);
    assert_eq!(leg.reception.retry.unwrap(), crate::msh::reliability::RetryPlan::default());
    assert_eq!(leg.reception.window, Duration::from_hours(30 * 24));
    assert_eq!(leg.reception.duplicate_answers.len(), 2);
    assert!(one(&set).leg(LegNumber::Reply).is_none());
}

#[test]
fn values_come_from_the_p_mode_then_the_profile_then_its_base() {
    let text = file(
        "id=\"x\" profile=\"peppol-2.0\"",
        "<Leg><Security><Encryption algorithm=\"aes256-gcm\" accept=\"aes128-gcm\"/></Security>\
         <ReceptionAwareness><Retry retries=\"3\"/></ReceptionAwareness></Leg><Checks sbdh=\"log\"/>",
    );
    let set = set(&[text]);
    let pmode = one(&set);
    assert_eq!(pmode.agreement.as_ref().unwrap().value, "urn:fdc:peppol.eu:2017:agreements:tia:ap_provider");
    assert_eq!(pmode.responder.subject, SubjectRule::CommonNameIsPartyId);
    assert_eq!((pmode.checks.sbdh, pmode.checks.four_corner), (Check::Log, Check::Enforce));
    let encrypt = pmode.leg.security.encrypt.as_ref().unwrap();
    assert_eq!(encrypt.accepted, [DataEncryption::Aes256Gcm, DataEncryption::Aes128Gcm]);
    let retry = pmode.leg.reception.retry.unwrap();
    assert_eq!((retry.retries, retry.first), (3, Duration::from_mins(1)));
    assert!(pmode.leg.compress);
}

#[test]
fn properties_of_the_profile_stay_beside_those_of_the_p_mode() {
    let own = "<Leg><BusinessInfo><Properties><Property name=\"trackingIdentifier\"/>\
        <Property name=\"finalRecipient\" type=\"other\"/></Properties></BusinessInfo></Leg>";
    let set = set(&[file("id=\"x\" profile=\"peppol-2.0\"", own)]);
    let properties = &one(&set).leg.business.properties;
    let names: Vec<_> = properties.iter().map(|p| (p.name.as_str(), p.kind.as_deref())).collect();
    assert_eq!(
        names,
        [
            ("trackingIdentifier", None),
            ("finalRecipient", Some("other")),
            ("originalSender", Some("iso6523-actorid-upis"))
        ]
    );
}

#[test]
fn profiles_of_the_folder_take_the_place_of_built_in_ones() {
    let own = "<Profile xmlns=\"urn:postrider:pmode:1\" name=\"plain\" profile=\"as4\"><Leg><Protocol soapVersion=\"1.1\"/>\
        <Security><Signature enabled=\"false\"/></Security></Leg></Profile>";
    let set = set(&[own.to_owned(), plain("x", &[])]);
    assert_eq!(one(&set).leg.protocol.soap, crate::pmode::SoapVersion::Soap11);
    let ring = own.replace("profile=\"as4\"", "profile=\"plain\"");
    let errors = said(&load(&[ring, plain("x", &[])]).unwrap_err());
    assert_eq!(errors, "pmodes/1.xml:1:1: the profile `plain` inherits from itself; break the ring");
    let unknown = said(&load(&[file("id=\"x\" profile=\"edelivery-1.5\"", "")]).unwrap_err());
    assert!(
        unknown.contains("the profile `edelivery-1.5` does not exist, did you mean `edelivery-1.15`?"),
        "{unknown}"
    );
}

#[test]
fn only_one_way_push_is_carried_out() {
    let mep = |mep: &str, binding: &str| {
        let text = format!("<MEP>{mep}</MEP><MEPbinding>{binding}</MEPbinding>");
        load(&[file("id=\"x\" profile=\"plain\"", &text)]).map_or_else(|errors| said(&errors), |_| String::new())
    };
    let eb = "http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/";
    assert_eq!(mep(&format!("{eb}oneWay"), &format!("{eb}push")), "");
    assert!(mep("oneWay", "pull").contains("MEPbinding pull is not offered in this version; give MEP oneWay"));
    assert!(mep("twoWay", "sync").contains("MEPbinding sync is not offered"));
    assert!(mep("oneWay", "sync").contains("MEP oneWay cannot have MEPbinding sync; expected push or pull"));
    assert!(mep("twoWay", "push").contains("MEP twoWay cannot have MEPbinding push"));
    let two_legs = said(&load(&[file("id=\"x\" profile=\"plain\"", "<Leg/><Leg/>")]).unwrap_err());
    assert!(two_legs.contains("there are more legs than the MEP has"));
}

/// EB-154.
#[test]
fn parameters_that_contradict_each_other_are_refused_at_their_line() {
    let no_receipt = refused("\n<Security><SendReceipt enabled=\"false\"/></Security>");
    assert!(no_receipt.starts_with("pmodes/1.xml:3:11: ReceptionAwareness waits for receipts"), "{no_receipt}");
    assert!(
        with_leg("<Security><SendReceipt enabled=\"false\"/></Security><ReceptionAwareness enabled=\"false\"/>")
            .is_ok()
    );
    let callback = "<Security><SendReceipt replyPattern=\"callback\" nonRepudiation=\"false\"/></Security>";
    assert!(refused(callback).contains("callback receipts need an address"));
    assert!(with_leg(&callback.replace("nonRep", "replyTo=\"https://a.example/\" nonRep")).is_ok());
    assert!(refused("<Security><SendReceipt nonRepudiation=\"true\"/></Security>").contains("Signature is off"));
    let short = refused("<ReceptionAwareness><DuplicateDetection window=\"2h\"/></ReceptionAwareness>");
    assert!(short.contains("the duplicate window of 2h is not longer than the 7h"), "{short}");
    let weak =
        "<Security><Encryption algorithm=\"aes256-gcm\" accept=\"aes128-gcm\" minimumStrength=\"256\"/></Security>";
    assert!(refused(weak).contains("aes128-gcm has 128 bits, below the minimumStrength of 256"));
    let unbound = said(&load(&[file("id=\"x\"", "")]).unwrap_err());
    assert!(unbound.contains("no signature can be accepted; give the partner's SigningCertificate"), "{unbound}");
}

/// EB-039, EB-042, PR-015.
#[test]
fn identifiers_of_a_p_mode_keep_the_rules_of_the_wire() {
    let word = plain("x", &[("urn:example:party:a", "a"), ("urn:example:service", "My Service")]);
    let errors = load(std::slice::from_ref(&word)).unwrap_err();
    assert_eq!(errors.len(), 2, "{}", said(&errors));
    assert!(said(&errors).contains("`Party` is `a`, without type and no absolute URI"));
    assert!(load(&[word.replace("<PMode", "<PMode lenientIdentifiers=\"true\"")]).is_ok());
    let twice = plain("x", &[("</Initiator>", "<Party type=\"t\">1</Party><Party type=\"t\">2</Party></Initiator>")]);
    assert!(said(&load(&[twice]).unwrap_err()).contains("`Initiator` has two `Party` of one type"));
    let two =
        plain("x", &[("</Initiator>", "<Party type=\"t\">1</Party></Initiator><Checks singlePartyId=\"enforce\"/>")]);
    assert!(said(&load(&[two]).unwrap_err()).contains("the profile allows one"));
}

#[test]
fn certificates_are_read_from_pem_and_der_and_judged() {
    let (strong, weak, curve) = (rsa(2048), rsa(1024), elliptic());
    let valid = certificate(&strong, -1..30);
    let chain = [valid.to_pem().unwrap(), certificate(&curve, -1..30).to_pem().unwrap()].concat();
    let files = InMemory::default()
        .with("pmodes/chain.pem", chain)
        .with("pmodes/a.der", valid.to_der().unwrap())
        .with("pmodes/weak.pem", certificate(&weak, -1..30).to_pem().unwrap())
        .with("pmodes/curve.pem", certificate(&curve, -1..30).to_pem().unwrap())
        .with("pmodes/expired.pem", certificate(&strong, -30..-1).to_pem().unwrap())
        .with("pmodes/key.pem", strong.private_key_to_pem_pkcs8().unwrap());
    let from_chain = pinned("file=\"chain.pem\"", &files).unwrap();
    let from_der = pinned("file=\"a.der\"", &files).unwrap();
    assert_eq!(one(&from_chain).responder.signing.len(), 1, "the end entity alone is pinned");
    assert_eq!(one(&from_chain).revision, one(&from_der).revision, "where a certificate lies does not matter");

    let refused = |attributes: &str| said(&pinned(attributes, &files).expect_err(attributes));
    assert!(refused("file=\"none.pem\"").contains("`pmodes/none.pem` cannot be used: there is no such file"));
    assert!(refused("file=\"key.pem\"").contains("it holds no certificate; expected PEM"));
    assert!(refused("file=\"weak.pem\"").contains("its key has 1024 bits; at least 2048 are needed"));
    let curve = refused("file=\"curve.pem\"");
    assert!(curve.contains("fits none of the signature algorithms") && curve.contains("is no RSA key"), "{curve}");
    let other = format!("file=\"a.der\" sha256=\"{}\"", "0".repeat(64));
    assert!(refused(&other).contains("not the one that the P-Mode gives"));
    let same = hex(openssl::sha::sha256(&valid.to_der().unwrap()).as_slice());
    assert!(pinned(&format!("file=\"a.der\" sha256=\"{}\"", same.to_uppercase()), &files).is_ok());

    let expired = pinned("file=\"expired.pem\"", &files).unwrap();
    assert_eq!(expired.warnings().len(), 2, "one partner's certificate does not stop the gateway");
    assert!(expired.warnings()[0].to_string().contains("expired on 2026-06-30"), "{}", expired.warnings()[0]);
    assert!(one(&expired).responder.encryption_at(NOW).is_none());
}

/// WS-104.
#[test]
fn in_a_roll_over_the_newest_usable_certificate_encrypts() {
    let key = rsa(2048);
    let files = InMemory::default()
        .with("pmodes/old.pem", certificate(&key, -300..10).to_pem().unwrap())
        .with("pmodes/new.pem", certificate(&key, -1..300).to_pem().unwrap());
    let party = |from: &str| {
        let text = format!(
            "<Responder><SigningCertificate file=\"old.pem\"/><SigningCertificate file=\"new.pem\"/>\
             <EncryptionCertificate file=\"new.pem\" {from}/><EncryptionCertificate file=\"old.pem\"/></Responder>"
        );
        load_with(&[file("id=\"x\" profile=\"edelivery-1.15\"", &text)], &files).unwrap()
    };
    let chosen = |set: &PModeSet, now| one(set).responder.encryption_at(now).map(|p| p.file.display().to_string());
    let (at_once, later) = (party(""), party("from=\"2026-07-05T00:00:00Z\""));
    assert_eq!(chosen(&at_once, NOW).as_deref(), Some("pmodes/new.pem"));
    assert_eq!(chosen(&later, NOW).as_deref(), Some("pmodes/old.pem"));
    assert_eq!(chosen(&later, NOW + time::Duration::days(5)).as_deref(), Some("pmodes/new.pem"));
    assert_eq!(one(&later).responder.signing_at(NOW).count(), 2);
    assert_eq!(one(&later).responder.signing_at(NOW + time::Duration::days(11)).count(), 1);
}

#[test]
fn what_travels_in_the_clear_is_a_warning() {
    let to = |address: &str| {
        let set = with_leg(&format!("<Protocol><Address>{address}</Address></Protocol>")).unwrap();
        set.warnings().iter().map(ToString::to_string).collect::<String>()
    };
    assert!(to("http://red.example.org/as4").contains("they travel in the clear"));
    assert_eq!(to("https://red.example.org/as4"), "");
    for local in ["http://localhost:4080/as4", "http://127.0.0.1/as4", "http://[::1]:4080/as4"] {
        assert_eq!(to(local), "");
    }
}

#[test]
fn the_revision_changes_with_any_value_and_with_nothing_else() {
    let revision = |text: String| one(&set(&[text])).revision.clone();
    let before = revision(plain("x", &[]));
    assert_eq!(before.len(), 12);
    assert_eq!(before, revision(plain("x", &[("<Leg>", "<!-- note -->\n\n<Leg>")])));
    assert_eq!(before, revision(plain("x", &[("<Leg>", "<Leg><PayloadService compression=\"none\"/>")])));
    assert_ne!(before, revision(plain("x", &[("<Leg>", "<Leg><PayloadService compression=\"gzip\"/>")])));
    assert_ne!(before, revision(plain("x", &[("<Leg>", "<Leg><Deliver to=\"inbox\"/>")])));
    assert_ne!(before, revision(plain("x", &[("party:a", "party:A")])));
}

#[test]
fn all_faults_of_all_files_come_at_once_and_ids_are_unique() {
    let errors = load(&[plain("x", &[]), "<nothing/>".into(), plain("x", &[("Deliver", "Order")])]).unwrap_err();
    let said = said(&errors);
    assert_eq!(errors.len(), 2, "{said}");
    assert!(said.contains("pmodes/3.xml:1:1: the id `x` stands already in pmodes/1.xml:1:1"), "{said}");
}
