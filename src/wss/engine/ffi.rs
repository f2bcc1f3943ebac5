//! What libxmlsec1 1.2 and libxml2 2.9 export and the `xmlsec` crate's generated bindings leave out. Signatures are
//! those of `xmlsec/io.h`, `xmlsec/errors.h`, `xmlsec/openssl/evp.h` and `libxml/c14n.h`.

use std::ffi::{c_char, c_int, c_void};

pub(super) use xmlsec::bindings::*;

/// `xmlSecErrorsCallback`.
pub(super) type ErrorsCallback = unsafe extern "C" fn(
    file: *const c_char,
    line: c_int,
    func: *const c_char,
    object: *const c_char,
    subject: *const c_char,
    reason: c_int,
    message: *const c_char,
);

/// `XML_C14N_EXCLUSIVE_1_0` of `libxml/c14n.h`.
pub(super) const XML_C14N_EXCLUSIVE_1_0: c_int = 1;
/// `XML_FROM_C14N` of `libxml/xmlerror.h`.
pub(super) const FROM_C14N: c_int = 21;
/// `XML_WAR_NS_URI` of `libxml/xmlerror.h`: a namespace name that libxml2 takes for no URI.
pub(super) const NOT_A_URI: c_int = 99;
/// `XMLSEC_DSIG_FLAGS_IGNORE_MANIFESTS` of `xmlsec/xmldsig.h`.
pub(super) const IGNORE_MANIFESTS: u32 = 1;
/// `xmlSecTransformUriTypeNone`, `…SameDocument` and `…Remote` of `xmlsec/transforms.h`; `cid:` counts as remote.
pub(super) const URI_NONE: u32 = 0;
pub(super) const URI_SAME_DOCUMENT: u32 = 2;
pub(super) const URI_REMOTE: u32 = 8;
/// `xmlSecTransformUsageDSigTransform` and `xmlSecTransformDataTypeBin` of `xmlsec/transforms.h`.
pub(super) const USAGE_TRANSFORM: u32 = 1;
pub(super) const DATA_BINARY: u8 = 1;

unsafe extern "C" {
    pub(super) fn xmlSecErrorsSetCallback(callback: Option<ErrorsCallback>);
    pub(super) fn xmlSecIOCleanupCallbacks();
    pub(super) fn xmlSecIORegisterCallbacks(
        matches: Option<unsafe extern "C" fn(*const c_char) -> c_int>,
        open: Option<unsafe extern "C" fn(*const c_char) -> *mut c_void>,
        read: Option<unsafe extern "C" fn(*mut c_void, *mut c_char, c_int) -> c_int>,
        close: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
    ) -> c_int;
    pub(super) fn xmlSecOpenSSLEvpKeyAdopt(key: *mut openssl_sys::EVP_PKEY) -> xmlSecKeyDataPtr;
    pub(super) fn xmlC14NDocSaveTo(
        doc: xmlDocPtr,
        nodes: *mut c_void,
        mode: c_int,
        prefixes: *mut *mut xmlChar,
        with_comments: c_int,
        buf: xmlOutputBufferPtr,
    ) -> c_int;
    #[cfg(test)]
    pub(super) fn xmlSecTransformInputURIGetKlass() -> xmlSecTransformId;
    #[cfg(test)]
    pub(super) fn xmlSecTransformInputURIOpen(transform: xmlSecTransformPtr, uri: *const xmlChar) -> c_int;
}
