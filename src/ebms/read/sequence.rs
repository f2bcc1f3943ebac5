//! The grammar of the header: attributes, values, and children in the schema's order.

use super::{Problem, Reader};
use crate::ebms::token::SPACE;
use crate::wire::xml::{Kind, Node, names};

/// Namespace of schema instance attributes: the two hints to schema locations may stand anywhere.
const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// The children of one element, taken in the schema's order.
pub(super) struct Sequence<'a> {
    parent: Node<'a>,
    children: Vec<Node<'a>>,
    at: usize,
    asked: Vec<&'static str>,
}

impl<'a> Sequence<'a> {
    /// Opens an element that holds elements only.
    pub(super) fn open(reader: &mut Reader, parent: Node<'a>) -> Self {
        let mut children = Vec::new();
        let mut stray = false;
        for node in parent.nodes() {
            match &node.data().kind {
                Kind::Element(_) => children.push(node),
                Kind::Text(text) => stray |= !text.trim_matches(SPACE).is_empty(),
                Kind::Comment(_) | Kind::Instruction(..) => {}
            }
        }
        if stray {
            reader.found.add(parent, Problem::StrayText(parent.local().to_owned()));
        }
        Self { parent, children, at: 0, asked: Vec::new() }
    }

    /// The next child if it is `eb:name`.
    pub(super) fn next(&mut self, name: &'static str) -> Option<Node<'a>> {
        if !self.asked.contains(&name) {
            self.asked.push(name);
        }
        let next = self.children.get(self.at).copied().filter(|n| n.is(names::EB, name))?;
        self.at += 1;
        Some(next)
    }

    /// `eb:name`, at most once. One that stands further on is reported and taken all the same, so that the rest can
    /// be read.
    pub(super) fn optional(&mut self, reader: &mut Reader, name: &'static str) -> Option<Node<'a>> {
        if let Some(next) = self.next(name) {
            return Some(next);
        }
        let later = self.children.iter().skip(self.at).position(|n| n.is(names::EB, name))?;
        let node = self.children.remove(self.at + later);
        reader.found.add(node, Problem::Misplaced(name.to_owned()));
        Some(node)
    }

    /// `eb:name`, exactly once.
    pub(super) fn required(&mut self, reader: &mut Reader, name: &'static str) -> Option<Node<'a>> {
        let node = self.optional(reader, name);
        if node.is_none() {
            reader.found.add(self.parent, Problem::Missing(name));
        }
        node
    }

    /// Passes the elements of other namespaces (`##other` of the schema: neither the ebMS one nor none); says
    /// whether there were any.
    pub(super) fn foreign(&mut self, reader: &mut Reader) -> bool {
        let start = self.at;
        while let Some(child) = self.children.get(self.at)
            && child.namespace() != names::EB
        {
            if child.namespace().is_empty() {
                reader.found.add(*child, Problem::UnknownElement(qualified(*child)));
            }
            self.at += 1;
        }
        self.at > start
    }

    /// Reports every child that was not taken.
    pub(super) fn finish(self, reader: &mut Reader) {
        for child in self.children.into_iter().skip(self.at) {
            let asked = child.namespace() == names::EB && self.asked.contains(&child.local());
            let problem = if asked {
                Problem::Misplaced(child.local().to_owned())
            } else {
                Problem::UnknownElement(qualified(child))
            };
            reader.found.add(child, problem);
        }
    }
}

impl Reader {
    /// Checks an element's attributes: `known` ones without namespace; of other namespaces only where the schema is
    /// `open` to them (EB-049).
    pub(super) fn attributes(&mut self, node: Node<'_>, known: &[&str], open: bool) {
        for attribute in node.element().map_or(&[][..], |e| &e.attributes) {
            let (namespace, local) = (&*attribute.namespace, &*attribute.local);
            let allowed = match namespace {
                "" => known.contains(&local),
                XSI => matches!(local, "schemaLocation" | "noNamespaceSchemaLocation") || open,
                names::EB => false,
                names::XML if local == "lang" => open || known.contains(&"xml:lang"),
                _ => open,
            };
            if !allowed {
                let name = if attribute.prefix.is_empty() {
                    local.to_owned()
                } else {
                    format!("{}:{local}", attribute.prefix)
                };
                self.found.add_value(node, Problem::UnknownAttribute(name), &attribute.value);
            }
        }
    }

    /// The whole text of an element that holds a value.
    pub(super) fn simple(&mut self, node: Node<'_>, known: &[&str]) -> String {
        self.attributes(node, known, false);
        if node.elements().next().is_some() {
            self.found.add(node, Problem::NotSimple(node.local().to_owned()));
        }
        node.text()
    }

    /// The same, never empty; kept exactly (EB-048).
    pub(super) fn non_empty(&mut self, node: Node<'_>, known: &[&str]) -> String {
        let text = self.simple(node, known);
        if text.is_empty() {
            self.found.add(node, Problem::Empty(node.local().to_owned()));
        }
        text
    }

    /// An attribute that is never empty where it stands; kept exactly.
    pub(super) fn attribute(&mut self, node: Node<'_>, name: &'static str) -> Option<String> {
        let value = node.attribute(name)?;
        if value.is_empty() {
            self.found.add(node, Problem::EmptyAttribute(name));
        }
        Some(value.to_owned())
    }
}

fn qualified(node: Node<'_>) -> String {
    match node.element() {
        Some(element) if !element.prefix.is_empty() => format!("{}:{}", element.prefix, element.local),
        _ => node.local().to_owned(),
    }
}
