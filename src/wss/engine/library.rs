//! Starting libxmlsec1, once a process, and taking away what it could reach.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

use super::{content, ffi, trail};

static STARTED: OnceLock<Result<(), &'static str>> = OnceLock::new();

/// Starts the library at the first call; later calls only report how that went.
pub(super) fn start() -> Result<(), &'static str> {
    *STARTED.get_or_init(|| {
        // SAFETY: xmlInitParser may be called at any time; OnceLock makes this the only thread in here.
        unsafe { ffi::xmlInitParser() };
        // The crate starts libxmlsec1 behind its own lock when its first context is made. Doing that here, before the
        // callbacks are taken away, means that no later use of the crate can put them back.
        std::panic::catch_unwind(|| drop(xmlsec::XmlSecSignatureContext::new()))
            .map_err(|_| "libxmlsec1 did not start")?;
        confine()
    })
}

/// Replaces error output, all I/O callbacks and adds the content transform.
fn confine() -> Result<(), &'static str> {
    // SAFETY: libxmlsec1 is started; the lists changed here are global, and they are changed only here, before any
    // signature is read. All functions and the klass handed over are static.
    unsafe {
        ffi::xmlSecErrorsSetCallback(Some(trail::from_xmlsec));
        ffi::xmlSecIOCleanupCallbacks();
        if ffi::xmlSecIORegisterCallbacks(Some(is_cid), Some(open_nothing), Some(read_nothing), Some(close_nothing)) < 0
        {
            return Err("libxmlsec1 refused our input callbacks");
        }
        if ffi::xmlSecTransformIdsRegister(content::klass()) < 0 {
            return Err("libxmlsec1 refused the SwA content transform");
        }
    }
    Ok(())
}

/// The one scheme that exists. Its source is empty: the content transform, which every `cid:` reference must have,
/// takes the octets from the session, so no state hangs on these process-wide callbacks.
unsafe extern "C" fn is_cid(uri: *const c_char) -> c_int {
    if uri.is_null() {
        return 0;
    }
    // SAFETY: libxmlsec1 passes a C string.
    let uri = unsafe { CStr::from_ptr(uri) }.to_bytes();
    c_int::from(uri.get(..4).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"cid:")))
}

unsafe extern "C" fn open_nothing(_uri: *const c_char) -> *mut c_void {
    // Only has to differ from null; it is handed back to the two functions below, which do not look at it.
    std::ptr::dangling_mut()
}

unsafe extern "C" fn read_nothing(_source: *mut c_void, _buffer: *mut c_char, _length: c_int) -> c_int {
    0
}

unsafe extern "C" fn close_nothing(_source: *mut c_void) -> c_int {
    0
}

/// Whether libxmlsec1's input transform opens a source, for tests that go past the allow-list.
#[cfg(test)]
pub(super) fn can_open(uri: &str) -> bool {
    let uri = std::ffi::CString::new(uri).unwrap();
    // SAFETY: the context is made, used and destroyed here; the URI outlives the call.
    unsafe {
        let context = ffi::xmlSecTransformCtxCreate();
        let input = ffi::xmlSecTransformCtxCreateAndAppend(context, ffi::xmlSecTransformInputURIGetKlass());
        let opened = ffi::xmlSecTransformInputURIOpen(input, uri.as_ptr().cast()) >= 0;
        ffi::xmlSecTransformCtxDestroy(context);
        opened
    }
}
