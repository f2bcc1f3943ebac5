//! A small namespace-aware tree of one bounded XML document.
//!
//! The SOAP envelope and P-Mode files are read into it; attachments never are. It keeps what canonicalisation
//! needs (prefixes, namespace declarations, comments, processing instructions) and refuses what quick-xml, which
//! validates nothing, lets through: DTDs, unbound prefixes, repeated attributes, illegal names and characters,
//! text outside the root. Values are always the whole concatenated text, references resolved.

use std::collections::HashMap;
use std::sync::Arc;

use super::names;

/// Index of a node in its [`Document`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(crate) u32);

/// An attribute that is no namespace declaration.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Prefix as written; empty when there is none.
    pub prefix: Box<str>,
    /// Local name.
    pub local: Box<str>,
    /// Namespace name; empty for an unprefixed attribute.
    pub namespace: Arc<str>,
    /// Normalised value.
    pub value: String,
}

/// An element.
#[derive(Clone, Debug)]
pub struct Element {
    /// Prefix as written; empty when there is none.
    pub prefix: Box<str>,
    /// Local name.
    pub local: Box<str>,
    /// Namespace name; empty for none.
    pub namespace: Arc<str>,
    /// Namespace declarations on this very element: prefix (empty for the default) and name.
    pub declarations: Vec<(Box<str>, Arc<str>)>,
    /// Attributes in document order.
    pub attributes: Vec<Attribute>,
    /// Children in document order.
    pub children: Vec<NodeId>,
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// An element.
    Element(Element),
    /// Character data: adjacent text, CDATA and references joined into one node.
    Text(String),
    /// A comment.
    Comment(String),
    /// A processing instruction: target and data.
    Instruction(String, String),
}

/// One node with its place.
#[derive(Clone, Debug)]
pub struct NodeData {
    /// What it is.
    pub kind: Kind,
    /// Its parent; `None` for what stands at document level.
    pub parent: Option<NodeId>,
    /// Byte offset of its first octet in the source text.
    pub offset: usize,
    /// Byte offset after its last octet in the source text.
    pub end: usize,
}

/// A parsed document.
#[derive(Clone, Debug)]
pub struct Document {
    pub(crate) nodes: Vec<NodeData>,
    /// What stands at document level, in order: comments and instructions, and the root element.
    pub(crate) top: Vec<NodeId>,
    pub(crate) root: NodeId,
    /// Elements by the value of their `Id`, `ID`, `id`, `wsu:Id` or `xml:id`: repeated values are refused on reading.
    pub(crate) ids: HashMap<String, NodeId>,
}

impl Document {
    /// The root element.
    #[must_use]
    pub fn root(&self) -> Node<'_> {
        self.node(self.root)
    }

    /// The node with that index.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Node<'_> {
        Node { document: self, id }
    }

    /// The one element whose ID is `value`.
    #[must_use]
    pub fn by_id(&self, value: &str) -> Option<Node<'_>> {
        self.ids.get(value).map(|id| self.node(*id))
    }

    /// What stands at document level, in order.
    pub fn top(&self) -> impl Iterator<Item = Node<'_>> {
        self.top.iter().map(|id| self.node(*id))
    }
}

/// A node within its document: cheap to copy.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    document: &'a Document,
    id: NodeId,
}

impl std::fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<{}> #{}", self.local(), self.id.0)
    }
}

impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.document, other.document) && self.id == other.id
    }
}

impl<'a> Node<'a> {
    /// Its index.
    #[must_use]
    pub fn id(self) -> NodeId {
        self.id
    }

    /// The document it belongs to.
    #[must_use]
    pub fn document(self) -> &'a Document {
        self.document
    }

    /// What it is and where it stands.
    #[must_use]
    pub fn data(self) -> &'a NodeData {
        &self.document.nodes[self.id.0 as usize]
    }

    /// The element, if it is one.
    #[must_use]
    pub fn element(self) -> Option<&'a Element> {
        match &self.data().kind {
            Kind::Element(element) => Some(element),
            _ => None,
        }
    }

    /// Its local name; empty for what is no element.
    #[must_use]
    pub fn local(self) -> &'a str {
        self.element().map_or("", |e| &e.local)
    }

    /// Its namespace name; empty for none.
    #[must_use]
    pub fn namespace(self) -> &'a str {
        self.element().map_or("", |e| &e.namespace)
    }

    /// Whether it is the element with that expanded name.
    #[must_use]
    pub fn is(self, namespace: &str, local: &str) -> bool {
        self.element().is_some_and(|e| &*e.local == local && &*e.namespace == namespace)
    }

    /// Value of the attribute in no namespace.
    #[must_use]
    pub fn attribute(self, local: &str) -> Option<&'a str> {
        self.attribute_ns("", local)
    }

    /// Value of the attribute with that expanded name.
    #[must_use]
    pub fn attribute_ns(self, namespace: &str, local: &str) -> Option<&'a str> {
        self.element()?
            .attributes
            .iter()
            .find(|a| &*a.local == local && &*a.namespace == namespace)
            .map(|a| a.value.as_str())
    }

    /// Its parent, if it is not at document level.
    #[must_use]
    pub fn parent(self) -> Option<Self> {
        self.data().parent.map(|id| self.document.node(id))
    }

    /// All children: elements, text, comments, instructions.
    pub fn nodes(self) -> impl DoubleEndedIterator<Item = Node<'a>> {
        let children: &'a [NodeId] = self.element().map_or(&[], |e| &e.children);
        children.iter().map(move |id| self.document.node(*id))
    }

    /// Its child elements.
    pub fn elements(self) -> impl DoubleEndedIterator<Item = Node<'a>> {
        self.nodes().filter(|n| n.element().is_some())
    }

    /// Its child elements with that expanded name.
    pub fn named(self, namespace: &'a str, local: &'a str) -> impl DoubleEndedIterator<Item = Node<'a>> {
        self.elements().filter(move |n| n.is(namespace, local))
    }

    /// Its first child element with that expanded name.
    #[must_use]
    pub fn child(self, namespace: &str, local: &str) -> Option<Node<'a>> {
        self.elements().find(|n| n.is(namespace, local))
    }

    /// The concatenated text of its text children; comments and instructions between them do not cut it (AT-05).
    #[must_use]
    pub fn text(self) -> String {
        let mut all = String::new();
        for node in self.nodes() {
            if let Kind::Text(text) = &node.data().kind {
                all.push_str(text);
            }
        }
        all
    }

    /// Its text with white space collapsed, as for `xs:token` and `xs:anyURI` (EB-048).
    #[must_use]
    pub fn token(self) -> String {
        self.text().split([' ', '\t', '\r', '\n']).filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// Its XML ID, whichever attribute holds it: `wsu:Id`, `Id`, `id`, `ID` or `xml:id`.
    #[must_use]
    pub fn xml_id(self) -> Option<&'a str> {
        self.attribute_ns(names::WSU, "Id")
            .or_else(|| self.attribute("Id"))
            .or_else(|| self.attribute("id"))
            .or_else(|| self.attribute("ID"))
            .or_else(|| self.attribute_ns(names::XML, "id"))
    }

    /// A path for people, such as `/Envelope/Header/Messaging`.
    #[must_use]
    pub fn path(self) -> String {
        let mut names = vec![self.local()];
        let mut at = self.parent();
        while let Some(node) = at {
            names.push(node.local());
            at = node.parent();
        }
        names.iter().rev().fold(String::new(), |path, name| path + "/" + name)
    }
}
