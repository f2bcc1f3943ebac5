//! Refused exchanges: every one is recorded, their octets within a quota.

use postrider::store::exchange::{self, Exchange, Quota};

use crate::fixture::{Fixture, at, both};

both!(
    the_oldest_octets_go_when_all_are_too_many,
    a_peer_over_its_rate_loses_octets_and_no_record,
    what_was_refused_is_listed_newest_first,
);

pub(crate) fn refused(n: i64, seconds: i64, peer: &str, octets: usize) -> Exchange {
    Exchange {
        id: format!("x{n:04}"),
        at: at(seconds),
        direction: "in".to_owned(),
        verdict: "rejected".to_owned(),
        message: None,
        message_id: None,
        partner: None,
        peer: peer.to_owned(),
        code: Some("EBMS:0101".to_owned()),
        reason: Some("no certificate of the partner signed it".to_owned()),
        request_head: b"POST /as4 HTTP/1.1\r\n\r\n".to_vec(),
        soap: "<S12:Envelope/>".to_owned(),
        mime: String::new(),
        raw: Some(vec![b'x'; octets]),
        raw_size: i64::try_from(octets).expect("few"),
        answer_status: Some(200),
        answer_head: None,
        answer: None,
    }
}

fn record(f: &Fixture, new: Exchange, quota: Quota) {
    f.write(move |tx| exchange::record_refused(tx, &new, quota));
}

/// Which of them have their octets.
fn kept(f: &Fixture) -> Vec<String> {
    let all = f.read(|tx| exchange::rejected(tx, 1000));
    for x in &all {
        assert_eq!(x.raw.as_ref().map_or(0, Vec::len), usize::try_from(x.raw_size).expect("few"));
    }
    all.into_iter().filter(|x| x.raw.is_some()).map(|x| x.id).collect()
}

fn the_oldest_octets_go_when_all_are_too_many(f: &Fixture) {
    let quota = Quota { octets: 1000, per_peer: 1000 };
    for n in 0..10 {
        record(f, refused(n, n, "192.0.2.1", 300), quota);
    }
    assert_eq!(kept(f), ["x0009", "x0008", "x0007"]);
    assert_eq!(f.read(|tx| exchange::rejected(tx, 1000)).len(), 10);
    // One that is over the quota by itself is not kept, nor is anything else.
    record(f, refused(10, 10, "192.0.2.1", 1001), quota);
    assert!(kept(f).is_empty());
    record(f, refused(11, 11, "192.0.2.1", 1000), quota);
    assert_eq!(kept(f), ["x0011"]);
}

fn a_peer_over_its_rate_loses_octets_and_no_record(f: &Fixture) {
    let quota = Quota { octets: 1 << 30, per_peer: 3 };
    for n in 0..10 {
        record(f, refused(n, n, "192.0.2.1", 10), quota);
    }
    record(f, refused(10, 10, "192.0.2.2", 10), quota);
    assert_eq!(kept(f), ["x0010", "x0002", "x0001", "x0000"]);
    assert_eq!(f.read(|tx| exchange::rejected(tx, 1000)).len(), 11);
    // A minute after the first, one more of it is kept.
    record(f, refused(11, 60, "192.0.2.1", 10), quota);
    record(f, refused(12, 60, "192.0.2.1", 10), quota);
    assert_eq!(kept(f)[0], "x0011");
}

fn what_was_refused_is_listed_newest_first(f: &Fixture) {
    for n in 0..5 {
        record(f, refused(n, n, "192.0.2.1", 10), Quota::default());
    }
    let accepted = Exchange { verdict: "accepted".to_owned(), message: Some("m".to_owned()), ..refused(9, 9, "p", 0) };
    let same = accepted.clone();
    f.write(move |tx| exchange::record(tx, &accepted));
    let listed: Vec<_> = f.read(|tx| exchange::rejected(tx, 2)).into_iter().map(|x| x.id).collect();
    assert_eq!(listed, ["x0004", "x0003"]);
    assert_eq!(f.read(|tx| exchange::of_message(tx, "m")), [same]);
}
