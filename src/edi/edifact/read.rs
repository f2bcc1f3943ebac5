//! Segments of an EDIFACT interchange to its messages, and the checks of what `UNT` and `UNZ` say.

use super::super::charset::Charset;
use super::super::error::{NoKey, excerpt};
use super::super::key::{date, token};
use super::super::sbdh::Typed;
use super::super::segments::{Segment, Segments, Separators, VALUE};
use super::{Interchange, Message, Uci, UciPart};

/// Messages of one interchange.
const MESSAGES: usize = 10_000;
/// `RFF`, `ERC`, `UCM` and `UCF` of one interchange.
const ENTRIES: usize = 10_000;

/// Reads one interchange that arrives in pieces.
pub(in crate::edi) struct Reading {
    segments: Segments,
    body: Body,
}

#[derive(Default)]
struct Body {
    charset: Charset,
    interchange: Option<Interchange>,
    /// The open message, and the number of its `UNH`.
    message: Option<(Message, usize)>,
    /// 0048 of the open group, and how many messages stood before it.
    group: Option<(String, usize)>,
    groups: usize,
    entries: usize,
    ended: bool,
}

impl Reading {
    /// Begins with the first octets, `UNA` or `UNB`; how many of them are spent.
    pub(in crate::edi) fn new(head: &[u8]) -> Result<(Self, usize), NoKey> {
        let (separators, spent) = separators(head)?;
        Ok((Self { segments: Segments::new(separators), body: Body::default() }, spent))
    }

    pub(in crate::edi) fn push(&mut self, octets: &[u8]) -> Result<(), NoKey> {
        let body = &mut self.body;
        self.segments.push(octets, &mut |segment| body.segment(segment))
    }

    pub(in crate::edi) fn finish(self, octets: u64) -> Result<Interchange, NoKey> {
        self.segments.whole(self.body.interchange, self.body.ended, "UNZ", octets)
    }
}

/// Those of `UNA`, else of syntax level B when `UNB` is written with them, else of level A (ISO 9735 §4).
fn separators(head: &[u8]) -> Result<(Separators, usize), NoKey> {
    let level_a = Separators { component: b':', element: b'+', release: Some(b'?'), terminator: b'\'' };
    let level_b = Separators { component: 0x1F, element: 0x1D, release: None, terminator: 0x1C };
    let Some(advice) = head.strip_prefix(b"UNA") else {
        return Ok((if head.get(3) == Some(&0x1D) { level_b } else { level_a }, 0));
    };
    let fault = |problem| NoKey::Separators { tag: "UNA", offset: 3, problem };
    let &[component, element, _, release, _, terminator, ..] = advice else {
        let wanted = "the six characters of UNA".to_owned();
        return Err(NoKey::Early { octets: head.len() as u64, wanted });
    };
    let separators = Separators { component, element, release: Some(release).filter(|r| *r != b' '), terminator };
    separators.check().map(|separators| (separators, 9)).map_err(fault)
}

impl Body {
    fn segment(&mut self, segment: Segment<'_>) -> Result<(), NoKey> {
        let tag = segment.tag();
        if self.ended {
            return Err(segment.fault("stands after UNZ; a payload holds one interchange"));
        }
        match (tag, &self.interchange, &self.message) {
            (b"UNB", None, _) => self.unb(segment),
            (_, None, _) => Err(segment.fault("stands where UNB should be")),
            (b"UNH" | b"UNZ" | b"UNG" | b"UNE" | b"UNB", _, Some((message, _))) => {
                Err(segment.fault(format!("stands before the UNT of message {}", message.reference)))
            }
            (b"UNT", _, Some(_)) => self.unt(segment),
            (_, _, Some(_)) => self.inside(segment),
            (b"UNH", _, None) => self.unh(segment),
            (b"UNZ", _, None) => self.unz(segment),
            (b"UNG", Some(interchange), None) => {
                let began = interchange.messages.len();
                self.group(segment, Some(began))
            }
            (b"UNE", _, None) => self.group(segment, None),
            _ => Err(segment.fault("stands outside a message")),
        }
    }

    fn value(&self, segment: Segment<'_>, element: usize, component: usize) -> Result<String, NoKey> {
        value(self.charset, segment, element, component)
    }

    fn unb(&mut self, segment: Segment<'_>) -> Result<(), NoKey> {
        let syntax = self.value(segment, 1, 1)?;
        self.charset = Charset::of(&syntax).ok_or_else(|| {
            segment.fault(format!("0001 `{}` is no syntax level that is read", excerpt(syntax.as_bytes())))
        })?;
        let party = |element, name: &str| -> Result<Typed, NoKey> {
            let scheme = Some(self.value(segment, element, 2)?).filter(|qualifier| !qualifier.is_empty());
            Ok(Typed { scheme, value: filled(segment, self.value(segment, element, 1)?, name)? })
        };
        let interchange = Interchange {
            sender: party(2, "S002/0004")?,
            recipient: party(3, "S003/0010")?,
            control: filled(segment, self.value(segment, 5, 1)?, "0020")?,
            test: self.value(segment, 11, 1)? == "1",
            syntax,
            messages: Vec::new(),
        };
        self.interchange = Some(interchange);
        Ok(())
    }

    fn unh(&mut self, segment: Segment<'_>) -> Result<(), NoKey> {
        let message_type = filled(segment, self.value(segment, 2, 1)?, "S009/0065")?;
        let version: Result<Vec<_>, _> = (2..=5).map(|component| self.value(segment, 2, component)).collect();
        let message = Message {
            reference: filled(segment, self.value(segment, 1, 1)?, "0062")?,
            message_type,
            version: version?.join(".").trim_end_matches('.').to_owned(),
            ..Message::default()
        };
        self.message = Some((message, segment.number));
        Ok(())
    }

    /// A segment between `UNH` and `UNT`. Only what keys are made of is looked at.
    fn inside(&mut self, segment: Segment<'_>) -> Result<(), NoKey> {
        let Some((message, _)) = &mut self.message else { return Ok(()) };
        let value = |element, component| value(self.charset, segment, element, component);
        let entry = match (segment.tag(), message.message_type.as_str()) {
            (b"BGM", _) if message.number.is_empty() && message.code.is_empty() => {
                (message.code, message.number, message.function) = (value(1, 1)?, value(2, 1)?, value(3, 1)?);
                false
            }
            (b"DTM", _) if message.date.is_none() && value(1, 1)? == "137" => {
                message.date = date(&value(1, 2)?);
                false
            }
            (b"RFF", "APERAK") => {
                message.references.push((value(1, 1)?, value(1, 2)?));
                true
            }
            (b"ERC", "APERAK") => {
                message.errors.push(value(1, 1)?);
                true
            }
            (b"UCI" | b"UCF" | b"UCM", "CONTRL") => {
                answer(segment, message, value)?;
                true
            }
            (b"UNO", _) => return Err(segment.fault("a package of other octets (ISO 9735-8) is not read")),
            _ => false,
        };
        self.entries += usize::from(entry);
        if self.entries > ENTRIES {
            return Err(segment.fault(format!("there are more than {ENTRIES} references and answers")));
        }
        Ok(())
    }

    fn unt(&mut self, segment: Segment<'_>) -> Result<(), NoKey> {
        let (said, reference) = (self.value(segment, 1, 1)?, self.value(segment, 2, 1)?);
        let (Some((message, began)), Some(interchange)) = (self.message.take(), &mut self.interchange) else {
            return Err(segment.fault("stands outside a message"));
        };
        counted(segment, "0074", &said, segment.number - began + 1, "segments")?;
        same(segment, "0062", &reference, &message.reference)?;
        if message.message_type == "CONTRL" && message.uci.is_none() {
            return Err(segment.fault("the CONTRL has no UCI"));
        }
        if interchange.messages.len() >= MESSAGES {
            return Err(segment.fault(format!("there are more than {MESSAGES} messages")));
        }
        interchange.messages.push(message);
        Ok(())
    }

    /// `UNG`, with the number of messages before it, or `UNE`.
    fn group(&mut self, segment: Segment<'_>, began: Option<usize>) -> Result<(), NoKey> {
        match (began, self.group.take()) {
            (Some(began), None) => self.group = Some((self.value(segment, 5, 1)?, began)),
            (None, Some((reference, before))) => {
                let count = self.interchange.as_ref().map_or(0, |interchange| interchange.messages.len()) - before;
                counted(segment, "0060", &self.value(segment, 1, 1)?, count, "messages")?;
                same(segment, "0048", &self.value(segment, 2, 1)?, &reference)?;
                self.groups += 1;
            }
            (Some(_), Some(_)) => return Err(segment.fault("stands before the UNE of the group before")),
            (None, None) => return Err(segment.fault("stands outside a group")),
        }
        Ok(())
    }

    fn unz(&mut self, segment: Segment<'_>) -> Result<(), NoKey> {
        let (said, reference) = (self.value(segment, 1, 1)?, self.value(segment, 2, 1)?);
        let Some(interchange) = &self.interchange else { return Ok(()) };
        if let Some((reference, _)) = &self.group {
            return Err(segment.fault(format!("stands before the UNE of group {reference}")));
        }
        let (count, what) = match self.groups {
            0 => (interchange.messages.len(), "messages"),
            groups => (groups, "groups"),
        };
        counted(segment, "0036", &said, count, what)?;
        same(segment, "0020", &reference, &interchange.control)?;
        self.ended = true;
        Ok(())
    }
}

/// `UCI`, `UCF` or `UCM`: what is answered, and 0083. In UCM it stands behind S009, else behind S002 and S003.
fn answer(
    segment: Segment<'_>,
    message: &mut Message,
    value: impl Fn(usize, usize) -> Result<String, NoKey>,
) -> Result<(), NoKey> {
    let (name, place) = if segment.tag() == b"UCM" { ("0062", 3) } else { ("0048", 4) };
    let action = value(place, 1)?;
    let (what, action) = (value(1, 1)?, filled(segment, action, "0083")?);
    match (&mut message.uci, segment.tag() == b"UCI") {
        (Some(uci), false) => uci.parts.push(UciPart { name, reference: what, action }),
        (None, true) => message.uci = Some(Uci { control: filled(segment, what, "0020")?, action, parts: Vec::new() }),
        (Some(_), true) => return Err(segment.fault("stands twice")),
        (None, false) => return Err(segment.fault("stands before UCI")),
    }
    Ok(())
}

fn value(charset: Charset, segment: Segment<'_>, element: usize, component: usize) -> Result<String, NoKey> {
    let octets = segment.octets(element, component);
    if octets.len() > VALUE {
        return Err(segment.fault(format!("element {element} is longer than {VALUE} octets")));
    }
    let not_in_it = || format!("element {element} holds `{}`, which 0001 does not allow", excerpt(&octets));
    charset.decode(&octets).map(|text| token(&text)).ok_or_else(|| segment.fault(not_in_it()))
}

pub(in crate::edi) fn filled(segment: Segment<'_>, value: String, name: &str) -> Result<String, NoKey> {
    if value.is_empty() { Err(segment.fault(format!("{name} is missing"))) } else { Ok(value) }
}

pub(in crate::edi) fn counted(
    segment: Segment<'_>,
    name: &str,
    said: &str,
    count: usize,
    what: &str,
) -> Result<(), NoKey> {
    let right = said.bytes().all(|b| b.is_ascii_digit()) && said.parse() == Ok(count);
    let problem = || segment.fault(format!("{name} says `{}` {what}, there are {count}", excerpt(said.as_bytes())));
    right.then_some(()).ok_or_else(problem)
}

pub(in crate::edi) fn same(segment: Segment<'_>, name: &str, end: &str, begin: &str) -> Result<(), NoKey> {
    let problem = || {
        let (end, begin) = (excerpt(end.as_bytes()), excerpt(begin.as_bytes()));
        segment.fault(format!("{name} is `{end}`, but began as `{begin}`"))
    };
    (end == begin).then_some(()).ok_or_else(problem)
}
