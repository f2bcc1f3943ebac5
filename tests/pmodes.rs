//! The P-Mode files that come with Postrider: each loads, follows the schema document, and each pair agrees on a
//! message from one side to the other.

#![expect(clippy::unwrap_used, reason = "a test may: it says where")]

use std::path::{Path, PathBuf};

use openssl::asn1::Asn1Time;
use openssl::bn::BigNum;
use openssl::hash::MessageDigest;
use openssl::pkey::PKey;
use openssl::rsa::Rsa;
use openssl::x509::{X509, X509NameBuilder};
use postrider::ebms::{Href, MessageId, PartInfo, PartyId, Property, Typed};
use postrider::pmode::{self, Files, NewIds, PModeSet, Wanted};
use postrider::wire::xml::names;
use time::OffsetDateTime;

/// Certificates made for whatever name is asked: the examples name files that the reader of the README makes.
struct MadeNow {
    pem: Vec<u8>,
}

impl MadeNow {
    /// One certificate for all: making a key takes longer than everything else here.
    fn new() -> &'static Self {
        static ONE: std::sync::LazyLock<MadeNow> = std::sync::LazyLock::new(MadeNow::make);
        &ONE
    }

    fn make() -> Self {
        let key = PKey::from_rsa(Rsa::generate(2048).unwrap()).unwrap();
        let mut name = X509NameBuilder::new().unwrap();
        name.append_entry_by_text("CN", "example").unwrap();
        let name = name.build();
        let mut made = X509::builder().unwrap();
        made.set_version(2).unwrap();
        made.set_serial_number(&BigNum::from_u32(1).unwrap().to_asn1_integer().unwrap()).unwrap();
        made.set_subject_name(&name).unwrap();
        made.set_issuer_name(&name).unwrap();
        made.set_pubkey(&key).unwrap();
        made.set_not_before(&Asn1Time::from_unix(now().unix_timestamp() - 3600).unwrap()).unwrap();
        made.set_not_after(&Asn1Time::from_unix(now().unix_timestamp() + 3600).unwrap()).unwrap();
        made.sign(&key, MessageDigest::sha256()).unwrap();
        Self { pem: made.build().to_pem().unwrap() }
    }
}

impl Files for MadeNow {
    fn read(&self, path: &Path) -> Result<Vec<u8>, String> {
        let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        if folder == Some("keys") { Ok(self.pem.clone()) } else { Err("examples keep certificates in keys/".into()) }
    }
}

fn now() -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(1_800_000_000).unwrap()
}

fn folder(name: &str) -> Vec<(PathBuf, String)> {
    let mut files: Vec<_> = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("pmodes").join(name))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "xml"))
        .map(|path| (path.clone(), std::fs::read_to_string(path).unwrap()))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

fn load(file: &(PathBuf, String)) -> PModeSet {
    PModeSet::load(std::slice::from_ref(file), MadeNow::new(), now()).unwrap_or_else(|errors| {
        panic!("{}", errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    })
}

fn follows_schema(text: &str) -> Result<(), String> {
    use libxml::schemas::{SchemaParserContext, SchemaValidationContext};
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/schemas/pmode.xsd");
    let say = |errors: Vec<libxml::error::StructuredError>| {
        errors.into_iter().filter_map(|e| e.message).collect::<Vec<_>>().join("; ")
    };
    let mut context = SchemaValidationContext::from_parser(&mut SchemaParserContext::from_file(schema)).map_err(say)?;
    let document = libxml::parser::Parser::default().parse_string(text).map_err(|e| e.to_string())?;
    context.validate_document(&document).map_err(say)
}

#[test]
fn every_file_follows_the_schema_and_loads_without_warning() {
    for file in folder("profiles").iter().chain(&folder("examples")) {
        follows_schema(&file.1).unwrap_or_else(|said| panic!("{}: {said}", file.0.display()));
        assert_eq!(load(file).warnings(), &[], "{}", file.0.display());
    }
}

/// What the schema document and the reader say of the same P-Mode.
fn both_say(inside: &str) -> (bool, bool) {
    let text = format!("<PMode xmlns=\"urn:postrider:pmode:1\" id=\"x\">{inside}</PMode>");
    (follows_schema(&text).is_ok(), pmode::read(Path::new("x.xml"), &text).is_ok())
}

#[test]
fn schema_and_reader_accept_and_refuse_alike() {
    let leg = |inside: &str| format!("<Leg>{inside}</Leg>");
    let accepted = [
        "<Leg/><Agreement type=\"t\">a</Agreement>".to_owned(),
        "<MEP>http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/oneWay</MEP>".to_owned(),
        "<Initiator><Party>a b</Party><SigningCertificate file=\"a\" until=\"2027-01-31T00:00:00Z\"/></Initiator>"
            .to_owned(),
        leg(
            "<Protocol timeout=\"1min 30s\"/><BusinessInfo><PayloadProfile maxSize=\"10 MiB\" parts=\"0..*\"/></BusinessInfo>",
        ),
        leg("<ReceptionAwareness><Retry.Parameters>maxretries=10;period=3000</Retry.Parameters></ReceptionAwareness>"),
        leg("<ReceptionAwareness><Retry jitter=\"2.5%\" multiplier=\"1.5\"/></ReceptionAwareness>"),
        leg("<Security><Encryption keyTransport=\"rsa-oaep-mgf1p/sha1\" accept=\"aes128-gcm aes256-gcm\"/></Security>"),
        leg("<Security><Signature algorithm=\"http://www.w3.org/2001/04/xmldsig-more#rsa-sha256\"/></Security>"),
        leg("<Reliability inOrder=\"false\"/>"),
    ];
    for inside in accepted {
        assert_eq!(both_say(&inside), (true, true), "{inside}");
    }
    let refused = [
        "<Legs/>".to_owned(),
        "<MEP>threeWay</MEP>".to_owned(),
        "<Agreement/>".to_owned(),
        "<Initiator><Party> a</Party></Initiator>".to_owned(),
        "<Initiator><SigningCertificate/></Initiator>".to_owned(),
        leg("<Protocol><Address>ftp://x</Address></Protocol>"),
        leg("<Protocol timeout=\"30\"/>"),
        leg("<BusinessInfo><PayloadProfile maxSize=\"1024\"/></BusinessInfo>"),
        leg("<Security><Signature algorithm=\"rsa-sha1\"/></Security>"),
        leg("<Security><Encryption keyTransport=\"rsa-1_5\"/></Security>"),
        leg("<Reliability atLeastOnce=\"true\"/>"),
        leg("<Deliver/>"),
        leg("text"),
    ];
    for inside in refused {
        assert_eq!(both_say(&inside), (false, false), "{inside}");
    }
}

#[test]
fn the_built_in_profiles_are_the_files_of_the_folder() {
    let names: Vec<_> = folder("profiles").iter().map(|(path, _)| path.file_name().unwrap().to_owned()).collect();
    let mut built_in: Vec<_> =
        pmode::BUILT_IN.iter().map(|(file, _)| Path::new(file).file_name().unwrap().to_owned()).collect();
    built_in.sort();
    assert_eq!(names, built_in);
}

#[test]
fn the_effective_p_mode_follows_the_schema_and_reads_back_the_same() {
    for file in folder("examples") {
        let set = load(&file);
        for one in set.iter() {
            let text = pmode::write(one);
            follows_schema(&text).unwrap_or_else(|said| panic!("{}: {said}\n{text}", file.0.display()));
            let again = PModeSet::load(&[(PathBuf::from("x.xml"), text.clone())], &SamePem(one), now());
            let again = again.unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
            assert_eq!(again.find(&one.id).unwrap().revision, one.revision, "{text}");
        }
    }
}

/// Gives back the certificates of a P-Mode, whose files the effective P-Mode names.
struct SamePem<'p>(&'p pmode::PMode);

impl Files for SamePem<'_> {
    fn read(&self, path: &Path) -> Result<Vec<u8>, String> {
        let parties = [&self.0.initiator, &self.0.responder];
        let mut all = parties.iter().flat_map(|p| p.signing.iter().chain(&p.encryption));
        let found = all.find(|pinned| pinned.file == path).ok_or("not there")?;
        Ok(found.certificate.der().to_vec())
    }
}

fn submission(pair: &str, set: &PModeSet) -> Wanted {
    let id = set.iter().next().unwrap().id.clone();
    let peppol = |name: &str, value: &str| Property { name: name.into(), kind: None, value: value.into() };
    let payload = PartInfo {
        href: Href::Attachment(postrider::ebms::Cid::of("invoice@blue.example")),
        schema: None,
        description: None,
        properties: vec![Property { name: "MimeType".into(), kind: None, value: "application/xml".into() }],
    };
    let mut wanted = Wanted { pmode: Some(id), parts: vec![payload], ..Wanted::default() };
    if pair == "peppol" {
        let ap = "urn:fdc:peppol.eu:2017:identifiers:ap".to_owned();
        wanted.to = vec![PartyId { value: "POP000002".into(), kind: Some(ap) }];
        wanted.service = Some(Typed {
            value: "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0".into(),
            kind: Some("cenbii-procid-ubl".into()),
        });
        wanted.action = Some("busdox-docid-qns::urn:oasis:names:specification:ubl:schema:xsd:Invoice-2".into());
        wanted.properties = vec![peppol("originalSender", "0088:1"), peppol("finalRecipient", "0088:2")];
    }
    wanted
}

#[test]
fn each_pair_agrees_on_a_message_from_one_to_the_other() {
    let files = folder("examples");
    let side = |name: &str| files.iter().find(|(path, _)| path.file_name().unwrap() == name).unwrap();
    let pairs: Vec<String> = files
        .iter()
        .filter_map(|(path, _)| Some(path.file_name()?.to_str()?.strip_suffix("-initiator.xml")?.to_owned()))
        .collect();
    assert_eq!(pairs.len() * 2, files.len(), "examples come in pairs");
    for pair in pairs {
        let sender = load(side(&format!("{pair}-initiator.xml")));
        let receiver = load(side(&format!("{pair}-responder.xml")));
        let ids = NewIds { message_id: MessageId::parse("1@blue.example").unwrap(), conversation_id: "c1".into() };
        let sent = pmode::complete_submission(&sender, submission(&pair, &sender), ids, now());
        let sent = sent.unwrap_or_else(|missing| panic!("{pair}: {missing:?}"));
        let agreed = pmode::agree(&receiver, &sent.message).unwrap_or_else(|refusal| panic!("{pair}: {refusal}"));
        let security = |pmode: &pmode::PMode| {
            let security = &pmode.leg.security;
            (security.sign.is_some(), security.encrypt.is_some(), pmode.leg.compress)
        };
        assert_eq!(security(&sent.pmode), security(&agreed.pmode), "{pair}: both sides secure it alike");
        assert_eq!(sent.message.is_test(), pair == "test-service");
        let mut other = sent.message.clone();
        other.agreement =
            Some(postrider::ebms::AgreementRef { value: "urn:example:another".into(), kind: None, pmode: None });
        let refused = pmode::agree(&receiver, &other).expect_err("another agreement");
        assert_eq!(refused.code(), pmode::VALUE_NOT_RECOGNIZED, "{pair}");
    }
}

#[test]
fn the_test_service_is_the_one_of_ebms3() {
    let files = folder("examples");
    let file = files.iter().find(|(path, _)| path.ends_with("test-service-responder.xml")).unwrap();
    let set = load(file);
    let business = &set.find("blue-red-ping").unwrap().leg.business;
    assert_eq!(business.service.as_ref().map(|s| s.value.as_str()), Some(names::TEST_SERVICE));
    assert_eq!(business.action.as_deref(), Some(names::TEST_ACTION));
}
