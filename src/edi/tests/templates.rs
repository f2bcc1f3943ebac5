use proptest::prelude::*;

use super::*;

fn filled(template: &str, number: &str, partner: &str) -> String {
    let template = Template::parse(template).unwrap();
    let value = |placeholder| match placeholder {
        Placeholder::Number => Some(number),
        Placeholder::Partner => Some(partner),
        Placeholder::Type => Some("380"),
        _ => None,
    };
    template.fill(value).unwrap()
}

#[test]
fn the_form_of_out_05() {
    let key = |number: &str| revision_key("EDI-INV", number, 1, None).unwrap();
    assert_eq!(key("2026-0001234"), "EDI-INV-2026-0001234-v1");
    assert_eq!(key("2026 / 7"), "EDI-INV-2026_20_2F_207-v1");
    assert_eq!(key("Köln_7"), "EDI-INV-K_C3_B6ln_5F7-v1");
    assert_ne!(key("a-1"), key("A-1"));
    assert_eq!(revision_key("INV", "7", 2, Some("9915:red")).unwrap(), "INV-7-v2-to-9915_3Ared");
    assert_eq!(revision_key("INV", "", 1, None), Err(MissingValue("number")));
    assert_eq!(revision_key("INV", "7", 1, Some("")), Err(MissingValue("partner")));
}

#[test]
fn no_value_can_pass_for_another() {
    let key = |doctype, number, revision, partner| revision_key(doctype, number, revision, partner).unwrap();
    assert_ne!(key("INV", "1-v1-to-X", 2, None), key("INV", "1", 1, Some("X-v2")));
    assert_ne!(key("EDI", "INV-1", 1, None), key("EDI-INV", "1", 1, None));
    assert_ne!(key("A-B", "1", 1, None), key("A", "B-1", 1, None));
    assert_eq!(key("INV", "1-v", 1, None), "INV-1_2Dv-v1");
    assert_ne!(key("INV", "a_20b", 1, None), key("INV", "a b", 1, None));
}

#[test]
fn a_long_key_keeps_its_beginning_and_ends_in_a_hash() {
    let key = |n: usize| revision_key("INV", &"7".repeat(n), 1, None).unwrap();
    assert_eq!(key(113).len(), 120);
    assert!(!key(113).contains("__"));
    assert_eq!(key(114).len(), 120);
    assert!(key(114).starts_with("INV-777") && key(114).contains("7__"), "{}", key(114));
    assert_ne!(key(114), key(115));
}

#[test]
fn a_template_is_filled() {
    assert_eq!(filled("send-{invoice}-to-{partner}", "BP-2026-0117", "9915:red"), "send-BP-2026-0117-to-9915_3Ared");
    assert_eq!(filled("{type}-{number}", "a/b", ""), "380-a_2Fb");
    let template = Template::parse("{control}-{date}").unwrap();
    assert_eq!(
        template.fill(|_| None).unwrap_err().to_string(),
        "the key template asks for `{control}`, which the document does not have"
    );
    assert_eq!(template.fill(|_| Some("")), Err(MissingValue("control")));
}

#[test]
fn a_template_that_cannot_be_right_is_refused() {
    let refused = |text: &str| Template::parse(text).unwrap_err();
    assert_eq!(refused("{invoce}"), TemplateError::Unknown { name: "invoce".into(), nearest: "invoice" });
    assert!(refused("{Partners}-{number}").to_string().contains("did you mean `{partner}`"));
    assert_eq!(refused("a{number"), TemplateError::Brace(2));
    assert_eq!(refused("a{nix"), TemplateError::Brace(2));
    assert_eq!(refused("number}"), TemplateError::Brace(7));
    assert_eq!(refused("a b{number}"), TemplateError::Character { character: ' ', at: 2 });
    assert_eq!(refused("{invoice}x{partner}"), TemplateError::RunTogether { before: "invoice", after: "partner" });
    assert_eq!(refused("send-to-{partner}"), TemplateError::Constant);
    assert_eq!(refused(""), TemplateError::Constant);
}

proptest! {
    #[test]
    fn keys_are_equal_only_for_equal_values(
        template in "(x|x-|-x)?\\{number\\}(-|-to-|-v|x-|-x|--)\\{partner\\}(x|-x|-)?",
        a in "[-xvto_ü]{1,6}", b in "[-xvto_ü]{1,6}", c in "[-xvto_ü]{1,6}", d in "[-xvto_ü]{1,6}",
    ) {
        let (one, other) = (filled(&template, &a, &b), filled(&template, &c, &d));
        prop_assert_eq!(one == other, (&a, &b) == (&c, &d), "{} {}", one, other);
        prop_assert!(one.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b)));
    }

    #[test]
    fn revision_keys_are_equal_only_for_equal_values(
        a in ("(EDI|EDI-I|I|I-v)", "[-v1to]{1,6}", 1u32..3, proptest::option::of("[-v1to]{1,6}")),
        b in ("(EDI|EDI-I|I|I-v)", "[-v1to]{1,6}", 1u32..3, proptest::option::of("[-v1to]{1,6}")),
    ) {
        let key = |v: &(String, String, u32, Option<String>)| revision_key(&v.0, &v.1, v.2, v.3.as_deref()).unwrap();
        prop_assert_eq!(key(&a) == key(&b), a == b);
    }

    #[test]
    fn any_text_is_a_template_or_an_error(text in "\\PC{0,20}|[{}a-z-]{0,20}") {
        if let Ok(template) = Template::parse(&text) {
            let key = template.fill(|_| Some("ü/ -")).unwrap();
            prop_assert!(key.len() <= 120);
        }
    }
}
