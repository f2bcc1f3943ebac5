//! Gateways as processes, seen from outside: with each other, with scripted partners, and with independent AS4 products.

#[path = "../support/mod.rs"]
mod support;

mod pair;
mod phase4;
