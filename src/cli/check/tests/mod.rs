//! Each finding, on a gateway that has nothing else wrong with it.

mod bench;
mod configured;
mod keys;
mod partners;

use time::OffsetDateTime;

use super::*;
use bench::Site;

#[test]
fn what_init_wrote_is_without_findings_until_its_certificates_end() {
    let site = Site::new();
    let now = OffsetDateTime::now_utc();
    assert_eq!(site.at(now), []);

    // Its own P-Mode names both certificates, too.
    let soon = site.at(now + time::Duration::days(705));
    assert_eq!(soon.len(), 5, "{soon:#?}");
    assert!(soon.iter().all(|f| f.severity == Severity::Warning && f.message.contains("ends in 24 days")), "{soon:?}");
    let late = site.at(now + time::Duration::days(800));
    let expired = late.iter().filter(|f| f.message.contains("expired 70 days ago")).collect::<Vec<_>>();
    assert_eq!(expired.len(), 5, "{late:#?}");
    assert!(late.iter().all(|f| f.severity == Severity::Error && !f.stops && f.next.is_some()), "{late:#?}");
    assert!(expired.iter().any(|f| f.place.as_ref().is_some_and(|p| p.contains("postrider.toml:"))), "{late:?}");
    assert!(expired.iter().any(|f| f.place.as_ref().is_some_and(|p| p.contains("self-test.xml:"))), "{late:?}");
    let needs = late.iter().filter(|f| f.message.contains("no valid signing key")).count();
    assert!(needs > 0, "{late:#?}");
}

#[test]
fn warnings_are_errors_when_asked() {
    let warning = [Finding::new(Severity::Warning, None, "x")];
    assert!(verdict(&warning, false).is_ok());
    assert_eq!(verdict(&warning, true).unwrap_err().exit, exit::NO);
}

#[test]
fn serving_is_refused_for_every_reason_at_once() {
    let site = Site::new();
    let now = OffsetDateTime::now_utc();
    let refused = |site: &Site| {
        let loaded = crate::config::load(&site.path("postrider.toml"), &[]).unwrap();
        before_serving(&loaded, now).map_err(|failure| (failure.exit, failure.to_string()))
    };
    assert_eq!(refused(&site), Ok(()));
    site.write("pmodes/a.xml", "<PMode");
    site.write("pmodes/b.xml", "\u{0}");
    site.write("keys/blue-signing.key", "no key");
    let (exit, told) = refused(&site).unwrap_err();
    assert_eq!(exit, exit::CONFIG);
    for part in ["3 faults", "a.xml:1:", "b.xml:1:", "holds no private key", "next: "] {
        assert!(told.contains(part), "{part}: {told}");
    }
}
