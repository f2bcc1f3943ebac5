//! Segments of an X12 interchange to its transaction sets, and the checks of what `SE`, `GE` and `IEA` say.

use super::super::charset::Charset;
use super::super::edifact::{counted, filled, same};
use super::super::error::{NoKey, excerpt};
use super::super::key::{date, token};
use super::super::sbdh::Typed;
use super::super::segments::{Segment, Segments, Separators, VALUE};
use super::{GroupAnswer, Set, Ta1, X12};

/// Octets of `ISA` with its terminator.
const ISA: usize = 106;
/// Transaction sets of one interchange.
const SETS: usize = 10_000;
/// `AK1`, `AK2` and `TA1` of one interchange.
const ENTRIES: usize = 10_000;

/// Reads one interchange that arrives in pieces.
pub(in crate::edi) struct Reading {
    segments: Segments,
    body: Body,
}

#[derive(Default)]
struct Body {
    interchange: Option<X12>,
    /// GS06 of the open group, and its sets so far.
    group: Option<(String, usize)>,
    /// The open set, and the number of its `ST`.
    set: Option<(Set, usize)>,
    groups: usize,
    entries: usize,
    ended: bool,
}

impl Reading {
    /// Begins with the first octets, which are also to be pushed.
    pub(in crate::edi) fn new(head: &[u8]) -> Result<Self, NoKey> {
        Ok(Self { segments: Segments::new(separators(head)?), body: Body::default() })
    }

    pub(in crate::edi) fn push(&mut self, octets: &[u8]) -> Result<(), NoKey> {
        let body = &mut self.body;
        self.segments.push(octets, &mut |segment| body.segment(segment))
    }

    pub(in crate::edi) fn finish(self, octets: u64) -> Result<X12, NoKey> {
        self.segments.whole(self.body.interchange, self.body.ended, "IEA", octets)
    }
}

/// X12.5: `ISA` has fixed lengths, so its separators stand at fixed places.
fn separators(head: &[u8]) -> Result<Separators, NoKey> {
    /// Where the element separator stands before each element.
    const PLACES: [usize; 16] = [3, 6, 17, 20, 31, 34, 50, 53, 69, 76, 81, 83, 89, 99, 101, 103];
    let Some(isa) = head.get(..ISA) else {
        return Err(NoKey::Early { octets: head.len() as u64, wanted: "the 106 octets of ISA".to_owned() });
    };
    let fault = |offset: usize, problem| NoKey::Separators { tag: "ISA", offset: offset as u64, problem };
    let element = isa[3];
    if let Some(place) = PLACES.iter().find(|place| isa[**place] != element) {
        let (wanted, found) = (excerpt(&[element]), excerpt(&isa[*place..=*place]));
        return Err(fault(*place, format!("the element separator `{wanted}` should stand here, not `{found}`")));
    }
    let separators = Separators { component: isa[104], element, release: None, terminator: isa[105] };
    separators.check().map_err(|problem| fault(103, problem))
}

impl Body {
    fn segment(&mut self, segment: Segment<'_>) -> Result<(), NoKey> {
        if self.ended {
            return Err(segment.fault("stands after IEA; a payload holds one interchange"));
        }
        match (segment.tag(), &self.interchange, &self.group, &self.set) {
            (b"ISA", None, _, _) => self.isa(segment),
            (_, None, _, _) => Err(segment.fault("stands where ISA should be")),
            (b"SE", _, _, Some(_)) => self.se(segment),
            (b"ISA" | b"GS" | b"ST" | b"GE" | b"IEA", _, _, Some((set, _))) => {
                Err(segment.fault(format!("stands before the SE of transaction set {}", set.control)))
            }
            (_, _, _, Some(_)) => self.inside(segment),
            (b"ST", _, Some(_), None) => self.st(segment),
            (b"GE", _, Some(_), None) => self.ge(segment),
            (b"GS", _, None, None) => {
                let control = filled(segment, value(segment, 6)?, "GS06")?;
                self.group = Some((control, 0));
                Ok(())
            }
            (b"IEA", _, None, None) => self.iea(segment),
            (b"TA1", _, None, None) => self.ta1(segment),
            _ => Err(segment.fault("stands outside a transaction set")),
        }
    }

    fn isa(&mut self, segment: Segment<'_>) -> Result<(), NoKey> {
        let party = |element, name: &str| -> Result<Typed, NoKey> {
            let scheme = Some(value(segment, element - 1)?).filter(|qualifier| !qualifier.is_empty());
            Ok(Typed { scheme, value: filled(segment, value(segment, element)?, name)? })
        };
        let (sender, recipient) = (party(6, "ISA06")?, party(8, "ISA08")?);
        let control = filled(segment, value(segment, 13)?, "ISA13")?;
        let test = value(segment, 15)? == "T";
        self.interchange = Some(X12 { sender, recipient, control, test, sets: Vec::new(), answers: Vec::new() });
        Ok(())
    }

    fn st(&mut self, segment: Segment<'_>) -> Result<(), NoKey> {
        let group = self.group.as_ref().map(|(control, _)| control.clone()).unwrap_or_default();
        let set_type = filled(segment, value(segment, 1)?, "ST01")?;
        let control = filled(segment, value(segment, 2)?, "ST02")?;
        self.set = Some((Set { set_type, control, group, ..Set::default() }, segment.number));
        Ok(())
    }

    /// A segment between `ST` and `SE`. Only what keys are made of is looked at.
    fn inside(&mut self, segment: Segment<'_>) -> Result<(), NoKey> {
        let Some((set, _)) = &mut self.set else { return Ok(()) };
        // Which elements hold number, release, date, type code and purpose; 0 for none.
        let places = match (set.set_type.as_str(), segment.tag()) {
            ("810", b"BIG") => [2, 0, 1, 7, 8],
            ("850", b"BEG") => [3, 4, 5, 2, 1],
            ("855", b"BAK") => [3, 0, 4, 2, 1],
            ("856", b"BSN") => [2, 0, 3, 0, 1],
            ("997" | "999", b"AK1" | b"AK2" | b"AK5" | b"IK5" | b"AK9") => {
                self.entries += 1;
                if self.entries > ENTRIES {
                    return Err(segment.fault(format!("there are more than {ENTRIES} answers")));
                }
                return answer(segment, set);
            }
            _ => return Ok(()),
        };
        if !set.number.is_empty() {
            return Err(segment.fault("stands twice"));
        }
        let taken = |place| if place == 0 { Ok(String::new()) } else { value(segment, place) };
        let [number, release, day, type_code, purpose] = places;
        set.number = filled(segment, taken(number)?, &format!("element {number}"))?;
        (set.release, set.type_code, set.purpose) = (taken(release)?, taken(type_code)?, taken(purpose)?);
        let day = taken(day)?;
        set.date = date(&day).filter(|_| day.len() == 8).unwrap_or(day);
        Ok(())
    }

    fn se(&mut self, segment: Segment<'_>) -> Result<(), NoKey> {
        let (said, control) = (value(segment, 1)?, value(segment, 2)?);
        let (Some((set, began)), Some(interchange)) = (self.set.take(), &mut self.interchange) else { return Ok(()) };
        counted(segment, "SE01", &said, segment.number - began + 1, "segments")?;
        same(segment, "SE02", &control, &set.control)?;
        if let Some(open) = set.answers.iter().find(|answer| answer.code.is_empty()) {
            return Err(segment.fault(format!("the answer to group {} has no AK9", open.control)));
        }
        if interchange.sets.len() >= SETS {
            return Err(segment.fault(format!("there are more than {SETS} transaction sets")));
        }
        interchange.sets.push(set);
        if let Some((_, sets)) = &mut self.group {
            *sets += 1;
        }
        Ok(())
    }

    fn ge(&mut self, segment: Segment<'_>) -> Result<(), NoKey> {
        let Some((began, sets)) = self.group.take() else { return Ok(()) };
        self.groups += 1;
        counted(segment, "GE01", &value(segment, 1)?, sets, "transaction sets")?;
        same(segment, "GE02", &value(segment, 2)?, &began)
    }

    fn iea(&mut self, segment: Segment<'_>) -> Result<(), NoKey> {
        let Some(interchange) = &self.interchange else { return Ok(()) };
        counted(segment, "IEA01", &value(segment, 1)?, self.groups, "groups")?;
        same(segment, "IEA02", &value(segment, 2)?, &interchange.control)?;
        self.ended = true;
        Ok(())
    }

    fn ta1(&mut self, segment: Segment<'_>) -> Result<(), NoKey> {
        let control = filled(segment, value(segment, 1)?, "TA101")?;
        let ta1 = Ta1 { control, code: filled(segment, value(segment, 4)?, "TA104")?, note: value(segment, 5)? };
        let Some(interchange) = &mut self.interchange else { return Ok(()) };
        if interchange.answers.len() >= ENTRIES {
            return Err(segment.fault(format!("there are more than {ENTRIES} answers")));
        }
        interchange.answers.push(ta1);
        Ok(())
    }
}

/// A segment of a 997 or 999.
fn answer(segment: Segment<'_>, set: &mut Set) -> Result<(), NoKey> {
    if segment.tag() == b"AK1" {
        let (functional, control) = (value(segment, 1)?, filled(segment, value(segment, 2)?, "AK102")?);
        set.answers.push(GroupAnswer { functional, control, ..GroupAnswer::default() });
        return Ok(());
    }
    let Some(group) = set.answers.last_mut() else { return Err(segment.fault("stands before AK1")) };
    match (segment.tag(), group.sets.last_mut()) {
        (b"AK2", _) => group.sets.push((value(segment, 1)?, value(segment, 2)?, String::new())),
        (b"AK9", _) => group.code = filled(segment, value(segment, 1)?, "AK901")?,
        (_, Some((_, _, code))) => *code = filled(segment, value(segment, 1)?, "AK501")?,
        (_, None) => return Err(segment.fault("stands before AK2")),
    }
    Ok(())
}

fn value(segment: Segment<'_>, element: usize) -> Result<String, NoKey> {
    let octets = segment.whole(element);
    if octets.len() > VALUE {
        return Err(segment.fault(format!("element {element} is longer than {VALUE} octets")));
    }
    Ok(Charset::Ascii.decode(octets).map(|text| token(&text)).unwrap_or_default())
}
