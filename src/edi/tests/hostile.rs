use proptest::prelude::*;

use super::*;

/// What is read of octets, and all that is made of it.
fn exercise(octets: &[u8]) -> Result<Document, NoKey> {
    let outcome = read(None, octets);
    match &outcome {
        Ok(document) => {
            let keys = document.documents().into_iter().flatten().map(|business| business.key);
            let answered = acknowledgements(document).into_iter().map(|answer| answer.key);
            for key in keys.chain(answered).chain(document.interchange_key()) {
                assert!(key.key.len() <= BusinessKey::LONGEST && key.source.len() <= BusinessKey::LONGEST);
                assert!(key.to_string().is_ascii());
            }
            document.kind();
        }
        Err(reason) => assert!(reason.to_string().len() < 8000, "{reason}"),
    }
    outcome
}

#[test]
fn a_cut_at_every_octet_gives_the_same_or_a_reason() {
    for text in ALL {
        let whole = exercise(text.as_bytes()).unwrap();
        let mut early = 0;
        for end in 0..text.len() {
            match exercise(&text.as_bytes()[..end]) {
                // Enough was there, but for what a part behind the cut would have added.
                Ok(document) => assert_eq!(document.kind(), whole.kind(), "cut at {end}"),
                Err(reason) => early += usize::from(reason.wants_more()),
            }
        }
        let mime = text.starts_with("AS2");
        assert!(mime || early > text.len() / 8, "{early} of {}", text.len());
    }
}

/// A cut interchange has no key: what it lacks could be anything.
#[test]
fn a_cut_interchange_never_gives_a_key() {
    for text in [INVOIC, TWO, CONTRL, APERAK, F810, F997, F999] {
        for end in 0..text.trim_end().len() {
            assert!(read(None, &text.as_bytes()[..end]).is_err(), "cut at {end}: {}", &text[..end]);
        }
    }
}

/// Work grows with the octets: with their square, these would take minutes.
#[test]
fn work_is_linear() {
    let attributes: String = (0..100).map(|n| format!(" a{n}=''")).collect();
    let before = |what: &str| changed(INVOICE, "<cac:OrderReference>", &format!("{what}<cac:OrderReference>"));
    let begun = std::time::Instant::now();
    for octets in [
        before(&"<cac:a/>".repeat(200_000)),
        before(&format!("<cac:a{attributes}/>").repeat(3000)),
        before(&"&lt;".repeat(200_000)),
        changed(INVOIC, "UNS+S'", &"FTX+AAI'".repeat(200_000)),
        changed(INVOIC, "UNS+S'", &format!("DTM{}'", "+?+".repeat(20_000)).repeat(20)),
        changed(F997, "AK2*810*0002~", &"AK2*810*0002~".repeat(200_000)),
    ] {
        drop(exercise(octets.as_bytes()));
    }
    assert!(begun.elapsed() < std::time::Duration::from_mins(1), "{:?}", begun.elapsed());
}

fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"'".to_vec()),
        Just(b"?".to_vec()),
        Just(b"~\n".to_vec()),
        Just(b"*".to_vec()),
        Just(b"</".to_vec()),
        Just(b"<![CDATA[".to_vec()),
        Just(b"UNZ+1+'".to_vec()),
        Just(b"\xFF\xFE".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..12),
    ];
    let changes = proptest::collection::vec((any::<prop::sample::Index>(), 0usize..24, piece), 1..5);
    (prop::sample::select(ALL.to_vec()), changes).prop_map(|(text, changes)| {
        let mut octets = text.as_bytes().to_vec();
        for (at, length, piece) in changes {
            let at = at.index(octets.len() + 1);
            let end = (at + length).min(octets.len());
            octets.splice(at..end, piece);
        }
        octets
    })
}

proptest! {
    #[test]
    fn any_octets_are_read_or_refused(octets in proptest::collection::vec(any::<u8>(), 0..400)) {
        drop(exercise(&octets));
    }

    #[test]
    fn any_octets_behind_a_known_beginning(
        begin in prop::sample::select(vec!["UNA", "UNB+UNOC:3+A+B+1:1+C'", "<?xml version='1.0'?>", "--b\r\n", "\u{FEFF}<"]),
        octets in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        drop(exercise(&[begin.as_bytes(), &octets].concat()));
    }

    #[test]
    fn mutations_are_read_or_refused_and_pieces_do_not_matter(octets in mutated(), size in 1usize..40) {
        let whole = exercise(&octets);
        let mut reading = Reading::new(None);
        for piece in octets.chunks(size) {
            reading.push(piece);
        }
        prop_assert_eq!(reading.finish().map_err(|_| ()), whole.map_err(|_| ()));
    }
}
