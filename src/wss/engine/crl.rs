//! One call that the `openssl` crate lacks: putting a revocation list into a certificate store.

use std::ffi::c_int;

use foreign_types::{ForeignType, ForeignTypeRef};
use openssl::error::ErrorStack;
use openssl::x509::X509CrlRef;
use openssl::x509::store::X509StoreBuilder;

unsafe extern "C" {
    fn X509_STORE_add_crl(store: *mut openssl_sys::X509_STORE, crl: *mut openssl_sys::X509_CRL) -> c_int;
}

/// Adds a revocation list to a store under construction; the store keeps its own reference.
///
/// # Errors
/// When OpenSSL cannot take it (out of memory).
pub fn add_crl(store: &mut X509StoreBuilder, crl: &X509CrlRef) -> Result<(), ErrorStack> {
    // SAFETY: both pointers come from live owners and stay valid during the call; X509_STORE_add_crl takes a reference
    // of its own to the list (up_ref) and changes nothing else in it.
    let added = unsafe { X509_STORE_add_crl(store.as_ptr(), crl.as_ptr()) };
    if added == 1 { Ok(()) } else { Err(ErrorStack::get()) }
}
