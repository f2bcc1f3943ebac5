use super::*;

fn parse(text: &str) -> Result<Document, XmlError> {
    Document::parse(text, &Limits::ENVELOPE)
}

fn problem(text: &str) -> Problem {
    parse(text).expect_err("must be refused").problem
}

#[test]
fn text_is_joined_across_references_cdata_and_comments() {
    let document = parse("<a>A&amp;B &#x26; <![CDATA[<e>]]><!-- cut -->.evil</a>").unwrap();
    assert_eq!(document.root().text(), "A&B & <e>.evil");
}

#[test]
fn names_are_resolved_by_scope() {
    let document = parse(r#"<a xmlns="urn:1" xmlns:p="urn:2"><p:b x="1" p:x="2"/><c xmlns=""/></a>"#).unwrap();
    let root = document.root();
    assert!(root.is("urn:1", "a"));
    let b = root.child("urn:2", "b").unwrap();
    assert_eq!((b.attribute("x"), b.attribute_ns("urn:2", "x")), (Some("1"), Some("2")));
    assert!(root.child("", "c").is_some());
}

#[test]
fn what_quick_xml_lets_through_is_refused() {
    assert_eq!(problem("<!DOCTYPE a><a/>"), Problem::Dtd);
    assert_eq!(problem("<p:a/>"), Problem::UnboundPrefix("p".into()));
    assert_eq!(problem("<a/><b/>"), Problem::Root("there are two root elements"));
    assert_eq!(problem("<a>"), Problem::Root("the document ends inside an element"));
    assert_eq!(problem("  "), Problem::Root("there is no root element"));
    assert_eq!(problem("<a/>x"), Problem::TextOutside);
    assert_eq!(problem("<a>&e;</a>"), Problem::Entity("e".into()));
    assert_eq!(problem("<a>&#0;</a>"), Problem::Character(0));
    assert_eq!(problem("<a>\u{1}</a>"), Problem::Character(1));
    assert_eq!(problem(r#"<a Id="x"><b id="x"/></a>"#), Problem::RepeatedId("x".into()));
    assert_eq!(
        problem(r#"<a xmlns:p="urn:1" xmlns:q="urn:1" p:x="" q:x=""/>"#),
        Problem::RepeatedAttribute("x".into())
    );
    assert_eq!(problem(r#"<a xmlns:p=""/>"#), Problem::Declaration("p".into()));
    assert_eq!(problem("<1a/>"), Problem::Name("1a".into()));
    assert!(matches!(problem(r#"<a x="<"/>"#), Problem::Markup(_)));
    assert!(matches!(problem("<a x='1'y='2'/>"), Problem::Markup(_)));
    assert!(matches!(problem("<a>]]></a>"), Problem::Markup(_)));
    assert!(parse("<a x='\"'\n y='2' />").is_ok());
    assert_eq!(problem(&"<a>".repeat(70)), Problem::TooDeep(64));
}

#[test]
fn line_ends_and_attribute_values_are_normalised() {
    let document = parse("<a x='1\r\n2&#13;3'>l1\r\nl2\rl3&#13;</a>").unwrap();
    assert_eq!(document.root().text(), "l1\nl2\nl3\r");
    assert_eq!(document.root().attribute("x"), Some("1 2\r3"));
}

#[test]
fn an_error_names_its_place() {
    let error = parse("<a>\n  <p:b/>\n</a>").unwrap_err();
    assert_eq!((error.line, error.column), (2, 3));
}
