//! Paths made on the spot with the openssl crate, each broken in one way.

mod chain;
mod extensions;
mod pki;
mod revoked;

use std::sync::Arc;

use time::OffsetDateTime;

use super::{Crl, MissingCrl, Options, Position, Purpose, Revocation, Trust, TrustError, Verdict};
use crate::wss::Certificate;
use pki::{Authority, DAY, NOW, Recipe};

fn now() -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(NOW).unwrap()
}

fn trust(anchor: &Authority) -> Trust {
    Trust::new(vec![anchor.certificate()], Vec::new(), Options::default())
}

/// Judges a leaf for signing, with one intermediate sent along.
fn judge(trust: &Trust, leaf: &Certificate, chain: &[&Authority]) -> Result<Verdict, TrustError> {
    let chain: Vec<Arc<Certificate>> = chain.iter().map(|a| Arc::new(a.certificate())).collect();
    trust.judge(leaf, &chain, Purpose::Sign, now())
}

/// Root, intermediate and leaf, each as `make` wishes.
fn three(make: impl Fn(&str, Recipe) -> Recipe) -> (Authority, Authority, Certificate) {
    let root = Authority::root(make("root", Recipe::ca("root")));
    let middle = root.issue_ca(make("middle", Recipe::ca("middle")));
    let leaf = middle.issue(make("leaf", Recipe::leaf("leaf"))).certificate();
    (root, middle, leaf)
}
