//! From a captured file to the entity in it: HTTP head, chunked transfer coding and gzip are undone.

use std::io::Read;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;

/// Header fields that are looked at.
const FIELDS: usize = 128;
/// An entity that inflates beyond this is not looked at further.
const INFLATED: u64 = 1 << 30;

/// What the file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// A request.
    Request,
    /// An answer, with its HTTP status.
    Answer(u16),
    /// A MIME package or an envelope, without HTTP around it: taken for a request.
    Entity,
}

/// A captured message.
#[derive(Clone, Debug)]
pub(super) struct Capture {
    pub(super) side: Side,
    /// Request line or status line, or what was recognised instead.
    pub(super) line: String,
    pub(super) content_type: Option<String>,
    /// The entity, codings undone.
    pub(super) body: Bytes,
    /// What was undone.
    pub(super) undone: Vec<String>,
    /// What is wrong with the codings; the entity is then as much as could be read.
    pub(super) faults: Vec<String>,
}

#[derive(Default)]
struct Fields {
    content_type: Option<String>,
    chunked: bool,
    length: Option<String>,
    coding: Option<String>,
}

/// Recognises what was captured. The error says why it is nothing that can be explained.
pub(super) fn read(octets: &Bytes) -> Result<Capture, String> {
    let start = octets.iter().position(|o| !o.is_ascii_whitespace()).ok_or("the file is empty")?;
    let octets = octets.slice(start..);
    if octets.starts_with(b"HTTP/") {
        return answer(&octets);
    }
    if is_xml(&octets) {
        return Ok(entity("an XML document without HTTP head", "application/xml".to_owned(), octets));
    }
    if octets.starts_with(b"--") {
        let (line, _) = split_line(&octets);
        let boundary = String::from_utf8_lossy(line.get(2..).unwrap_or_default()).trim_end().to_owned();
        let kind = format!("multipart/related; boundary=\"{boundary}\"; type=\"{}\"", root_type(&octets));
        return Ok(entity("a MIME package without its head", kind, octets));
    }
    if let Some(capture) = request(&octets) {
        return capture;
    }
    mime(&octets)
        .ok_or_else(|| "it begins with no HTTP request, status line, MIME head, MIME boundary or XML".to_owned())
}

fn entity(line: &str, content_type: String, body: Bytes) -> Capture {
    let (undone, faults) = (Vec::new(), Vec::new());
    Capture { side: Side::Entity, line: line.to_owned(), content_type: Some(content_type), body, undone, faults }
}

/// XML in any encoding that a reader may meet: a tag, or a byte order mark.
fn is_xml(octets: &[u8]) -> bool {
    let marks: [&[u8]; 6] = [b"<", b"\xef\xbb\xbf<", b"\xfe\xff", b"\xff\xfe", b"\0<", b"<\0"];
    marks.iter().any(|mark| octets.starts_with(mark))
}

/// The media type of the first part, so that a package without head can be read.
fn root_type(octets: &[u8]) -> &'static str {
    let head = octets.get(..octets.len().min(2000)).unwrap_or_default().to_ascii_lowercase();
    let is_11 = memchr::memmem::find(&head, b"text/xml").is_some();
    if is_11 { "text/xml" } else { "application/soap+xml" }
}

fn request(octets: &Bytes) -> Option<Result<Capture, String>> {
    let mut fields = vec![httparse::EMPTY_HEADER; FIELDS];
    let mut head = httparse::Request::new(&mut fields);
    let end = match head.parse(octets) {
        Ok(httparse::Status::Complete(end)) => end,
        Ok(httparse::Status::Partial) if head.method.is_some() && head.path.is_some() => {
            return Some(Err("the HTTP head does not end: an empty line is missing".to_owned()));
        }
        Err(error) if head.version.is_some() => return Some(Err(format!("the HTTP head cannot be read: {error}"))),
        _ => return None,
    };
    let line = format!("{} {}", head.method.unwrap_or_default(), head.path.unwrap_or_default());
    let fields = known(head.headers);
    let mut capture = undo(Side::Request, line, fields, octets.slice(end..));
    if !capture.line.starts_with("POST ") {
        capture.faults.push("AS4 messages come by POST: any other method is answered by HTTP 405".to_owned());
    }
    Some(Ok(capture))
}

fn answer(octets: &Bytes) -> Result<Capture, String> {
    let mut fields = vec![httparse::EMPTY_HEADER; FIELDS];
    let mut head = httparse::Response::new(&mut fields);
    let end = match head.parse(octets).map_err(|e| format!("the HTTP head cannot be read: {e}"))? {
        httparse::Status::Complete(end) => end,
        httparse::Status::Partial => return Err("the HTTP head does not end: an empty line is missing".to_owned()),
    };
    let status = head.code.unwrap_or_default();
    let line = format!("HTTP {status} {}", head.reason.unwrap_or_default()).trim_end().to_owned();
    let fields = known(head.headers);
    Ok(undo(Side::Answer(status), line, fields, octets.slice(end..)))
}

/// A package with its MIME head alone, as mail tools keep it: lines may be folded.
fn mime(octets: &Bytes) -> Option<Capture> {
    let (mut rest, mut used, mut lines): (&[u8], usize, Vec<String>) = (octets, 0, Vec::new());
    loop {
        let (line, after) = split_line(rest);
        if after == 0 || lines.len() > FIELDS {
            return None;
        }
        used += after;
        rest = rest.get(after..).unwrap_or_default();
        let text = std::str::from_utf8(line).ok()?.trim_end();
        if text.is_empty() {
            break;
        }
        match lines.last_mut() {
            Some(last) if text.starts_with([' ', '\t']) => {
                last.push(' ');
                last.push_str(text.trim_start());
            }
            _ => lines.push(text.to_owned()),
        }
    }
    let fields = lines.iter().map(|line| line.split_once(':')).collect::<Option<Vec<_>>>()?;
    let (_, kind) = fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"))?;
    Some(entity("a MIME package without HTTP head", kind.trim().to_owned(), octets.slice(used..)))
}

/// The line without its end, and how many octets it took with it; 0 when there is no end.
fn split_line(octets: &[u8]) -> (&[u8], usize) {
    match memchr::memchr(b'\n', octets) {
        Some(at) => (octets.get(..at).unwrap_or_default(), at + 1),
        None => (octets, 0),
    }
}

fn known(headers: &[httparse::Header<'_>]) -> Fields {
    let mut fields = Fields::default();
    for header in headers {
        let value = String::from_utf8_lossy(header.value).trim().to_owned();
        match header.name.to_ascii_lowercase().as_str() {
            "content-type" => fields.content_type = Some(value),
            "transfer-encoding" => fields.chunked = value.eq_ignore_ascii_case("chunked"),
            "content-length" => fields.length = Some(value),
            "content-encoding" => fields.coding = Some(value),
            _ => {}
        }
    }
    fields
}

fn undo(side: Side, line: String, fields: Fields, body: Bytes) -> Capture {
    let mut capture =
        Capture { side, line, content_type: fields.content_type, body, undone: Vec::new(), faults: Vec::new() };
    if fields.chunked {
        let (whole, fault) = dechunk(&capture.body);
        capture.body = whole;
        capture.undone.push("chunked".to_owned());
        capture.faults.extend(fault);
    } else if let Some(length) = fields.length {
        counted(&mut capture, &length);
    }
    match fields.coding.as_deref().map(str::to_ascii_lowercase).as_deref() {
        None | Some("" | "identity") => {}
        Some("gzip" | "x-gzip") => {
            let mut whole = Vec::new();
            let outcome = MultiGzDecoder::new(&*capture.body).take(INFLATED + 1).read_to_end(&mut whole);
            if let Err(error) = outcome {
                capture.faults.push(format!("Content-Encoding gzip cannot be undone: {error}"));
            }
            if whole.len() as u64 > INFLATED {
                capture.faults.push(format!("Content-Encoding gzip inflates to more than {INFLATED} octets"));
            }
            capture.body = whole.into();
            capture.undone.push("Content-Encoding gzip".to_owned());
        }
        Some(other) => capture.faults.push(format!("Content-Encoding `{other}` is not spoken here")),
    }
    capture
}

fn counted(capture: &mut Capture, length: &str) {
    let have = capture.body.len();
    match length.parse::<usize>() {
        Err(_) => capture.faults.push(format!("Content-Length `{length}` is no number")),
        Ok(length) if length > have => {
            capture.faults.push(format!("the body ends before its end: {have} of {length} octets"));
        }
        Ok(length) => capture.body.truncate(length),
    }
}

/// RFC 9112 §7.1; trailers say nothing in AS4 (FR-102).
fn dechunk(octets: &Bytes) -> (Bytes, Option<String>) {
    let (mut whole, mut rest) = (Vec::with_capacity(octets.len()), &octets[..]);
    loop {
        let (line, after) = split_line(rest);
        if after == 0 {
            return (whole.into(), Some("the chunked body ends before its last chunk".to_owned()));
        }
        rest = rest.get(after..).unwrap_or_default();
        let size = line.split(|o| *o == b';').next().unwrap_or_default().trim_ascii();
        let Some(size) = std::str::from_utf8(size).ok().and_then(|hex| usize::from_str_radix(hex, 16).ok()) else {
            return (whole.into(), Some("the size of a chunk is no hexadecimal number".to_owned()));
        };
        if size == 0 {
            return (whole.into(), None);
        }
        let Some(chunk) = rest.get(..size) else {
            whole.extend_from_slice(rest);
            return (whole.into(), Some("the chunked body ends inside a chunk".to_owned()));
        };
        whole.extend_from_slice(chunk);
        rest = rest.get(size..).unwrap_or_default();
        let end = [&b"\r\n"[..], b"\n"].into_iter().find_map(|end| rest.strip_prefix(end));
        let Some(after) = end else {
            return (whole.into(), Some("a chunk is longer than its size says, or cut off".to_owned()));
        };
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Capture {
        read(&Bytes::copy_from_slice(text.as_bytes())).unwrap()
    }

    #[test]
    fn chunks_and_lengths_are_undone() {
        let chunked =
            of("POST /as4 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
        assert_eq!((&chunked.body[..], chunked.faults.len(), chunked.side), (&b"abcde"[..], 0, Side::Request));
        let counted = of("HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\nabc");
        assert_eq!((&counted.body[..], counted.side), (&b"ab"[..], Side::Answer(500)));
        for cut in ["3\r\nab", "3\r\nabcd\r\n", "z\r\n", "3", "ffffffffffffffffff\r\n", "ffffffffffffffff\r\nabc"] {
            let text = format!("POST /as4 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{cut}");
            assert_eq!(of(&text).faults.len(), 1, "{cut}");
        }
        assert_eq!(of("POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc").faults.len(), 1);
    }

    #[test]
    fn what_stands_alone_is_recognised() {
        assert_eq!(of("\n<a/>").side, Side::Entity);
        let folded = of("MIME-Version: 1.0\nContent-Type: multipart/related;\n boundary=x\n\n--x");
        assert_eq!(folded.content_type.as_deref(), Some("multipart/related; boundary=x"));
        assert_eq!(
            of("--x y\r\nContent-Type: text/xml\r\n\r\n").content_type.unwrap(),
            "multipart/related; boundary=\"x y\"; type=\"text/xml\""
        );
        for nothing in ["", "  ", "hello", "\u{0}\u{1}\u{2}", "POST /as4 HTTP/1.1\r\nHost: x\r\n"] {
            assert!(read(&Bytes::copy_from_slice(nothing.as_bytes())).is_err(), "{nothing:?}");
        }
    }
}
