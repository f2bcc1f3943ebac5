//! FR-048 and AT-16.

use std::time::Instant;

use openssl::x509::extension::SubjectAlternativeName;

use super::pki::{der, extension};
use super::*;

const NAME_CONSTRAINTS: &str = "2.5.29.30";

/// `permittedSubtrees` (tag 0) or `excludedSubtrees` (tag 1) with directory names `O=<organisation>`.
fn constraint(tag: u8, organisation: &str) -> openssl::x509::X509Extension {
    let attribute = der(0x30, &[&[0x06, 0x03, 0x55, 0x04, 0x0a][..], &der(0x0c, organisation.as_bytes())].concat());
    let name = der(0x30, &der(0x31, &attribute));
    let subtree = der(0x30, &der(0xa4, &name));
    extension(NAME_CONSTRAINTS, true, &der(0x30, &der(0xa0 + tag, &subtree)))
}

fn constrained(tag: u8, organisation: &str) -> Result<Verdict, TrustError> {
    let (root, middle, leaf) = three(|name, recipe| match name {
        "middle" => Recipe { extensions: vec![constraint(tag, organisation)], ..recipe },
        _ => recipe,
    });
    judge(&trust(&root), &leaf, &[&middle])
}

#[test]
fn name_constraints_are_kept() {
    assert!(constrained(0, "Test").is_ok());
    let error = constrained(0, "Others").unwrap_err();
    assert!(error.to_string().contains("permitted subtree violation"), "{error}");
    let error = constrained(1, "Test").unwrap_err();
    assert!(error.to_string().contains("excluded subtree violation"), "{error}");
    assert!(constrained(1, "Others").is_ok());
}

#[test]
fn unknown_critical_extensions_are_refused_and_others_ignored() {
    for critical in [true, false] {
        let unknown = || vec![extension("1.2.3.4.5.6", critical, &[5, 0])];
        let root = Authority::root(Recipe::ca("root"));
        let leaf = root.issue(Recipe { extensions: unknown(), ..Recipe::leaf("leaf") }).certificate();
        let by_path = judge(&trust(&root), &leaf, &[]);
        let nobody = Trust::new(Vec::new(), Vec::new(), Options::default());
        let pinned = nobody.judge_pinned(&Arc::new(leaf), Purpose::Sign, now());
        for outcome in [by_path, pinned] {
            match outcome {
                Ok(_) => assert!(!critical),
                Err(error) => {
                    assert!(critical);
                    assert!(error.to_string().contains("unhandled critical extension"), "{error}");
                }
            }
        }
    }
}

#[test]
fn crossed_intermediates_of_one_name_cost_little() {
    let root = Authority::root(Recipe::ca("root"));
    let crossed: Vec<Authority> = (0..20).map(|_| root.issue_ca(Recipe::ca("middle"))).collect();
    let leaf = crossed.last().unwrap().issue(Recipe::leaf("leaf")).certificate();
    let started = Instant::now();
    let all: Vec<&Authority> = crossed.iter().collect();
    let error = judge(&trust(&root), &leaf, &all).unwrap_err();
    assert!(matches!(error, TrustError::TooManyCertificates { given: 20, limit: 10 }), "{error}");
    // Within the limit the right one is found by its key identifier.
    assert!(judge(&trust(&root), &leaf, &all[10..]).is_ok());
    assert!(started.elapsed().as_secs() < 2);
}

#[test]
fn a_flood_of_names_and_constraints_is_refused_at_once() {
    let subtrees: Vec<u8> = (0..5000).flat_map(|n| der(0x30, &der(0x82, format!("c{n}.example").as_bytes()))).collect();
    let flood = extension(NAME_CONSTRAINTS, true, &der(0x30, &der(0xa1, &subtrees)));
    let root = Authority::root(Recipe::ca("root"));
    let middle = root.issue_ca(Recipe { extensions: vec![flood], ..Recipe::ca("middle") });
    let mut names = SubjectAlternativeName::new();
    for n in 0..5000 {
        names.dns(&format!("n{n}.test"));
    }
    let builder = openssl::x509::X509::builder().unwrap();
    let names = names.build(&builder.x509v3_context(None, None)).unwrap();
    let leaf = middle.issue(Recipe { extensions: vec![names], ..Recipe::leaf("leaf") }).certificate();
    let started = Instant::now();
    assert!(judge(&trust(&root), &leaf, &[&middle]).is_err());
    assert!(started.elapsed().as_secs() < 2);
}
