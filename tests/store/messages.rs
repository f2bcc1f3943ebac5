//! Lists, and finding one message.

use postrider::store::message::{self, Filter};
use postrider::store::{Direction, Message, Part};

use crate::fixture::{Fixture, at, both, row};

both!(
    pages_follow_each_other_without_gap_or_repeat,
    filters_are_met_together,
    a_rows_own_id_comes_before_what_a_partner_chose,
    parts_come_back_in_order_with_their_octets,
    messages_are_counted_by_direction_and_state,
);

fn fill(f: &Fixture) {
    f.write(|tx| {
        for n in 0..50_i64 {
            let direction = if n % 2 == 0 { Direction::In } else { Direction::Out };
            let state = if n % 5 == 0 { "failed" } else { "delivered" };
            // Several of one instant: the id decides between them.
            let new = row(&format!("m{n:02}"), direction, state, &format!("p{}", n % 3), at(n / 7));
            message::insert(tx, &new, &[])?;
        }
        Ok(())
    });
}

fn pages(f: &Fixture, filter: &Filter) -> Vec<Message> {
    let (mut all, mut filter) = (Vec::new(), filter.clone());
    loop {
        let page = f.read(|tx| message::list(tx, &filter));
        let Some(last) = page.last() else { return all };
        filter.before = Some((last.created_at, last.id.clone()));
        all.extend(page);
    }
}

fn pages_follow_each_other_without_gap_or_repeat(f: &Fixture) {
    fill(f);
    for limit in [1, 3, 7, 50, 1000] {
        let ids: Vec<_> = pages(f, &Filter { limit, ..Filter::default() }).into_iter().map(|m| m.id).collect();
        let expected: Vec<_> = (0..50).rev().map(|n| format!("m{n:02}")).collect();
        assert_eq!(ids, expected, "pages of {limit}");
    }
}

fn filters_are_met_together(f: &Fixture) {
    fill(f);
    let of = |filter: Filter| pages(f, &Filter { limit: 4, ..filter }).len();
    assert_eq!(of(Filter { direction: Some("in".to_owned()), ..Filter::default() }), 25);
    assert_eq!(of(Filter { state: Some("failed".to_owned()), ..Filter::default() }), 10);
    assert_eq!(of(Filter { partner: Some("p1".to_owned()), ..Filter::default() }), 17);
    assert_eq!(of(Filter { message_id: Some("m07@example".to_owned()), ..Filter::default() }), 1);
    assert_eq!(of(Filter { pmode: Some("invoices".to_owned()), ..Filter::default() }), 0);
    let both = Filter { direction: Some("in".to_owned()), state: Some("failed".to_owned()), ..Filter::default() };
    assert_eq!(of(both.clone()), 5);
    // m30 is the one of p0.
    assert_eq!(of(Filter { partner: Some("p0".to_owned()), ..both }), 2);
}

fn a_rows_own_id_comes_before_what_a_partner_chose(f: &Fixture) {
    f.write(|tx| {
        message::insert(tx, &row("ours", Direction::In, "received", "p", at(0)), &[])?;
        let named = Message { message_id: "ours".to_owned(), ..row("theirs", Direction::In, "received", "p", at(9)) };
        message::insert(tx, &named, &[])?;
        let newer =
            Message { message_id: "ours@example".to_owned(), ..row("newer", Direction::In, "received", "q", at(5)) };
        message::insert(tx, &newer, &[])
    });
    assert_eq!(f.message("ours").id, "ours");
    assert_eq!(f.message("ours@example").id, "newer");
}

fn parts_come_back_in_order_with_their_octets(f: &Fixture) {
    let part = |position: i32, octets: Option<Vec<u8>>| Part {
        message: "m".to_owned(),
        position,
        content_id: format!("{position}@example"),
        media_type: "application/gzip".to_owned(),
        payload_type: "application/xml".to_owned(),
        file_name: None,
        compressed: true,
        stored_size: 3,
        size: i64::MAX,
        sha256: "00".to_owned(),
        content_sha256: "11".to_owned(),
        digest: Some(vec![0; 32]),
        octets,
    };
    let parts = vec![part(1, None), part(0, Some(vec![0, 255, 10]))];
    let new = parts.clone();
    f.write(move |tx| message::insert(tx, &row("m", Direction::In, "received", "p", at(0)), &new));
    assert_eq!(f.read(|tx| message::parts(tx, "m")), [parts[1].clone(), parts[0].clone()]);
}

fn messages_are_counted_by_direction_and_state(f: &Fixture) {
    fill(f);
    let mut counts = f.read(message::counts);
    counts.sort();
    let expected = [("in", "delivered", 20), ("in", "failed", 5), ("out", "delivered", 20), ("out", "failed", 5)];
    assert_eq!(counts, expected.map(|(d, s, n)| (d.to_owned(), s.to_owned(), n)));
}
