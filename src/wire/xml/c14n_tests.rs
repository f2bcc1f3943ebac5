use super::*;
use crate::wire::xml::{Document, Limits};

fn whole(text: &str, list: Option<&str>) -> String {
    let document = Document::parse(text, &Limits::ENVELOPE).unwrap();
    let mut all = Vec::new();
    canonicalize_document(&document, list, &mut |octets| all.extend_from_slice(octets));
    String::from_utf8(all).unwrap()
}

fn part(text: &str, id: &str, list: Option<&str>) -> String {
    let document = Document::parse(text, &Limits::ENVELOPE).unwrap();
    String::from_utf8(canonical(document.by_id(id).unwrap(), list)).unwrap()
}

#[test]
fn a_document_keeps_instructions_and_loses_comments_and_unused_namespaces() {
    let text = "<?xml version=\"1.0\"?>\n<!--c-->\n<?pi x?>\n<p:a  z=\"1\" b='2' xmlns:p=\"urn:p\" xmlns:q=\"urn:q\"><q:b/>\r\n<c/></p:a>\n<?end?>\n";
    assert_eq!(
        whole(text, None),
        "<?pi x?>\n<p:a xmlns:p=\"urn:p\" b=\"2\" z=\"1\"><q:b xmlns:q=\"urn:q\"></q:b>\n<c></c></p:a>\n<?end?>"
    );
}

#[test]
fn an_empty_element_keeps_its_attributes() {
    // AT-08
    assert_eq!(whole(r#"<a b="c"/>"#, None), r#"<a b="c"></a>"#);
}

#[test]
fn escapes_are_those_of_canonical_xml() {
    // FR-033
    let text = "<a n=\"a&gt;'b&#9;&#10;&#13;&quot;\">x > y \"z\" &amp; &lt; ' \t&#13;</a>";
    assert_eq!(whole(text, None), "<a n=\"a>'b&#x9;&#xA;&#xD;&quot;\">x &gt; y \"z\" &amp; &lt; ' \t&#xD;</a>");
}

#[test]
fn a_subtree_takes_only_what_it_uses_and_what_is_listed() {
    let text = r#"<s:e xmlns:s="urn:s" xmlns="urn:d" xmlns:u="urn:u"><s:b Id="x"><u:c/><c xmlns=""/></s:b></s:e>"#;
    assert_eq!(part(text, "x", None), r#"<s:b xmlns:s="urn:s" Id="x"><u:c xmlns:u="urn:u"></u:c><c></c></s:b>"#);
    // FR-034: a list is honoured, with the token for the default namespace.
    assert_eq!(
        part(text, "x", Some(" u\t#default nowhere ")),
        r#"<s:b xmlns="urn:d" xmlns:s="urn:s" xmlns:u="urn:u" Id="x"><u:c></u:c><c xmlns=""></c></s:b>"#
    );
}

#[test]
fn a_redeclared_prefix_is_written_again() {
    let text = r#"<p:a xmlns:p="urn:1"><p:b xmlns:p="urn:2"><p:c xmlns:p="urn:1"/></p:b><p:d xmlns:p="urn:1"/></p:a>"#;
    assert_eq!(
        whole(text, None),
        r#"<p:a xmlns:p="urn:1"><p:b xmlns:p="urn:2"><p:c xmlns:p="urn:1"></p:c></p:b><p:d></p:d></p:a>"#
    );
}

#[test]
fn attributes_are_ordered_by_namespace_then_name() {
    let text = r#"<a xmlns:x="urn:2" xmlns:y="urn:1" x:a="1" y:b="2" z="3" y:a="4" xml:lang="en"/>"#;
    assert_eq!(
        whole(text, None),
        r#"<a xmlns:x="urn:2" xmlns:y="urn:1" z="3" xml:lang="en" y:a="4" y:b="2" x:a="1"></a>"#
    );
}
