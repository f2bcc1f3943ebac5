//! What a payload is, by its first octets, and its reading in one pass: media types lie.

use crate::wire::mime::ContentType;

use super::document::Document;
use super::error::{NoKey, excerpt};
use super::stream::Stream;
use super::ubl::UblType;
use super::xml::Asking;
use super::{cii, edifact, mdn, ubl, x12};

/// Octets that tell what a payload is: `UNA`, `ISA`, or an XML declaration.
const HEAD: usize = 512;

/// Reads a payload, or the beginning of one.
///
/// UBL and CII documents give their key as soon as they have named their number, date and party. Interchanges and MDNs
/// are needed whole.
///
/// # Errors
/// Why it gives no key, and where; [`NoKey::wants_more`] tells whether more of the payload may.
pub fn read(media_type: Option<&str>, beginning: &[u8]) -> Result<Document, NoKey> {
    let mut reading = Reading::new(media_type);
    reading.push(beginning);
    reading.finish()
}

/// A payload that arrives in pieces, of any size: it is read in one pass and in constant memory.
pub struct Reading {
    media_type: Option<ContentType>,
    octets: u64,
    state: State,
}

enum State {
    /// The first octets.
    Head(Vec<u8>),
    Xml(Box<Stream<Standard>>),
    Edifact(edifact::Reading),
    X12(x12::Reading),
    Mdn(Vec<u8>),
    Failed(NoKey),
}

impl Reading {
    /// A payload of this media type: its `charset` counts where an XML document does not say its own.
    pub fn new(media_type: Option<&str>) -> Self {
        let media_type = media_type.and_then(|media_type| ContentType::parse(media_type).ok());
        Self { media_type, octets: 0, state: State::Head(Vec::new()) }
    }

    /// Takes the next octets; whether more of them may be of use.
    pub fn push(&mut self, octets: &[u8]) -> bool {
        self.octets += octets.len() as u64;
        let State::Head(head) = &mut self.state else { return self.forward(octets) };
        let blanks = octets.iter().take_while(|b| b.is_ascii_whitespace()).count();
        let octets = if head.is_empty() { &octets[blanks..] } else { octets };
        let (first, rest) = octets.split_at(octets.len().min(HEAD - head.len()));
        head.extend_from_slice(first);
        if head.len() < HEAD {
            return true;
        }
        self.begin();
        self.forward(rest)
    }

    /// Ends the payload.
    ///
    /// # Errors
    /// Why it gives no key.
    pub fn finish(mut self) -> Result<Document, NoKey> {
        self.begin();
        match self.state {
            State::Head(_) => Err(NoKey::Early { octets: self.octets, wanted: "its first octet".to_owned() }),
            State::Xml(stream) => {
                let (instance, standard) = stream.finish()?;
                match standard {
                    Standard::Ubl(gathered) => gathered.document(instance).map(Document::Ubl),
                    Standard::Cii(gathered) => gathered.document(instance).map(Document::Cii),
                    Standard::Unknown => Err(NoKey::Root { name: "?".to_owned() }),
                }
            }
            State::Edifact(reading) => reading.finish(self.octets).map(Document::Edifact),
            State::X12(reading) => reading.finish(self.octets).map(Document::X12),
            State::Mdn(octets) => mdn::read(&octets, self.media_type.as_ref()).map(Document::Mdn),
            State::Failed(reason) => Err(reason),
        }
    }

    fn begin(&mut self) {
        if let State::Head(head) = &mut self.state
            && !head.is_empty()
        {
            let head = std::mem::take(head);
            self.state = begun(&head, self.media_type.as_ref()).unwrap_or_else(State::Failed);
        }
    }

    fn forward(&mut self, octets: &[u8]) -> bool {
        let outcome = match &mut self.state {
            State::Head(_) | State::Failed(_) => return false,
            State::Xml(stream) => {
                stream.push(octets);
                return !stream.has_ended();
            }
            State::Edifact(reading) => reading.push(octets),
            State::X12(reading) => reading.push(octets),
            State::Mdn(held) if held.len() + octets.len() > mdn::LONGEST => {
                Err(NoKey::Mime(format!("it is longer than {} octets", mdn::LONGEST)))
            }
            State::Mdn(held) => {
                held.extend_from_slice(octets);
                Ok(())
            }
        };
        match outcome {
            Ok(()) => true,
            Err(reason) => {
                self.state = State::Failed(reason);
                false
            }
        }
    }
}

fn begun(head: &[u8], media_type: Option<&ContentType>) -> Result<State, NoKey> {
    let body = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
    let separated = |at: usize| body.get(at).is_some_and(|b| !b.is_ascii_alphanumeric());
    if body.starts_with(b"UNA") || (body.starts_with(b"UNB") && separated(3)) {
        let (mut reading, spent) = edifact::Reading::new(body)?;
        reading.push(&body[spent..])?;
        return Ok(State::Edifact(reading));
    }
    if body.starts_with(b"ISA") && separated(3) {
        let mut reading = x12::Reading::new(body)?;
        reading.push(body)?;
        return Ok(State::X12(reading));
    }
    let marked = [&b"\xFF\xFE"[..], b"\xFE\xFF", b"\0<"].iter().any(|mark| head.starts_with(mark));
    if marked || body.starts_with(b"<") {
        let charset = media_type.and_then(ContentType::charset);
        let mut stream = Stream::new(head, charset, Standard::Unknown)?;
        stream.push(head);
        return Ok(State::Xml(Box::new(stream)));
    }
    if mdn::begins(body, media_type) {
        return Ok(State::Mdn(body.to_vec()));
    }
    Err(NoKey::Unknown { first: excerpt(body) })
}

/// The standard of an XML document, by its document element.
enum Standard {
    Unknown,
    Ubl(ubl::Gathering),
    Cii(cii::Gathering),
}

impl Asking for Standard {
    fn root(&mut self, namespace: &str, local: &str) -> Result<(), NoKey> {
        *self = if let Some(ubl) = UblType::of(namespace, local) {
            Self::Ubl(ubl::Gathering::new(ubl))
        } else if cii::is_cii(namespace, local) {
            Self::Cii(cii::Gathering::default())
        } else {
            return Err(NoKey::Root { name: format!("{{{namespace}}}{local}") });
        };
        Ok(())
    }

    fn wants(&self, path: &str) -> bool {
        match self {
            Self::Unknown => false,
            Self::Ubl(gathering) => gathering.wants(path),
            Self::Cii(gathering) => gathering.wants(path),
        }
    }

    fn value(&mut self, path: &str, text: String, scheme: Option<String>) -> Result<(), NoKey> {
        match self {
            Self::Unknown => Ok(()),
            Self::Ubl(gathering) => gathering.value(path, text, scheme),
            Self::Cii(gathering) => gathering.value(path, text, scheme),
        }
    }

    fn end(&mut self, path: &str) -> Result<bool, NoKey> {
        match self {
            Self::Unknown => Ok(false),
            Self::Ubl(gathering) => gathering.end(path),
            Self::Cii(gathering) => gathering.end(path),
        }
    }
}
