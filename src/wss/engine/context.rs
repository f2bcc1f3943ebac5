//! A signature context of libxmlsec1 with everything unneeded switched off.

use std::ffi::CStr;
use std::marker::PhantomData;
use std::ptr::NonNull;

use foreign_types::ForeignType;
use openssl::pkey::PKey;

use super::session::Session;
use super::tree::NodeRef;
use super::{content, ffi};

/// The digest of the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All digests and the signature value hold.
    Holds,
    /// The reference with this index does not hold.
    WrongDigest(usize),
    /// The digests hold, the signature value does not.
    WrongValue,
    /// libxmlsec1 gave up; the trail says why.
    Failed,
}

/// Owns a `xmlSecDSigCtx` and borrows the session that its callbacks use.
pub(super) struct Context<'s> {
    raw: NonNull<ffi::xmlSecDSigCtx>,
    session: PhantomData<&'s mut Session<'s>>,
}

impl Drop for Context<'_> {
    fn drop(&mut self) {
        // SAFETY: made by xmlSecDSigCtxCreate, destroyed once; frees the key it owns.
        unsafe { ffi::xmlSecDSigCtxDestroy(self.raw.as_ptr()) };
    }
}

/// The klass of a signature algorithm that may be used; `None` for all others.
fn signature_klass(uri: &str) -> Option<ffi::xmlSecTransformId> {
    // SAFETY: these return pointers to static klasses.
    unsafe {
        Some(match uri {
            "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256" => ffi::xmlSecOpenSSLTransformRsaSha256GetKlass(),
            "http://www.w3.org/2001/04/xmldsig-more#rsa-sha384" => ffi::xmlSecOpenSSLTransformRsaSha384GetKlass(),
            "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512" => ffi::xmlSecOpenSSLTransformRsaSha512GetKlass(),
            "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256" => ffi::xmlSecOpenSSLTransformEcdsaSha256GetKlass(),
            "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384" => ffi::xmlSecOpenSSLTransformEcdsaSha384GetKlass(),
            "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha512" => ffi::xmlSecOpenSSLTransformEcdsaSha512GetKlass(),
            _ => return None,
        })
    }
}

/// The klass of a digest algorithm that may be used.
fn digest_klass(uri: &str) -> Option<ffi::xmlSecTransformId> {
    // SAFETY: these return pointers to static klasses.
    unsafe {
        Some(match uri {
            "http://www.w3.org/2001/04/xmlenc#sha256" => ffi::xmlSecOpenSSLTransformSha256GetKlass(),
            "http://www.w3.org/2001/04/xmldsig-more#sha384" => ffi::xmlSecOpenSSLTransformSha384GetKlass(),
            "http://www.w3.org/2001/04/xmlenc#sha512" => ffi::xmlSecOpenSSLTransformSha512GetKlass(),
            _ => return None,
        })
    }
}

/// Whether libxmlsec1 may judge these algorithms here.
pub(super) fn knows_signature(uri: &str) -> bool {
    signature_klass(uri).is_some()
}

/// See [`knows_signature`].
pub(super) fn knows_digest(uri: &str) -> bool {
    digest_klass(uri).is_some()
}

impl<'s> Context<'s> {
    /// A context for one signature method and the digests in use, with the key given. `None` when libxmlsec1 cannot
    /// take one of them.
    pub(super) fn new<'d, K>(
        session: &'s mut Session<'_>,
        key: &PKey<K>,
        method: &str,
        digests: impl Iterator<Item = &'d str>,
    ) -> Option<Self> {
        let method = signature_klass(method)?;
        // SAFETY: null asks for a context without key manager.
        let raw = NonNull::new(unsafe { ffi::xmlSecDSigCtxCreate(std::ptr::null_mut()) })?;
        let this = Self { raw, session: PhantomData };
        let context = raw.as_ptr();
        // SAFETY: the context is live and ours alone. All ids are static. `userData` points at the session, borrowed
        // for 's, the lifetime of `this`; the callbacks reach it only while one of the runs below is in progress.
        unsafe {
            (*context).userData = std::ptr::from_mut(session).cast();
            (*context).flags = ffi::IGNORE_MANIFESTS;
            (*context).enabledReferenceUris = ffi::URI_SAME_DOCUMENT | ffi::URI_REMOTE;
            (*context).referencePreExecuteCallback = Some(note_reference);
            (*context).keyInfoReadCtx.retrievalMethodCtx.enabledUris = ffi::URI_NONE;
            for info in [&raw mut (*context).keyInfoReadCtx, &raw mut (*context).keyInfoWriteCtx] {
                for id in [ffi::xmlSecOpenSSLKeyDataRsaGetKlass(), ffi::xmlSecOpenSSLKeyDataEcdsaGetKlass()] {
                    enable(&raw mut (*info).enabledKeyData, id.cast())?;
                }
            }
            let c14n = ffi::xmlSecTransformExclC14NGetKlass();
            for id in [c14n, method] {
                enable(&raw mut (*context).transformCtx.enabledTransforms, id.cast())?;
            }
            for id in [Some(c14n), Some(content::klass())].into_iter().chain(digests.map(digest_klass)) {
                if ffi::xmlSecDSigCtxEnableReferenceTransform(context, id?) < 0 {
                    return None;
                }
            }
            (*context).signKey = adopt(key)?.as_ptr();
        }
        Some(this)
    }

    /// Verifies a signature element.
    pub(super) fn verify(&mut self, signature: NodeRef<'_>) -> Outcome {
        let context = self.raw.as_ptr();
        // SAFETY: the element belongs to a live document that no other thread sees. The list holds reference contexts
        // that the signature context owns.
        unsafe {
            let done = ffi::xmlSecDSigCtxVerify(context, signature.as_ptr());
            let references = &raw mut (*context).signedInfoReferences;
            for index in 0..ffi::xmlSecPtrListGetSize(references) {
                let reference = ffi::xmlSecPtrListGetItem(references, index).cast::<ffi::xmlSecDSigReferenceCtx>();
                match reference.as_ref().map(|r| r.status) {
                    Some(ffi::xmlSecDSigStatus_xmlSecDSigStatusSucceeded) => {}
                    Some(ffi::xmlSecDSigStatus_xmlSecDSigStatusInvalid) => return Outcome::WrongDigest(index as usize),
                    _ => return Outcome::Failed,
                }
            }
            match (*context).status {
                _ if done < 0 => Outcome::Failed,
                ffi::xmlSecDSigStatus_xmlSecDSigStatusSucceeded => Outcome::Holds,
                ffi::xmlSecDSigStatus_xmlSecDSigStatusInvalid => Outcome::WrongValue,
                _ => Outcome::Failed,
            }
        }
    }

    /// Fills in the digests and the value of a signature element.
    pub(super) fn sign(&mut self, signature: NodeRef<'_>) -> bool {
        // SAFETY: as for `verify`; the tree is changed, and the caller reads it only through new views.
        unsafe { ffi::xmlSecDSigCtxSign(self.raw.as_ptr(), signature.as_ptr()) >= 0 }
    }
}

/// # Safety
/// `list` is a live pointer list of ids, `id` static.
unsafe fn enable(list: ffi::xmlSecPtrListPtr, id: *const std::ffi::c_void) -> Option<()> {
    // SAFETY: by contract; the list stores the pointer and never writes through it.
    (unsafe { ffi::xmlSecPtrListAdd(list, id.cast_mut()) } >= 0).then_some(())
}

/// A key of libxmlsec1 that shares OpenSSL's key object.
fn adopt<K>(key: &PKey<K>) -> Option<NonNull<ffi::xmlSecKey>> {
    let key = key.clone();
    // SAFETY: the clone holds a reference of its own, which xmlSecOpenSSLEvpKeyAdopt takes over on success; on failure
    // `key` is dropped as usual. Each object is owned by exactly one party: data by us until xmlSecKeySetValue succeeds.
    unsafe {
        let data = ffi::xmlSecOpenSSLEvpKeyAdopt(key.as_ptr());
        if data.is_null() {
            return None;
        }
        std::mem::forget(key);
        let wrapped = ffi::xmlSecKeyCreate();
        if wrapped.is_null() || ffi::xmlSecKeySetValue(wrapped, data) < 0 {
            ffi::xmlSecKeyDataDestroy(data);
            if !wrapped.is_null() {
                ffi::xmlSecKeyDestroy(wrapped);
            }
            return None;
        }
        NonNull::new(wrapped)
    }
}

/// Called before each reference is digested: writes down which one it is.
unsafe extern "C" fn note_reference(context: ffi::xmlSecTransformCtxPtr) -> std::ffi::c_int {
    // SAFETY: libxmlsec1 passes the live context of the reference, whose userData is the session (see `Context::new`);
    // uri and xptrExpr are null or C strings of the context.
    unsafe {
        let Some(session) = (*context).userData.cast::<Session<'_>>().as_mut() else { return -1 };
        let mut whole = String::new();
        for part in [(*context).uri, (*context).xptrExpr] {
            if !part.is_null() {
                whole.push_str(&CStr::from_ptr(part.cast()).to_string_lossy());
            }
        }
        session.digested.push(whole);
    }
    0
}
