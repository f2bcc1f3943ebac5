//! Exclusive C14N without comments of a whole document that arrives in pieces, in constant memory.
//!
//! Attachments of an XML type are digested in this form (WS-032), whatever their size. Character data is split here,
//! in pieces as they come; quick-xml sees single tags only, for it would hold a whole text node. One tag is bounded,
//! and so are depth and names. What [`super::Document::parse`] refuses is refused here too.

use std::sync::Arc;

use quick_xml::events::BytesStart;

use super::c14n::{Output, Written, Written4};
use super::limits::Limits;
use super::names;
use super::read::{self, Problem};

mod scan;
#[cfg(test)]
mod tests;

pub(crate) use scan::Scanner;

/// Octets of one tag or processing instruction.
pub const TAG_LIMIT: usize = 1 << 20;

/// Bounds of a canonicalised attachment; its nodes are not counted, for none are kept.
pub const LIMITS: Limits = Limits { depth: 512, nodes: usize::MAX, attributes: 512, name: 4096 };

/// Namespace declarations in scope at once: each name is looked up among them.
const DECLARATIONS: usize = 512;

/// Why an attachment has no canonical form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("octet {offset}: {problem}")]
pub struct StreamError {
    /// What is wrong.
    pub problem: Problem,
    /// How many octets had been read.
    pub offset: u64,
}

/// The push canonicaliser: give it the document in pieces, it gives the canonical form to a sink.
pub struct StreamCanonicalizer {
    scanner: Scanner,
    tree: Tree,
    offset: u64,
}

impl Default for StreamCanonicalizer {
    fn default() -> Self {
        Self::new(LIMITS)
    }
}

impl StreamCanonicalizer {
    /// A canonicaliser within the given bounds.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { scanner: Scanner::new(), tree: Tree::new(limits), offset: 0 }
    }

    /// Takes the next octets.
    ///
    /// # Errors
    /// When the document is not namespace-well-formed, has a DTD, is not UTF-8, or exceeds a bound. Nothing more can
    /// be pushed afterwards.
    pub fn push(&mut self, octets: &[u8], sink: &mut impl FnMut(&[u8])) -> Result<(), StreamError> {
        self.offset += octets.len() as u64;
        let mut out = Output { buffer: std::mem::take(&mut self.tree.buffer), sink };
        let outcome = self.scanner.push(octets, &mut |token| self.tree.token(token, &mut out));
        out.flush();
        self.tree.buffer = out.buffer;
        outcome.map_err(|problem| StreamError { problem, offset: self.offset })
    }

    /// Ends the document.
    ///
    /// # Errors
    /// When it ends inside an element or markup, or had no root.
    pub fn finish(self) -> Result<(), StreamError> {
        let outcome = self.scanner.finish().and_then(|()| self.tree.finish());
        outcome.map_err(|problem| StreamError { problem, offset: self.offset })
    }
}

/// What the scanner found.
#[derive(Clone, Copy)]
pub(crate) enum Token<'a> {
    /// A piece of character data, references resolved, line ends normalised.
    Text(&'a str),
    /// What a reference stands for: never white space between markup, never part of `]]>`.
    Character(char),
    /// A piece of a CDATA section, maybe empty.
    Cdata(&'a str),
    /// A start tag's name and attributes, and whether it is empty.
    Start(&'a str, bool),
    /// An end tag's name.
    End(&'a str),
    /// A comment begins; what it says has no place in the canonical form.
    Comment,
    /// A processing instruction between `<?` and `?>`.
    Instruction(&'a str),
}

/// Prefix, local name, normalised value.
type RawAttribute = (Box<str>, Box<str>, String);

struct Open {
    prefix: Box<str>,
    local: Box<str>,
    mark: usize,
}

/// The open elements and what is declared in them.
struct Tree {
    limits: Limits,
    buffer: Vec<u8>,
    open: Vec<Open>,
    scope: Vec<(Arc<str>, Arc<str>)>,
    written: Written<Arc<str>>,
    empty: Arc<str>,
    /// Something, even the declaration, has been read.
    begun: bool,
    root_seen: bool,
}

impl Tree {
    fn new(limits: Limits) -> Self {
        let empty: Arc<str> = Arc::from("");
        let scope = vec![(Arc::from("xml"), Arc::from(names::XML))];
        Self {
            limits,
            buffer: Vec::new(),
            open: Vec::new(),
            scope,
            written: Written::new(),
            empty,
            begun: false,
            root_seen: false,
        }
    }

    fn token<F: FnMut(&[u8])>(&mut self, token: Token<'_>, out: &mut Output<'_, F>) -> Result<(), Problem> {
        let first = !std::mem::replace(&mut self.begun, true);
        let outside = self.open.is_empty();
        match token {
            Token::Text(text) if outside => {
                let blank = text.bytes().all(|b| matches!(b, b' ' | b'\t' | b'\n'));
                if blank { Ok(()) } else { Err(Problem::TextOutside) }
            }
            Token::Comment => Ok(()),
            Token::Character(_) | Token::Cdata(_) if outside => Err(Problem::TextOutside),
            Token::Text(text) | Token::Cdata(text) => {
                out.text(read::checked(text)?);
                Ok(())
            }
            Token::Character(c) => {
                out.text(c.encode_utf8(&mut [0; 4]));
                Ok(())
            }
            Token::Start(content, empty) => self.start(content, empty, out),
            Token::End(name) => self.end(name, out),
            Token::Instruction(content) => self.instruction(content, first, out),
        }
    }

    fn finish(&self) -> Result<(), Problem> {
        if !self.open.is_empty() {
            return Err(Problem::Root("the document ends inside an element"));
        }
        if self.root_seen { Ok(()) } else { Err(Problem::Root("there is no root element")) }
    }

    fn instruction<F: FnMut(&[u8])>(
        &mut self,
        content: &str,
        first: bool,
        out: &mut Output<'_, F>,
    ) -> Result<(), Problem> {
        let (target, data) = match content.find([' ', '\t', '\n']) {
            Some(at) => (&content[..at], content[at..].trim_start_matches([' ', '\t', '\n'])),
            None => (content, ""),
        };
        if target == "xml" {
            return if first { declaration(data) } else { Err(markup("an XML declaration inside the document")) };
        }
        let target = read::name(target, &self.limits)?;
        if target.eq_ignore_ascii_case("xml") || target.contains(':') {
            return Err(Problem::Name(target.to_owned()));
        }
        let data = read::checked(data)?;
        if self.open.is_empty() {
            out.instruction_beside_root(target, data, self.root_seen);
        } else {
            out.instruction(target, data);
        }
        Ok(())
    }

    fn end<F: FnMut(&[u8])>(&mut self, name: &str, out: &mut Output<'_, F>) -> Result<(), Problem> {
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        match self.open.pop() {
            Some(open) if *open.prefix == *prefix && *open.local == *local => {
                out.end(prefix, local);
                self.written.leave();
                self.scope.truncate(open.mark);
                Ok(())
            }
            _ => Err(markup("an end tag without its start tag")),
        }
    }

    fn start<F: FnMut(&[u8])>(&mut self, content: &str, empty: bool, out: &mut Output<'_, F>) -> Result<(), Problem> {
        if self.open.is_empty() && std::mem::replace(&mut self.root_seen, true) {
            return Err(Problem::Root("there are two root elements"));
        }
        if self.open.len() >= self.limits.depth {
            return Err(Problem::TooDeep(self.limits.depth));
        }
        let mark = self.scope.len();
        let length = content.find([' ', '\t', '\n']).unwrap_or(content.len());
        let (prefix, local) = read::qualified(&content[..length], &self.limits)?;
        let raw = self.attributes(&BytesStart::from_content(content, length))?;
        let namespace = self.resolve(prefix, true)?;
        let mut used = vec![(Arc::from(prefix), namespace)];
        let mut namespaces: Vec<Arc<str>> = Vec::with_capacity(raw.len());
        for (prefix, _, _) in &raw {
            let namespace = self.resolve(prefix, false)?;
            if !prefix.is_empty() {
                used.push((Arc::from(&**prefix), Arc::clone(&namespace)));
            }
            namespaces.push(namespace);
        }
        let mut attributes: Vec<Written4<'_>> =
            raw.iter().zip(&namespaces).map(|((p, l, v), n)| (&**n, &**p, &**l, v.as_str())).collect();
        unique(&mut attributes)?;
        out.start(prefix, local, self.written.enter(used.into_iter()), &mut attributes);
        let open = Open { prefix: prefix.into(), local: local.into(), mark };
        self.open.push(open);
        if empty { self.end(&content[..length], out) } else { Ok(()) }
    }

    /// Brings a tag's declarations into scope and gives its other attributes: prefix, local name, value.
    fn attributes(&mut self, tag: &BytesStart<'_>) -> Result<Vec<RawAttribute>, Problem> {
        let mut others = Vec::new();
        for (count, attribute) in tag.attributes().enumerate() {
            let attribute = attribute.map_err(|e| Problem::Markup(e.to_string()))?;
            if count >= self.limits.attributes {
                return Err(Problem::TooManyAttributes(self.limits.attributes));
            }
            let (prefix, local) = read::qualified(attribute.key.into_inner(), &self.limits)?;
            let value = read::attribute_value(&attribute.value)?;
            let declared = match (prefix, local) {
                ("", "xmlns") => "",
                ("xmlns", declared) => declared,
                _ => {
                    others.push((prefix.into(), local.into(), value));
                    continue;
                }
            };
            if !read::declaration_allowed(declared, &value) {
                return Err(Problem::Declaration(declared.to_owned()));
            }
            if self.scope.len() > DECLARATIONS {
                return Err(Problem::Markup(format!("more than {DECLARATIONS} namespace declarations in scope")));
            }
            self.scope.push((Arc::from(declared), Arc::from(value)));
        }
        Ok(others)
    }

    fn resolve(&self, prefix: &str, element: bool) -> Result<Arc<str>, Problem> {
        if prefix.is_empty() && !element {
            return Ok(Arc::clone(&self.empty));
        }
        match self.scope.iter().rev().find(|(p, _)| **p == *prefix) {
            Some((_, name)) => Ok(Arc::clone(name)),
            None if prefix.is_empty() => Ok(Arc::clone(&self.empty)),
            None => Err(Problem::UnboundPrefix(prefix.to_owned())),
        }
    }
}

/// Refuses two attributes of one expanded name; leaves them in canonical order.
fn unique(attributes: &mut [Written4<'_>]) -> Result<(), Problem> {
    attributes.sort_unstable_by(|a, b| (a.0, a.2).cmp(&(b.0, b.2)));
    match attributes.windows(2).find(|pair| pair[0].0 == pair[1].0 && pair[0].2 == pair[1].2) {
        Some(pair) => Err(Problem::RepeatedAttribute(pair[0].2.to_owned())),
        None => Ok(()),
    }
}

/// Looks at the encoding that an XML declaration names: what is not UTF-8 is refused, never guessed.
fn declaration(data: &str) -> Result<(), Problem> {
    let Some(at) = data.find("encoding") else { return Ok(()) };
    let value = data[at + "encoding".len()..].trim_start_matches([' ', '\t', '\n', '=', '"', '\'']);
    let name = value.split(['"', '\'', ' ']).next().unwrap_or_default();
    if name.eq_ignore_ascii_case("utf-8") || name.eq_ignore_ascii_case("us-ascii") {
        return Ok(());
    }
    Err(Problem::Markup(format!("the encoding `{}` is not UTF-8", name.chars().take(40).collect::<String>())))
}

fn markup(what: &str) -> Problem {
    Problem::Markup(what.to_owned())
}
