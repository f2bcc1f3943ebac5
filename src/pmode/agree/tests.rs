use super::*;
use crate::ebms::{AgreementRef, Href, PartyId};
use crate::pmode::sample::{agreement, file, id, load, message, part, plain, property, said, set, typed};
use crate::wire::xml::names;

fn without_agreement(id: &str) -> String {
    plain(id, &[("<Agreement>urn:example:agreement:1</Agreement>", "")])
}

fn taken(set: &PModeSet, message: &UserMessage) -> String {
    agree(set, message).map_or_else(|refusal| refusal.to_string(), |agreed| agreed.pmode.id.clone())
}

fn codes(set: &PModeSet, message: &UserMessage) -> Vec<(&'static str, &'static str)> {
    let refusal = agree(set, message).expect_err("it should be refused");
    refusal.findings.iter().map(|f| (f.code, f.element)).collect()
}

#[test]
fn a_message_belongs_to_the_p_mode_with_its_values() {
    let agreed = agree(&set(&[plain("pm-1", &[])]), &message()).unwrap();
    assert_eq!((agreed.pmode.id.as_str(), agreed.leg, agreed.remarks.len()), ("pm-1", LegNumber::First, 0));
}

/// FR-053.
#[test]
fn an_agreement_may_be_absent_unknown_or_named_by_its_p_mode() {
    let with = |agreement: Option<AgreementRef>| UserMessage { agreement, ..message() };
    let both = set(&[plain("pm-1", &[]), without_agreement("pm-0")]);
    assert_eq!(taken(&both, &with(None)), "pm-0");
    let only = set(&[plain("pm-1", &[])]);
    assert_eq!(codes(&only, &with(None)), [(PROCESSING_MODE_MISMATCH, "eb:AgreementRef")]);
    assert_eq!(taken(&only, &with(Some(agreement("", Some("pm-1"))))), "pm-1");
    assert_eq!(taken(&only, &with(Some(agreement("urn:example:agreement:1", Some("pm-1"))))), "pm-1");
    assert_eq!(taken(&only, &with(Some(agreement("urn:example:agreement:1", Some("unknown"))))), "pm-1");
    let unknown = with(Some(agreement("urn:example:agreement:9", None)));
    assert_eq!(codes(&only, &unknown), [(VALUE_NOT_RECOGNIZED, "eb:AgreementRef")]);
    let typed_otherwise = AgreementRef { kind: Some("T1".into()), ..agreement("urn:example:agreement:1", None) };
    assert_eq!(codes(&only, &with(Some(typed_otherwise))), [(VALUE_NOT_RECOGNIZED, "eb:AgreementRef")]);
}

#[test]
fn a_p_mode_that_is_selected_must_still_match() {
    let two = set(&[plain("pm-1", &[]), plain("pm-2", &[("Deliver", "Order")])]);
    let contradicting =
        UserMessage { agreement: Some(agreement("urn:example:agreement:1", Some("pm-2"))), ..message() };
    let refusal = agree(&two, &contradicting).unwrap_err();
    assert_eq!(refusal.reason, Reason::Contradicts { pmode: "pm-2".into() });
    assert_eq!(refusal.code(), PROCESSING_MODE_MISMATCH);
    assert_eq!(refusal.findings[0].element, "eb:Action");
    let by_id_alone = UserMessage { agreement: Some(agreement("", Some("pm-2"))), ..message() };
    assert_eq!(codes(&two, &by_id_alone), [(PROCESSING_MODE_MISMATCH, "eb:Action")]);
}

/// FR-054.
#[test]
fn party_ids_are_compared_as_sets() {
    let second = "<Party type=\"urn:duns\">2</Party></Initiator>";
    let two_ids = set(&[plain("pm-1", &[("</Initiator>", second)])]);
    let from = |ids: Vec<PartyId>| {
        let mut message = message();
        message.from.ids = ids;
        message
    };
    let (a, duns) = (id("urn:example:party:a"), PartyId { value: "2".into(), kind: Some("urn:duns".into()) });
    assert_eq!(taken(&two_ids, &from(vec![a.clone(), duns.clone()])), "pm-1");
    assert_eq!(taken(&two_ids, &from(vec![duns.clone(), a.clone()])), "pm-1");
    let one_unknown = from(vec![a.clone(), id("urn:example:stranger")]);
    assert_eq!(codes(&two_ids, &one_unknown), [(VALUE_NOT_RECOGNIZED, "eb:From/eb:PartyId")]);
    assert!(agree(&two_ids, &from(vec![a.clone()])).is_err());
    assert!(agree(&two_ids, &from(vec![a.clone(), a.clone()])).is_err());
    assert!(agree(&two_ids, &from(vec![a.clone(), duns, id("urn:example:c")])).is_err());
    let retyped = PartyId { value: "2".into(), kind: Some("urn:gln".into()) };
    assert!(agree(&two_ids, &from(vec![a, retyped])).is_err());
}

/// FR-055.
#[test]
fn letter_case_is_not_folded() {
    let party = |id: &str, value: &str| {
        plain(id, &[("<Party>urn:example:party:a</Party>", &format!("<Party type=\"urn:t\">{value}</Party>"))])
    };
    let two = set(&[party("upper", "ACME-1"), party("lower", "acme-1")]);
    let from = |value: &str, kind: &str| {
        let mut message = message();
        message.from.ids = vec![PartyId { value: value.into(), kind: Some(kind.into()) }];
        message
    };
    assert_eq!(taken(&two, &from("ACME-1", "urn:t")), "upper");
    assert_eq!(taken(&two, &from("acme-1", "urn:t")), "lower");
    assert_eq!(codes(&two, &from("acme-1", "urn:T")), [(VALUE_NOT_RECOGNIZED, "eb:From/eb:PartyId")]);
}

/// FR-057, EB-151.
#[test]
fn the_more_specific_wins_and_equals_are_refused() {
    let general = file("id=\"any\" profile=\"plain\"", "");
    let partner = file("id=\"partner\" profile=\"plain\"", "<Initiator><Party>urn:example:party:a</Party></Initiator>");
    assert_eq!(taken(&set(&[general.clone(), plain("pm-1", &[]), partner.clone()]), &message()), "pm-1");
    assert_eq!(taken(&set(&[general, partner.clone()]), &message()), "partner");
    let service = file(
        "id=\"service\" profile=\"plain\"",
        "<Leg><BusinessInfo><Service>urn:example:service</Service></BusinessInfo></Leg>",
    );
    let overlapping = set(&[partner, service]);
    assert_eq!(overlapping.warnings().len(), 1, "{:?}", overlapping.warnings());
    let refusal = agree(&overlapping, &message()).unwrap_err();
    assert_eq!(refusal.code(), PROCESSING_MODE_MISMATCH);
    assert_eq!(refusal.reason, Reason::Ambiguous { pmodes: vec!["partner".into(), "service".into()] });
}

/// FR-057.
#[test]
fn p_modes_that_differ_in_security_only_are_refused_when_loading() {
    let signed = plain("pm-2", &[("</BusinessInfo>", "</BusinessInfo><PayloadService compression=\"gzip\"/>")]);
    let errors = load(&[plain("pm-1", &[]), signed.clone()]).unwrap_err();
    assert_eq!(errors.len(), 1);
    assert!(said(&errors).starts_with("pmodes/2.xml:1:1: it matches exactly the messages of P-Mode `pm-1`"));
    // The same with open parties: they are in no common bucket of the index.
    let open = |id: &str, to: &str| file(&format!("id=\"{id}\" profile=\"plain\""), to);
    assert_eq!(load(&[open("x", ""), open("y", "<Leg><Protocol timeout=\"1min\"/></Leg>")]).unwrap_err().len(), 1);
}

/// EB-043.
#[test]
fn an_id_that_is_sent_tells_p_modes_apart_that_differ_in_security_only() {
    let named = |id: &str| plain(id, &[]).replace("<PMode", "<PMode sendPModeId=\"true\"");
    let two = set(&[named("pm-1"), named("pm-2")]);
    let naming = |pmode| UserMessage { agreement: Some(agreement("urn:example:agreement:1", pmode)), ..message() };
    assert_eq!(taken(&two, &naming(Some("pm-2"))), "pm-2");
    assert_eq!(codes(&two, &naming(None)), [(PROCESSING_MODE_MISMATCH, "eb:AgreementRef/@pmode")]);
    assert_eq!(codes(&two, &naming(Some("pm-3"))), [(VALUE_NOT_RECOGNIZED, "eb:AgreementRef/@pmode")]);
    let with_default = set(&[named("pm-1"), plain("pm-0", &[])]);
    assert_eq!(
        (taken(&with_default, &naming(None)), taken(&with_default, &naming(Some("pm-1")))),
        ("pm-0".into(), "pm-1".into())
    );
}

/// FR-058.
#[test]
fn plain_words_need_a_type_or_a_lenient_p_mode() {
    let strict = set(&[plain("pm-1", &[])]);
    let mut plain_words = message();
    plain_words.from.ids = vec![id("node a")];
    assert_eq!(codes(&strict, &plain_words)[0], (VALUE_INCONSISTENT, "eb:From/eb:PartyId"));
    let mut service = message();
    service.service = typed("My Service");
    assert_eq!(codes(&strict, &service)[0], (VALUE_INCONSISTENT, "eb:Service"));
    let mut empty_type = message();
    empty_type.to.ids = vec![PartyId { value: "node b".into(), kind: Some(String::new()) }];
    assert_eq!(codes(&strict, &empty_type)[0], (VALUE_INCONSISTENT, "eb:To/eb:PartyId"));

    let any = set(&[file("id=\"any\" profile=\"plain\"", "")]);
    assert_eq!(codes(&any, &plain_words), [(VALUE_INCONSISTENT, "eb:From/eb:PartyId")]);
    let lenient = set(&[file("id=\"any\" profile=\"plain\" lenientIdentifiers=\"true\"", "")]);
    assert_eq!(taken(&lenient, &plain_words), "any");
}

/// FR-059.
#[test]
fn roles_count_when_they_are_agreed() {
    let with_roles = plain(
        "pm-1",
        &[
            ("</Initiator>", &format!("<Role>{}</Role></Initiator>", names::ROLE_INITIATOR)),
            ("</Responder>", &format!("<Role>{}</Role></Responder>", names::ROLE_RESPONDER)),
        ],
    );
    let agreed = set(&[with_roles]);
    assert_eq!(taken(&agreed, &message()), "pm-1");
    let mut other = message();
    other.to.role = "urn:example:seller".into();
    assert_eq!(codes(&agreed, &other), [(VALUE_NOT_RECOGNIZED, "eb:To/eb:Role")]);
    let mut swapped = message();
    std::mem::swap(&mut swapped.from.role, &mut swapped.to.role);
    assert_eq!(codes(&agreed, &swapped).len(), 2);
    assert_eq!(taken(&set(&[plain("pm-1", &[])]), &other), "pm-1");
}

/// FR-060, FR-061.
#[test]
fn each_value_that_differs_is_a_finding_that_tells_nothing_about_us() {
    let agreed = set(&[plain("pm-1", &[])]);
    let mut wrong = message();
    wrong.from.ids = vec![PartyId { value: "urn:example:party:a".into(), kind: Some("urn:wrong".into()) }];
    wrong.action = "Destroy".into();
    let refusal = agree(&agreed, &wrong).unwrap_err();
    let details: Vec<_> = refusal.findings.iter().map(Finding::detail).collect();
    assert_eq!(
        details,
        ["eb:Action `Destroy` is not known", "eb:From/eb:PartyId `urn:example:party:a (type urn:wrong)` is not known"]
    );
}

/// EB-040.
#[test]
fn a_value_that_others_have_is_a_mismatch_and_not_unknown() {
    let two = set(&[plain("pm-1", &[]), plain("pm-2", &[("Deliver", "Order"), ("party:a", "party:c")])]);
    let mut crossed = message();
    crossed.action = "Order".into();
    assert_eq!(codes(&two, &crossed), [(PROCESSING_MODE_MISMATCH, "eb:Action")]);
    assert_eq!(codes(&PModeSet::default(), &message()), [(PROCESSING_MODE_MISMATCH, "eb:CollaborationInfo")]);
}

/// FR-062.
#[test]
fn the_channel_left_out_is_the_default_channel() {
    let default = set(&[plain("pm-1", &[])]);
    let on = |mpc: Option<&str>| UserMessage { mpc: mpc.map(str::to_owned), ..message() };
    assert_eq!(taken(&default, &on(None)), "pm-1");
    assert_eq!(taken(&default, &on(Some(names::DEFAULT_MPC))), "pm-1");
    assert_eq!(
        codes(&default, &on(Some("http://node.example/mpc/a"))),
        [(VALUE_NOT_RECOGNIZED, "eb:UserMessage/@mpc")]
    );
    let other = set(&[plain("pm-1", &[("</Action>", "</Action><MPC>http://node.example/mpc/a</MPC>")])]);
    assert_eq!(taken(&other, &on(Some("http://node.example/mpc/a"))), "pm-1");
    assert!(agree(&other, &on(None)).is_err());
}

/// FR-063.
#[test]
fn the_test_service_is_matched_like_any_other() {
    let ping = file(
        "id=\"ping\" profile=\"plain\"",
        &format!(
            "<Leg><BusinessInfo><Service>{}</Service><Action>{}</Action></BusinessInfo></Leg>",
            names::TEST_SERVICE,
            names::TEST_ACTION
        ),
    );
    let both = set(&[plain("pm-1", &[]), ping]);
    let mut test = message();
    test.service = typed(names::TEST_SERVICE);
    test.action = names::TEST_ACTION.into();
    assert_eq!(taken(&both, &test), "ping");
    test.action = "Deliver".into();
    assert!(!test.is_test());
    assert!(agree(&both, &test).is_err());
}

/// EB-046.
#[test]
fn agreed_properties_must_be_there_with_their_type() {
    let properties = "</Action><Properties><Property name=\"originalSender\" type=\"iso\" required=\"true\"/>\
        <Property name=\"note\"/></Properties>";
    let agreed = set(&[plain("pm-1", &[("</Action>", properties)])]);
    let element = "eb:MessageProperties/eb:Property";
    assert_eq!(codes(&agreed, &message()), [(PROCESSING_MODE_MISMATCH, element)]);
    let with = |kind| UserMessage { properties: vec![property("originalSender", kind)], ..message() };
    assert_eq!(codes(&agreed, &with(None)), [(VALUE_INCONSISTENT, element)]);
    assert_eq!(taken(&agreed, &with(Some("iso"))), "pm-1");
    let text = set(&[plain("pm-1", &[("</Action>", &properties.replace("\"iso\"", "\"string\""))])]);
    assert_eq!(taken(&text, &with(None)), "pm-1");
}

/// FR-018, PR-004, PR-014, PR-015, PR-019.
#[test]
fn payload_counts_and_profile_checks_are_demands() {
    let one = set(&[plain("pm-1", &[("</Action>", "</Action><PayloadProfile parts=\"1\"/>")])]);
    assert_eq!(codes(&one, &message()), [(PROCESSING_MODE_MISMATCH, "eb:PayloadInfo")]);
    let in_body = UserMessage { parts: vec![part(Href::Body)], ..message() };
    assert_eq!(taken(&one, &in_body), "pm-1");

    let checks = |state: &str| {
        plain("pm-1", &[("<Leg>", &format!("<Checks emptyBody=\"{state}\" fourCorner=\"{state}\"/><Leg>"))])
    };
    assert_eq!(codes(&set(&[checks("enforce")]), &in_body).len(), 3);
    assert_eq!(agree(&set(&[checks("log")]), &in_body).unwrap().remarks.len(), 3);
    assert_eq!(agree(&set(&[checks("off")]), &in_body).unwrap().remarks.len(), 0);
}

#[test]
fn a_match_looks_at_few_of_many_p_modes() {
    let texts: Vec<String> = (0..2000)
        .map(|n| plain(&format!("pm-{n}"), &[("urn:example:party:a", &format!("urn:example:party:{n}"))]))
        .collect();
    let many = set(&texts);
    let mut from = message();
    from.from.ids = vec![id("urn:example:party:1234")];
    assert_eq!(taken(&many, &from), "pm-1234");
    assert_eq!(many.index.candidates(&from).count(), 1);
    // A stranger's message is compared with a bounded number, however many there are.
    assert!(many.index.near(&from).count() <= 5 * 64);
    from.from.ids = vec![id("urn:example:stranger")];
    assert_eq!(codes(&many, &from), [(VALUE_NOT_RECOGNIZED, "eb:From/eb:PartyId")]);
}

#[test]
fn an_explanation_names_each_criterion_nearest_first() {
    let two =
        set(&[plain("far", &[("Deliver", "Order"), ("party:a", "party:c")]), plain("near", &[("Deliver", "Ship")])]);
    let explained = explain(&two, &message(), 10);
    let order: Vec<_> = explained.candidates.iter().map(|c| (c.pmode.as_str(), c.matched)).collect();
    assert_eq!(order, [("near", false), ("far", false)]);
    let failed: Vec<_> = explained.candidates[0].criteria.iter().filter(|j| !j.passed).collect();
    assert_eq!(
        (failed[0].criterion, failed[0].expected.as_str(), failed[0].found.as_str()),
        (Criterion::Action, "Ship", "Deliver")
    );
    assert_eq!(failed.len(), 1);
    let json = serde_json::to_value(&explained).unwrap();
    assert_eq!(json["outcome"]["verdict"], "refused");
    assert_eq!(json["outcome"]["code"], "EBMS:0001");
    assert_eq!(json["candidates"][0]["criteria"][1]["criterion"], "action");
    assert_eq!(explain(&two, &message(), 1).left_out, 1);
    let text = explained.to_string();
    assert!(text.contains("refused with EBMS:0001: no P-Mode matches; the nearest is `near`"), "{text}");
    assert!(text.contains("eb:Action: expected Ship, found `Deliver`"), "{text}");
}

#[test]
fn the_selected_p_mode_is_explained_first() {
    let two =
        set(&[plain("far", &[("Deliver", "Order"), ("party:a", "party:c")]), plain("near", &[("Deliver", "Ship")])]);
    let selecting = UserMessage { agreement: Some(agreement("", Some("far"))), ..message() };
    let explained = explain(&two, &selecting, 1);
    assert_eq!((explained.selected.as_deref(), explained.candidates[0].pmode.as_str()), (Some("far"), "far"));
}
