//! AS2 message disposition notifications (RFC 8098, RFC 4130 §7), bare or in `multipart/report`, signed or not.

use bytes::Bytes;

use crate::wire::hex;
use crate::wire::mime::{ContentType, MimeError, MimeEvent, MimeLimits, MultipartReader};

use super::error::{NoKey, excerpt};
use super::key::{BusinessKey, token};

/// Octets of a whole MDN.
pub(super) const LONGEST: usize = 256 * 1024;
/// Multiparts within each other: signed, report.
const DEPTH: usize = 3;
const NOTIFICATION: &str = "message/disposition-notification";

/// What an MDN says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mdn {
    /// `Original-Message-ID`, without its angle brackets.
    pub original: String,
    /// `Disposition`: lower case, white space collapsed.
    pub disposition: String,
    /// `Final-Recipient`, as written.
    pub recipient: Option<String>,
    /// `Received-Content-MIC`, as written.
    pub mic: Option<String>,
}

impl Mdn {
    /// OUT-42: {`as2_message_id`, sha256(disposition)}.
    pub fn key(&self) -> BusinessKey {
        let hash = hex(&openssl::sha::sha256(self.disposition.as_bytes()));
        BusinessKey::new(&["as2.mdn"], &[&self.original, &hash])
    }
}

/// Whether octets may begin an MDN: a boundary, or a header field.
pub(super) fn begins(head: &[u8], media_type: Option<&ContentType>) -> bool {
    let told = ["multipart/report", "multipart/signed", NOTIFICATION];
    if media_type.is_some_and(|media_type| told.contains(&media_type.essence.as_str())) {
        return true;
    }
    is_field(head) || boundary_line(head).is_some()
}

/// Whether the first line is a header field.
fn is_field(octets: &[u8]) -> bool {
    let line = octets.split(|b| *b == b'\n').next().unwrap_or_default();
    let name = line.split(|b| *b == b':').next().unwrap_or_default();
    let named = name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-') && !name.starts_with(b"--");
    named && name.len() < line.len() && (2..=64).contains(&name.len())
}

/// Reads a whole one.
pub(super) fn read(octets: &[u8], media_type: Option<&ContentType>) -> Result<Mdn, NoKey> {
    // What arrives may begin with its own header, whatever the media type beside it says.
    let (header, body) = split(octets);
    let own = header.and_then(|header| field(header, "content-type").ok().flatten());
    let own = own.and_then(|value| ContentType::parse(&value).ok());
    let notification = match (&own, boundary_line(octets)) {
        (Some(own), _) => find(own, body, DEPTH)?,
        (None, Some(boundary)) => parts(boundary, octets, DEPTH)?,
        (None, None) => match media_type.filter(|told| told.essence.starts_with("multipart/")) {
            Some(told) => find(told, octets, DEPTH)?,
            None if field(octets, "Disposition")?.is_none() && field(octets, "Original-Message-ID")?.is_none() => {
                return Err(NoKey::Unknown { first: excerpt(octets) });
            }
            None => Some(octets.to_vec()),
        },
    };
    let fields = notification.ok_or_else(|| NoKey::Mime(format!("it holds no {NOTIFICATION}")))?;
    notification_fields(&fields)
}

fn notification_fields(octets: &[u8]) -> Result<Mdn, NoKey> {
    let missing = |field| NoKey::Field { field, problem: "is missing or empty" };
    let required = |name| field(octets, name)?.filter(|value| !value.is_empty()).ok_or(missing(name));
    let original = required("Original-Message-ID")?;
    let bare = original.strip_prefix('<').and_then(|id| id.strip_suffix('>')).unwrap_or(&original);
    Ok(Mdn {
        original: bare.to_owned(),
        disposition: required("Disposition")?.to_lowercase(),
        recipient: field(octets, "Final-Recipient")?,
        mic: field(octets, "Received-Content-MIC")?,
    })
}

/// The notification in a body of this type.
fn find(media_type: &ContentType, body: &[u8], depth: usize) -> Result<Option<Vec<u8>>, NoKey> {
    if media_type.essence == NOTIFICATION {
        return Ok(Some(body.to_vec()));
    }
    match media_type.param("boundary").filter(|_| media_type.essence.starts_with("multipart/")) {
        Some(boundary) => parts(boundary, body, depth),
        None => Ok(None),
    }
}

fn parts(boundary: &str, body: &[u8], depth: usize) -> Result<Option<Vec<u8>>, NoKey> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(NoKey::Mime(format!("more than {DEPTH} multiparts within each other")));
    };
    let wrong = |error| match error {
        MimeError::Truncated { .. } => {
            NoKey::Early { octets: body.len() as u64, wanted: "the end of the MDN".to_owned() }
        }
        error => NoKey::Mime(error.to_string()),
    };
    let mut reader = MultipartReader::new(boundary, MimeLimits::default()).map_err(wrong)?;
    let mut events = Vec::new();
    reader.push(Bytes::copy_from_slice(body), &mut events).map_err(wrong)?;
    reader.finish(&mut events).map_err(wrong)?;
    let mut part: Option<(Option<ContentType>, Vec<u8>)> = None;
    for event in events {
        match (event, &mut part) {
            (MimeEvent::Head(head), _) => part = Some((head.content_type, Vec::new())),
            (MimeEvent::Data(octets), Some((_, data))) => data.extend_from_slice(&octets),
            (MimeEvent::PartEnd, Some((Some(media_type), data))) => {
                if let Some(found) = find(media_type, data, depth)? {
                    return Ok(Some(found));
                }
            }
            _ => {}
        }
    }
    Ok(None)
}

/// The boundary that a body without header begins with.
fn boundary_line(octets: &[u8]) -> Option<&str> {
    let line = octets.strip_prefix(b"--")?.split(|b| *b == b'\n').next()?;
    std::str::from_utf8(line).ok().map(str::trim_end).filter(|boundary| !boundary.is_empty())
}

/// A header section up to its empty line, and what follows.
fn split(octets: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let ends = [&b"\r\n\r\n"[..], b"\n\n"].map(|end| memchr::memmem::find(octets, end).map(|at| (at, at + end.len())));
    match ends.into_iter().flatten().min() {
        Some((end, begin)) if is_field(octets) => (Some(&octets[..end]), &octets[begin..]),
        _ => (None, octets),
    }
}

/// The value of a field, unfolded and collapsed; two of one name must say the same.
fn field(section: &[u8], name: &'static str) -> Result<Option<String>, NoKey> {
    let text = String::from_utf8_lossy(section);
    let mut found: Option<String> = None;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let mut whole = line.to_owned();
        while let Some(more) = lines.next_if(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty()) {
            whole.push(' ');
            whole.push_str(more);
        }
        let Some((_, value)) = whole.split_once(':').filter(|(n, _)| n.trim_end().eq_ignore_ascii_case(name)) else {
            continue;
        };
        let value = token(value);
        if found.as_ref().is_some_and(|before| *before != value) {
            return Err(NoKey::Field { field: name, problem: "stands twice, with two values" });
        }
        found = Some(value);
    }
    Ok(found)
}
