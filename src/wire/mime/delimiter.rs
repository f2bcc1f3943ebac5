//! Finds delimiter lines in octets that arrive in pieces (RFC 2046 §5.1.1, FR-005).
//!
//! A delimiter is a line of its own: line break, `--boundary`, then `--` or nothing but blanks up to the next line
//! break. The line break before it belongs to it. A boundary holds no line break, so a candidate that fails cannot
//! hide another one: its octets are data, and nothing is ever looked at twice.

use bytes::{Buf, Bytes};
use memchr::{memmem, memrchr};

/// Blanks after a delimiter that a gateway may have added; more of them are content.
const PADDING: usize = 256;

/// What comes next.
#[derive(Debug, PartialEq)]
pub(super) enum Found {
    /// Octets before a delimiter.
    Data(Bytes),
    /// A delimiter: a part begins.
    Part,
    /// The closing delimiter.
    Close,
}

/// How far a candidate has been matched.
#[derive(Clone, Copy)]
enum Stage {
    /// A carriage return.
    Return,
    /// That many octets of the needle, the first being the line feed.
    Needle(usize),
    /// `--boundary` and that many blanks.
    Padding(usize),
    /// A carriage return after them.
    PaddingReturn,
    /// `--boundary-`.
    Dash,
}

enum Step {
    To(Stage),
    Is(Found),
    Fails,
}

pub(super) struct Scanner {
    /// Line feed, `--`, boundary.
    needle: Box<[u8]>,
    finder: memmem::Finder<'static>,
    candidate: Option<Stage>,
    /// The candidate's octets: data, should it fail.
    held: Vec<u8>,
}

impl Scanner {
    /// At the start of a line.
    pub(super) fn new(boundary: &str) -> Self {
        let needle = [b"\n--", boundary.as_bytes()].concat();
        let finder = memmem::Finder::new(&needle).into_owned();
        Self { needle: needle.into(), finder, candidate: Some(Stage::Needle(1)), held: Vec::new() }
    }

    /// A part's content begins here: its first line may be the next delimiter.
    pub(super) fn at_line_start(&mut self) {
        self.candidate = Some(Stage::Needle(1));
        self.held.clear();
    }

    /// Takes the next thing off the front of `rest`; `None` once all of it is taken.
    pub(super) fn next(&mut self, rest: &mut Bytes) -> Option<Found> {
        loop {
            let Some(mut stage) = self.candidate else {
                match self.search(rest) {
                    data if !data.is_empty() => return Some(Found::Data(data)),
                    _ if self.candidate.is_none() => return None,
                    _ => continue,
                }
            };
            loop {
                let Some(octet) = rest.first().copied() else {
                    self.candidate = Some(stage);
                    return None;
                };
                match self.step(stage, octet) {
                    Step::To(next) => stage = next,
                    Step::Is(found) => {
                        rest.advance(1);
                        self.candidate = None;
                        self.held.clear();
                        return Some(found);
                    }
                    Step::Fails => break,
                }
                self.held.push(octet);
                rest.advance(1);
            }
            self.candidate = None;
            if !self.held.is_empty() {
                return Some(Found::Data(Bytes::from(std::mem::take(&mut self.held))));
            }
        }
    }

    fn step(&self, stage: Stage, octet: u8) -> Step {
        match (stage, octet) {
            (Stage::Return, b'\n') => Step::To(Stage::Needle(1)),
            (Stage::Needle(matched), _) if self.needle.get(matched) == Some(&octet) => {
                if matched + 1 == self.needle.len() {
                    Step::To(Stage::Padding(0))
                } else {
                    Step::To(Stage::Needle(matched + 1))
                }
            }
            (Stage::Padding(0), b'-') => Step::To(Stage::Dash),
            (Stage::Padding(n), b' ' | b'\t') if n < PADDING => Step::To(Stage::Padding(n + 1)),
            (Stage::Padding(_), b'\r') => Step::To(Stage::PaddingReturn),
            (Stage::Padding(_) | Stage::PaddingReturn, b'\n') => Step::Is(Found::Part),
            (Stage::Dash, b'-') => Step::Is(Found::Close),
            _ => Step::Fails,
        }
    }

    /// Splits off what is data for sure and makes a candidate of what follows it, if there is one.
    fn search(&mut self, rest: &mut Bytes) -> Bytes {
        let before_return = |at: usize| at - usize::from(at > 0 && rest.get(at - 1) == Some(&b'\r'));
        let (start, end, stage) = if let Some(at) = self.finder.find(rest) {
            (before_return(at), at + self.needle.len(), Some(Stage::Padding(0)))
        } else {
            let tail = rest.len().saturating_sub(self.needle.len() - 1);
            match memrchr(b'\n', &rest[tail..]).map(|at| tail + at) {
                Some(at) if self.needle.starts_with(&rest[at..]) => {
                    (before_return(at), rest.len(), Some(Stage::Needle(rest.len() - at)))
                }
                _ if rest.last() == Some(&b'\r') => (rest.len() - 1, rest.len(), Some(Stage::Return)),
                _ => (rest.len(), rest.len(), None),
            }
        };
        let data = rest.split_to(start);
        self.held.extend_from_slice(&rest.split_to(end - start));
        self.candidate = stage;
        data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(pieces: &[&[u8]]) -> (Vec<u8>, Vec<Found>) {
        let mut scanner = Scanner::new("b1");
        let (mut data, mut found) = (Vec::new(), Vec::new());
        for piece in pieces {
            let mut rest = Bytes::copy_from_slice(piece);
            while let Some(next) = scanner.next(&mut rest) {
                match next {
                    Found::Data(octets) => data.extend_from_slice(&octets),
                    other => found.push(other),
                }
            }
            assert!(rest.is_empty());
        }
        (data, found)
    }

    #[test]
    fn a_delimiter_is_a_whole_line() {
        assert_eq!(scan(&[b"--b1\r\n"]), (vec![], vec![Found::Part]));
        assert_eq!(scan(&[b"x\r\n--b1 \t\r\ny"]), (b"xy".to_vec(), vec![Found::Part]));
        assert_eq!(scan(&[b"x\n--b1\ny\n--b1--"]), (b"xy".to_vec(), vec![Found::Part, Found::Close]));
        for data in
            [&b"x--b1\r\n."[..], b"\r\n--b1x\r\n.", b"\r\n--b1 x\n.", b"\r\n--b1-x", b"\r\n--b1\rx", b"\r\r\n-\r\n--."]
        {
            assert_eq!(scan(&[data]), (data.to_vec(), vec![]), "{}", data.escape_ascii());
            let octets: Vec<&[u8]> = data.chunks(1).collect();
            assert_eq!(scan(&octets), (data.to_vec(), vec![]), "{}", data.escape_ascii());
        }
    }

    #[test]
    fn one_candidate_right_after_another() {
        assert_eq!(scan(&[b"a\r\n--b1\r\r", b"\n--b1\r\nz"]), (b"a\r\n--b1\rz".to_vec(), vec![Found::Part]));
        assert_eq!(scan(&[b"a\r\n-", b"\r\n--b", b"1-", b"-"]), (b"a\r\n-".to_vec(), vec![Found::Close]));
    }

    #[test]
    fn endless_padding_is_content() {
        let mut line = b"\r\n--b1".to_vec();
        line.extend([b' '; PADDING + 1]);
        line.extend(b"\r\n.");
        assert_eq!(scan(&[&line]).1, vec![]);
        line.remove(7);
        assert_eq!(scan(&[&line]), (b".".to_vec(), vec![Found::Part]));
    }
}
