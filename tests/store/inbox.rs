//! The Transactional Inbox: one key, one effect; and the three cases of the same id again.

use postrider::store::inbox::{self, Accepted, Once, StoredReply};
use postrider::store::{Direction, StoreError, Tx, message};

use crate::fixture::{Fixture, at, both, received, reply, row};

both!(
    a_key_that_is_there_runs_no_effect,
    an_effect_that_fails_takes_its_key_along,
    an_effect_that_panics_takes_its_key_along,
    equal_ids_of_two_partners_do_not_collide,
    the_same_octets_again_are_given_the_stored_answer,
    a_message_packed_anew_is_answered_anew_and_has_no_effect,
    an_answer_whose_signer_ended_is_signed_anew,
    other_content_under_the_id_changes_nothing,
    the_same_digests_over_other_content_are_other_content,
    a_key_that_was_purged_may_come_again,
    purging_spares_what_is_inside_the_window_or_not_settled,
);

fn effect(tx: &mut Tx<'_>, id: &str) -> Result<(), StoreError> {
    message::insert(tx, &row(id, Direction::In, "received", "them", at(0)), &[])
}

fn effects(f: &Fixture) -> usize {
    f.read(|tx| message::list(tx, &message::Filter { limit: 1000, ..message::Filter::default() })).len()
}

/// Accepts with an effect that leaves a message of that name.
fn accept(f: &Fixture, key: &inbox::Received, body: &str, name: &str) -> Accepted {
    let (key, reply, name) = (key.clone(), reply(key, body), name.to_owned());
    f.write(move |tx| inbox::accept(tx, &key, &reply, |tx| effect(tx, &name)))
}

fn found(f: &Fixture, key: &inbox::Received) -> inbox::Received {
    let key = key.clone();
    // The key is there, so the effect does not run and nothing changes.
    f.write(move |tx| match inbox::once(tx, &key, |_| Err(StoreError::Closed))? {
        Once::Again(row) => Ok(*row),
        Once::First(()) => unreachable!("the key is there"),
    })
}

// IN-05
fn a_key_that_is_there_runs_no_effect(f: &Fixture) {
    let key = received("as4:us:them", "1", "p", "d");
    for expected in [true, false, false] {
        let key = key.clone();
        let first = f.write(move |tx| inbox::once(tx, &key, |tx| effect(tx, "one")));
        assert_eq!(matches!(first, Once::First(())), expected);
    }
    assert_eq!(effects(f), 1);
}

// IN-06, IN-08
fn an_effect_that_fails_takes_its_key_along(f: &Fixture) {
    let key = received("as4:us:them", "1", "p", "d");
    let again = key.clone();
    let failed = f.store.write_blocking::<_, StoreError, _>(move |tx| {
        inbox::once(tx, &again, |tx| {
            effect(tx, "one")?;
            Err::<(), _>(StoreError::Row { table: "order", why: "no such article".to_owned() })
        })
    });
    assert!(matches!(failed, Err(StoreError::Row { table: "order", .. })), "{failed:?}");
    assert_eq!(effects(f), 0);
    assert_eq!(accept(f, &key, "receipt", "one"), Accepted::First);
    assert_eq!(effects(f), 1);
}

// IN-08
fn an_effect_that_panics_takes_its_key_along(f: &Fixture) {
    let key = received("as4:us:them", "1", "p", "d");
    let again = key.clone();
    let failed = f.store.write_blocking::<Once<()>, StoreError, _>(move |tx| {
        inbox::once(tx, &again, |tx| {
            effect(tx, "one")?;
            panic!("a consumer's fault (this test's own)")
        })
    });
    assert!(matches!(failed, Err(StoreError::Panicked)), "{failed:?}");
    assert_eq!(effects(f), 0);
    assert_eq!(accept(f, &key, "receipt", "one"), Accepted::First);
}

// IN-20, IN-21, IN-36
fn equal_ids_of_two_partners_do_not_collide(f: &Fixture) {
    let sources = ["as4:us:them", "as4:us:others", "as4:we:them", "as4-unauthenticated:us:them"];
    for source in sources {
        assert_eq!(accept(f, &received(source, "1", "p", "d"), "receipt", source), Accepted::First);
    }
    assert_eq!(effects(f), 4);
}

// IN-51 (a), IN-53
fn the_same_octets_again_are_given_the_stored_answer(f: &Fixture) {
    let key = received("as4:us:them", "1", "p", "d");
    assert_eq!(accept(f, &key, "the first receipt", "one"), Accepted::First);
    let later = inbox::Received { received_at: at(60), ..key.clone() };
    let Accepted::Same(stored) = accept(f, &later, "another receipt", "two") else { panic!("not the same") };
    assert_eq!(*stored, reply(&key, "the first receipt"));
    assert_eq!(effects(f), 1);
    let row = found(f, &key);
    assert_eq!((row.duplicate_count, row.last_seen_at), (1, Some(at(60))));
}

// IN-51 (b), EB-164
fn a_message_packed_anew_is_answered_anew_and_has_no_effect(f: &Fixture) {
    let key = received("as4:us:them", "1", "p", "d1");
    let anew = received("as4:us:them", "1", "p", "d2");
    assert_eq!(accept(f, &key, "first", "one"), Accepted::First);
    assert_eq!(accept(f, &anew, "second", "two"), Accepted::Repacked);
    // Both are answered as they were from now on.
    assert_eq!(accept(f, &anew, "third", "three"), Accepted::Same(Box::new(reply(&anew, "second"))));
    assert_eq!(accept(f, &key, "fourth", "four"), Accepted::Same(Box::new(reply(&key, "first"))));
    assert_eq!(effects(f), 1);
    assert_eq!(found(f, &key).duplicate_count, 3);
}

// IN-53
fn an_answer_whose_signer_ended_is_signed_anew(f: &Fixture) {
    let key = received("as4:us:them", "1", "p", "d");
    let first = StoredReply { valid_until: Some(at(100)), ..reply(&key, "first") };
    let try_at = |second: i64, body: &str, until: i64| {
        let key = inbox::Received { received_at: at(second), ..key.clone() };
        let answer = StoredReply { valid_until: Some(at(until)), ..reply(&key, body) };
        f.write(move |tx| inbox::accept::<StoreError>(tx, &key, &answer, |_| Ok(())))
    };
    assert_eq!(try_at(0, "first", 100), Accepted::First);
    assert_eq!(try_at(100, "second", 300), Accepted::Same(Box::new(first)));
    let third = StoredReply { valid_until: Some(at(300)), created_at: at(101), ..reply(&key, "third") };
    assert_eq!(try_at(101, "third", 300), Accepted::Same(Box::new(third.clone())));
    // From now on it is this one.
    assert_eq!(try_at(200, "fourth", 400), Accepted::Same(Box::new(third)));
}

// IN-23, IN-51 (c)
fn other_content_under_the_id_changes_nothing(f: &Fixture) {
    let key = received("as4:us:them", "1", "p", "d");
    assert_eq!(accept(f, &key, "first", "one"), Accepted::First);
    let before = found(f, &key);
    let mut others = vec![received("as4:us:them", "1", "q", "d2")];
    others.push(inbox::Received { service: "urn:invoices".to_owned(), ..received("as4:us:them", "1", "p", "d3") });
    others.push(inbox::Received { action: "cancel".to_owned(), ..received("as4:us:them", "1", "p", "d4") });
    others.push(inbox::Received { parties: "them>others".to_owned(), ..received("as4:us:them", "1", "p", "d5") });
    for other in &others {
        let expected = Accepted::OtherContent { first: "sha256:p".to_owned(), message: key.message.clone() };
        assert_eq!(accept(f, other, "second", "two"), expected);
    }
    assert_eq!(effects(f), 1);
    assert_eq!(found(f, &key), before);
    // No answer was stored for it either: it is refused again.
    assert!(matches!(accept(f, &others[0], "third", "three"), Accepted::OtherContent { .. }));
}

// IN-23: without a signature a digest set may say little.
fn the_same_digests_over_other_content_are_other_content(f: &Fixture) {
    assert_eq!(accept(f, &received("as4-unauthenticated:us:them", "1", "p", ""), "first", "one"), Accepted::First);
    let other = accept(f, &received("as4-unauthenticated:us:them", "1", "q", ""), "second", "two");
    assert!(matches!(other, Accepted::OtherContent { .. }), "{other:?}");
}

fn settled(f: &Fixture, key: &inbox::Received) {
    let id = key.message.clone().expect("a message");
    f.write(move |tx| inbox::processed(tx, &id, "delivered", at(1)));
}

// IN-14
fn a_key_that_was_purged_may_come_again(f: &Fixture) {
    let key = received("as4:us:them", "1", "p", "d");
    assert_eq!(accept(f, &key, "first", "one"), Accepted::First);
    settled(f, &key);
    let end = at(31 * 86_400);
    assert_eq!(f.write(move |tx| inbox::purge(tx, end, end, 100)), 1);
    assert_eq!(accept(f, &key, "anew", "two"), Accepted::First);
    assert_eq!(accept(f, &key, "third", "three"), Accepted::Same(Box::new(reply(&key, "anew"))));
}

// IN-18
fn purging_spares_what_is_inside_the_window_or_not_settled(f: &Fixture) {
    let (open, young, over) =
        (received("s", "open", "p", "d"), received("s", "young", "p", "d"), received("s", "over", "p", "d"));
    let young = inbox::Received { expires_at: at(90 * 86_400), ..young };
    for key in [&open, &young, &over] {
        accept(f, key, "receipt", &key.message_id);
    }
    settled(f, &young);
    settled(f, &over);
    let end = at(31 * 86_400);
    assert_eq!(f.write(move |tx| inbox::purge(tx, end, end, 100)), 1);
    for (key, there) in [(&open, true), (&young, true), (&over, false)] {
        let id = key.message_id.clone();
        assert_eq!(f.read(|tx| inbox::message_of(tx, "s", &id)).is_some(), there, "{id}");
    }
}
