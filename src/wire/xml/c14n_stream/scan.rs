//! Octets to tokens: UTF-8 and line ends across pieces, and where markup begins and ends.

use super::super::read::{self, Problem};
use super::{TAG_LIMIT, Token, markup};

/// Octets of one reference between `&` and `;`.
const REFERENCE_LIMIT: usize = 64;

enum State {
    /// Character data; how many `]` stand at its end (two at most).
    Text(u8),
    /// Behind `&`.
    Reference,
    /// Behind `<`, up to its end; the quote that is open, and whether one has just been closed.
    Markup(Option<u8>, bool),
    /// In a comment; how many `-` stand at its end.
    Comment(u8),
    /// In a CDATA section; how many `]` stand at its end (two at most), which are still held back.
    Cdata(u8),
}

/// Splits a document that arrives in pieces into tokens.
pub(crate) struct Scanner {
    state: State,
    /// Markup or reference so far.
    held: Vec<u8>,
    /// The start of a character that a piece cut.
    cut: Vec<u8>,
    after_return: bool,
    begun: bool,
}

type Emit<'e> = dyn FnMut(Token<'_>) -> Result<(), Problem> + 'e;

impl Scanner {
    pub(crate) fn new() -> Self {
        Self { state: State::Text(0), held: Vec::new(), cut: Vec::new(), after_return: false, begun: false }
    }

    pub(crate) fn push(&mut self, octets: &[u8], emit: &mut Emit<'_>) -> Result<(), Problem> {
        if self.cut.is_empty() {
            return self.whole(octets, emit);
        }
        let mut octets = octets;
        while let Some((first, rest)) = octets.split_first() {
            self.cut.push(*first);
            octets = rest;
            let joined = std::mem::take(&mut self.cut);
            self.whole(&joined, emit)?;
            if self.cut.is_empty() {
                return self.whole(octets, emit);
            }
        }
        Ok(())
    }

    pub(crate) fn finish(&self) -> Result<(), Problem> {
        if !self.cut.is_empty() {
            return Err(markup("the document ends inside a character"));
        }
        if matches!(self.state, State::Text(_)) { Ok(()) } else { Err(markup("the document ends inside markup")) }
    }

    /// Checks UTF-8, keeps a cut character for later, drops the byte order mark.
    fn whole(&mut self, octets: &[u8], emit: &mut Emit<'_>) -> Result<(), Problem> {
        let text = match std::str::from_utf8(octets) {
            Ok(text) => text,
            Err(error) => {
                let (good, rest) = octets.split_at(error.valid_up_to());
                if error.error_len().is_some() {
                    return Err(not_utf8(octets, self.begun));
                }
                self.cut.extend_from_slice(rest);
                std::str::from_utf8(good).unwrap_or_default()
            }
        };
        let Some(first) = text.chars().next() else { return Ok(()) };
        let text = if !std::mem::replace(&mut self.begun, true) && first == '\u{FEFF}' {
            &text['\u{FEFF}'.len_utf8()..]
        } else {
            text
        };
        self.line_ends(text, emit)
    }

    /// XML 1.0 §2.11: CR LF and CR are LF, also where a piece ends between them.
    fn line_ends(&mut self, text: &str, emit: &mut Emit<'_>) -> Result<(), Problem> {
        let mut rest = text;
        if std::mem::take(&mut self.after_return) {
            rest = rest.strip_prefix('\n').unwrap_or(rest);
        }
        while let Some(at) = memchr::memchr(b'\r', rest.as_bytes()) {
            self.scan(&rest[..at], emit)?;
            self.scan("\n", emit)?;
            rest = &rest[at + 1..];
            if rest.is_empty() {
                self.after_return = true;
            }
            rest = rest.strip_prefix('\n').unwrap_or(rest);
        }
        self.scan(rest, emit)
    }

    fn scan(&mut self, text: &str, emit: &mut Emit<'_>) -> Result<(), Problem> {
        let mut rest = text;
        while !rest.is_empty() {
            let used = match self.state {
                State::Text(brackets) => self.text(rest, brackets, emit)?,
                State::Reference => self.reference(rest, emit)?,
                State::Markup(quote, closed) => self.markup(rest, quote, closed, emit)?,
                State::Comment(dashes) => self.comment(rest, dashes)?,
                State::Cdata(brackets) => self.cdata(rest, brackets, emit)?,
            };
            rest = &rest[used..];
        }
        Ok(())
    }

    fn text(&mut self, rest: &str, brackets: u8, emit: &mut Emit<'_>) -> Result<usize, Problem> {
        let end = memchr::memchr2(b'<', b'&', rest.as_bytes()).unwrap_or(rest.len());
        let piece = &rest[..end];
        if !piece.is_empty() {
            self.state = State::Text(closing(piece, brackets)?);
            emit(Token::Text(piece))?;
        }
        match rest.as_bytes().get(end) {
            None => Ok(end),
            Some(b'&') => {
                self.state = State::Reference;
                Ok(end + 1)
            }
            Some(_) => {
                self.state = State::Markup(None, false);
                Ok(end + 1)
            }
        }
    }

    fn reference(&mut self, rest: &str, emit: &mut Emit<'_>) -> Result<usize, Problem> {
        let Some(end) = memchr::memchr(b';', rest.as_bytes()) else {
            self.hold(rest, REFERENCE_LIMIT)?;
            return Ok(rest.len());
        };
        self.hold(&rest[..end], REFERENCE_LIMIT)?;
        let held = std::mem::take(&mut self.held);
        let name = std::str::from_utf8(&held).unwrap_or_default();
        self.state = State::Text(0);
        emit(Token::Character(read::resolve(name)?))?;
        Ok(end + 1)
    }

    fn hold(&mut self, piece: &str, limit: usize) -> Result<(), Problem> {
        if self.held.len() + piece.len() > limit {
            let kind = if limit == REFERENCE_LIMIT { "a reference" } else { "a tag" };
            return Err(Problem::Markup(format!("{kind} of more than {limit} octets")));
        }
        self.held.extend_from_slice(piece.as_bytes());
        Ok(())
    }

    /// Gathers one tag or instruction; comments and CDATA sections go their own ways as soon as they show.
    fn markup(&mut self, rest: &str, quote: Option<u8>, closed: bool, emit: &mut Emit<'_>) -> Result<usize, Problem> {
        let octets = rest.as_bytes();
        if self.held.len() < 8 && (self.held.is_empty() || self.held[0] == b'!') {
            return self.opening(rest, emit);
        }
        if self.held[0] == b'?' {
            let end = memchr::memchr(b'>', octets).map_or(rest.len(), |at| at + 1);
            self.hold(&rest[..end], TAG_LIMIT)?;
            if self.held.len() >= 3 && self.held.ends_with(b"?>") {
                return self.complete(end, emit);
            }
            return Ok(end);
        }
        if let Some(open) = quote {
            let end = memchr::memchr(open, octets).map_or(rest.len(), |at| at + 1);
            self.hold(&rest[..end], TAG_LIMIT)?;
            if self.held.last() == Some(&open) && end > 0 && octets[end - 1] == open {
                self.state = State::Markup(None, true);
            }
            return Ok(end);
        }
        if closed && !matches!(octets[0], b' ' | b'\t' | b'\n' | b'>' | b'/') {
            return Err(markup("no white space between two attributes"));
        }
        let at = memchr::memchr3(b'>', b'"', b'\'', octets);
        let end = at.map_or(rest.len(), |at| at + 1);
        self.hold(&rest[..end], TAG_LIMIT)?;
        match at.map(|at| octets[at]) {
            Some(b'>') => return self.complete(end, emit),
            Some(quote) => self.state = State::Markup(Some(quote), false),
            None => self.state = State::Markup(None, false),
        }
        Ok(end)
    }

    /// The first octets behind `<`: one at a time, until they tell what it is.
    fn opening(&mut self, rest: &str, emit: &mut Emit<'_>) -> Result<usize, Problem> {
        const CDATA: &[u8] = b"![CDATA[";
        let Some(first) = rest.chars().next() else { return Ok(0) };
        let size = first.len_utf8();
        self.hold(&rest[..size], TAG_LIMIT)?;
        if self.held == b"!--" {
            self.held.clear();
            self.state = State::Comment(0);
            emit(Token::Comment)?;
        } else if self.held == CDATA {
            self.held.clear();
            self.state = State::Cdata(0);
        } else if self.held[0] == b'!' && !(b"!--".starts_with(&self.held) || CDATA.starts_with(&self.held)) {
            return Err(if self.held.starts_with(b"!D") { Problem::Dtd } else { markup("unknown markup after `<!`") });
        } else if first == '>' {
            return Err(markup("an empty tag"));
        }
        Ok(size)
    }

    fn complete(&mut self, used: usize, emit: &mut Emit<'_>) -> Result<usize, Problem> {
        let held = std::mem::take(&mut self.held);
        self.state = State::Text(0);
        let text = std::str::from_utf8(&held).map_err(|_| markup("a tag cut inside a character"))?;
        let content = &text[..text.len() - 1];
        if let Some(instruction) = content.strip_prefix('?') {
            emit(Token::Instruction(&instruction[..instruction.len() - 1]))?;
        } else if let Some(name) = content.strip_prefix('/') {
            emit(Token::End(name.trim_end_matches([' ', '\t', '\n'])))?;
        } else {
            let (content, empty) = content.strip_suffix('/').map_or((content, false), |content| (content, true));
            emit(Token::Start(content, empty))?;
        }
        self.held = held;
        self.held.clear();
        self.held.shrink_to(4096);
        Ok(used)
    }

    fn comment(&mut self, rest: &str, dashes: u8) -> Result<usize, Problem> {
        let octets = rest.as_bytes();
        if dashes == 2 {
            if octets[0] != b'>' {
                return Err(markup("`--` in a comment"));
            }
            self.state = State::Text(0);
            return Ok(1);
        }
        if octets[0] == b'-' {
            self.state = State::Comment(dashes + 1);
            return Ok(1);
        }
        let end = memchr::memchr(b'-', octets).unwrap_or(rest.len());
        read::checked(&rest[..end])?;
        self.state = State::Comment(0);
        Ok(end)
    }

    fn cdata(&mut self, rest: &str, brackets: u8, emit: &mut Emit<'_>) -> Result<usize, Problem> {
        match (rest.as_bytes()[0], brackets) {
            (b'>', 2) => {
                self.state = State::Text(0);
                emit(Token::Cdata(""))?;
                Ok(1)
            }
            (b']', 2) => {
                emit(Token::Cdata("]"))?;
                Ok(1)
            }
            (b']', held) => {
                self.state = State::Cdata(held + 1);
                Ok(1)
            }
            (_, held) => {
                let end = memchr::memchr(b']', rest.as_bytes()).unwrap_or(rest.len());
                emit(Token::Cdata(&"]]"[..usize::from(held.min(2))]))?;
                self.state = State::Cdata(0);
                emit(Token::Cdata(&rest[..end]))?;
                Ok(end)
            }
        }
    }
}

/// How many `]` stand at the end of a piece of character data; `]]>` must not occur in it (XML 1.0 §2.4).
fn closing(piece: &str, before: u8) -> Result<u8, Problem> {
    let octets = piece.as_bytes();
    let leading = octets.iter().take_while(|b| **b == b']').count();
    let across = usize::from(before) + leading >= 2 && octets.get(leading) == Some(&b'>');
    if across || memchr::memmem::find(octets, b"]]>").is_some() {
        return Err(markup("`]]>` in character data"));
    }
    let trailing = octets.iter().rev().take_while(|b| **b == b']').count();
    let all = if trailing == octets.len() { trailing + usize::from(before) } else { trailing };
    Ok(u8::try_from(all.min(2)).unwrap_or(2))
}

fn not_utf8(octets: &[u8], begun: bool) -> Problem {
    let utf16 = !begun && (octets.starts_with(&[0xFE, 0xFF]) || octets.starts_with(&[0xFF, 0xFE]));
    markup(if utf16 { "UTF-16 is not accepted here; only UTF-8 is" } else { "it is not UTF-8" })
}

#[cfg(test)]
impl Scanner {
    /// Octets held between pieces.
    pub(super) fn footprint(&self) -> usize {
        self.held.capacity() + self.cut.capacity()
    }
}
