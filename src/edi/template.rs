//! Keys for sending, out of a template such as `send-{invoice}-to-{partner}`, and the form of OUT-05.
//!
//! A key holds `A-Z a-z 0-9 . _ -` and at most 120 characters. Other octets of a value's UTF-8 are `_XX`, `_` itself too
//! (`%` is not in the set). A `-` of a value stays, unless the value holds what follows it in the template: then all its
//! `-` are `_2D`. So what belongs to which placeholder can always be told, and two lists of values never give one key.
//! A key that is too long ends in `__` and 128 bits of the SHA-256 of the whole, which no short key does.

use super::key::{escape, shortened};

/// Characters of a key for sending (OUT-05).
const LONGEST: usize = 120;

/// What a placeholder stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placeholder {
    /// `{invoice}`, `{number}`: the document number.
    Number,
    /// `{type}`: the document type code (380, 381, 810 …).
    Type,
    /// `{function}`: message function or purpose (1225, BEG01 …).
    Function,
    /// `{seller}`, `{issuer}`: who gave the number.
    Issuer,
    /// `{date}`: the issue date.
    Date,
    /// `{partner}`: to whom the document is sent.
    Partner,
    /// `{control}`: the interchange control reference.
    Control,
}

const NAMES: [(&str, Placeholder); 9] = [
    ("invoice", Placeholder::Number),
    ("number", Placeholder::Number),
    ("type", Placeholder::Type),
    ("function", Placeholder::Function),
    ("seller", Placeholder::Issuer),
    ("issuer", Placeholder::Issuer),
    ("date", Placeholder::Date),
    ("partner", Placeholder::Partner),
    ("control", Placeholder::Control),
];

impl Placeholder {
    /// Its first name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, placeholder)| *placeholder == self).map_or("", |(name, _)| name)
    }
}

/// What is wrong with a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// A name in braces that stands for nothing.
    #[error("the template has no placeholder `{{{name}}}`; did you mean `{{{nearest}}}`?")]
    Unknown {
        /// As written.
        name: String,
        /// The nearest name there is.
        nearest: &'static str,
    },
    /// Braces that do not pair.
    #[error("the template has a brace without its pair at character {0}")]
    Brace(usize),
    /// A character that no key may hold.
    #[error("the template holds `{character}` at character {at}; a key holds letters, digits, `.`, `_` and `-`")]
    Character {
        /// The character.
        character: char,
        /// Its place, from 1.
        at: usize,
    },
    /// Values that run into each other: `{invoice}{partner}` is the same for 1, 23 and 12, 3.
    #[error("between `{{{before}}}` and `{{{after}}}` the template needs a `-`, or their values run into each other")]
    RunTogether {
        /// The placeholder before.
        before: &'static str,
        /// The placeholder after.
        after: &'static str,
    },
    /// All documents would have the same key.
    #[error("the template needs `{{invoice}}`, `{{number}}` or `{{control}}`: without, all documents get one key")]
    Constant,
}

/// A value that a document, or its sender, does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the key template asks for `{{{0}}}`, which the document does not have")]
pub struct MissingValue(pub &'static str);

/// A template that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    before: String,
    /// Each placeholder with the text after it.
    rest: Vec<(Placeholder, String)>,
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// With a placeholder or character that is unknown, or when two documents could get one key.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut template = Self { before: String::new(), rest: Vec::new() };
        let mut rest = text;
        while !rest.is_empty() {
            let (literal, markup) = rest.split_at(rest.find(|c| !plain(c)).unwrap_or(rest.len()));
            template.rest.last_mut().map_or(&mut template.before, |(_, after)| after).push_str(literal);
            let Some(character) = markup.chars().next() else { break };
            let at = || text[..text.len() - markup.len()].chars().count() + 1;
            let Some(named) = markup.strip_prefix('{') else {
                let character = TemplateError::Character { character, at: at() };
                return Err(if markup.starts_with('}') { TemplateError::Brace(at()) } else { character });
            };
            let (name, after) = named.split_once('}').ok_or_else(|| TemplateError::Brace(at()))?;
            template.rest.push((known(name)?, String::new()));
            rest = after;
        }
        template.tells_apart()?;
        Ok(template)
    }

    fn tells_apart(&self) -> Result<(), TemplateError> {
        for pair in self.rest.windows(2) {
            if let [(before, literal), (after, _)] = pair
                && !literal.contains('-')
            {
                return Err(TemplateError::RunTogether { before: before.name(), after: after.name() });
            }
        }
        let tells = self.rest.iter().any(|(p, _)| matches!(p, Placeholder::Number | Placeholder::Control));
        if tells { Ok(()) } else { Err(TemplateError::Constant) }
    }

    /// The key of a document, whose values `value` gives.
    ///
    /// # Errors
    /// When a value is missing or empty.
    pub fn fill<'v>(&self, value: impl Fn(Placeholder) -> Option<&'v str>) -> Result<String, MissingValue> {
        let mut key = self.before.clone();
        for (placeholder, after) in &self.rest {
            let value =
                value(*placeholder).filter(|value| !value.is_empty()).ok_or(MissingValue(placeholder.name()))?;
            push(value, after, &mut key);
        }
        Ok(shortened(key, LONGEST, "__", 16))
    }
}

/// The key of OUT-05, `{doctype}-{number}-v{revision}[-to-{partner}]`, such as `EDI-INV-2026-0001234-v1`. A document type
/// may begin with `EDI-`.
///
/// # Errors
/// When a value is empty.
pub fn revision_key(doctype: &str, number: &str, revision: u32, partner: Option<&str>) -> Result<String, MissingValue> {
    let (mut key, name) = match doctype.strip_prefix("EDI-") {
        Some(name) => ("EDI-".to_owned(), name),
        // `EDI` alone is no prefix: EDI, INV-1 is not EDI-INV, 1.
        None if doctype == "EDI" => ("_45".to_owned(), "DI"),
        None => (String::new(), doctype),
    };
    for (what, value) in [("doctype", Some(name)), ("number", Some(number)), ("partner", partner)] {
        if value.is_some_and(str::is_empty) {
            return Err(MissingValue(what));
        }
    }
    push(name, "-", &mut key);
    push(number, "-v", &mut key);
    key.push_str(&revision.to_string());
    if let Some(partner) = partner {
        key.push_str("-to-");
        push(partner, "", &mut key);
    }
    Ok(shortened(key, LONGEST, "__", 16))
}

fn plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-')
}

/// A value and what follows it; its `-` are escaped when the end of the value could be taken for an earlier one.
fn push(value: &str, after: &str, key: &mut String) {
    let mut escaped = String::new();
    escape(value, '_', |b| matches!(b, b'.' | b'-'), &mut escaped);
    let end = escaped.len();
    escaped.push_str(after);
    if !after.is_empty() && escaped.find(after) != Some(end) {
        escaped.clear();
        escape(value, '_', |b| b == b'.', &mut escaped);
        escaped.push_str(after);
    }
    key.push_str(&escaped);
}

fn known(name: &str) -> Result<Placeholder, TemplateError> {
    if let Some((_, placeholder)) = NAMES.iter().find(|(known, _)| *known == name) {
        return Ok(*placeholder);
    }
    let folded: String = name.chars().take(40).collect::<String>().to_lowercase();
    let nearest = NAMES.iter().map(|(known, _)| (strsim::damerau_levenshtein(&folded, known), *known)).min();
    Err(TemplateError::Unknown { name: name.chars().take(40).collect(), nearest: nearest.map_or("", |(_, name)| name) })
}
