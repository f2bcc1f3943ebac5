use super::*;

const BUSINESS: &str = "ubl:0088:5798000000001/Invoice:380:BP-2026-0117:2026";

fn wide(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(unit).collect()
}

#[test]
fn an_invoice_is_known_by_seller_type_number_and_year() {
    assert_eq!(key(INVOICE), BUSINESS);
    let business = read(None, INVOICE.as_bytes()).unwrap().business().unwrap();
    assert_eq!(
        (business.kind, business.number.as_str(), business.type_code.as_str()),
        (Kind::Invoice, "BP-2026-0117", "380")
    );
    assert_eq!((business.date.as_deref(), business.control.len()), (Some("2026-11-02"), 0));
    // What does not make it another invoice.
    assert_eq!(key(changed(INVOICE, "2026-11-02</cbc:IssueDate>", "2026-12-31+01:00</cbc:IssueDate>")), BUSINESS);
    assert_eq!(
        key(changed(INVOICE, "<cbc:ID>BP-2026-0117</", "<cbc:ID>\n  BP-2026<!-- x -->-<![CDATA[0117]]> </")),
        BUSINESS
    );
    assert_eq!(key(changed(INVOICE, "Pump</cbc:Name>", "Pumps</cbc:Name>")), BUSINESS);
}

#[test]
fn each_part_of_the_key_makes_another() {
    for (from, to) in [
        ("<cbc:ID>BP-2026-0117<", "<cbc:ID>bp-2026-0117<"),
        ("<cbc:ID>BP-2026-0117<", "<cbc:ID>BP-2026-0118<"),
        ("Code>380<", "Code>384<"),
        ("<cbc:IssueDate>2026", "<cbc:IssueDate>2027"),
        ("\"0088\">5798000000001<", "\"0088\">5798000000025<"),
        ("\"0088\">5798000000001<", "\"0184\">5798000000001<"),
    ] {
        assert_ne!(key(changed(INVOICE, from, to)), BUSINESS, "{to}");
    }
    assert_eq!(key(CREDIT_NOTE), "ubl:0088:5798000000001/CreditNote:381:BP-2026-0117:2026");
}

#[test]
fn the_issuer_is_endpoint_identification_or_company() {
    let read = |text: &str| match super::read(None, text.as_bytes()) {
        Ok(Document::Ubl(ubl)) => Ok((ubl.issuer.scheme.unwrap_or_default(), ubl.issuer.value)),
        Ok(other) => panic!("{other:?}"),
        Err(reason) => Err(reason.to_string()),
    };
    let pair = |scheme: &str, value: &str| Ok((scheme.to_owned(), value.to_owned()));
    assert_eq!(read(CREDIT_NOTE), pair("0088", "5798000000001"));
    let without = changed(CREDIT_NOTE, "PartyIdentification", "PartyElsewhere");
    assert_eq!(read(&without), pair("0208", "0999999922"));
    let nobody = read(&changed(&without, "CompanyID", "CompanyName"));
    assert!(nobody.unwrap_err().starts_with("element cac:AccountingSupplierParty/cac:Party: has neither"));
    // The buyer numbers orders: two buyers may both send a PO-80215 to one seller.
    assert_eq!(read(ORDER), pair("9915", "red-waterworks"));
    assert_eq!(key(ORDER), "ubl:9915:red-waterworks/Order:220:PO-80215:2026");
}

#[test]
fn a_uuid_is_a_key_of_its_own_and_not_part_of_the_first() {
    let uuid = |text: &str| match read(None, text.as_bytes()).unwrap() {
        Document::Ubl(ubl) => ubl.uuid_key().map(|key| key.key),
        other => panic!("{other:?}"),
    };
    assert_eq!(uuid(CREDIT_NOTE).unwrap(), "uuid:0a5b7c1e-24d0-4b0b-9c55-8f6a1d2e3b40");
    assert_eq!(uuid(INVOICE), None);
    assert_eq!(key(changed(CREDIT_NOTE, "0A5B7C1E", "1A5B7C1E")), key(CREDIT_NOTE));
}

#[test]
fn an_envelope_changes_nothing_but_its_instance_is_known() {
    assert_eq!(key(ENVELOPED), BUSINESS);
    let instance = |text: &str| match read(None, text.as_bytes()).unwrap() {
        Document::Ubl(ubl) => ubl.instance,
        Document::Cii(cii) => cii.instance,
        other => panic!("{other:?}"),
    };
    assert_eq!(instance(ENVELOPED).as_deref(), Some("6f1e0d7a-3c0b-4a62-9d0e-0c6d8c1b2a10"));
    assert_eq!(instance(INVOICE), None);
    assert_eq!(instance_key("POP000301", "a:b").to_string(), "sbdh:POP000301/a%3Ab");
    let empty = format!("{}</StandardBusinessDocument>", ENVELOPED.split("<Invoice").next().unwrap());
    assert_eq!(refused(empty), "element sbdh:StandardBusinessDocument: holds no document");
    let binary = changed(ENVELOPED, "<Invoice ", "<Binary ");
    assert!(refused(binary).contains("}Binary is none that gives keys"));
}

#[test]
fn encodings_do_not_count() {
    let text = changed(INVOICE, "<cbc:ID>BP-2026-0117<", "<cbc:ID>Köln/1 &#228;<");
    let expected = "ubl:0088:5798000000001/Invoice:380:K%C3%B6ln%2F1%20%C3%A4:2026";
    assert_eq!(key(&text), expected);
    assert_eq!(key(format!("\u{FEFF}{text}")), expected);
    assert_eq!(key(format!("\r\n {text}")), expected);
    assert_eq!(key(wide(&format!("\u{FEFF}{text}"), u16::to_le_bytes)), expected);
    assert_eq!(key(wide(&format!("\u{FEFF}{text}"), u16::to_be_bytes)), expected);
    assert_eq!(key(wide(&changed(&text, "UTF-8", "UTF-16"), u16::to_le_bytes)), expected);
    let latin: String = changed(&text, "UTF-8", "ISO-8859-1").replace(['’', 'Ω'], "-");
    let latin = encoding_rs::mem::encode_latin1_lossy(&latin).into_owned();
    assert!(std::str::from_utf8(&latin).is_err());
    assert_eq!(key(&latin), expected);
    for text in [text.as_bytes(), &wide(&text, u16::to_le_bytes)] {
        let told = read(Some("application/xml; charset=ISO-8859-1"), text).unwrap();
        assert_eq!(told.business_key().unwrap().to_string(), expected);
    }
    // Without a declaration the media type may say it.
    let bare = &latin[latin.windows(2).position(|w| w == b"?>").unwrap() + 2..];
    let told = read(Some("application/xml; charset=ISO-8859-1"), bare).unwrap();
    assert_eq!(told.business_key().unwrap().to_string(), expected);
    for lie in ["us-ascii", "utf-16", "windows-1252"] {
        let told = read(Some(&format!("text/xml; charset={lie}")), text.split_once("?>").unwrap().1.as_bytes());
        assert_eq!(told.unwrap().business_key().unwrap().to_string(), expected, "{lie}");
    }
    assert!(read(None, bare).unwrap_err().to_string().contains("it is not UTF-8"));
    assert!(refused(changed(&text, "UTF-8", "EBCDIC")).contains("`EBCDIC`"));
}

#[test]
fn reading_ends_with_the_party() {
    let end = INVOICE.find("</cac:AccountingSupplierParty>").unwrap();
    let cut = |end: usize| read(None, &INVOICE.as_bytes()[..end]);
    assert_eq!(cut(end).unwrap().business_key().unwrap().to_string(), BUSINESS);
    let early = cut(end - 300).unwrap_err();
    assert!(early.wants_more());
    assert!(early.to_string().contains("before the end of cac:AccountingSupplierParty/cac:Party"), "{early}");
    // What follows is not looked at, not even in the same piece.
    let bad = [&INVOICE.as_bytes()[..end + 5], b"\xFF<<"].concat();
    assert_eq!(key(bad), BUSINESS);
    let mut reading = Reading::new(None);
    assert!(!reading.push(INVOICE.as_bytes()));
    assert!(!reading.push(b"\xFF<<"));
    assert!(reading.finish().is_ok());
}

/// An attachment stands before the supplier, and lines before the seller of a CII: both may be large.
#[test]
fn what_stands_between_may_be_large() {
    let attachment =
        format!("<cac:AdditionalDocumentReference>{}</cac:AdditionalDocumentReference>", "QUJD".repeat(500_000));
    let large =
        changed(INVOICE, "<cac:AccountingSupplierParty>", &format!("{attachment}<cac:AccountingSupplierParty>"));
    assert_eq!(key(large), BUSINESS);
    let line = "<ram:IncludedSupplyChainTradeLineItem><ram:ID>1</ram:ID></ram:IncludedSupplyChainTradeLineItem>";
    let at = "<ram:ApplicableHeaderTradeAgreement>";
    assert_eq!(key(changed(CII, at, &format!("{}{at}", line.repeat(20_000)))), key(CII));
}

#[test]
fn faults_name_the_element() {
    for (from, to, reason) in [
        ("<cbc:ID>BP-2026-0117</cbc:ID>", "", "element cbc:ID: is missing or empty"),
        ("<cbc:ID>BP-2026-0117</cbc:ID>", "<cbc:ID> </cbc:ID>", "element cbc:ID: is missing or empty"),
        ("<cbc:ID>BP-2026-0117<", "<cbc:ID>1</cbc:ID><cbc:ID>2<", "element cbc:ID: stands twice"),
        ("<cbc:ID>BP-2026-0117<", "<cbc:ID>1<b xmlns='x'/><", "element cbc:ID: holds elements"),
        (">2026-11-02<", ">02.11.2026<", "element cbc:IssueDate: `02.11.2026` is no date"),
        ("</cac:PartyName>", "</cac:Party>", "an end tag without its start tag"),
        ("xmlns:cac=", "xmlns:cax=", "the prefix `cac` is not declared"),
        ("<cac:PartyName>", "&nbsp;<cac:PartyName>", "the entity `&nbsp;` is not declared"),
        ("Invoice-2\"", "Invoice-3\"", "Invoice-3}Invoice is none that gives keys"),
    ] {
        let found = refused(changed(INVOICE, from, to));
        assert!(found.contains(reason), "{to}: {found}");
    }
    let scoped = changed(INVOICE, "<cac:PartyName>", "<cac:a xmlns:zz=\"urn:z\"><zz:b/></cac:a><cac:PartyName>");
    assert_eq!(key(&scoped), BUSINESS);
    assert!(refused(changed(&scoped, "</cac:a>", "</cac:a><zz:c/>")).contains("the prefix `zz` is not declared"));
    let long = changed(INVOICE, "<cbc:ID>BP-2026-0117<", &format!("<cbc:ID>{}<", "9".repeat(2000)));
    assert_eq!(refused(long), "element cbc:ID: is longer than 1024 octets");
    let deep =
        format!("<Invoice xmlns=\"urn:oasis:names:specification:ubl:schema:xsd:Invoice-2\">{}", "<a>".repeat(200));
    assert!(refused(deep).contains("nested more than 128 deep"));
    let prefix = changed(INVOICE, "cbc:", "b:");
    assert_eq!(key(changed(&prefix, "xmlns:cbc", "xmlns:b")), BUSINESS);
}

#[test]
fn a_cross_industry_invoice_is_known_the_same_way() {
    assert_eq!(key(CII), "cii:VA:BE0999999922/380:BP-2026-CII1:2026".replace("BP-2026-CII1", number(CII)));
    let with = |more: &str| key(changed(CII, "<ram:SellerTradeParty>", &format!("<ram:SellerTradeParty>{more}")));
    assert!(with("<ram:ID>549910</ram:ID>").starts_with("cii::549910/"));
    let both = "<ram:ID>549910</ram:ID><ram:GlobalID schemeID=\"0088\">5798000000001</ram:GlobalID>";
    assert!(with(both).starts_with("cii:0088:5798000000001/"));
    let tax = |scheme: &str| {
        format!("<ram:SpecifiedTaxRegistration><ram:ID schemeID=\"{scheme}\">7</ram:ID></ram:SpecifiedTaxRegistration>")
    };
    assert_eq!(with(&tax("FC")), key(CII));
    assert!(with(&tax("VA")).starts_with("cii:VA:7/"));
    let name = changed(CII, "SpecifiedTaxRegistration", "SpecifiedTaxNothing");
    assert!(key(name).starts_with("cii:name:"));
    assert_ne!(key(changed(CII, "TypeCode>380<", "TypeCode>381<")), key(CII));
    assert!(
        refused(changed(CII, "format=\"102\">20261102", "format=\"616\">202645")).contains("is no date of format 102")
    );
    assert!(refused(changed(CII, "<rsm:ExchangedDocument>", "<rsm:Exchanged>")).contains("end tag"));
}

fn number(text: &str) -> &str {
    let at = text.find("<rsm:ExchangedDocument>").unwrap();
    text[at..].split("<ram:ID>").nth(1).unwrap().split('<').next().unwrap()
}
