//! Segments of an interchange that arrives in pieces: EDIFACT (ISO 9735 §8, §9) and X12 (X12.5).

use std::borrow::Cow;

use super::error::{NoKey, excerpt};

/// Octets of one segment.
const LONGEST: usize = 64 * 1024;
/// Octets of one value that keys are made of; ISO 9735 and X12 know none that is longer.
pub(super) const VALUE: usize = 256;

/// The characters that separate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Separators {
    pub(super) component: u8,
    pub(super) element: u8,
    /// Takes their meaning from the four others; X12 has none, and EDIFACT may have none.
    pub(super) release: Option<u8>,
    pub(super) terminator: u8,
}

impl Separators {
    /// Two that are the same, or one that values are made of, separate nothing.
    pub(super) fn check(self) -> Result<Self, String> {
        let all = [Some(self.component), Some(self.element), Some(self.terminator), self.release];
        let all: Vec<u8> = all.into_iter().flatten().collect();
        if let Some(bad) = all.iter().find(|b| b.is_ascii_alphanumeric() || !b.is_ascii()) {
            return Err(format!("`{}` cannot be a separator", excerpt(&[*bad])));
        }
        // Files are wrapped: only a terminator may be a line end, all others are dropped.
        if let Some(bad) = all.iter().find(|b| matches!(b, b'\r' | b'\n') && **b != self.terminator) {
            return Err(format!("the line end `{}` can only be the terminator", excerpt(&[*bad])));
        }
        let twice = all.iter().enumerate().find(|(n, b)| all[..*n].contains(b));
        twice.map_or(Ok(self), |(_, bad)| Err(format!("`{}` stands for two separators", excerpt(&[*bad]))))
    }
}

/// One segment.
#[derive(Clone, Copy)]
pub(super) struct Segment<'s> {
    /// From 1.
    pub(super) number: usize,
    raw: &'s [u8],
    separators: Separators,
}

impl<'s> Segment<'s> {
    /// Its tag, without what may be nested in it (ISO 9735 §8).
    pub(super) fn tag(self) -> &'s [u8] {
        let Separators { component, element, .. } = self.separators;
        let end = self.raw.iter().position(|b| *b == component || *b == element).unwrap_or(self.raw.len());
        &self.raw[..end]
    }

    /// A component of an element, both counted from 1; the tag is element 0.
    pub(super) fn octets(self, element: usize, component: usize) -> Cow<'s, [u8]> {
        let found = self.part(self.raw, self.separators.element, element);
        let found = self.part(found, self.separators.component, component.saturating_sub(1));
        match self.separators.release {
            Some(release) if found.contains(&release) => Cow::Owned(released(found, release)),
            _ => Cow::Borrowed(found),
        }
    }

    /// An element with all its components.
    pub(super) fn whole(self, element: usize) -> &'s [u8] {
        self.part(self.raw, self.separators.element, element)
    }

    /// What stands between the separators `n` and `n + 1`; a released one is none.
    fn part(self, octets: &'s [u8], separator: u8, n: usize) -> &'s [u8] {
        let (mut begin, mut seen, mut free) = (0, 0, false);
        for (at, octet) in octets.iter().enumerate() {
            if free {
                free = false;
            } else if Some(*octet) == self.separators.release {
                free = true;
            } else if *octet == separator {
                if seen == n {
                    return &octets[begin..at];
                }
                seen += 1;
                begin = at + 1;
            }
        }
        if seen == n { &octets[begin..] } else { &[] }
    }

    pub(super) fn fault(self, problem: impl Into<String>) -> NoKey {
        NoKey::Segment { number: self.number, tag: excerpt(self.tag()), problem: problem.into() }
    }
}

fn released(octets: &[u8], release: u8) -> Vec<u8> {
    let mut free = false;
    let kept = octets.iter().filter(|octet| {
        let dropped = !free && **octet == release;
        free = dropped;
        !dropped
    });
    kept.copied().collect()
}

/// Cuts octets into segments.
pub(super) struct Segments {
    separators: Separators,
    held: Vec<u8>,
    /// The release character stands before the next octet.
    free: bool,
    number: usize,
}

impl Segments {
    pub(super) fn new(separators: Separators) -> Self {
        Self { separators, held: Vec::new(), free: false, number: 0 }
    }

    /// What was read, when its last segment has been and nothing came after; `octets` were given in all.
    pub(super) fn whole<T>(&self, read: Option<T>, ended: bool, last: &str, octets: u64) -> Result<T, NoKey> {
        if ended && !self.held.is_empty() {
            let problem = format!("octets after {last}");
            return Err(NoKey::Segment { number: self.number + 1, tag: "?".to_owned(), problem });
        }
        let early = || NoKey::Early { octets, wanted: format!("{last}, after segment {}", self.number) };
        read.filter(|_| ended).ok_or_else(early)
    }

    /// Takes octets. Line ends are no data: files are wrapped, and have a line for each segment.
    pub(super) fn push(
        &mut self,
        octets: &[u8],
        emit: &mut dyn FnMut(Segment<'_>) -> Result<(), NoKey>,
    ) -> Result<(), NoKey> {
        for octet in octets {
            if *octet == self.separators.terminator && !self.free {
                if self.held.is_empty() {
                    // After a terminator that is itself a line end, an empty line.
                    continue;
                }
                self.number += 1;
                emit(Segment { number: self.number, raw: &self.held, separators: self.separators })?;
                self.held.clear();
                continue;
            }
            let between = self.held.is_empty() && (octet.is_ascii_whitespace() || matches!(octet, 0 | 0x1A));
            if between || matches!(octet, b'\r' | b'\n') {
                continue;
            }
            if self.held.len() >= LONGEST {
                let segment = Segment { number: self.number + 1, raw: &self.held, separators: self.separators };
                return Err(segment.fault(format!("is longer than {LONGEST} octets")));
            }
            self.free = !self.free && Some(*octet) == self.separators.release;
            self.held.push(*octet);
        }
        Ok(())
    }
}
