use super::*;
use crate::pmode::agree;
use crate::pmode::sample::{NOW, file, id, part, plain, property, set, typed};

fn ids() -> NewIds {
    NewIds { message_id: MessageId::parse("new@blue.example").unwrap(), conversation_id: "drawn".to_owned() }
}

fn complete(set: &PModeSet, wanted: Wanted) -> Result<Submission, Vec<String>> {
    complete_submission(set, wanted, ids(), NOW).map_err(|all| all.iter().map(ToString::to_string).collect())
}

fn by_id(id: &str) -> Wanted {
    Wanted { pmode: Some(id.to_owned()), ..Wanted::default() }
}

fn compressed(mime: Option<&str>) -> PartInfo {
    let mut part = part(Href::Attachment(crate::ebms::Cid::of("p@x")));
    part.properties.extend(mime.map(|mime| Property { name: "MimeType".into(), kind: None, value: mime.into() }));
    part
}

/// EB-044, EB-045.
#[test]
fn what_nobody_gives_is_the_default_of_as4() {
    let open = file(
        "id=\"open\" profile=\"plain\"",
        "<Initiator><Party>urn:a</Party></Initiator><Responder><Party>urn:b</Party></Responder>",
    );
    let message = complete(&set(&[open]), by_id("open")).unwrap().message;
    assert_eq!((message.from.role.as_str(), message.to.role.as_str()), (names::ROLE_INITIATOR, names::ROLE_RESPONDER));
    assert_eq!((message.service.value.as_str(), message.action.as_str()), (names::AS4_SERVICE, names::AS4_ACTION));
    assert_eq!((message.conversation_id.as_str(), message.message_id.as_str()), ("drawn", "new@blue.example"));
    assert_eq!((message.mpc, message.agreement, message.timestamp), (None, None, NOW));
}

#[test]
fn what_the_p_mode_has_is_sent() {
    let set = set(&[plain("x", &[("</Action>", "</Action><MPC>http://a/mpc</MPC>")])]);
    let sent = complete(&set, Wanted { conversation_id: Some(String::new()), ..by_id("x") }).unwrap();
    let message = &sent.message;
    assert_eq!((message.service.value.as_str(), message.action.as_str()), ("urn:example:service", "Deliver"));
    assert_eq!(
        message.agreement.as_ref().map(|a| (a.value.as_str(), &a.pmode)),
        Some(("urn:example:agreement:1", &None))
    );
    assert_eq!((message.mpc.as_deref(), message.conversation_id.as_str()), (Some("http://a/mpc"), ""));
    assert_eq!(agree(&set, message).unwrap().pmode.id, sent.pmode.id);
}

/// EB-043.
#[test]
fn the_id_of_the_p_mode_is_sent_where_it_is_switched_on() {
    let on = plain("x", &[]).replace("<PMode", "<PMode sendPModeId=\"true\"");
    let sent = complete(&set(std::slice::from_ref(&on)), by_id("x")).unwrap().message.agreement.unwrap();
    assert_eq!((sent.value.as_str(), sent.pmode.as_deref()), ("urn:example:agreement:1", Some("x")));
    let alone = on.replace("<Agreement>urn:example:agreement:1</Agreement>", "");
    let sent = complete(&set(&[alone]), by_id("x")).unwrap().message.agreement.unwrap();
    assert_eq!((sent.value.as_str(), sent.pmode.as_deref()), ("", Some("x")));
}

#[test]
fn a_p_mode_is_found_by_what_is_wanted() {
    let two = set(&[
        plain("order", &[("Deliver", "Order")]),
        plain("deliver", &[]),
        plain("other", &[("party:b", "party:c")]),
        file("id=\"any\" profile=\"plain\"", ""),
    ]);
    let wanted = |to: &str, action: Option<&str>| Wanted {
        to: vec![id(to)],
        action: action.map(str::to_owned),
        ..Wanted::default()
    };
    let chosen = |wanted| complete(&two, wanted).map(|sent| sent.pmode.id.clone());
    assert_eq!(chosen(wanted("urn:example:party:b", Some("Order"))).unwrap(), "order");
    assert_eq!(chosen(wanted("urn:example:party:c", None)).unwrap(), "other");
    assert_eq!(
        chosen(wanted("urn:example:party:b", None)).unwrap_err(),
        ["P-Mode: several P-Modes fit: `order`, `deliver`; name one"]
    );
    let nobody = set(&[plain("x", &[])]);
    assert!(complete(&nobody, wanted("urn:z", None)).unwrap_err()[0].starts_with("P-Mode: no P-Mode has these"));
    assert_eq!(
        complete(&two, by_id("delivr")).unwrap_err(),
        ["P-Mode: there is no P-Mode `delivr`, did you mean `deliver`?"]
    );
}

#[test]
fn every_missing_value_has_its_reason() {
    let set = set(&[file("id=\"p\" profile=\"peppol-2.0\"", "")]);
    let reasons = complete(&set, by_id("p")).unwrap_err();
    assert_eq!(
        reasons,
        [
            "From: the P-Mode leaves this party open; give its PartyId",
            "To: the P-Mode leaves this party open; give its PartyId",
            "Property `originalSender`: the P-Mode requires it and has no default; give it with the submission",
            "Property `finalRecipient`: the P-Mode requires it and has no default; give it with the submission",
            "eb:PayloadInfo: expected 1 payload parts, found `0 payload parts`",
        ]
    );
}

#[test]
fn what_contradicts_the_p_mode_is_refused_before_the_partner_does() {
    let set = set(&[plain("x", &[])]);
    let wanted = Wanted { service: Some(typed("urn:other")), to: vec![id("red")], ..by_id("x") };
    assert_eq!(
        complete(&set, wanted).unwrap_err(),
        [
            "eb:Service: the P-Mode `x` has urn:example:service, not `urn:other`",
            "eb:To/eb:PartyId: the P-Mode `x` has urn:example:party:b, not `red`",
            "eb:To/eb:PartyId: expected a type, or an absolute URI, found `red`",
        ]
    );
}

/// FR-056.
#[test]
fn blanks_around_values_are_refused() {
    let set = set(&[file("id=\"x\" profile=\"plain\"", "<Initiator><Party>urn:a</Party></Initiator>")]);
    let wanted = Wanted { to: vec![id("urn:b ")], action: Some("\n Deliver\t".into()), ..by_id("x") };
    let reasons = complete(&set, wanted).unwrap_err();
    assert!(reasons[0].starts_with("To: `urn:b ` is empty, or has blanks around it"), "{reasons:?}");
    assert!(reasons[1].starts_with("Action: "), "{reasons:?}");
}

/// EB-046.
#[test]
fn properties_take_type_and_default_from_the_p_mode() {
    let properties = "</Action><Properties><Property name=\"kind\" type=\"iso\" required=\"true\" default=\"invoice\"/>\
        <Property name=\"sender\" type=\"iso\"/></Properties>";
    let set = set(&[plain("x", &[("</Action>", properties)])]);
    let sent = complete(&set, Wanted { properties: vec![property("sender", None)], ..by_id("x") }).unwrap();
    let all = sent.message.properties.iter().map(|p| (p.name.as_str(), p.kind.as_deref(), p.value.as_str()));
    assert_eq!(all.collect::<Vec<_>>(), [("sender", Some("iso"), "x"), ("kind", Some("iso"), "invoice")]);
    let empty = Property { value: String::new(), ..property("sender", None) };
    assert_eq!(complete(&set, Wanted { properties: vec![empty], ..by_id("x") }).unwrap_err().len(), 1);
}

/// PR-014, EB-016, EB-171.
#[test]
fn payloads_are_such_as_the_p_mode_can_send() {
    let delivery = file(
        "id=\"e\" profile=\"edelivery-1.15\"",
        "<Initiator><Party>urn:a</Party><Subject commonName=\"a\"/></Initiator><Responder><Party>urn:b</Party></Responder>\
         <Leg><BusinessInfo><PayloadProfile maxSize=\"1 kB\"/></BusinessInfo></Leg>",
    );
    let set = set(&[delivery]);
    let with = |part: PartInfo, size| complete(&set, Wanted { parts: vec![part], size, ..by_id("e") });
    assert!(with(compressed(Some("application/xml")), Some(1000)).is_ok());
    let reason = |part: PartInfo, size| with(part, size).unwrap_err().join("\n");
    assert!(reason(compressed(None), None).contains("PartInfo 1: the P-Mode compresses payloads"));
    assert!(reason(compressed(Some("a/b")), Some(1001)).contains("1001 octets, at most 1000 are agreed"));
    assert!(reason(part(Href::External("http://x/".into())), None).contains("`http://x/` is elsewhere"));
    assert!(
        reason(part(Href::Body), None).contains("expected payloads as MIME parts, found `a payload in the SOAP Body`")
    );
    let mut own = compressed(Some("a/b"));
    own.properties.push(Property { name: "CompressionType".into(), kind: None, value: "application/gzip".into() });
    assert!(reason(own, None).contains("CompressionType is the gateway's own property"));
}
