use super::*;

fn answers(text: impl AsRef<[u8]>) -> Vec<Acknowledgement> {
    acknowledgements(&read(None, text.as_ref()).unwrap())
}

fn one(text: impl AsRef<[u8]>) -> Acknowledgement {
    let [one] = <[Acknowledgement; 1]>::try_from(answers(text)).unwrap();
    one
}

fn references(one: &Acknowledgement) -> Vec<(&str, &str, Option<&str>)> {
    one.answers.iter().map(|r| (r.name.as_str(), r.value.as_str(), r.code.as_deref())).collect()
}

#[test]
fn a_contrl_answers_an_interchange() {
    let partly = one(CONTRL);
    assert_eq!((partly.form, partly.status, partly.code.as_str()), (Form::Contrl, Status::Partly, "7"));
    assert_eq!(references(&partly), [("0020", "BP0118", Some("7")), ("0062", "2", Some("4"))]);
    assert_eq!(partly.key.to_string(), "edi.contrl:14:5798000000018/BP0118:partly:RW0501:1");
    assert_eq!(one(CONTRL).key, partly.key);
    let status = |code: &str| one(changed(CONTRL, ":14+7'", &format!(":14+{code}'"))).status;
    assert_eq!((status("4"), status("8"), status("7")), (Status::Rejected, Status::Received, Status::Partly));
    let whole = changed(&changed(CONTRL, "UCM+2+INVOIC:D:01B:UN:EAN010+4'\nUCS+2+29'\n", ""), "UNT+5", "UNT+3");
    assert_eq!(one(&whole).status, Status::Accepted);
    for (from, to) in
        [("UCI+BP0118", "UCI+BP0119"), ("+RW0501", "+RW0999"), (":14+7'", ":14+4'"), ("018:14+5", "018:ZZ+5")]
    {
        assert_ne!(one(changed(CONTRL, from, to)).key, partly.key, "{to}");
    }
    assert!(
        read(None, CONTRL.as_bytes()).unwrap().business_key().unwrap_err().to_string().ends_with("it answers another")
    );
    let group = changed(&changed(CONTRL, "UCM+2+INVOIC:D:01B:UN:EAN010+4", "UCF+9+++4"), "UCS+2+29'\n", "");
    assert_eq!(references(&one(changed(&group, "UNT+5", "UNT+4")))[1], ("0048", "9", Some("4")));
    assert_eq!(refused(changed(CONTRL, "UCI+", "UCX+")), "segment 4 UCM: stands before UCI");
    assert_eq!(refused(changed(&whole, "UCI+", "UCX+")), "segment 4 UNT: the CONTRL has no UCI");
    assert_eq!(refused(changed(CONTRL, ":14+7'", ":14'")), "segment 3 UCI: 0083 is missing");
}

#[test]
fn an_aperak_says_what_the_application_did() {
    let refusal = one(APERAK);
    assert_eq!((refusal.form, refusal.status, refusal.code.as_str()), (Form::Aperak, Status::Rejected, "X01"));
    assert_eq!(references(&refusal), [("RFF DM", "BP-2026-0117", None)]);
    assert_eq!(refusal.key.to_string(), "edi.aperak:14:5798000000018/RFF%20DM:BP-2026-0117:rejected:1004:AP-77:");
    // Sent again in a new interchange it is the same.
    assert_eq!(one(changed(APERAK, "RW0502", "RW0599")).key, refusal.key);
    let status = |from: &str, to: &str| one(changed(APERAK, from, to)).status;
    assert_eq!(status("AP-77+27", "AP-77+6"), Status::Accepted);
    assert_eq!(status("12E::9+AP-77+27", "312+AP-77"), Status::Accepted);
    assert_eq!(status("12E::9+AP-77+27", "313+AP-77"), Status::Rejected);
    assert_eq!(status("AP-77+27", "AP-77"), Status::Rejected);
    assert_ne!(one(changed(APERAK, "AP-77+27", "AP-77+6")).key, refusal.key);
    let unnumbered = one(changed(APERAK, "+AP-77+27", "++27"));
    assert_ne!(unnumbered.key, one(changed(APERAK, "+AP-77+27", "++27").replace("RW0502", "RW0599")).key);
}

#[test]
fn a_997_answers_a_group_and_its_sets() {
    let partly = one(F997);
    assert_eq!((partly.form, partly.status, partly.code.as_str()), (Form::X12F997, Status::Partly, "P"));
    assert_eq!(
        references(&partly),
        [("AK101", "IN", None), ("AK102", "1", Some("P")), ("AK202", "0001", Some("A")), ("AK202", "0002", Some("R"))]
    );
    assert_eq!(partly.key.to_string(), "edi.x12_997:ZZ:REDWATERWORKS/IN:1:P:000000041:41:0001");
    for (code, status) in
        [("A", Status::Accepted), ("E", Status::Accepted), ("R", Status::Rejected), ("X", Status::Rejected)]
    {
        let other = one(changed(F997, "AK9*P", &format!("AK9*{code}")));
        assert_eq!(other.status, status, "{code}");
        assert_ne!(other.key, partly.key);
    }
    assert_ne!(one(changed(F997, "AK1*IN*1~", "AK1*IN*2~")).key, partly.key);
    assert_ne!(one(changed(F997, "000000041", "000000043")).key, partly.key);
    assert!(refused(changed(F997, "AK9*P*2*2*1~", "XX~")).ends_with("the answer to group 1 has no AK9"));
    assert_eq!(refused(changed(F997, "AK1*IN*1~", "XX~")), "segment 5 AK2: stands before AK1");
    assert!(
        read(None, F997.as_bytes()).unwrap().business_key().unwrap_err().to_string().ends_with("it answers another")
    );
}

#[test]
fn a_999_and_a_ta1_may_come_together() {
    let both = answers(F999);
    let forms: Vec<_> = both.iter().map(|one| (one.form, one.status, one.form.event_type())).collect();
    assert_eq!(forms, [(Form::Ta1, Status::Accepted, "edi.x12_ta1"), (Form::X12F999, Status::Accepted, "edi.x12_999")]);
    assert_eq!(references(&both[0]), [("TA101", "000000001", Some("A"))]);
    assert_eq!(both[1].answers[2].code.as_deref(), Some("A"));
    let isa = F999.split_inclusive('~').next().unwrap();
    let alone = format!("{isa}TA1*000000001*261102*1015*R*018~IEA*0*000000042~");
    assert_eq!((one(&alone).form, one(&alone).status), (Form::Ta1, Status::Rejected));
    assert_ne!(one(&alone).key, both[0].key);
    assert_eq!(read(None, alone.as_bytes()).unwrap().kind(), Kind::Acknowledgement);
}

#[test]
fn an_mdn_is_known_by_message_and_disposition() {
    let processed = one(MDN);
    assert_eq!((processed.form, processed.status), (Form::Mdn, Status::Accepted));
    assert_eq!(processed.code, "automatic-action/mdn-sent-automatically; processed");
    let id = "EDI-INV-BP-2026-0117-v1@blue-pumps.example";
    assert_eq!(references(&processed), [("Original-Message-ID", id, None)]);
    let hash = crate::wire::hex(&openssl::sha::sha256(processed.code.as_bytes()));
    assert_eq!(processed.key, BusinessKey::new(&["as2.mdn"], &[id, &hash]));
    // Case, folding and line ends do not count, nor do other fields.
    for text in [
        changed(MDN, ";\r\n  Processed", "; processed"),
        changed(MDN, "MDN-sent", "mdn-SENT"),
        changed(MDN, "\r\n", "\n"),
        changed(MDN, "Reporting-UA: Red", "Reporting-UA: Other"),
    ] {
        assert_eq!(one(&text).key, processed.key, "{text}");
    }
    for (outcome, status) in [
        ("processed/error: decryption-failed", Status::Rejected),
        ("processed/Failure", Status::Rejected),
        ("failed/failure: sender-equals-receiver", Status::Rejected),
        ("processed/warning: duplicate-document", Status::Accepted),
        ("displayed", Status::Received),
    ] {
        let other = one(changed(MDN, "\r\n  Processed", outcome));
        assert_eq!(other.status, status, "{outcome}");
        assert_ne!(other.key, processed.key, "{outcome}");
    }
}

#[test]
fn an_mdn_may_come_without_its_header_signed_or_bare() {
    let key = one(MDN).key;
    let body = MDN.split_once("\r\n\r\n").unwrap().1;
    assert_eq!(one(body).key, key);
    let told = read(Some("multipart/report; boundary=\"=_report_1\""), format!("preamble\r\n{body}").as_bytes());
    assert_eq!(acknowledgements(&told.unwrap())[0].key, key);
    let bare = body.split("\r\n\r\n").nth(2).unwrap();
    assert!(bare.starts_with("Reporting-UA"));
    assert_eq!(one(bare).key, key);
    let signed = format!(
        "Content-Type: multipart/signed; boundary=s\r\n\r\n--s\r\nContent-Type: multipart/report; boundary=\"=_report_1\"\r\n\r\n\
         {body}\r\n--s\r\nContent-Type: application/pkcs7-signature\r\n\r\nx\r\n--s--\r\n"
    );
    assert_eq!(one(signed).key, key);
    let nested = |depth: usize| {
        let heads: String = (0..depth)
            .map(|n| format!("--b{n}\r\nContent-Type: multipart/mixed; boundary=b{}\r\n\r\n", n + 1))
            .collect();
        let ends: String = (0..depth).rev().map(|n| format!("--b{n}--\r\n")).collect();
        format!("{heads}--b{depth}\r\n\r\nx\r\n--b{depth}--\r\n{ends}")
    };
    assert_eq!(refused(nested(1)), "MDN: it holds no message/disposition-notification");
    assert_eq!(refused(nested(5)), "MDN: more than 3 multiparts within each other");
    for (from, to, reason) in [
        ("Disposition: ", "Dispo: ", "MDN field Disposition: is missing or empty"),
        ("Original-Message-ID: ", "Original-Message: ", "MDN field Original-Message-ID: is missing or empty"),
        ("Reporting-UA: Red", "Disposition: other", "MDN field Disposition: stands twice, with two values"),
        ("message/disposition-notification", "text/plain", "MDN: it holds no message/disposition-notification"),
    ] {
        assert_eq!(refused(changed(MDN, from, to)), reason);
    }
    assert!(read(None, MDN.split_once("--=_report_1--").unwrap().0.as_bytes()).unwrap_err().wants_more());
    assert!(refused(format!("{MDN}{}", "x".repeat(300_000))).contains("longer than 262144 octets"));
}

#[test]
fn an_application_response_answers_an_instance() {
    let refusal = one(MLS);
    assert_eq!(
        (refusal.form, refusal.status, refusal.code.as_str()),
        (Form::ApplicationResponse, Status::Rejected, "RE")
    );
    assert_eq!(references(&refusal), [("DocumentReference", "6f1e0d7a-3c0b-4a62-9d0e-0c6d8c1b2a10", None)]);
    let key = "ubl.application_response:0242:000302/6f1e0d7a-3c0b-4a62-9d0e-0c6d8c1b2a10:RE";
    assert_eq!(refusal.key.to_string(), key);
    // The sender may number its response anew.
    assert_eq!(one(changed(MLS, "red-mls-31", "red-mls-32")).key, refusal.key);
    let coded = |text: &str, code: &str| one(changed(text, "Code>RE<", &format!("Code>{code}<")));
    assert_ne!(coded(MLS, "AP").key, refusal.key);
    assert_eq!((coded(MLS, "AP").status, coded(MLS, "AB").status), (Status::Accepted, Status::Accepted));
    let response = changed(MLS, "urn:peppol:edec:mls:1.0", "urn:fdc:peppol.eu:poacc:trns:invoice_response:3");
    let statuses = ["AB", "IP", "UQ", "CA", "PD", "RE"].map(|code| coded(&response, code).status);
    let [received, rest @ ..] = statuses;
    assert_eq!(received, Status::Received);
    assert_eq!(rest, [Status::Received, Status::Received, Status::Partly, Status::Accepted, Status::Rejected]);
    assert!(
        refused(changed(MLS, "DocumentReference>", "Reference>")).contains("cac:DocumentReference/cbc:ID: is missing")
    );
    assert!(
        refused(changed(MLS, "<cbc:ResponseCode>RE</cbc:ResponseCode>", "")).contains("cbc:ResponseCode: is missing")
    );
    assert!(answers(INVOICE).is_empty() && answers(CII).is_empty() && answers(F810).is_empty());
}
