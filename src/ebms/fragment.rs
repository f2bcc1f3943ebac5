//! A self-contained copy of an element: what a reception-awareness Receipt holds (EB-068).

use std::fmt::Write as _;

use crate::wire::xml::write::{Text, Value};
use crate::wire::xml::{Attribute, Kind, Node, names};

/// The element with its subtree in its exclusive canonical form without comments and instructions (Exclusive C14N
/// §3), with `eb` as the prefix of every ebMS element, so that the copy reads the same whatever the sender's
/// prefixes were.
///
/// The recursion is bounded by the depth limit of the document.
#[must_use]
pub fn copy(node: Node<'_>) -> String {
    let mut out = String::with_capacity(1024);
    element(&mut out, node, &mut Vec::new());
    out
}

/// Declarations rendered by the open elements, innermost last.
type Rendered<'a> = Vec<(&'a str, &'a str)>;

fn element<'a>(out: &mut String, node: Node<'a>, rendered: &mut Rendered<'a>) {
    let Some(element) = node.element() else { return };
    let mark = rendered.len();
    let prefix = prefix_for(&element.namespace, &element.prefix);
    out.push('<');
    let name_at = out.len();
    push_name(out, prefix, &element.local);
    let name = name_at..out.len();
    let mut attributes: Vec<&Attribute> = element.attributes.iter().collect();
    attributes.sort_by_key(|a| (&*a.namespace, &*a.local));
    let used = std::iter::once((prefix, &*element.namespace)).chain(
        attributes
            .iter()
            .filter(|a| !a.namespace.is_empty())
            .map(|a| (prefix_for(&a.namespace, &a.prefix), &*a.namespace)),
    );
    declare(out, used, rendered);
    for attribute in attributes {
        out.push(' ');
        let prefix =
            if attribute.namespace.is_empty() { "" } else { prefix_for(&attribute.namespace, &attribute.prefix) };
        push_name(out, prefix, &attribute.local);
        // Writing to a String cannot fail.
        let _ = write!(out, r#"="{}""#, Value(&attribute.value));
    }
    out.push('>');
    content(out, node, rendered);
    out.push_str("</");
    out.extend_from_within(name);
    out.push('>');
    rendered.truncate(mark);
}

fn content<'a>(out: &mut String, node: Node<'a>, rendered: &mut Rendered<'a>) {
    for child in node.nodes() {
        match &child.data().kind {
            Kind::Element(_) => element(out, child, rendered),
            Kind::Text(text) => {
                let _ = write!(out, "{}", Text(text));
            }
            Kind::Comment(_) | Kind::Instruction(..) => {}
        }
    }
}

/// Renders what is visibly used and not yet rendered with that meaning, sorted by prefix.
fn declare<'a>(out: &mut String, used: impl Iterator<Item = (&'a str, &'a str)>, rendered: &mut Rendered<'a>) {
    let mark = rendered.len();
    for (prefix, namespace) in used {
        let current = rendered.iter().rev().find(|(p, _)| *p == prefix).map_or("", |(_, n)| *n);
        if prefix != "xml" && current != namespace {
            rendered.push((prefix, namespace));
        }
    }
    rendered[mark..].sort_unstable();
    for (prefix, namespace) in &rendered[mark..] {
        out.push_str(" xmlns");
        if !prefix.is_empty() {
            out.push(':');
            out.push_str(prefix);
        }
        let _ = write!(out, r#"="{}""#, Value(namespace));
    }
}

fn prefix_for<'a>(namespace: &str, written: &'a str) -> &'a str {
    if namespace == names::EB { "eb" } else { written }
}

fn push_name(out: &mut String, prefix: &str, local: &str) {
    if !prefix.is_empty() {
        out.push_str(prefix);
        out.push(':');
    }
    out.push_str(local);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::xml::{Document, Limits};

    fn copied(text: &str) -> String {
        let document = Document::parse(text, &Limits::ENVELOPE).unwrap();
        copy(document.root().elements().next().unwrap_or(document.root()))
    }

    const EB: &str = "http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/";

    #[test]
    fn prefixes_become_eb_and_the_declaration_comes_along() {
        let text = format!(r#"<x xmlns:q="{EB}" xmlns:u="urn:unused"><q:a z="1" b='2'><q:c/><!-- no --></q:a></x>"#);
        assert_eq!(copied(&text), format!(r#"<eb:a xmlns:eb="{EB}" b="2" z="1"><eb:c></eb:c></eb:a>"#));
    }

    #[test]
    fn values_are_escaped_canonically() {
        let text =
            format!("<x xmlns='{EB}'><a v='&lt;&quot;&gt;&#9;&#13;'>A&amp;B &lt;d&gt; <![CDATA[<e>]]>&#13;</a></x>");
        let expected =
            format!("<eb:a xmlns:eb=\"{EB}\" v=\"&lt;&quot;>&#x9;&#xD;\">A&amp;B &lt;d&gt; &lt;e&gt;&#xD;</eb:a>");
        assert_eq!(copied(&text), expected);
    }

    #[test]
    fn foreign_elements_keep_their_prefix_and_are_declared_where_used() {
        let text = format!(
            r#"<x xmlns="{EB}" xmlns:eb="urn:not" xmlns:p="urn:p"><a><eb:b p:i="1"><c xml:lang="en"/></eb:b><d xmlns=""/></a></x>"#
        );
        let expected = format!(
            r#"<eb:a xmlns:eb="{EB}"><eb:b xmlns:eb="urn:not" xmlns:p="urn:p" p:i="1"><eb:c xmlns:eb="{EB}" xml:lang="en"></eb:c></eb:b><d></d></eb:a>"#
        );
        assert_eq!(copied(&text), expected);
    }

    #[test]
    fn a_copy_of_a_copy_is_the_same() {
        let text = format!(r#"<x xmlns:q="{EB}"><q:a><q:b xmlns="urn:d"><k/></q:b></q:a></x>"#);
        let once = copied(&text);
        let document = Document::parse(&once, &Limits::ENVELOPE).unwrap();
        assert_eq!(copy(document.root()), once);
    }
}
