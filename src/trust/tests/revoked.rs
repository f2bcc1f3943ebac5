use super::*;

fn with(root: &Authority, crls: Vec<Crl>, missing_crl: MissingCrl) -> Trust {
    Trust::new(vec![root.certificate()], Vec::new(), Options { crls, missing_crl, ..Options::default() })
}

#[test]
fn a_revoked_certificate_is_refused_at_every_link() {
    let (root, middle, leaf) = three(|_, recipe| recipe);
    let (clean_root, clean_middle) = (root.list(&[], NOW + DAY), middle.list(&[], NOW + DAY));
    let good = with(&root, vec![clean_root.clone(), clean_middle.clone()], MissingCrl::Refuse);
    assert_eq!(judge(&good, &leaf, &[&middle]).unwrap().revocation, Revocation::Good);

    let leaf_revoked = middle.list(&[&leaf], NOW + DAY);
    let middle_revoked = root.list(&[&middle.certificate()], NOW + DAY);
    for (crls, named) in
        [(vec![clean_root, leaf_revoked], "CN=leaf"), (vec![middle_revoked, clean_middle], "CN=middle")]
    {
        for missing in [MissingCrl::Refuse, MissingCrl::Accept] {
            let error = judge(&with(&root, crls.clone(), missing), &leaf, &[&middle]).unwrap_err();
            let TrustError::Revoked { link, .. } = &error else { panic!("{error}") };
            assert!(link.subject.starts_with(named), "{error}");
        }
    }
}

#[test]
fn a_missing_or_stale_list_fails_hard_or_soft() {
    let (root, middle, leaf) = three(|_, recipe| recipe);
    let lists = [vec![root.list(&[], NOW + DAY)], vec![root.list(&[], NOW + DAY), middle.list(&[], NOW - DAY)]];
    for crls in lists {
        let error = judge(&with(&root, crls.clone(), MissingCrl::Refuse), &leaf, &[&middle]).unwrap_err();
        let TrustError::RevocationUnknown { link, issuer, .. } = &error else { panic!("{error}") };
        assert_eq!((link.subject.as_str(), issuer.as_str()), ("CN=leaf,O=Test", "CN=middle,O=Test"));
        let verdict = judge(&with(&root, crls, MissingCrl::Accept), &leaf, &[&middle]).unwrap();
        let Revocation::Unknown { why } = verdict.revocation else { panic!() };
        assert!(why.contains("CN=middle"), "{why}");
    }
}

#[test]
fn who_stands_on_a_stale_list_stays_revoked() {
    let (root, middle, leaf) = three(|_, recipe| recipe);
    let crls = vec![root.list(&[], NOW + DAY), middle.list(&[&leaf], NOW - DAY)];
    let error = judge(&with(&root, crls, MissingCrl::Accept), &leaf, &[&middle]).unwrap_err();
    assert!(matches!(error, TrustError::Revoked { .. }), "{error}");
}

#[test]
fn a_list_signed_by_someone_else_revokes_nobody_and_clears_nobody() {
    let (root, middle, leaf) = three(|_, recipe| recipe);
    let (_, impostor, _) = three(|_, recipe| recipe);
    let crls = vec![root.list(&[], NOW + DAY), impostor.list(&[&leaf], NOW + DAY)];
    let error = judge(&with(&root, crls.clone(), MissingCrl::Refuse), &leaf, &[&middle]).unwrap_err();
    assert!(matches!(error, TrustError::RevocationUnknown { .. }), "{error}");
    assert!(judge(&with(&root, crls, MissingCrl::Accept), &leaf, &[&middle]).is_ok());
}

#[test]
fn an_anchor_that_signs_itself_has_no_link_to_look_up() {
    let root = Authority::root(Recipe::ca("root"));
    let pin = root.issue(Recipe::leaf("pin"));
    let trust = with(&pin, vec![root.list(&[], NOW + DAY)], MissingCrl::Refuse);
    assert_eq!(judge(&trust, &pin.certificate(), &[]).unwrap().revocation, Revocation::Unchecked);
}

#[test]
fn new_lists_end_old_verdicts() {
    let (root, middle, leaf) = three(|_, recipe| recipe);
    let root_list = root.list(&[], NOW + DAY);
    let trust = with(&root, vec![root_list.clone(), middle.list(&[], NOW + DAY)], MissingCrl::Refuse);
    assert!(judge(&trust, &leaf, &[&middle]).is_ok());
    trust.replace_crls(&[root_list, middle.list(&[&leaf], NOW + DAY)]);
    assert!(matches!(judge(&trust, &leaf, &[&middle]), Err(TrustError::Revoked { .. })));
}

#[test]
fn a_verdict_lasts_no_longer_than_the_list_it_rests_on() {
    let (root, middle, leaf) = three(|_, recipe| recipe);
    let crls = vec![root.list(&[], NOW + 2 * DAY), middle.list(&[], NOW + DAY)];
    let trust = with(&root, crls, MissingCrl::Refuse);
    assert!(judge(&trust, &leaf, &[&middle]).is_ok());
    let later = now() + time::Duration::days(1) + time::Duration::SECOND;
    let chain = [Arc::new(middle.certificate())];
    let error = trust.judge(&leaf, &chain, Purpose::Sign, later).unwrap_err();
    assert!(matches!(error, TrustError::RevocationUnknown { .. }), "{error}");
}

#[test]
fn a_pinned_certificate_is_refused_only_when_known_to_be_revoked() {
    let root = Authority::root(Recipe::ca("root"));
    let leaf = Arc::new(root.issue(Recipe::leaf("leaf")).certificate());
    let revoked = with(&root, vec![root.list(&[&leaf], NOW + DAY)], MissingCrl::Refuse);
    assert!(matches!(revoked.judge_pinned(&leaf, Purpose::Sign, now()), Err(TrustError::Revoked { .. })));
    let stale = with(&root, vec![root.list(&[], NOW - DAY)], MissingCrl::Refuse);
    let verdict = stale.judge_pinned(&leaf, Purpose::Sign, now()).unwrap();
    assert!(matches!(verdict.revocation, Revocation::Unknown { .. }));
    let good = with(&root, vec![root.list(&[], NOW + DAY)], MissingCrl::Refuse);
    assert_eq!(good.judge_pinned(&leaf, Purpose::Sign, now()).unwrap().revocation, Revocation::Good);
}

#[test]
fn lists_are_read_in_pem_and_der_and_nothing_else_is_taken() {
    let root = Authority::root(Recipe::ca("root"));
    let pem = [root.crl(&[], NOW + DAY), b"\nsome text\n".to_vec(), root.crl(&[], NOW + 2 * DAY)].concat();
    assert_eq!(Crl::parse_all(&pem).unwrap().len(), 2);
    let der = openssl::x509::X509Crl::from_pem(&pem).unwrap().to_der().unwrap();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file, &der).unwrap();
    assert_eq!(Crl::read_all(file.path()).unwrap().len(), 1);
    // AT-15: cut off, and empty.
    for bad in [&der[..der.len() - 1], &[][..], &pem[..100]] {
        assert!(matches!(Crl::parse_all(bad), Err(TrustError::CrlFormat(_))));
    }
    let error = Crl::read_all(std::path::Path::new("/nowhere/x.crl")).unwrap_err();
    assert!(error.to_string().contains("/nowhere/x.crl"), "{error}");
}

#[test]
fn a_list_with_a_malformed_scope_is_unknown_not_a_crash() {
    // AT-15: onlySomeReasons as a BIT STRING without content, in a critical issuingDistributionPoint.
    let (root, middle, leaf) = three(|_, recipe| recipe);
    let scope = pki::der(0x30, &[0x83, 0x01, 0x00]);
    let odd = middle.list_with(pki::extension("2.5.29.28", true, &scope));
    let crls = vec![root.list(&[], NOW + DAY), odd];
    let error = judge(&with(&root, crls, MissingCrl::Refuse), &leaf, &[&middle]).unwrap_err();
    assert!(matches!(error, TrustError::RevocationUnknown { .. }), "{error}");
}
