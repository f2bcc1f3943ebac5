//! What libxmlsec1, libxml2 and OpenSSL complain about during one opinion, kept per thread, for the reason that is
//! given. Nothing of theirs reaches stderr.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_void};

use super::ffi;

/// Complaints kept: the first ones are nearest to the cause.
const KEPT: usize = 6;

/// What one thread heard since [`begin`].
#[derive(Default)]
pub(super) struct Trail {
    lines: Vec<String>,
    /// libxml2 met one of its own limits (depth, length of a text node) or a namespace name that it takes for no URI,
    /// which says nothing about the signature.
    pub(super) beyond_libxml: bool,
    /// libxml2 refused to canonicalise, as it does with relative namespace names.
    pub(super) not_canonical: bool,
}

thread_local! {
    static TRAIL: RefCell<Trail> = RefCell::default();
}

/// Starts anew on this thread, and directs libxml2's errors (kept per thread by libxml2) here.
pub(super) fn begin() {
    TRAIL.with(|t| drop(t.take()));
    // SAFETY: the handler is a plain function that lives for ever and needs no context.
    unsafe { ffi::xmlSetStructuredErrorFunc(std::ptr::null_mut(), Some(from_libxml)) };
}

/// Ends the collection; OpenSSL's queue is emptied too, for other users of this thread must not find it.
pub(super) fn take() -> Trail {
    for error in openssl::error::ErrorStack::get().errors() {
        note(|| format!("OpenSSL: {error}"));
    }
    TRAIL.with(RefCell::take)
}

impl Trail {
    /// The complaints in one line, after `what`.
    pub(super) fn explain(&self, what: &str) -> String {
        if self.lines.is_empty() { what.to_owned() } else { format!("{what}: {}", self.lines.join("; ")) }
    }
}

/// Never panics: it is called from C.
fn note(line: impl FnOnce() -> String) {
    TRAIL.with(|t| {
        if let Ok(mut trail) = t.try_borrow_mut()
            && trail.lines.len() < KEPT
        {
            trail.lines.push(line());
        }
    });
}

/// # Safety
/// `text` is null or a C string that lives during the call.
unsafe fn lossy(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null, and a C string by contract.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_string_lossy().trim().chars().take(300).collect()
}

/// `xmlSecErrorsCallback`, process-wide; what is heard outside an opinion is dropped at the next [`begin`].
pub(super) unsafe extern "C" fn from_xmlsec(
    _file: *const c_char,
    _line: c_int,
    func: *const c_char,
    object: *const c_char,
    subject: *const c_char,
    reason: c_int,
    message: *const c_char,
) {
    // SAFETY: libxmlsec1 hands over C strings or null that live during the call.
    let words = unsafe { [lossy(func), lossy(object), lossy(subject), lossy(message)] };
    note(|| {
        let words: Vec<&str> = words.iter().map(String::as_str).filter(|w| !w.is_empty() && *w != " ").collect();
        format!("{} (reason {reason})", words.join(" "))
    });
}

unsafe extern "C" fn from_libxml(_context: *mut c_void, error: ffi::xmlErrorPtr) {
    // SAFETY: libxml2 passes a valid error or null.
    let Some(error) = (unsafe { error.as_ref() }) else { return };
    // SAFETY: its message is a C string or null that lives during the call.
    let message = unsafe { lossy(error.message) };
    TRAIL.with(|t| {
        if let Ok(mut trail) = t.try_borrow_mut() {
            trail.not_canonical |= error.domain == ffi::FROM_C14N;
            let limit = ["HUGE", "huge", "too big", "too long", "Excessive"].iter().any(|w| message.contains(w));
            trail.beyond_libxml |= limit || error.code == ffi::NOT_A_URI;
        }
    });
    note(|| format!("libxml2: {message} (line {})", error.line));
}
