//! XML documents that arrive in pieces, of any size: the text of the few elements that are asked for, in constant memory.
//!
//! A document may stand bare or in a `StandardBusinessDocument`. Reading ends as soon as the asking one has enough.

use quick_xml::events::BytesStart;

use crate::wire::xml::c14n_stream::Token;
use crate::wire::xml::{Limits, Problem, attribute_value, checked, declaration_allowed, qualified};

use super::error::NoKey;
use super::key::token;

/// Bounds of a business document; its nodes are not counted, for none are kept.
const LIMITS: Limits = Limits { depth: 128, nodes: usize::MAX, attributes: 128, name: 256 };
/// Elements deeper than this below the document element are of no interest.
const DEEPEST: usize = 8;
/// Octets of one value.
pub(super) const VALUE: usize = 1024;
/// Namespace declarations in scope at once.
const DECLARATIONS: usize = 256;
/// Octets of a namespace name that are kept; all that we know are shorter.
const NAMESPACE: usize = 160;

const SBDH: &str = "http://www.unece.org/cefact/namespaces/StandardBusinessDocumentHeader";
/// Prefixes that paths are written with, whatever those of the document.
const PREFIXES: [(&str, &str); 6] = [
    ("sbdh", SBDH),
    ("cac", "urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2"),
    ("cbc", "urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2"),
    ("rsm", "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100"),
    ("ram", "urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100"),
    ("udt", "urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100"),
];

/// One who asks for elements. Paths stand below the document element, such as `cac:Party/cbc:EndpointID`.
pub(super) trait Asking {
    /// The document element.
    fn root(&mut self, _namespace: &str, _local: &str) -> Result<(), NoKey> {
        Ok(())
    }
    /// Whether the text of this element is asked for.
    fn wants(&self, path: &str) -> bool;
    /// That text, and the value of its `schemeID` or `format`.
    fn value(&mut self, path: &str, text: String, scheme: Option<String>) -> Result<(), NoKey>;
    /// The end of an element, the document element's path being empty; whether that is enough.
    fn end(&mut self, path: &str) -> Result<bool, NoKey>;
}

struct Open {
    name: Box<str>,
    /// Declarations in scope before it.
    scope: usize,
    /// Length of the path before it.
    path: usize,
}

struct Text {
    text: String,
    scheme: Option<String>,
}

/// Elements, as the scanner's tokens tell of them.
#[derive(Default)]
pub(super) struct Elements {
    open: Vec<Open>,
    scope: Vec<(Box<str>, Box<str>)>,
    path: String,
    /// How many elements are open around the document element, once it has begun.
    base: Option<usize>,
    text: Option<Text>,
    begun: bool,
    /// `DocumentIdentification/InstanceIdentifier` of the SBDH around the document.
    pub(super) instance: Option<String>,
}

/// What a token led to.
pub(super) enum Step {
    /// More is needed.
    On,
    /// The asking one has enough.
    Enough,
}

/// Why reading stopped: the document, or what was asked of it.
pub(super) enum Stop {
    /// It is not well-formed.
    Problem(Problem),
    /// It gives no key.
    NoKey(NoKey),
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<NoKey> for Stop {
    fn from(reason: NoKey) -> Self {
        Self::NoKey(reason)
    }
}

impl Elements {
    pub(super) fn token(&mut self, token: Token<'_>, asking: &mut impl Asking) -> Result<Step, Stop> {
        let outside = self.open.is_empty();
        match token {
            Token::Text(text) if outside => {
                let blank = text.bytes().all(|b| matches!(b, b' ' | b'\t' | b'\n'));
                if !blank {
                    return Err(Problem::TextOutside.into());
                }
            }
            Token::Character(_) | Token::Cdata(_) if outside => return Err(Problem::TextOutside.into()),
            Token::Text(text) | Token::Cdata(text) => self.text(checked(text)?)?,
            Token::Character(character) => self.text(character.encode_utf8(&mut [0; 4]))?,
            Token::Start(content, empty) => {
                self.start(content, asking)?;
                if empty {
                    return self.end(None, asking);
                }
            }
            Token::End(name) => return self.end(Some(name), asking),
            Token::Comment | Token::Instruction(_) => {}
        }
        Ok(Step::On)
    }

    /// Where reading stands, for people.
    pub(super) fn place(&self) -> String {
        match self.base {
            Some(_) if !self.path.is_empty() => format!("the end of {}", self.path),
            Some(_) => "the end of the document element".to_owned(),
            None => "the document element".to_owned(),
        }
    }

    fn text(&mut self, piece: &str) -> Result<(), NoKey> {
        let Some(Text { text, .. }) = &mut self.text else { return Ok(()) };
        if text.len() + piece.len() > VALUE {
            return Err(NoKey::element(self.path.as_str(), format!("is longer than {VALUE} octets")));
        }
        text.push_str(piece);
        Ok(())
    }

    fn start(&mut self, content: &str, asking: &mut impl Asking) -> Result<(), Stop> {
        if self.open.is_empty() && std::mem::replace(&mut self.begun, true) {
            return Err(Problem::Root("there are two root elements").into());
        }
        if self.open.len() >= LIMITS.depth {
            return Err(Problem::TooDeep(LIMITS.depth).into());
        }
        if self.text.is_some() {
            return Err(NoKey::element(self.path.as_str(), "holds elements where a value should be").into());
        }
        let length = content.find([' ', '\t', '\n']).unwrap_or(content.len());
        let name = &content[..length];
        let (scope, path) = (self.scope.len(), self.path.len());
        let scheme = self.attributes(&BytesStart::from_content(content, length))?;
        let (prefix, local) = qualified(name, &LIMITS)?;
        let namespace = self.namespace(prefix)?;
        let root = self.begins_document(namespace, local);
        if root {
            asking.root(namespace, local)?;
            self.base = Some(self.open.len());
            self.path.clear();
        } else if self.open.len() <= self.base.unwrap_or(0) + DEEPEST {
            let step = format!("{}:{local}", short(namespace));
            if !self.path.is_empty() {
                self.path.push('/');
            }
            self.path.push_str(&step);
            if self.base.map_or(self.is_instance(), |_| asking.wants(&self.path)) {
                self.text = Some(Text { text: String::new(), scheme });
            }
        }
        self.open.push(Open { name: name.into(), scope, path });
        Ok(())
    }

    /// The root, or in a `StandardBusinessDocument` what follows the header.
    fn begins_document(&self, namespace: &str, local: &str) -> bool {
        match self.open.len() {
            0 => !(namespace == SBDH && local == "StandardBusinessDocument"),
            1 => self.base.is_none() && !(namespace == SBDH && local == "StandardBusinessDocumentHeader"),
            _ => false,
        }
    }

    fn is_instance(&self) -> bool {
        self.path.ends_with("sbdh:DocumentIdentification/sbdh:InstanceIdentifier")
    }

    fn end(&mut self, name: Option<&str>, asking: &mut impl Asking) -> Result<Step, Stop> {
        let open = self.open.pop().filter(|open| name.is_none_or(|name| *open.name == *name));
        let open = open.ok_or_else(|| Problem::Markup("an end tag without its start tag".to_owned()))?;
        self.scope.truncate(open.scope);
        let inside = self.base.is_some_and(|base| self.open.len() >= base);
        if let Some(Text { text, scheme }) = self.text.take() {
            if inside {
                asking.value(&self.path, token(&text), scheme)?;
            } else {
                self.instance.get_or_insert(token(&text));
            }
        }
        // What is too deep has no path of its own.
        let shown = self.path.len() > open.path || self.base == Some(self.open.len());
        let enough = inside && shown && asking.end(&self.path)?;
        self.path.truncate(open.path);
        if self.open.is_empty() && self.base.is_none() {
            return Err(NoKey::element("sbdh:StandardBusinessDocument", "holds no document").into());
        }
        Ok(if enough { Step::Enough } else { Step::On })
    }

    /// Brings declarations into scope, and gives the value of `schemeID` or `format`.
    fn attributes(&mut self, tag: &BytesStart<'_>) -> Result<Option<String>, Problem> {
        let mut scheme = None;
        for (count, attribute) in tag.attributes().enumerate() {
            let attribute = attribute.map_err(|e| Problem::Markup(e.to_string()))?;
            if count >= LIMITS.attributes {
                return Err(Problem::TooManyAttributes(LIMITS.attributes));
            }
            let (prefix, local) = qualified(attribute.key.into_inner(), &LIMITS)?;
            let declared = match (prefix, local) {
                ("", "xmlns") => "",
                ("xmlns", declared) => declared,
                ("", "schemeID" | "format") => {
                    let value = token(&attribute_value(&attribute.value)?);
                    scheme = Some(value).filter(|value| !value.is_empty() && value.len() <= VALUE);
                    continue;
                }
                _ => continue,
            };
            let value = attribute_value(&attribute.value)?;
            if !declaration_allowed(declared, &value) {
                return Err(Problem::Declaration(declared.to_owned()));
            }
            if self.scope.len() >= DECLARATIONS {
                return Err(Problem::Markup(format!("more than {DECLARATIONS} namespace declarations in scope")));
            }
            let kept: String = value.chars().take(NAMESPACE).collect();
            self.scope.push((declared.into(), kept.into()));
        }
        Ok(scheme)
    }

    fn namespace(&self, prefix: &str) -> Result<&str, Problem> {
        match self.scope.iter().rev().find(|(declared, _)| **declared == *prefix) {
            Some((_, name)) => Ok(name),
            None if prefix.is_empty() => Ok(""),
            None => Err(Problem::UnboundPrefix(prefix.to_owned())),
        }
    }
}

fn short(namespace: &str) -> &'static str {
    PREFIXES.iter().find(|(_, name)| *name == namespace).map_or("?", |(prefix, _)| prefix)
}
