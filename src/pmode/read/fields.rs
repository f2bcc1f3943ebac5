//! Takes an element apart by name, and reports what nobody asked for.
//!
//! Each reader asks an element for the attributes and children that it knows. What was asked for is what is known
//! there, so the list in an error message can never differ from what is read.

use std::path::Path;
use std::sync::Arc;

use super::values::Expected;
use crate::pmode::draft::{Maybe, Set};
use crate::pmode::error::{PModeError, Place, Problem, nearest};
use crate::wire::xml::{Kind, Node, names, position};

/// Parameters of the specifications that are known and not carried out, and what to do instead.
const NOT_OFFERED: [(&str, &str); 9] = [
    ("Authorization", "push is authenticated by the signature: pin a SigningCertificate"),
    ("UsernameToken", "push is authenticated by the signature: pin a SigningCertificate"),
    ("PModeAuthorize", "leave it out; a message is accepted only when its signer is the agreed one"),
    ("Splitting", "leave it out; large payloads are streamed whole"),
    ("Bundling", "leave it out; each message is sent alone"),
    ("SubMPCext", "leave it out; sub-channels belong to pull"),
    ("MPC.Alternate", "leave it out; it belongs to pull"),
    ("AddActorOrRoleAttribute", "leave it out; messages are exchanged directly"),
    ("Restart", "leave it out; interrupted messages are sent again"),
];

/// The file being read, and what was found wrong in it.
pub(super) struct Reader<'t> {
    file: Arc<Path>,
    text: &'t str,
    pub(super) errors: Vec<PModeError>,
}

impl<'t> Reader<'t> {
    pub(super) fn new(file: &Path, text: &'t str) -> Self {
        Self { file: Arc::from(file), text, errors: Vec::new() }
    }

    /// The file.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Where a node begins.
    pub(super) fn place(&self, node: Node<'_>) -> Place {
        let (line, column) = position(self.text, node.data().offset);
        Place { file: Arc::clone(&self.file), line, column }
    }

    /// Reports a problem at a node.
    pub(super) fn report(&mut self, node: Node<'_>, problem: Problem) {
        let place = self.place(node);
        self.errors.push(PModeError { place, problem });
    }

    /// Reads a value, or reports why it is none.
    pub(super) fn value<T>(
        &mut self,
        node: Node<'_>,
        name: &str,
        found: &str,
        parse: impl FnOnce(&str) -> Result<T, Expected>,
    ) -> Maybe<T> {
        match parse(found) {
            Ok(value) => Some(Set { value, at: self.place(node) }),
            Err(Expected { text, nearest }) => {
                let (name, found) = (name.to_owned(), found.to_owned());
                self.report(node, Problem::Value { name, found, expected: text, nearest });
                None
            }
        }
    }

    /// Reads the text of an element that has nothing but text, white space collapsed.
    pub(super) fn text_of<T>(&mut self, node: Node<'_>, parse: impl FnOnce(&str) -> Result<T, Expected>) -> Maybe<T> {
        Fields::new(node).end_with_text(self);
        self.value(node, node.local(), &node.token(), parse)
    }
}

/// An element being taken apart.
pub(super) struct Fields<'a> {
    node: Node<'a>,
    attributes: Vec<&'static str>,
    children: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(node: Node<'a>) -> Self {
        Self { node, attributes: Vec::new(), children: Vec::new() }
    }

    /// The value of an attribute.
    pub(super) fn attribute(&mut self, name: &'static str) -> Option<&'a str> {
        self.attributes.push(name);
        self.node.attribute(name)
    }

    /// The value of an attribute, read.
    pub(super) fn read<T>(
        &mut self,
        reader: &mut Reader<'_>,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, Expected>,
    ) -> Maybe<T> {
        let found = self.attribute(name)?;
        reader.value(self.node, &format!("@{name}"), found.trim(), parse)
    }

    /// The words of an attribute that is a list, each read.
    pub(super) fn list<T>(
        &mut self,
        reader: &mut Reader<'_>,
        name: &'static str,
        parse: impl Fn(&str) -> Result<T, Expected>,
    ) -> Vec<Set<T>> {
        let words = self.attribute(name).unwrap_or_default().split_whitespace();
        words.filter_map(|word| reader.value(self.node, &format!("@{name}"), word, &parse)).collect()
    }

    /// An attribute that must be there.
    pub(super) fn required(&mut self, reader: &mut Reader<'_>, name: &'static str, expected: &str) -> Option<&'a str> {
        let value = self.attribute(name).map(str::trim).filter(|v| !v.is_empty());
        if value.is_none() {
            let parent = self.node.local().to_owned();
            reader.report(
                self.node,
                Problem::Missing { name: format!("@{name}"), parent, expected: expected.to_owned() },
            );
        }
        value
    }

    /// All children of that name.
    pub(super) fn children(&mut self, name: &'static str) -> impl Iterator<Item = Node<'a>> + use<'a> {
        self.children.push(name);
        self.node.named(names::PMODE, name)
    }

    /// The one child of that name.
    pub(super) fn child(&mut self, reader: &mut Reader<'_>, name: &'static str) -> Option<Node<'a>> {
        let mut found = self.children(name);
        let first = found.next();
        for again in found {
            let parent = self.node.local().to_owned();
            reader.report(again, Problem::Repeated { name: name.to_owned(), parent });
        }
        first
    }

    /// Ends an element that has no text of its own: what was not asked for is unknown.
    pub(super) fn end(self, reader: &mut Reader<'_>) {
        for node in self.node.nodes() {
            if let Kind::Text(text) = &node.data().kind
                && !text.trim().is_empty()
            {
                let (name, found) = (self.node.local().to_owned(), text.trim().to_owned());
                let expected = "elements and attributes only".to_owned();
                reader.report(node, Problem::Value { name, found, expected, nearest: None });
            }
        }
        self.end_with_text(reader);
    }

    /// Ends an element that may have text.
    pub(super) fn end_with_text(self, reader: &mut Reader<'_>) {
        let attributes = self.node.element().map_or(&[][..], |e| &e.attributes);
        // Attributes of other namespaces are notes of editors, such as xsi:schemaLocation.
        for attribute in attributes.iter().filter(|a| a.namespace.is_empty()) {
            if !self.attributes.contains(&&*attribute.local) {
                let known = self.attributes.iter().map(|k| format!("@{k}")).collect();
                reader.report(self.node, unknown(&format!("@{}", attribute.local), self.node.local(), known));
            }
        }
        for child in self.node.elements() {
            if child.namespace() == names::PMODE && self.children.contains(&child.local()) {
                continue;
            }
            let offered = NOT_OFFERED.iter().find(|(name, _)| *name == child.local());
            let problem = match offered {
                Some((name, instead)) => {
                    Problem::NotOffered { what: format!("`{name}`"), instead: (*instead).to_owned() }
                }
                None if child.namespace() == names::PMODE => {
                    unknown(child.local(), self.node.local(), self.children.iter().map(|k| (*k).to_owned()).collect())
                }
                None => self.foreign(child),
            };
            reader.report(child, problem);
        }
    }

    /// An element of another namespace, which is the right one but for that, or not.
    fn foreign(&self, child: Node<'_>) -> Problem {
        let ours = |name: &str| format!("{{{}}}{name}", names::PMODE);
        Problem::Unknown {
            found: format!("{{{}}}{}", child.namespace(), child.local()),
            parent: self.node.local().to_owned(),
            nearest: nearest(child.local(), self.children.iter().copied()).map(|name| ours(&name)),
            known: self.children.iter().map(|name| ours(name)).collect(),
        }
    }
}

fn unknown(found: &str, parent: &str, known: Vec<String>) -> Problem {
    let nearest = nearest(found, known.iter().map(String::as_str));
    Problem::Unknown { found: found.to_owned(), parent: parent.to_owned(), nearest, known }
}
