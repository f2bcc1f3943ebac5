//! Octets of an XML document, in pieces and in any encoding that we read, to what is asked of it.

use encoding_rs::{Decoder, DecoderResult, UTF_8};

use crate::wire::xml::Problem;
use crate::wire::xml::c14n_stream::Scanner;
use crate::wire::xml::encoding::{Charset, declared, detect};

use super::error::NoKey;
use super::xml::{Asking, Elements, Step, Stop};

/// Octets that are looked at together: as exact as the place of an error is.
const PIECE: usize = 1024;

enum Octets {
    Latin1,
    /// UTF-8 and UTF-16. What is good before a bad octet is given first, so that pieces do not matter.
    Decoded(Box<Decoder>),
}

/// A document that is being read for `A`.
pub(super) struct Stream<A> {
    octets: Octets,
    scanner: Scanner,
    elements: Elements,
    pub(super) asking: A,
    offset: u64,
    /// How it ended, once it has.
    ended: Option<Result<(), NoKey>>,
}

impl<A: Asking> Stream<A> {
    /// Begins with the first octets, which are also to be pushed: an encoding is found in 300. What the document says
    /// of itself counts before the `charset` of a media type; of that only ISO 8859-1 tells something new, for what
    /// says nothing is UTF-8, as US-ASCII is.
    pub(super) fn new(head: &[u8], charset: Option<&str>, asking: A) -> Result<Self, NoKey> {
        let latin1 = |name: &&str| ["iso-8859-1", "latin1"].iter().any(|known| name.eq_ignore_ascii_case(known));
        let charset = charset.filter(latin1).filter(|_| declared(head).is_none() && !head.contains(&0));
        let octets = match detect(head, charset)?.charset {
            Charset::Latin1 => Octets::Latin1,
            Charset::Utf8 | Charset::Ascii => Octets::Decoded(Box::new(UTF_8.new_decoder_with_bom_removal())),
            Charset::Utf16(encoding) => Octets::Decoded(Box::new(encoding.new_decoder_with_bom_removal())),
        };
        let (scanner, elements) = (Scanner::new(), Elements::default());
        Ok(Self { octets, scanner, elements, asking, offset: 0, ended: None })
    }

    /// Whether more octets can change nothing.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Takes the next octets.
    pub(super) fn push(&mut self, octets: &[u8]) {
        for piece in octets.chunks(PIECE) {
            if self.has_ended() {
                return;
            }
            self.offset += piece.len() as u64;
            self.decode(piece, false);
        }
    }

    /// Ends the document; `InstanceIdentifier` of the SBDH around it, and who asked.
    pub(super) fn finish(mut self) -> Result<(Option<String>, A), NoKey> {
        if !self.has_ended() {
            self.decode(&[], true);
        }
        let early = || NoKey::Early { octets: self.offset, wanted: self.elements.place() };
        self.ended.unwrap_or_else(|| Err(early()))?;
        Ok((self.elements.instance, self.asking))
    }

    fn decode(&mut self, piece: &[u8], last: bool) {
        let mut text = [0; PIECE * 3];
        match &mut self.octets {
            Octets::Latin1 => {
                let written = encoding_rs::mem::convert_latin1_to_utf8(piece, &mut text);
                self.scan(&text[..written]);
            }
            Octets::Decoded(decoder) => {
                let (result, _, written) = decoder.decode_to_utf8_without_replacement(piece, &mut text, last);
                let encoding = decoder.encoding().name();
                self.scan(&text[..written]);
                // Room for three octets each is more than any needs: the output is never full.
                if matches!(result, DecoderResult::Malformed(..)) && !last && !self.has_ended() {
                    self.stop(Problem::Markup(format!("it is not {encoding}")).into());
                }
            }
        }
    }

    fn scan(&mut self, utf8: &[u8]) {
        let (elements, asking) = (&mut self.elements, &mut self.asking);
        let mut outcome = Ok(Step::On);
        let scanned = self.scanner.push(utf8, &mut |token| {
            outcome = elements.token(token, asking);
            // The scanner is told to stop; why is kept here.
            if matches!(outcome, Ok(Step::On)) { Ok(()) } else { Err(Problem::TextOutside) }
        });
        match outcome {
            Ok(Step::Enough) => self.ended = Some(Ok(())),
            Err(stop) => self.stop(stop),
            Ok(Step::On) => {
                if let Err(problem) = scanned {
                    self.stop(problem.into());
                }
            }
        }
    }

    fn stop(&mut self, stop: Stop) {
        self.ended = Some(Err(match stop {
            Stop::NoKey(reason) => reason,
            Stop::Problem(problem) => NoKey::Xml { offset: self.offset, problem: problem.to_string() },
        }));
    }
}
