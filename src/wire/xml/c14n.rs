//! Exclusive XML Canonicalization 1.0 without comments, of a subtree or a whole document in memory.
//!
//! The `PrefixList` of `InclusiveNamespaces` is honoured (FR-034): a listed prefix is written wherever it is in scope
//! and not yet written, the others only where an element or attribute uses them.

use super::tree::{Document, Element, Kind, Node, NodeId};

/// Octets gathered before the sink sees them.
const BUFFER: usize = 8 * 1024;

/// Writes the exclusive canonical form of the subtree at `node`. `prefix_list` is the attribute as it stands in
/// `ec:InclusiveNamespaces`: prefixes separated by white space, `#default` for the default namespace.
pub fn canonicalize(node: Node<'_>, prefix_list: Option<&str>, sink: &mut impl FnMut(&[u8])) {
    let mut walk = Walk::new(node.document(), prefix_list, sink);
    walk.subtree(node);
    walk.out.flush();
}

/// Writes the exclusive canonical form of the whole document: instructions beside the root too, each on its line.
pub fn canonicalize_document(document: &Document, prefix_list: Option<&str>, sink: &mut impl FnMut(&[u8])) {
    let mut walk = Walk::new(document, prefix_list, sink);
    let root = document.root();
    let mut after = false;
    for node in document.top() {
        match &node.data().kind {
            Kind::Element(_) => {
                walk.subtree(root);
                after = true;
            }
            Kind::Instruction(target, data) => walk.out.instruction_beside_root(target, data, after),
            Kind::Text(_) | Kind::Comment(_) => {}
        }
    }
    walk.out.flush();
}

/// The exclusive canonical form of the subtree at `node`.
#[must_use]
pub fn canonical(node: Node<'_>, prefix_list: Option<&str>) -> Vec<u8> {
    let mut all = Vec::new();
    canonicalize(node, prefix_list, &mut |octets| all.extend_from_slice(octets));
    all
}

/// The prefixes of a `PrefixList`; the default namespace is the empty one.
pub(super) fn prefixes(list: Option<&str>) -> Vec<&str> {
    list.unwrap_or_default()
        .split([' ', '\t', '\r', '\n'])
        .filter(|p| !p.is_empty())
        .map(|p| if p == "#default" { "" } else { p })
        .collect()
}

/// Namespace declarations already written by the output ancestors.
pub(super) struct Written<S> {
    declarations: Vec<(S, S)>,
    marks: Vec<usize>,
}

impl<S: AsRef<str> + Clone> Written<S> {
    pub(super) fn new() -> Self {
        Self { declarations: Vec::new(), marks: Vec::new() }
    }

    /// Enters an element: of the wanted (prefix, name) pairs those that no ancestor wrote, in canonical order.
    pub(super) fn enter(&mut self, wanted: impl Iterator<Item = (S, S)>) -> &[(S, S)] {
        let mark = self.declarations.len();
        self.marks.push(mark);
        for (prefix, name) in wanted {
            let known = self.declarations.iter().rev().find(|(p, _)| p.as_ref() == prefix.as_ref());
            // Without a declaration the default namespace is the empty one; `xml` is never declared.
            if prefix.as_ref() != "xml" && known.map_or("", |(_, n)| n.as_ref()) != name.as_ref() {
                self.declarations.push((prefix, name));
            }
        }
        self.declarations[mark..].sort_unstable_by(|a, b| a.0.as_ref().cmp(b.0.as_ref()));
        &self.declarations[mark..]
    }

    pub(super) fn leave(&mut self) {
        if let Some(mark) = self.marks.pop() {
            self.declarations.truncate(mark);
        }
    }
}

/// One attribute on its way out: namespace, prefix, local name, value.
pub(super) type Written4<'a> = (&'a str, &'a str, &'a str, &'a str);

/// Buffered canonical output.
pub(super) struct Output<'s, F: FnMut(&[u8])> {
    pub(super) buffer: Vec<u8>,
    pub(super) sink: &'s mut F,
}

impl<F: FnMut(&[u8])> Output<'_, F> {
    pub(super) fn flush(&mut self) {
        if !self.buffer.is_empty() {
            (self.sink)(&self.buffer);
            self.buffer.clear();
        }
    }

    pub(super) fn put(&mut self, octets: &[u8]) {
        if self.buffer.len() + octets.len() > BUFFER {
            self.flush();
            if octets.len() > BUFFER {
                (self.sink)(octets);
                return;
            }
        }
        self.buffer.extend_from_slice(octets);
    }

    fn name(&mut self, prefix: &str, local: &str) {
        if !prefix.is_empty() {
            self.put(prefix.as_bytes());
            self.put(b":");
        }
        self.put(local.as_bytes());
    }

    /// A start tag with its declarations and attributes; sorts the attributes.
    pub(super) fn start<S: AsRef<str>>(
        &mut self,
        prefix: &str,
        local: &str,
        declarations: &[(S, S)],
        attributes: &mut [Written4<'_>],
    ) {
        self.put(b"<");
        self.name(prefix, local);
        for (declared, namespace) in declarations {
            let declared = declared.as_ref();
            self.put(if declared.is_empty() { b" xmlns" } else { b" xmlns:" });
            self.put(declared.as_bytes());
            self.put(b"=\"");
            self.value(namespace.as_ref());
            self.put(b"\"");
        }
        attributes.sort_unstable_by(|a, b| (a.0, a.2).cmp(&(b.0, b.2)));
        for (_, prefix, local, value) in attributes {
            self.put(b" ");
            self.name(prefix, local);
            self.put(b"=\"");
            self.value(value);
            self.put(b"\"");
        }
        self.put(b">");
    }

    pub(super) fn end(&mut self, prefix: &str, local: &str) {
        self.put(b"</");
        self.name(prefix, local);
        self.put(b">");
    }

    /// Character data, in the escapes of Canonical XML §2.3 (FR-033).
    pub(super) fn text(&mut self, text: &str) {
        self.escaped(text, |b| match b {
            b'&' => b"&amp;",
            b'<' => b"&lt;",
            b'>' => b"&gt;",
            b'\r' => b"&#xD;",
            _ => b"",
        });
    }

    fn value(&mut self, text: &str) {
        self.escaped(text, |b| match b {
            b'&' => b"&amp;",
            b'<' => b"&lt;",
            b'"' => b"&quot;",
            b'\t' => b"&#x9;",
            b'\n' => b"&#xA;",
            b'\r' => b"&#xD;",
            _ => b"",
        });
    }

    fn escaped(&mut self, text: &str, rule: impl Fn(u8) -> &'static [u8]) {
        let octets = text.as_bytes();
        let mut from = 0;
        for (at, octet) in octets.iter().enumerate() {
            // All that is ever escaped lies below `?`.
            if *octet <= b'>' {
                let escape = rule(*octet);
                if !escape.is_empty() {
                    self.put(&octets[from..at]);
                    self.put(escape);
                    from = at + 1;
                }
            }
        }
        self.put(&octets[from..]);
    }

    pub(super) fn instruction(&mut self, target: &str, data: &str) {
        self.put(b"<?");
        self.put(target.as_bytes());
        if !data.is_empty() {
            self.put(b" ");
            self.put(data.as_bytes());
        }
        self.put(b"?>");
    }

    /// An instruction at document level: on a line of its own before or after the root.
    pub(super) fn instruction_beside_root(&mut self, target: &str, data: &str, after: bool) {
        if after {
            self.put(b"\n");
        }
        self.instruction(target, data);
        if !after {
            self.put(b"\n");
        }
    }
}

struct Walk<'a, 's, F: FnMut(&[u8])> {
    document: &'a Document,
    inclusive: Vec<&'a str>,
    written: Written<&'a str>,
    out: Output<'s, F>,
}

impl<'a, 's, F: FnMut(&[u8])> Walk<'a, 's, F> {
    fn new(document: &'a Document, prefix_list: Option<&'a str>, sink: &'s mut F) -> Self {
        let out = Output { buffer: Vec::with_capacity(BUFFER), sink };
        Self { document, inclusive: prefixes(prefix_list), written: Written::new(), out }
    }

    /// Walks without recursion: how deep a document may be is its reader's choice.
    fn subtree(&mut self, apex: Node<'a>) {
        let mut open: Vec<(&'a Element, std::slice::Iter<'a, NodeId>)> = Vec::new();
        self.enter(apex, true, &mut open);
        while let Some((element, children)) = open.last_mut() {
            let Some(child) = children.next() else {
                self.out.end(&element.prefix, &element.local);
                self.written.leave();
                open.pop();
                continue;
            };
            self.enter(self.document.node(*child), false, &mut open);
        }
    }

    fn enter(&mut self, node: Node<'a>, apex: bool, open: &mut Vec<(&'a Element, std::slice::Iter<'a, NodeId>)>) {
        match &node.data().kind {
            Kind::Element(element) => {
                self.start(node, element, apex);
                open.push((element, element.children.iter()));
            }
            Kind::Text(text) => self.out.text(text),
            Kind::Instruction(target, data) => self.out.instruction(target, data),
            Kind::Comment(_) => {}
        }
    }

    fn start(&mut self, node: Node<'a>, element: &'a Element, apex: bool) {
        let used = std::iter::once((&*element.prefix, &*element.namespace))
            .chain(element.attributes.iter().filter(|a| !a.prefix.is_empty()).map(|a| (&*a.prefix, &*a.namespace)));
        // What a listed prefix stands for changes only where something is declared.
        let inclusive: &[&str] = if apex || !element.declarations.is_empty() { &self.inclusive } else { &[] };
        let listed = inclusive.iter().filter_map(|prefix| Some((*prefix, in_scope(node, prefix)?)));
        let declarations = self.written.enter(used.chain(listed));
        let mut attributes: Vec<Written4<'_>> =
            element.attributes.iter().map(|a| (&*a.namespace, &*a.prefix, &*a.local, a.value.as_str())).collect();
        self.out.start(&element.prefix, &element.local, declarations, &mut attributes);
    }
}

/// What `prefix` stands for at `node`: the empty name for an undeclared default namespace.
fn in_scope<'a>(node: Node<'a>, prefix: &str) -> Option<&'a str> {
    let mut at = Some(node);
    while let Some(node) = at {
        let declared = node.element().and_then(|e| e.declarations.iter().find(|(p, _)| **p == *prefix));
        if let Some((_, name)) = declared {
            return Some(name);
        }
        at = node.parent();
    }
    prefix.is_empty().then_some("")
}

#[cfg(test)]
#[path = "c14n_tests.rs"]
mod tests;
