//! `Attachment-Content-Signature-Transform` as a transform klass of libxmlsec1, apart from our own engine's.

use std::ffi::{CStr, c_char, c_int};

use super::session::{Session, Treatment};
use super::{Opinion, SECOND_OPINION_MAX, ffi, tree};

/// Pieces handed on; libxmlsec1's digests cut them further.
const PIECE: usize = 1 << 20;

/// Sizes that libxmlsec1 checks a klass by.
#[expect(clippy::cast_possible_truncation, reason = "some hundred octets, known when compiling")]
const KLASS_SIZE: u32 = size_of::<ffi::xmlSecTransformKlass>() as u32;
#[expect(clippy::cast_possible_truncation, reason = "some hundred octets, known when compiling")]
const OBJECT_SIZE: u32 = size_of::<ffi::xmlSecTransform>() as u32;

/// A klass is plain data that nobody changes.
struct Klass(ffi::xmlSecTransformKlass);

// SAFETY: the pointers in it lead to C string literals and functions, which are immutable and live for ever.
unsafe impl Sync for Klass {}

/// The algorithm's identifier as a C string; a test holds it against `names::SWA_CONTENT_SIGNATURE`.
pub(super) const HREF: &CStr =
    c"http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Content-Signature-Transform";

static KLASS: Klass = Klass(ffi::xmlSecTransformKlass {
    klassSize: KLASS_SIZE,
    objSize: OBJECT_SIZE,
    name: c"swa-attachment-content".as_ptr().cast(),
    href: HREF.as_ptr().cast(),
    usage: ffi::USAGE_TRANSFORM,
    initialize: None,
    finalize: None,
    readNode: None,
    writeNode: None,
    setKeyReq: None,
    setKey: None,
    verify: None,
    getDataType: Some(data_type),
    pushBin: Some(push),
    popBin: None,
    pushXml: None,
    popXml: None,
    execute: None,
    reserved0: std::ptr::null_mut(),
    reserved1: std::ptr::null_mut(),
});

/// For registration and the list of enabled transforms.
pub(super) fn klass() -> ffi::xmlSecTransformId {
    &raw const KLASS.0
}

/// Octets in, octets out.
unsafe extern "C" fn data_type(
    _transform: ffi::xmlSecTransformPtr,
    _mode: ffi::xmlSecTransformMode,
    _context: ffi::xmlSecTransformCtxPtr,
) -> ffi::xmlSecTransformDataType {
    ffi::DATA_BINARY
}

/// The input source is empty (see `library`), so the one call is the final one, and the part is pushed on from here.
unsafe extern "C" fn push(
    transform: ffi::xmlSecTransformPtr,
    _data: *const u8,
    length: u32,
    last: c_int,
    context: ffi::xmlSecTransformCtxPtr,
) -> c_int {
    if length > 0 {
        return -1;
    }
    if last == 0 {
        return 0;
    }
    // SAFETY: libxmlsec1 passes its live transform and context. `userData` of a reference's context is copied from the
    // signature's, where `context::Signing` put the session, which outlives the run and is borrowed by nobody else
    // while libxmlsec1 is at work. `uri` is a C string of the context.
    let (session, uri, next) = unsafe {
        let Some(session) = (*context).userData.cast::<Session<'_>>().as_mut() else { return -1 };
        if (*context).uri.is_null() || (*transform).next.is_null() {
            return -1;
        }
        (session, CStr::from_ptr((*context).uri.cast::<c_char>()), (*transform).next)
    };
    let Ok(uri) = uri.to_str() else { return -1 };
    match feed(session, uri, &Next { transform: next, context }) {
        Ok(()) => 0,
        Err(opinion) => {
            session.failure.get_or_insert(opinion);
            -1
        }
    }
}

/// The transform that follows: the digest.
struct Next {
    transform: ffi::xmlSecTransformPtr,
    context: ffi::xmlSecTransformCtxPtr,
}

impl Next {
    fn push(&self, octets: &[u8], last: bool) -> Result<(), Opinion> {
        let mut pieces = octets.chunks(PIECE).peekable();
        loop {
            let piece = pieces.next().unwrap_or_default();
            let end = pieces.peek().is_none();
            let last_piece = c_int::from(last && end);
            let length = u32::try_from(piece.len()).map_err(|_| Opinion::could_not("a piece beyond 4 GiB"))?;
            // SAFETY: both pointers are live for the duration of the push that we are called in (see `push`); the piece
            // is at most PIECE octets, and libxmlsec1 copies it.
            let pushed = unsafe {
                ffi::xmlSecTransformPushBin(self.transform, piece.as_ptr(), length, last_piece, self.context)
            };
            if pushed < 0 {
                return Err(Opinion::could_not("libxmlsec1 could not digest a part"));
            }
            if end {
                return Ok(());
            }
        }
    }
}

fn feed(session: &mut Session<'_>, cid: &str, next: &Next) -> Result<(), Opinion> {
    let (part, treatment) = session.open(cid)?;
    match treatment {
        Treatment::Raw => loop {
            let chunk = session.chunk()?;
            next.push(chunk, chunk.is_empty())?;
            if chunk.is_empty() {
                return Ok(());
            }
        },
        Treatment::Lines => feed_lines(session, next),
        Treatment::Canonical => feed_canonical(session, cid, part.length, next),
    }
}

/// Every CR LF, lone CR and lone LF becomes CR LF (WS-033), also where a chunk ends between the two.
fn feed_lines(session: &mut Session<'_>, next: &Next) -> Result<(), Opinion> {
    let mut after_cr = false;
    let mut lines = Vec::new();
    loop {
        let chunk = session.chunk()?;
        if chunk.is_empty() {
            return next.push(&[], true);
        }
        for piece in chunk.chunks(PIECE) {
            lines.clear();
            for &octet in piece {
                match octet {
                    b'\n' if after_cr => {}
                    b'\n' | b'\r' => lines.extend_from_slice(b"\r\n"),
                    other => lines.push(other),
                }
                after_cr = octet == b'\r';
            }
            next.push(&lines, false)?;
        }
    }
}

/// Exclusive C14N without comments of the whole document, written straight into the digest.
fn feed_canonical(session: &mut Session<'_>, cid: &str, length: Option<u64>, next: &Next) -> Result<(), Opinion> {
    let max = session.max_canonical;
    let too_large = || Opinion::could_not(format!("the part `{cid}` has more than {max} octets to be canonicalised"));
    if length.is_some_and(|l| l > max) {
        return Err(too_large());
    }
    // What the reader says of the length saves copies; it is not taken for more than a hint.
    let hint = length.unwrap_or_default().min(SECOND_OPINION_MAX);
    let mut octets = Vec::with_capacity(usize::try_from(hint).unwrap_or_default());
    loop {
        let chunk = session.chunk()?;
        if chunk.is_empty() {
            break;
        }
        if (octets.len() + chunk.len()) as u64 > max {
            return Err(too_large());
        }
        octets.extend_from_slice(chunk);
    }
    let doc = tree::Doc::from_octets(&octets).map_err(|e| tree::refused(e, &format!("the part `{cid}`")))?;
    drop(octets);
    if let Some(name) = tree::odd_namespace(&doc) {
        return Err(Opinion::could_not(format!(
            "libxml2 does not canonicalise the namespace `{name}` of `{cid}` right"
        )));
    }
    canonicalise(&doc, next)
}

fn canonicalise(doc: &tree::Doc, next: &Next) -> Result<(), Opinion> {
    // SAFETY: the output buffer is made for the live transform and closed here, which pushes the rest and the end; the
    // document lives until this function's caller drops it. Null node set and prefix list mean all nodes, no prefixes.
    let written = unsafe {
        let out = ffi::xmlSecTransformCreateOutputBuffer(next.transform, next.context);
        if out.is_null() {
            return Err(Opinion::could_not("libxmlsec1 could not digest a part"));
        }
        let (nodes, prefixes) = (std::ptr::null_mut(), std::ptr::null_mut());
        let written = ffi::xmlC14NDocSaveTo(doc.as_ptr(), nodes, ffi::XML_C14N_EXCLUSIVE_1_0, prefixes, 0, out);
        let closed = ffi::xmlOutputBufferClose(out);
        written >= 0 && closed >= 0
    };
    if written { Ok(()) } else { Err(Opinion::could_not("libxml2 could not canonicalise a part")) }
}
