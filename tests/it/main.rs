//! Gateways as processes, seen from outside: with each other, with scripted partners, and with independent AS4 products.

#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "it serves other test binaries too")]
mod support;

mod attacks;
mod cases;
mod notify;
mod pair;
mod peppol;
mod phase4;
mod serve;
