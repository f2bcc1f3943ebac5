//! Text to [`Document`]: quick-xml finds the markup, this module refuses what is not well-formed.

use std::collections::HashMap;
use std::sync::Arc;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::limits::Limits;
use super::names;
use super::tree::{Attribute, Document, Element, Kind, NodeData, NodeId};

/// Why a document cannot be read; each names the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct XmlError {
    /// What is wrong.
    pub problem: Problem,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// What is wrong with a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Markup that quick-xml cannot make sense of.
    #[error("not well-formed: {0}")]
    Markup(String),
    /// AT-17, AT-18.
    #[error("a document type declaration is not accepted")]
    Dtd,
    /// AT-19.
    #[error("elements are nested more than {0} deep")]
    TooDeep(usize),
    /// Too many nodes.
    #[error("more than {0} elements, texts and comments")]
    TooManyNodes(usize),
    /// Too many attributes.
    #[error("an element has more than {0} attributes")]
    TooManyAttributes(usize),
    /// A name over the limit or not a name.
    #[error("`{0}` is not a valid XML name")]
    Name(String),
    /// A prefix without declaration.
    #[error("the prefix `{0}` is not declared")]
    UnboundPrefix(String),
    /// A declaration that Namespaces in XML forbids.
    #[error("the declaration of prefix `{0}` is not allowed")]
    Declaration(String),
    /// Two attributes of one name.
    #[error("the attribute `{0}` stands twice on one element")]
    RepeatedAttribute(String),
    /// AT-02.
    #[error("the ID `{0}` stands twice in the document")]
    RepeatedId(String),
    /// A character XML does not allow.
    #[error("the character U+{0:04X} is not allowed in XML")]
    Character(u32),
    /// A reference to an entity that only a DTD could declare.
    #[error("the entity `&{0};` is not declared")]
    Entity(String),
    /// Text beside the root.
    #[error("text outside the root element")]
    TextOutside,
    /// Not exactly one root.
    #[error("{0}")]
    Root(&'static str),
}

impl Document {
    /// Reads one document.
    ///
    /// # Errors
    /// When it is not namespace-well-formed XML, has a DTD, repeats an ID, or exceeds the limits.
    pub fn parse(text: &str, limits: &Limits) -> Result<Self, XmlError> {
        // XML 1.0 §2.11: line ends are normalised before anything else looks at the text.
        let normalised;
        let text = if memchr::memchr(b'\r', text.as_bytes()).is_some() {
            normalised = text.replace("\r\n", "\n").replace('\r', "\n");
            normalised.as_str()
        } else {
            text
        };
        let mut builder = Builder::new(limits);
        let mut reader = Reader::from_str(text);
        reader.config_mut().check_comments = true;
        let mut at = 0;
        let outcome = loop {
            let event = match reader.read_event() {
                Ok(event) => event,
                Err(error) => {
                    at = usize::try_from(reader.error_position()).unwrap_or(at);
                    break Err(Problem::Markup(error.to_string()));
                }
            };
            let end = usize::try_from(reader.buffer_position()).unwrap_or(text.len());
            if matches!(event, Event::Eof) {
                break Ok(());
            }
            if let Err(problem) = builder.event(&event, at, end) {
                break Err(problem);
            }
            at = end;
        };
        outcome.and_then(|()| builder.finish()).map_err(|problem| {
            let (line, column) = position(text, at);
            XmlError { problem, line, column }
        })
    }
}

/// Line and column, from 1, of a byte offset.
#[must_use]
pub fn position(text: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (line, column)
}

struct Builder<'l> {
    limits: &'l Limits,
    nodes: Vec<NodeData>,
    top: Vec<NodeId>,
    root: Option<NodeId>,
    open: Vec<NodeId>,
    /// Declarations in scope, innermost last; an empty name undeclares the default.
    scope: Vec<(Box<str>, Arc<str>)>,
    marks: Vec<usize>,
    interned: HashMap<String, Arc<str>>,
    ids: HashMap<String, NodeId>,
}

impl<'l> Builder<'l> {
    fn new(limits: &'l Limits) -> Self {
        Self {
            limits,
            nodes: Vec::with_capacity(64),
            top: Vec::new(),
            root: None,
            open: Vec::new(),
            scope: vec![("xml".into(), Arc::from(names::XML))],
            marks: Vec::new(),
            interned: HashMap::new(),
            ids: HashMap::new(),
        }
    }

    fn event(&mut self, event: &Event<'_>, offset: usize, end: usize) -> Result<(), Problem> {
        match event {
            Event::Start(tag) => self.start(tag, offset, end),
            Event::Empty(tag) => {
                self.start(tag, offset, end)?;
                self.close(end);
                Ok(())
            }
            Event::End(_) => {
                self.close(end);
                Ok(())
            }
            Event::Text(text) if text.contains("]]>") => Err(Problem::Markup("`]]>` in character data".to_owned())),
            Event::Text(text) => self.text(checked(text)?, offset, end),
            Event::CData(text) => {
                let text = checked(text)?;
                if self.open.is_empty() { Err(Problem::TextOutside) } else { self.text(text, offset, end) }
            }
            Event::GeneralRef(reference) => {
                if self.open.is_empty() {
                    return Err(Problem::TextOutside);
                }
                let mut one = String::new();
                one.push(resolve(reference)?);
                self.text(&one, offset, end)
            }
            Event::Comment(text) => {
                let text = checked(text)?.to_owned();
                self.add(Kind::Comment(text), offset, end).map(|_| ())
            }
            Event::PI(instruction) => {
                let target = name(instruction.target(), self.limits)?;
                if target.eq_ignore_ascii_case("xml") || target.contains(':') {
                    return Err(Problem::Name(target.to_owned()));
                }
                let data = checked(instruction.content())?.trim_start_matches([' ', '\t', '\n']);
                self.add(Kind::Instruction(target.to_owned(), data.to_owned()), offset, end).map(|_| ())
            }
            Event::DocType(_) => Err(Problem::Dtd),
            Event::Decl(_) if offset == 0 => Ok(()),
            Event::Decl(_) => Err(Problem::Markup("an XML declaration inside the document".to_owned())),
            Event::Eof => Ok(()),
        }
    }

    fn finish(self) -> Result<Document, Problem> {
        if !self.open.is_empty() {
            return Err(Problem::Root("the document ends inside an element"));
        }
        let root = self.root.ok_or(Problem::Root("there is no root element"))?;
        Ok(Document { nodes: self.nodes, top: self.top, root, ids: self.ids })
    }

    fn add(&mut self, kind: Kind, offset: usize, end: usize) -> Result<NodeId, Problem> {
        if self.nodes.len() >= self.limits.nodes {
            return Err(Problem::TooManyNodes(self.limits.nodes));
        }
        let id = NodeId(u32::try_from(self.nodes.len()).map_err(|_| Problem::TooManyNodes(self.limits.nodes))?);
        let parent = self.open.last().copied();
        self.nodes.push(NodeData { kind, parent, offset, end });
        match parent.map(|p| &mut self.nodes[p.0 as usize].kind) {
            Some(Kind::Element(element)) => element.children.push(id),
            _ => self.top.push(id),
        }
        Ok(id)
    }

    /// Joins adjacent pieces of character data into one node: quick-xml cuts it at each reference and CDATA section.
    fn text(&mut self, text: &str, offset: usize, end: usize) -> Result<(), Problem> {
        let Some(parent) = self.open.last() else {
            return if text.trim_matches([' ', '\t', '\n']).is_empty() { Ok(()) } else { Err(Problem::TextOutside) };
        };
        if let Kind::Element(element) = &self.nodes[parent.0 as usize].kind
            && let Some(last) = element.children.last().copied()
        {
            let data = &mut self.nodes[last.0 as usize];
            if let Kind::Text(before) = &mut data.kind {
                before.push_str(text);
                data.end = end;
                return Ok(());
            }
        }
        if text.is_empty() {
            return Ok(());
        }
        self.add(Kind::Text(text.to_owned()), offset, end).map(|_| ())
    }

    fn close(&mut self, end: usize) {
        if let (Some(id), Some(mark)) = (self.open.pop(), self.marks.pop()) {
            self.nodes[id.0 as usize].end = end;
            self.scope.truncate(mark);
        }
    }

    fn start(&mut self, tag: &BytesStart<'_>, offset: usize, end: usize) -> Result<(), Problem> {
        if self.open.is_empty() && self.root.is_some() {
            return Err(Problem::Root("there are two root elements"));
        }
        if self.open.len() >= self.limits.depth {
            return Err(Problem::TooDeep(self.limits.depth));
        }
        self.marks.push(self.scope.len());
        let (declarations, raw) = self.attributes(tag)?;
        let (prefix, local) = qualified(tag.name().into_inner(), self.limits)?;
        let namespace = self.resolve_prefix(prefix, true)?;
        let mut attributes: Vec<Attribute> = Vec::with_capacity(raw.len());
        for (prefix, local, value) in raw {
            let namespace = self.resolve_prefix(&prefix, false)?;
            if attributes.iter().any(|a| *a.local == *local && a.namespace == namespace) {
                return Err(Problem::RepeatedAttribute(local.into()));
            }
            attributes.push(Attribute { prefix, local, namespace, value });
        }
        let ids: Vec<String> = attributes.iter().filter(|a| is_id(a)).map(|a| a.value.clone()).collect();
        let element = Element {
            prefix: prefix.into(),
            local: local.into(),
            namespace,
            declarations,
            attributes,
            children: Vec::new(),
        };
        let id = self.add(Kind::Element(element), offset, end)?;
        for value in ids {
            if self.ids.insert(value.clone(), id).is_some() {
                return Err(Problem::RepeatedId(value));
            }
        }
        if self.open.is_empty() {
            self.root = Some(id);
        }
        self.open.push(id);
        Ok(())
    }

    /// Splits a tag's attributes into namespace declarations, brought into scope, and the others.
    #[expect(clippy::type_complexity, reason = "two lists that live for ten lines")]
    fn attributes(
        &mut self,
        tag: &BytesStart<'_>,
    ) -> Result<(Vec<(Box<str>, Arc<str>)>, Vec<(Box<str>, Box<str>, String)>), Problem> {
        let mut declarations: Vec<(Box<str>, Arc<str>)> = Vec::new();
        let mut others = Vec::new();
        if !spaced(tag.attributes_raw()) {
            return Err(Problem::Markup("attributes without white space between them".to_owned()));
        }
        for attribute in tag.attributes() {
            let attribute = attribute.map_err(|e| Problem::Markup(e.to_string()))?;
            if declarations.len() + others.len() >= self.limits.attributes {
                return Err(Problem::TooManyAttributes(self.limits.attributes));
            }
            let (prefix, local) = qualified(attribute.key.into_inner(), self.limits)?;
            let value = attribute_value(&attribute.value)?;
            let declared = match (prefix, local) {
                ("", "xmlns") => Some(""),
                ("xmlns", declared) => Some(declared),
                _ => None,
            };
            let Some(declared) = declared else {
                others.push((prefix.into(), local.into(), value));
                continue;
            };
            if !declaration_allowed(declared, &value) {
                return Err(Problem::Declaration(declared.to_owned()));
            }
            let name = self.intern(value);
            declarations.push((declared.into(), Arc::clone(&name)));
            self.scope.push((declared.into(), name));
        }
        Ok((declarations, others))
    }

    fn intern(&mut self, name: String) -> Arc<str> {
        Arc::clone(self.interned.entry(name).or_insert_with_key(|k| Arc::from(k.as_str())))
    }

    fn resolve_prefix(&self, prefix: &str, element: bool) -> Result<Arc<str>, Problem> {
        if prefix.is_empty() && !element {
            return Ok(Arc::from(""));
        }
        match self.scope.iter().rev().find(|(p, _)| **p == *prefix) {
            Some((_, name)) => Ok(Arc::clone(name)),
            None if prefix.is_empty() => Ok(Arc::from("")),
            None => Err(Problem::UnboundPrefix(prefix.to_owned())),
        }
    }
}

/// Whether white space stands between attributes (XML 1.0 §3.1), which quick-xml does not ask for.
fn spaced(raw: &str) -> bool {
    let mut quote = None;
    let mut closed = false;
    raw.chars().all(|c| {
        let fits = !closed || c.is_ascii_whitespace();
        closed = quote == Some(c);
        quote = match quote {
            None if matches!(c, '"' | '\'') => Some(c),
            Some(open) if open == c => None,
            other => other,
        };
        fits
    })
}

fn is_id(attribute: &Attribute) -> bool {
    match &*attribute.namespace {
        "" => matches!(&*attribute.local, "Id" | "ID" | "id"),
        names::WSU => &*attribute.local == "Id",
        names::XML => &*attribute.local == "id",
        _ => false,
    }
}

/// Namespaces in XML 1.0 §3: `xml` and `xmlns` keep their names, and a prefix cannot be undeclared.
pub(crate) fn declaration_allowed(prefix: &str, name: &str) -> bool {
    match prefix {
        "xmlns" => false,
        "xml" => name == names::XML,
        _ => name != names::XML && name != names::XMLNS && (prefix.is_empty() || !name.is_empty()),
    }
}

pub(crate) fn qualified<'n>(qname: &'n str, limits: &Limits) -> Result<(&'n str, &'n str), Problem> {
    let qname = name(qname, limits)?;
    match qname.split_once(':') {
        None => Ok(("", qname)),
        Some((prefix, local))
            if !prefix.is_empty() && !local.contains(':') && local.chars().next().is_some_and(name_start) =>
        {
            Ok((prefix, local))
        }
        Some(_) => Err(Problem::Name(qname.to_owned())),
    }
}

pub(super) fn name<'n>(text: &'n str, limits: &Limits) -> Result<&'n str, Problem> {
    let mut characters = text.chars();
    let good = text.len() <= limits.name
        && characters.next().is_some_and(name_start)
        && characters.all(|c| name_start(c) || name_rest(c) || c == ':');
    if good { Ok(text) } else { Err(Problem::Name(text.chars().take(40).collect())) }
}

/// XML 1.0 §2.3 `NameStartChar`, without the colon.
fn name_start(c: char) -> bool {
    matches!(c, 'A'..='Z' | 'a'..='z' | '_' | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}'
        | '\u{370}'..='\u{37D}' | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}'
        | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}'
        | '\u{10000}'..='\u{EFFFF}')
}

fn name_rest(c: char) -> bool {
    matches!(c, '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

/// XML 1.0 §2.2 `Char`.
#[must_use]
pub fn allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..='\u{10FFFF}')
}

pub(crate) fn checked(text: &str) -> Result<&str, Problem> {
    match text.chars().find(|c| !allowed(*c)) {
        None => Ok(text),
        Some(c) => Err(Problem::Character(u32::from(c))),
    }
}

/// The character that `&name;` or `&#n;` stands for; `name` without `&` and `;`.
pub(super) fn resolve(name: &str) -> Result<char, Problem> {
    let digits = |digits: &str, radix| {
        let plain = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
        let code = plain.then(|| u32::from_str_radix(digits, radix).ok()).flatten();
        let code = code.ok_or_else(|| Problem::Entity(name.chars().take(40).collect()))?;
        char::from_u32(code).filter(|c| allowed(*c)).ok_or(Problem::Character(code))
    };
    match name {
        "amp" => Ok('&'),
        "lt" => Ok('<'),
        "gt" => Ok('>'),
        "apos" => Ok('\''),
        "quot" => Ok('"'),
        _ => match (name.strip_prefix("#x"), name.strip_prefix('#')) {
            (Some(hex), _) => digits(hex, 16),
            (None, Some(decimal)) => digits(decimal, 10),
            (None, None) => Err(Problem::Entity(name.chars().take(40).collect())),
        },
    }
}

/// Attribute value normalisation (XML 1.0 §3.3.3): literal white space is a blank, references keep their character.
pub(crate) fn attribute_value(raw: &str) -> Result<String, Problem> {
    let raw = checked(raw)?;
    let mut value = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find(['&', '\t', '\n', '<']) {
        value.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'<' => return Err(Problem::Markup("`<` in an attribute value".to_owned())),
            b'&' => {
                let end = rest[at..].find(';').ok_or_else(|| Problem::Markup("`&` without `;`".to_owned()))?;
                value.push(resolve(&rest[at + 1..at + end])?);
                rest = &rest[at + end + 1..];
            }
            _ => {
                value.push(' ');
                rest = &rest[at + 1..];
            }
        }
    }
    value.push_str(rest);
    Ok(value)
}

#[cfg(test)]
mod tests;
