use openssl::hash::MessageDigest;
use openssl::x509::extension::KeyUsage;
use time::Duration;

use super::pki::usage;
use super::*;

#[test]
fn a_whole_path_is_accepted_and_named() {
    let (root, middle, leaf) = three(|_, recipe| recipe);
    let verdict = judge(&trust(&root), &leaf, &[&middle]).unwrap();
    assert_eq!(verdict.path, ["CN=leaf,O=Test", "CN=middle,O=Test", "CN=root,O=Test"]);
    assert_eq!(verdict.valid_until.unix_timestamp(), NOW + 100 * DAY);
    assert_eq!(verdict.revocation, Revocation::Unchecked);
}

#[test]
fn intermediates_come_from_the_message_or_from_the_configuration() {
    let (root, middle, leaf) = three(|_, recipe| recipe);
    let error = judge(&trust(&root), &leaf, &[]).unwrap_err();
    let TrustError::NoAnchor { link, issuer } = &error else { panic!("{error}") };
    assert_eq!((link.subject.as_str(), issuer.as_str()), ("CN=leaf,O=Test", "CN=middle,O=Test"));
    let configured = Trust::new(vec![root.certificate()], vec![middle.certificate()], Options::default());
    assert_eq!(judge(&configured, &leaf, &[]).unwrap().path.len(), 3);
    // An intermediate may be the anchor itself.
    assert_eq!(judge(&trust(&middle), &leaf, &[]).unwrap().path.len(), 2);
}

#[test]
fn certificates_of_another_ca_are_refused() {
    // FR-047 (d), AT-09: the same subject names from a foreign root, sent along with it, and a self-made certificate.
    let (root, ..) = three(|_, recipe| recipe);
    let (foreign_root, foreign_middle, leaf) = three(|_, recipe| recipe);
    let error = judge(&trust(&root), &leaf, &[&foreign_middle, &foreign_root]).unwrap_err();
    assert!(matches!(error, TrustError::NoAnchor { .. } | TrustError::Path { .. }), "{error}");
    let alone = Authority::root(Recipe::leaf("leaf")).certificate();
    let error = judge(&trust(&root), &alone, &[]).unwrap_err();
    assert!(matches!(error, TrustError::NoAnchor { .. }), "{error}");
}

#[test]
fn validity_is_that_of_the_given_moment() {
    let (root, middle, leaf) = three(|_, recipe| recipe);
    let (trust, chain) = (trust(&root), [Arc::new(middle.certificate())]);
    let at = |moment| trust.judge(&leaf, &chain, Purpose::Sign, moment);
    // In its last second OpenSSL takes a certificate as expired.
    assert!(at(leaf.not_after() - Duration::SECOND).is_ok());
    assert!(at(leaf.not_before()).is_ok());
    let error = at(leaf.not_after() + Duration::days(3) + Duration::HOUR).unwrap_err();
    assert!(matches!(error, TrustError::Expired { days: 3, .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("the signing certificate `CN=leaf,O=Test`") && text.contains("expired 3 days ago"), "{text}");
    let error = at(leaf.not_before() - Duration::days(1)).unwrap_err();
    assert!(matches!(error, TrustError::NotYetValid { days: 1, .. }), "{error}");
}

#[test]
fn an_expired_intermediate_is_named_with_its_days() {
    let (root, middle, leaf) = three(|name, recipe| match name {
        "middle" => Recipe { until: NOW - 5 * DAY - 1, ..recipe },
        _ => recipe,
    });
    let error = judge(&trust(&root), &leaf, &[&middle]).unwrap_err();
    let TrustError::Expired { link, days: 5, .. } = &error else { panic!("{error}") };
    assert_eq!(link.position, Position::Issuer(1));
    assert!(error.to_string().contains("the issuer's certificate `CN=middle,O=Test`"), "{error}");
}

#[test]
fn key_usage_has_to_fit_the_purpose() {
    let root = Authority::root(Recipe::ca("root"));
    let leaf = |usage: Option<KeyUsage>| root.issue(Recipe { usage, ..Recipe::leaf("leaf") }).certificate();
    let table = [
        (Some(usage(|u| u.digital_signature())), true, false),
        (Some(usage(|u| u.key_encipherment())), false, true),
        (Some(usage(|u| u.key_agreement())), false, true),
        (Some(usage(|u| u.non_repudiation())), false, false),
        (None, true, true),
    ];
    let trust = trust(&root);
    for (set, signs, encrypts) in table {
        let leaf = leaf(set);
        for (purpose, fits) in [(Purpose::Sign, signs), (Purpose::Encrypt, encrypts)] {
            match trust.judge(&leaf, &[], purpose, now()) {
                Ok(_) => assert!(fits, "{purpose}"),
                Err(TrustError::KeyUsage { .. }) => assert!(!fits, "{purpose}"),
                Err(other) => panic!("{other}"),
            }
        }
    }
}

#[test]
fn a_leaf_cannot_issue() {
    let root = Authority::root(Recipe::ca("root"));
    let leaf = root.issue(Recipe::leaf("leaf"));
    let below = leaf.issue(Recipe::leaf("below")).certificate();
    assert!(judge(&trust(&root), &below, &[&leaf]).is_err());
}

#[test]
fn weak_keys_are_refused_wherever_they_stand() {
    let (root, middle, leaf) = three(|name, recipe| match name {
        "leaf" => Recipe { key: pki::rsa(1024), ..recipe },
        _ => recipe,
    });
    let error = judge(&trust(&root), &leaf, &[&middle]).unwrap_err();
    assert!(error.to_string().contains("weak key (RSA, 1024 bits)"), "{error}");

    let (root, middle, leaf) = three(|name, recipe| match name {
        "middle" => Recipe { key: pki::rsa(1024), ..recipe },
        _ => recipe,
    });
    let error = judge(&trust(&root), &leaf, &[&middle]).unwrap_err();
    let TrustError::WeakKey { link, .. } = &error else { panic!("{error}") };
    assert_eq!(link.subject, "CN=middle,O=Test");

    let p224 = openssl::ec::EcGroup::from_curve_name(openssl::nid::Nid::SECP224R1).unwrap();
    let (root, middle, leaf) = three(|name, recipe| match name {
        "root" => Recipe {
            key: openssl::pkey::PKey::from_ec_key(openssl::ec::EcKey::generate(&p224).unwrap()).unwrap(),
            ..recipe
        },
        _ => recipe,
    });
    let error = judge(&trust(&root), &leaf, &[&middle]).unwrap_err();
    assert!(error.to_string().contains("weak key (EC, 224 bits)"), "{error}");
}

#[test]
fn forgeable_signatures_are_refused() {
    for digest in [MessageDigest::sha1(), MessageDigest::md5()] {
        for weak in ["leaf", "middle"] {
            let (root, middle, leaf) = three(|name, recipe| Recipe {
                key: pki::rsa(2048),
                digest: if name == weak { digest } else { recipe.digest },
                ..recipe
            });
            let error = judge(&trust(&root), &leaf, &[&middle]).unwrap_err();
            let TrustError::WeakSignature { link, .. } = &error else { panic!("{error}") };
            assert_eq!(link.subject, format!("CN={weak},O=Test"));
        }
    }
}

#[test]
fn brainpool_and_ed25519_are_accepted() {
    let brainpool = openssl::ec::EcGroup::from_curve_name(openssl::nid::Nid::BRAINPOOL_P256R1).unwrap();
    let key = openssl::pkey::PKey::from_ec_key(openssl::ec::EcKey::generate(&brainpool).unwrap()).unwrap();
    let root = Authority::root(Recipe::ca("root"));
    let leaf = root.issue(Recipe { key, ..Recipe::leaf("leaf") }).certificate();
    assert!(judge(&trust(&root), &leaf, &[]).is_ok());
    let key = openssl::pkey::PKey::generate_ed25519().unwrap();
    let leaf = root.issue(Recipe { key, ..Recipe::leaf("leaf") }).certificate();
    assert!(judge(&trust(&root), &leaf, &[]).is_ok());
}

#[test]
fn pinned_certificates_need_no_path_but_everything_else() {
    let nobody = Trust::new(Vec::new(), Vec::new(), Options::default());
    let (_, _, leaf) = three(|_, recipe| recipe);
    let leaf = Arc::new(leaf);
    let verdict = nobody.judge_pinned(&leaf, Purpose::Sign, now()).unwrap();
    assert_eq!(verdict.path, ["CN=leaf,O=Test"]);
    let late = leaf.not_after() + Duration::SECOND;
    assert!(matches!(nobody.judge_pinned(&leaf, Purpose::Sign, late), Err(TrustError::Expired { days: 0, .. })));
    let error = nobody.judge_pinned(&leaf, Purpose::Encrypt, now()).unwrap_err();
    assert!(error.to_string().contains("the encryption certificate") && error.to_string().contains("lacks keyEnc"));
    let weak = Arc::new(Authority::root(Recipe { key: pki::rsa(1024), ..Recipe::leaf("weak") }).certificate());
    assert!(matches!(nobody.judge_pinned(&weak, Purpose::Sign, now()), Err(TrustError::WeakKey { .. })));
}

#[test]
fn verdicts_are_kept_within_bounds_and_validity_is_asked_again() {
    let root = Authority::root(Recipe::ca("root"));
    let trust = Trust::new(vec![root.certificate()], Vec::new(), Options { cache: 2, ..Options::default() });
    let leaves: Vec<Certificate> = (0..4).map(|_| root.issue(Recipe::leaf("leaf")).certificate()).collect();
    for leaf in &leaves {
        assert!(judge(&trust, leaf, &[]).is_ok());
        assert!(trust.cached() <= 2);
    }
    let last = leaves.last().unwrap();
    assert_eq!(judge(&trust, last, &[]).unwrap(), judge(&trust, last, &[]).unwrap());
    let late = last.not_after() + Duration::SECOND;
    assert!(matches!(trust.judge(last, &[], Purpose::Sign, late), Err(TrustError::Expired { .. })));
    // Refusals are not kept: a path that was missing may come with the next message.
    let (root, middle, leaf) = three(|_, recipe| recipe);
    let trust = super::trust(&root);
    assert!(judge(&trust, &leaf, &[]).is_err());
    assert_eq!(trust.cached(), 0);
    assert!(judge(&trust, &leaf, &[&middle]).is_ok());
    // And the way found is good for messages that bring no intermediate.
    assert!(judge(&trust, &leaf, &[]).is_ok());
}
